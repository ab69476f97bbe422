// Helpers by which threads, blocks and clusters wait for each other. Sections are those of the PTX ISA 8.x: 9.7.13.1
// barrier, 9.7.13.4 barrier.cluster, 9.7.13.15 mbarrier, 9.7.9.22 mapa, 9.7.9.12 st.async, 9.7.13.7 red, 8 memory
// consistency model.
//
// Every asm here says "memory": ordinary loads and stores must stay on their side of it. bar.* is barrier.*.aligned:
// without .aligned, ptxas puts branches before each barrier that bring the lanes of a warp together, and it moves no
// loads across those branches.

//: mbarrier
typedef unsigned long long mbarrier;  // opaque, in shared memory

//: Patience
// What is waited for comes within microseconds. After 4 seconds *status is 1 and no wait lasts a millisecond: a defect
// must not hang the GPU. The status lies in host memory: a hundred warps that look at it slow all loads of the GPU.
struct Patience {
  unsigned tries = 0;
  unsigned long long start = 0, now;
  __device__ __forceinline__ bool ends(volatile int* status) {
    if ((++tries & 15) != 0 || ((tries & 65535) != 0 && (tries & (tries - 1)) != 0)) return false;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    if (start == 0) start = now;
    if (now - start > 4000000000ull) status == nullptr ? __trap() : void(*status = 1);
    return now - start > 500000 && status != nullptr && *status != 0;
  }
};

//: named_barrier
template <int id, int count>
__device__ __forceinline__ void named_barrier() { asm volatile("bar.sync %0, %1;" :: "n"(id), "n"(count) : "memory"); }

//: named_barrier_any
// For warps that come from different places.
template <int id, int count>
__device__ __forceinline__ void named_barrier_any() { asm volatile("barrier.sync %0, %1;" :: "n"(id), "n"(count) : "memory"); }

//: named_barrier_arrive
// Who waits is in named_barrier of the same numbers.
template <int id, int count>
__device__ __forceinline__ void named_barrier_arrive() { asm volatile("bar.arrive %0, %1;" :: "n"(id), "n"(count) : "memory"); }

//: cluster_barrier
__device__ __forceinline__ void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

//: in_block needs shared_address
// The shared memory address that `place` of this block has in block `rank` of the cluster.
__device__ __forceinline__ unsigned in_block(const void* place, int rank) {
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_address(place)), "r"(rank));
  return there;
}

//: mbarrier_init needs mbarrier shared_address
__device__ __forceinline__ void mbarrier_init(mbarrier* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

//: publish_mbarriers
// Makes initialised mbarriers visible to the other blocks of the cluster, with the cluster barrier that follows.
__device__ __forceinline__ void publish_mbarriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

//: mbarrier_arrive needs mbarrier shared_address
__device__ __forceinline__ void mbarrier_arrive(mbarrier* barrier) {
  asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" :: "r"(shared_address(barrier)) : "memory");
}

//: mbarrier_arrive_in_block needs mbarrier in_block
__device__ __forceinline__ void mbarrier_arrive_in_block(mbarrier* barrier, int rank) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(in_block(barrier, rank)) : "memory");
}

//: mbarrier_expect needs mbarrier shared_address
// Arrives, and makes the phase wait for `bytes` of asynchronous stores too.
__device__ __forceinline__ void mbarrier_expect(mbarrier* barrier, int bytes) {
  asm volatile("{ .reg .b64 state; mbarrier.arrive.expect_tx.shared.b64 state, [%0], %1; }"
               :: "r"(shared_address(barrier)), "r"(bytes) : "memory");
}

//: mbarrier_try needs mbarrier shared_address
// Whether the phase of this parity has completed. From sm_90 on a try sleeps for a while in hardware.
__device__ __forceinline__ bool mbarrier_try(mbarrier* barrier, int parity) {
  int done;
#if __CUDA_ARCH__ >= 900
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }"
#else
  asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }"
#endif
               : "=r"(done) : "r"(shared_address(barrier)), "r"(parity) : "memory");
  return done;
}

//: mbarrier_wait needs mbarrier_try Patience
__device__ __forceinline__ bool mbarrier_wait(mbarrier* barrier, int parity, int* status) {
  for (Patience patience; !mbarrier_try(barrier, parity);) if (patience.ends(status)) return true;  // in vain
  return false;
}

//: mbarrier_try_cluster needs mbarrier shared_address
// Whether the phase of this parity has completed; sees what other blocks of the cluster did before they arrived.
__device__ __forceinline__ bool mbarrier_try_cluster(mbarrier* barrier, int parity) {
  int done;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }"
               : "=r"(done) : "r"(shared_address(barrier)), "r"(parity) : "memory");
  return done;
}

//: mbarrier_wait_cluster needs mbarrier_try_cluster Patience
__device__ __forceinline__ bool mbarrier_wait_cluster(mbarrier* barrier, int parity, int* status) {
  for (Patience patience; !mbarrier_try_cluster(barrier, parity);) if (patience.ends(status)) return true;  // in vain
  return false;
}

//: store_async_1 needs mbarrier in_block
// Stores to block `rank` of the cluster, where the mbarrier counts the bytes.
__device__ __forceinline__ void store_async_1(void* to, int rank, mbarrier* barrier, int a) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];"
               :: "r"(in_block(to, rank)), "r"(a), "r"(in_block(barrier, rank)) : "memory");
}

//: store_async_2 needs mbarrier in_block
// Stores to block `rank` of the cluster, where the mbarrier counts the bytes.
__device__ __forceinline__ void store_async_2(void* to, int rank, mbarrier* barrier, int a, int b) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%0], {%1, %2}, [%3];"
               :: "r"(in_block(to, rank)), "r"(a), "r"(b), "r"(in_block(barrier, rank)) : "memory");
}

//: store_async_4 needs mbarrier in_block
// Stores to block `rank` of the cluster, where the mbarrier counts the bytes.
__device__ __forceinline__ void store_async_4(void* to, int rank, mbarrier* barrier, int a, int b, int c, int d) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];"
               :: "r"(in_block(to, rank)), "r"(a), "r"(b), "r"(c), "r"(d), "r"(in_block(barrier, rank)) : "memory");
}

//: grid_arrive
__device__ __forceinline__ void grid_arrive(int* counter) {
  asm volatile("red.release.gpu.global.add.s32 [%0], 1;" :: "l"(__cvta_generic_to_global(counter)) : "memory");
}

//: grid_wait needs Patience
__device__ __forceinline__ void grid_wait(const int* counter, int target, int* status) {
  for (Patience patience;;) {
    int count;
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(count) : "l"(__cvta_generic_to_global(counter)) : "memory");
    if (count >= target || patience.ends(status)) return;
  }
}

//: store_flagged_1
__device__ __forceinline__ void store_flagged_1(int* to, int w0) {
  asm volatile("st.relaxed.gpu.global.b32 [%0], %1;" :: "l"(__cvta_generic_to_global(to)), "r"(w0) : "memory");
}

//: store_flagged_2
__device__ __forceinline__ void store_flagged_2(int* to, int w0, int w1) {
  asm volatile("st.relaxed.gpu.global.v2.b32 [%0], {%1, %2};"
               :: "l"(__cvta_generic_to_global(to)), "r"(w0), "r"(w1) : "memory");
}

//: store_flagged_4
__device__ __forceinline__ void store_flagged_4(int* to, int w0, int w1, int w2, int w3) {
  asm volatile("st.relaxed.gpu.global.v4.b32 [%0], {%1, %2, %3, %4};"
               :: "l"(__cvta_generic_to_global(to)), "r"(w0), "r"(w1), "r"(w2), "r"(w3) : "memory");
}

//: load_flagged needs Patience
// Words that are all ones have not come yet. All vectors are in flight at once. (To load them before the first
// look, or one again as soon as it is missing, is 2 to 5% slower among the blocks of a grid.)
template <int vectors>
__device__ __forceinline__ void load_flagged(int* into, const int* from, int stride, int* status) {
  Patience patience;
  #pragma unroll
  for (int i = 0; i < 4 * vectors; ++i) into[i] = -1;
  for (;;) {
    bool all = true;
    #pragma unroll
    for (int i = 0; i < vectors; ++i)
      if (into[4 * i] == -1 || into[4 * i + 1] == -1 || into[4 * i + 2] == -1 || into[4 * i + 3] == -1)
        asm volatile("ld.relaxed.gpu.global.v4.b32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(into[4 * i]), "=r"(into[4 * i + 1]), "=r"(into[4 * i + 2]), "=r"(into[4 * i + 3])
                     : "l"(__cvta_generic_to_global(from + i * stride)) : "memory");
    #pragma unroll
    for (int i = 0; i < 4 * vectors; ++i) all = all && into[i] != -1;
    if (all || patience.ends(status)) return;
  }
}

//: load_flagged_together needs Patience
// load_flagged for all lanes of a warp, none of which goes on before the others. Lanes that leave the loop one by one
// run apart afterwards: an exchange of sums among 48 blocks took 1.0 us instead of 0.6 (H200).
template <int vectors>
__device__ __forceinline__ void load_flagged_together(int* into, const int* from, int stride, int* status) {
  Patience patience;
  #pragma unroll
  for (int i = 0; i < 4 * vectors; ++i) into[i] = -1;
  for (;;) {
    bool all = true;
    #pragma unroll
    for (int i = 0; i < vectors; ++i)
      if (into[4 * i] == -1 || into[4 * i + 1] == -1 || into[4 * i + 2] == -1 || into[4 * i + 3] == -1)
        asm volatile("ld.relaxed.gpu.global.v4.b32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(into[4 * i]), "=r"(into[4 * i + 1]), "=r"(into[4 * i + 2]), "=r"(into[4 * i + 3])
                     : "l"(__cvta_generic_to_global(from + i * stride)) : "memory");
    #pragma unroll
    for (int i = 0; i < 4 * vectors; ++i) all = all && into[i] != -1;
    if (__all_sync(0xffffffffu, all)) return;
    if (__any_sync(0xffffffffu, patience.ends(status))) return;
  }
}

//: rest_cycles
// Waits about so many cycles, before the first look for words that take longer to come.
__device__ __forceinline__ void rest_cycles(unsigned cycles) {
  const unsigned begin = clock();
  while (unsigned(clock()) - begin < cycles) {}
}

//: load_flagged_once
// Words for load_flagged, whether they have come or not.
template <int vectors>
__device__ __forceinline__ void load_flagged_once(int* into, const int* from, int stride) {
  #pragma unroll
  for (int i = 0; i < vectors; ++i)
    asm volatile("ld.relaxed.gpu.global.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(into[4 * i]), "=r"(into[4 * i + 1]), "=r"(into[4 * i + 2]), "=r"(into[4 * i + 3])
                 : "l"(__cvta_generic_to_global(from + i * stride)) : "memory");
}

//: flagged_word
// The bits of a float, but for one NaN, which would say that nothing has come: it gives way to another.
__device__ __forceinline__ int flagged_word(float x) { return int(min(__float_as_uint(x), 0xfffffffeu)); }

//: load_flagged_fp32 needs load_flagged
template <int vectors>
__device__ __forceinline__ void load_flagged_fp32(float* into, const int* from, int stride, int* status) {
  int words[4 * vectors];
  load_flagged<vectors>(words, from, stride, status);
  #pragma unroll
  for (int i = 0; i < 4 * vectors; ++i) into[i] = __int_as_float(words[i]);
}

//: load_flagged_fp32_together needs load_flagged_together
template <int vectors>
__device__ __forceinline__ void load_flagged_fp32_together(float* into, const int* from, int stride, int* status) {
  int words[4 * vectors];
  load_flagged_together<vectors>(words, from, stride, status);
  #pragma unroll
  for (int i = 0; i < 4 * vectors; ++i) into[i] = __int_as_float(words[i]);
}

//: load_flagged_fp32_once needs load_flagged_once
template <int vectors>
__device__ __forceinline__ void load_flagged_fp32_once(float* into, const int* from, int stride) {
  int words[4 * vectors];
  load_flagged_once<vectors>(words, from, stride);
  #pragma unroll
  for (int i = 0; i < 4 * vectors; ++i) into[i] = __int_as_float(words[i]);
}

//: more_registers
// Architectures of their own ("sm_90a") have the instruction; elsewhere registers stay as they are.
template <int count>
__device__ __forceinline__ void more_registers() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || defined(__CUDA_ARCH_SPECIFIC__)
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" :: "n"(count));
#endif
}

//: fewer_registers
template <int count>
__device__ __forceinline__ void fewer_registers() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || defined(__CUDA_ARCH_SPECIFIC__)
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" :: "n"(count));
#endif
}

//: grid_fence
__device__ __forceinline__ void grid_fence() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
