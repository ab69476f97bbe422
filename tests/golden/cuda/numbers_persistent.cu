typedef long long i64;
typedef unsigned short bf16;  // the bits of a bfloat16
__device__ __forceinline__ float bf16_to_float(bf16 x) { return __uint_as_float(unsigned(x) << 16); }

__device__ __forceinline__ bf16 float_to_bf16(float x) {
  bf16 y;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}

__device__ __forceinline__ unsigned pack_bf16(float low, float high) {
  unsigned pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

__device__ __forceinline__ unsigned shared_address(const void* p) { return unsigned(__cvta_generic_to_shared(p)); }

// .cg: past the L1 cache, which would only hold a second copy of what goes to shared memory.
__device__ __forceinline__ void copy_async_16(void* shared, const void* global) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
               :: "r"(shared_address(shared)), "l"(__cvta_generic_to_global(global)) : "memory");
}

__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int pending>
__device__ __forceinline__ void wait_copies() { asm volatile("cp.async.wait_group %0;" :: "n"(pending) : "memory"); }
__device__ __forceinline__ float low_bf16(int pair) { return __uint_as_float(unsigned(pair) << 16); }
__device__ __forceinline__ float high_bf16(int pair) { return __uint_as_float(unsigned(pair) & 0xffff0000u); }

// Each lane gives the place of one row of eight elements.
__device__ __forceinline__ void load_matrix_x1_transposed(int* into, const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
               : "=r"(into[0]) : "r"(shared_address(row)) : "memory");
}

// Each lane gives the place of one row of eight elements.
__device__ __forceinline__ void load_matrix_x2_transposed(int* into, const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(into[0]), "=r"(into[1]) : "r"(shared_address(row)) : "memory");
}

// Each lane gives the place of one row of eight elements.
__device__ __forceinline__ void load_matrix_x4_transposed(int* into, const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(into[0]), "=r"(into[1]), "=r"(into[2]), "=r"(into[3]) : "r"(shared_address(row)) : "memory");
}

// acc (16 x 8) += a (16 x 16) * b (16 x 8), spread over the lanes of the warp.
__device__ __forceinline__ void mma_bf16(float* acc, const int* a, const int* b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

typedef unsigned long long mbarrier;  // opaque, in shared memory

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

__device__ __forceinline__ void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// The shared memory address that `place` of this block has in block `rank` of the cluster.
__device__ __forceinline__ unsigned in_block(const void* place, int rank) {
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_address(place)), "r"(rank));
  return there;
}

__device__ __forceinline__ void mbarrier_init(mbarrier* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

// Makes initialised mbarriers visible to the other blocks of the cluster, with the cluster barrier that follows.
__device__ __forceinline__ void publish_mbarriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ __forceinline__ void mbarrier_arrive(mbarrier* barrier) {
  asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" :: "r"(shared_address(barrier)) : "memory");
}

// Arrives, and makes the phase wait for `bytes` of asynchronous stores too.
__device__ __forceinline__ void mbarrier_expect(mbarrier* barrier, int bytes) {
  asm volatile("{ .reg .b64 state; mbarrier.arrive.expect_tx.shared.b64 state, [%0], %1; }"
               :: "r"(shared_address(barrier)), "r"(bytes) : "memory");
}

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

__device__ __forceinline__ bool mbarrier_wait(mbarrier* barrier, int parity, int* status) {
  for (Patience patience; !mbarrier_try(barrier, parity);) if (patience.ends(status)) return true;  // in vain
  return false;
}

// Whether the phase of this parity has completed; sees what other blocks of the cluster did before they arrived.
__device__ __forceinline__ bool mbarrier_try_cluster(mbarrier* barrier, int parity) {
  int done;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }"
               : "=r"(done) : "r"(shared_address(barrier)), "r"(parity) : "memory");
  return done;
}

__device__ __forceinline__ bool mbarrier_wait_cluster(mbarrier* barrier, int parity, int* status) {
  for (Patience patience; !mbarrier_try_cluster(barrier, parity);) if (patience.ends(status)) return true;  // in vain
  return false;
}

// Stores to block `rank` of the cluster, where the mbarrier counts the bytes.
__device__ __forceinline__ void store_async_1(void* to, int rank, mbarrier* barrier, int a) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];"
               :: "r"(in_block(to, rank)), "r"(a), "r"(in_block(barrier, rank)) : "memory");
}

// Stores to block `rank` of the cluster, where the mbarrier counts the bytes.
__device__ __forceinline__ void store_async_2(void* to, int rank, mbarrier* barrier, int a, int b) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%0], {%1, %2}, [%3];"
               :: "r"(in_block(to, rank)), "r"(a), "r"(b), "r"(in_block(barrier, rank)) : "memory");
}

__device__ __forceinline__ void load_fp32x2(const float* from, float& v0, float& v1) {
  const float2 packed = *reinterpret_cast<const float2*>(from);
  v0 = packed.x;
  v1 = packed.y;
}

__device__ __forceinline__ void store_fp32x2(float* to, float v0, float v1) {
  *reinterpret_cast<float2*>(to) = make_float2(v0, v1);
}

__device__ __forceinline__ int load_pair(const void* from) { return *reinterpret_cast<const int*>(from); }
__device__ __forceinline__ void store_pair(void* to, int v0) { *reinterpret_cast<int*>(to) = v0; }

__device__ __forceinline__ void load_pairs_x4(const void* from, int& v0, int& v1, int& v2, int& v3) {
  const int4 packed = *reinterpret_cast<const int4*>(from);
  v0 = packed.x;
  v1 = packed.y;
  v2 = packed.z;
  v3 = packed.w;
}

__device__ __forceinline__ void store_pairs_x4(void* to, int v0, int v1, int v2, int v3) {
  *reinterpret_cast<int4*>(to) = make_int4(v0, v1, v2, v3);
}

// shifted: persistent backward sweep, bf16 in memory
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(160, 1) shifted_persistent_bw(
    const bf16* __restrict__ x,                        // [B, T, H, 1, D]
    i64 x_stride_b, i64 x_stride_t,
    const bf16* __restrict__ m,                        // [B, T, H, 1]
    i64 m_stride_b, i64 m_stride_t,
    const bf16* __restrict__ n_history,                // [B, T, H, 1]
    i64 n_history_stride_b, i64 n_history_stride_t,
    const bf16* __restrict__ grad_h_out,               // [B, T, H, 1, D]
    i64 grad_h_out_stride_b, i64 grad_h_out_stride_t,
    const bf16* __restrict__ R,                        // [H, 1, D, D]
    const float* __restrict__ n_first,                 // [B, H, 1]
    const float* __restrict__ grad_h_last,             // [B, H, 1, D]
    const float* __restrict__ grad_n_last,             // [B, H, 1]
    bf16* grad_x,                                      // [B, T, H, 1, D]
    i64 grad_x_stride_b, i64 grad_x_stride_t,
    float* scratch_3,                                  // [B, T, H, 2, 1]
    i64 scratch_3_stride_b, i64 scratch_3_stride_t,
    bf16* scratch_2,                                   // [B, T, H, 1, D]
    i64 scratch_2_stride_b, i64 scratch_2_stride_t,
    float* grad_h_first,                               // [B, H, 1, D]
    float* grad_n_first,                               // [B, H, 1]
    int batch,                                         // B
    int time,                                          // T
    int* status)                                       // set to 1 by who has waited in vain
{
  constexpr int kUnits = 24;              // channels a block
  constexpr int kSteps = 2;               // time steps a stage
  constexpr int kMultiplying = 96;        // threads that compute or multiply
  constexpr int kDim = 40;                // channels a head
  constexpr int kFirstProducer = 96;      // first staging thread
  constexpr int kFirstStoreThread = 128;
  extern __shared__ __align__(16) unsigned char shared_memory[];
  bf16* const x_staged = reinterpret_cast<bf16*>(shared_memory);                  // [stages 3, steps 2, rows 1, batch 8, units 24 + 8]
  bf16* const m_staged = reinterpret_cast<bf16*>(shared_memory + 3072);           // [stages 3, steps 2, rows 1, batch 8]
  bf16* const n_history_before = reinterpret_cast<bf16*>(shared_memory + 3168);   // [stages 3, steps 2, rows 1, batch 8]
  bf16* const grad_h_out_staged = reinterpret_cast<bf16*>(shared_memory + 3264);  // [stages 3, steps 2, rows 1, batch 8, units 24 + 8]
  bf16* const vector_0 = reinterpret_cast<bf16*>(shared_memory + 6336);           // [2, batch tiles 1, channels 48, 8]
  bf16* const matrix_0 = reinterpret_cast<bf16*>(shared_memory + 7872);           // [warps 3, row tiles 1, k-tiles 3, lanes 32, 8]
  float* const reduced_0 = reinterpret_cast<float*>(shared_memory + 12480);       // [2, batch tiles 1, lines 6, quarters 4, words 1, 2]
  bf16* const grad_x_ring = reinterpret_cast<bf16*>(shared_memory + 12864);       // [2, steps 2, rows 1, batch tiles 1, units 24, 8]
  float* const scratch_3_ring = reinterpret_cast<float*>(shared_memory + 14400);  // [2, steps 2, rows 1, warps 3, batch 8]
  bf16* const scratch_2_ring = reinterpret_cast<bf16*>(shared_memory + 14784);    // [2, steps 2, rows 1, batch tiles 1, units 24, 8]
  mbarrier* const ready_0 = reinterpret_cast<mbarrier*>(shared_memory + 16320);   // vectors have come from all blocks
  mbarrier* const lines_0 = reinterpret_cast<mbarrier*>(shared_memory + 16336);   // parts of reductions have come
  mbarrier* const full = reinterpret_cast<mbarrier*>(shared_memory + 16352);      // a stage of inputs has landed
  mbarrier* const empty = reinterpret_cast<mbarrier*>(shared_memory + 16376);     // it has been read
  mbarrier* const filled = reinterpret_cast<mbarrier*>(shared_memory + 16400);    // a stage of results is complete
  mbarrier* const drained = reinterpret_cast<mbarrier*>(shared_memory + 16416);   // it has been stored
  const int thread_x = threadIdx.x, block_x = blockIdx.x, cluster_rank = blockIdx.x % 2;

  bool in_vain = false;

  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; ++i) mbarrier_init(&ready_0[i], 1);
    for (int i = 0; i < 2; ++i) mbarrier_init(&lines_0[i], 1);
    for (int i = 0; i < 3; ++i) mbarrier_init(&full[i], 32);
    for (int i = 0; i < 3; ++i) mbarrier_init(&empty[i], 96);
    for (int i = 0; i < 2; ++i) mbarrier_init(&filled[i], 96);
    for (int i = 0; i < 2; ++i) mbarrier_init(&drained[i], 32);
    publish_mbarriers();
  }
  cluster_barrier();

  // this block's head, batch rows and units; this thread's unit and batch rows
  const int rank = cluster_rank;
  const int team = block_x / 2;
  const int first_row = team * 8;
  const int first_unit = rank * kUnits;
  const int warp = thread_x / 32;
  const int lane = thread_x % 32;
  const int group = lane / 4;
  const int quarter = lane % 4;
  const int unit = warp * 8 + group;
  const int groups = (time + 1) / kSteps;
  // zeros where no input lies
  #pragma unroll 1
  for (int i = thread_x; i < 192; i += 160) store_pairs_x4(&x_staged[i * 8], 0, 0, 0, 0);
  #pragma unroll 1
  for (int i_2 = thread_x; i_2 < 6; i_2 += 160) store_pairs_x4(&m_staged[i_2 * 8], 0, 0, 0, 0);
  #pragma unroll 1
  for (int i_3 = thread_x; i_3 < 6; i_3 += 160) store_pairs_x4(&n_history_before[i_3 * 8], 0, 0, 0, 0);
  #pragma unroll 1
  for (int i_4 = thread_x; i_4 < 192; i_4 += 160) store_pairs_x4(&grad_h_out_staged[i_4 * 8], 0, 0, 0, 0);
  __syncthreads();
  if (thread_x < kMultiplying) {
    int x_now[1];
    int m_now[1];
    int n_history_before_now[1];
    int grad_h_out_now[1];
    // parameters and first carries into registers
    float grad_h = 0.0f, grad_h_2 = 0.0f, grad_n = 0.0f, grad_n_2 = 0.0f;
    if (first_unit + unit < kDim && first_row + quarter * 2 < batch) {
      grad_h = grad_h_last[i64(first_row + quarter * 2) * 40 + (first_unit + unit)];
    }
    if (first_unit + unit < kDim && first_row + (quarter * 2 + 1) < batch) {
      grad_h_2 = grad_h_last[i64(first_row + (quarter * 2 + 1)) * 40 + (first_unit + unit)];
    }
    if (first_row + quarter * 2 < batch) {
      grad_n = grad_n_last[i64(first_row + quarter * 2)];
    }
    if (first_row + (quarter * 2 + 1) < batch) {
      grad_n_2 = grad_n_last[i64(first_row + (quarter * 2 + 1))];
    }
    // the matrices, for all of time
    #pragma unroll 1
    for (int k = 0; k < 3; ++k) {
      float entry = 0.0f;
      if (first_unit + unit < 40 && k * 16 + quarter * 2 + 1 < 40) {
        entry = bf16_to_float(R[i64((k * 16 + quarter * 2 + 1) * 40 + (first_unit + unit))]);
      }
      float entry_2 = 0.0f;
      if (first_unit + unit < 40 && k * 16 + quarter * 2 < 40) {
        entry_2 = bf16_to_float(R[i64((k * 16 + quarter * 2) * 40 + (first_unit + unit))]);
      }
      const int pair = int(pack_bf16(entry_2, entry));
      float entry_3 = 0.0f;
      if (first_unit + unit < 40 && k * 16 + (quarter * 2 + 8) + 1 < 40) {
        entry_3 = bf16_to_float(R[i64((k * 16 + (quarter * 2 + 8) + 1) * 40 + (first_unit + unit))]);
      }
      float entry_4 = 0.0f;
      if (first_unit + unit < 40 && k * 16 + (quarter * 2 + 8) < 40) {
        entry_4 = bf16_to_float(R[i64((k * 16 + (quarter * 2 + 8)) * 40 + (first_unit + unit))]);
      }
      const int pair_2 = int(pack_bf16(entry_4, entry_3));
      store_pairs_x4(&matrix_0[((warp * 3 + k) * 32 + lane) * 8], pair, 0, pair_2, 0);
    }
    float sum_0[4];
    int matrix_piece[4];
    int vector_now[4];
    // what the first two steps will bring
    if (thread_x == 0) {
      if (!in_vain) mbarrier_expect(&ready_0[0], 768);
      if (!in_vain) mbarrier_expect(&ready_0[1], 768);
    }
    // parts of reductions of the first two steps
    if (thread_x == 0) {
      if (!in_vain) mbarrier_expect(&lines_0[0], 192);
      if (!in_vain) mbarrier_expect(&lines_0[1], 192);
    }
    float n_first_2 = 0.0f, n_first_3 = 0.0f;
    if (first_row + quarter * 2 < batch) {
      n_first_2 = n_first[i64(first_row + quarter * 2)];
    }
    if (first_row + (quarter * 2 + 1) < batch) {
      n_first_3 = n_first[i64(first_row + (quarter * 2 + 1))];
    }
    #pragma unroll 1
    for (int stage = 0; stage < groups; ++stage) {
      const int slot = stage % 3;
      const int turn = stage % 2;
      in_vain |= mbarrier_wait(&full[slot], stage / 3 % 2, status);
      if (stage >= 2) in_vain |= mbarrier_wait(&drained[turn], (stage / 2 + 1) % 2, status);
      const int count = min(kSteps, time - stage * kSteps);
      #pragma unroll 1
      for (int s = 0; s < count; ++s) {
        const int done = stage * 2 + s;
        const int ring_line = stage % 2 * 2 + s;
        const int line = stage % 3 * 2 + s;
        const int x_at = (line * 8 + lane % 8) * 32 + warp * 8;
        load_matrix_x1_transposed(&x_now[0], &x_staged[x_at]);
        m_now[0] = load_pair(&m_staged[line * 8 + quarter * 2]);
        n_history_before_now[0] = load_pair(&n_history_before[line * 8 + quarter * 2]);
        const int grad_h_out_at = (line * 8 + lane % 8) * 32 + warp * 8;
        load_matrix_x1_transposed(&grad_h_out_now[0], &grad_h_out_staged[grad_h_out_at]);
        const int t = time - 1 - done;
        const float v = low_bf16(grad_h_out_now[0]) + grad_h;
        const float v_2 = high_bf16(grad_h_out_now[0]) + grad_h_2;
        const int packed = int(pack_bf16(first_unit + unit < kDim ? v : 0.0f, first_unit + unit < kDim ? v_2 : 0.0f));
        store_async_1(&vector_0[(first_unit + unit) * 8 + done % 2 * 384 + quarter * 2], 0, &ready_0[done % 2], packed);
        store_async_1(&vector_0[(first_unit + unit) * 8 + done % 2 * 384 + quarter * 2], 1, &ready_0[done % 2], packed);
        const float before = t == 0 ? n_first_2 : low_bf16(n_history_before_now[0]);
        const float v_3 = v + grad_n * before * 0.025f;
        const float before_2 = t == 0 ? n_first_3 : high_bf16(n_history_before_now[0]);
        const float v_4 = v_2 + grad_n_2 * before_2 * 0.025f;
        const float part = first_unit + unit < kDim ? v * low_bf16(x_now[0]) : 0.0f;
        const float part_2 = first_unit + unit < kDim ? v_2 * high_bf16(x_now[0]) : 0.0f;
        const float other = __shfl_xor_sync(0xffffffffu, part, 4);
        const float part_3 = part + other;
        const float other_2 = __shfl_xor_sync(0xffffffffu, part_2, 4);
        const float part_4 = part_2 + other_2;
        const float other_3 = __shfl_xor_sync(0xffffffffu, part_3, 8);
        const float part_5 = part_3 + other_3;
        const float other_4 = __shfl_xor_sync(0xffffffffu, part_4, 8);
        const float part_6 = part_4 + other_4;
        const float other_5 = __shfl_xor_sync(0xffffffffu, part_5, 16);
        const float part_7 = part_5 + other_5;
        const float other_6 = __shfl_xor_sync(0xffffffffu, part_6, 16);
        const float part_8 = part_6 + other_6;
        const int line_2 = ((rank * 3 + warp) * 4 + quarter) * 2 + done % 2 * 48;
        if (group < 2)
          store_async_2(&reduced_0[line_2], group, &lines_0[done % 2], __float_as_int(part_7), __float_as_int(part_8));
        in_vain |= mbarrier_wait_cluster(&lines_0[done % 2], done / 2 % 2, status);
        float of_line_0, of_line_1;
        load_fp32x2(&reduced_0[(min(group, 5) * 4 + quarter) * 2 + done % 2 * 48], of_line_0, of_line_1);
        const float of_line = group < 6 ? of_line_0 : 0.0f;
        const float of_line_2 = group < 6 ? of_line_1 : 0.0f;
        const float part_9 = of_line;
        const float part_10 = of_line_2;
        const float other_7 = __shfl_xor_sync(0xffffffffu, part_9, 4);
        const float part_11 = part_9 + other_7;
        const float other_8 = __shfl_xor_sync(0xffffffffu, part_10, 4);
        const float part_12 = part_10 + other_8;
        const float other_9 = __shfl_xor_sync(0xffffffffu, part_11, 8);
        const float part_13 = part_11 + other_9;
        const float other_10 = __shfl_xor_sync(0xffffffffu, part_12, 8);
        const float part_14 = part_12 + other_10;
        const float other_11 = __shfl_xor_sync(0xffffffffu, part_13, 16);
        const float part_15 = part_13 + other_11;
        const float other_12 = __shfl_xor_sync(0xffffffffu, part_14, 16);
        const float part_16 = part_14 + other_12;
        if (thread_x == 0) if (!in_vain) mbarrier_expect(&lines_0[done % 2], 192);
        const float reduced = part_15;
        const float reduced_2 = part_16;
        const float next_n = reduced + grad_n * low_bf16(m_now[0]);
        const float next_n_2 = reduced_2 + grad_n_2 * high_bf16(m_now[0]);
        store_pair(&grad_x_ring[ring_line * 192 + unit * 8 + quarter * 2], int(pack_bf16(v * before, v_2 * before_2)));
        const float share = first_unit + unit < kDim ? v_3 : 0.0f;
        const float other_13 = __shfl_xor_sync(0xffffffffu, share, 4);
        const float share_2 = share + other_13;
        const float other_14 = __shfl_xor_sync(0xffffffffu, share_2, 8);
        const float share_3 = share_2 + other_14;
        const float other_15 = __shfl_xor_sync(0xffffffffu, share_3, 16);
        const float share_4 = share_3 + other_15;
        const float share_5 = first_unit + unit < kDim ? v_4 : 0.0f;
        const float other_16 = __shfl_xor_sync(0xffffffffu, share_5, 4);
        const float share_6 = share_5 + other_16;
        const float other_17 = __shfl_xor_sync(0xffffffffu, share_6, 8);
        const float share_7 = share_6 + other_17;
        const float other_18 = __shfl_xor_sync(0xffffffffu, share_7, 16);
        const float share_8 = share_7 + other_18;
        if (group == 0) store_fp32x2(&scratch_3_ring[(ring_line * 3 + warp) * 8 + quarter * 2], share_4, share_8);
        store_pair(&scratch_2_ring[ring_line * 192 + unit * 8 + quarter * 2], int(pack_bf16(v, v_2)));
        in_vain |= mbarrier_wait_cluster(&ready_0[done % 2], done / 2 % 2, status);
        const int from_slot = done % 2 * 384 + lane * 8;
        #pragma unroll
        for (int i_5 = 0; i_5 < 4; ++i_5) sum_0[i_5] = 0.0f;
        load_matrix_x4_transposed(&vector_now[0], &vector_0[from_slot]);
        int piece_0, piece_1, piece_2, piece_3;
        load_pairs_x4(&matrix_0[(warp * 3 * 32 + lane) * 8], piece_0, piece_1, piece_2, piece_3);
        matrix_piece[0] = piece_0;
        matrix_piece[1] = piece_1;
        matrix_piece[2] = piece_2;
        matrix_piece[3] = piece_3;
        mma_bf16(&sum_0[0], &matrix_piece[0], &vector_now[0]);
        int piece_0_2, piece_1_2, piece_2_2, piece_3_2;
        load_pairs_x4(&matrix_0[((warp * 3 + 1) * 32 + lane) * 8], piece_0_2, piece_1_2, piece_2_2, piece_3_2);
        matrix_piece[0] = piece_0_2;
        matrix_piece[1] = piece_1_2;
        matrix_piece[2] = piece_2_2;
        matrix_piece[3] = piece_3_2;
        mma_bf16(&sum_0[0], &matrix_piece[0], &vector_now[2]);
        load_matrix_x2_transposed(&vector_now[0], &vector_0[from_slot + 256]);
        int piece_0_3, piece_1_3, piece_2_3, piece_3_3;
        load_pairs_x4(&matrix_0[((warp * 3 + 2) * 32 + lane) * 8], piece_0_3, piece_1_3, piece_2_3, piece_3_3);
        matrix_piece[0] = piece_0_3;
        matrix_piece[1] = piece_1_3;
        matrix_piece[2] = piece_2_3;
        matrix_piece[3] = piece_3_3;
        mma_bf16(&sum_0[0], &matrix_piece[0], &vector_now[0]);
        const float next_h = sum_0[0];
        const float next_h_2 = sum_0[1];
        if (thread_x == 0) if (!in_vain) mbarrier_expect(&ready_0[done % 2], 768);
        grad_h = next_h;
        grad_h_2 = next_h_2;
        grad_n = next_n;
        grad_n_2 = next_n_2;
      }
      mbarrier_arrive(&empty[slot]);
      mbarrier_arrive(&filled[turn]);
    }
    // gradients of the initial states
    if (first_unit + unit < kDim && first_row + quarter * 2 < batch)
      grad_h_first[i64(first_row + quarter * 2) * 40 + (first_unit + unit)] = grad_h;
    if (first_unit + unit < kDim && first_row + (quarter * 2 + 1) < batch)
      grad_h_first[i64(first_row + (quarter * 2 + 1)) * 40 + (first_unit + unit)] = grad_h_2;
    if (rank == 0 && (warp == 0 && group == 0)) {
      if (first_row + quarter * 2 < batch) grad_n_first[i64(first_row + quarter * 2)] = grad_n;
      if (first_row + (quarter * 2 + 1) < batch) grad_n_first[i64(first_row + (quarter * 2 + 1))] = grad_n_2;
    }
  } else if (thread_x < 128) {
    #pragma unroll 1
    for (int stage_2 = 0; stage_2 < groups + 1; ++stage_2) {
      if (stage_2 < groups) {
        const int slot_2 = stage_2 % 3;
        if (stage_2 >= 3) in_vain |= mbarrier_wait(&empty[slot_2], (stage_2 / 3 + 1) % 2, status);
        const int first_7 = stage_2 * kSteps;
        const int count_2 = min(kSteps, time - first_7);
        // stage x
        #pragma unroll 1
        for (int place = thread_x - kFirstProducer; place < 24; place += 32) {
          const int column = place % 3 * 8;
          const int batch_place = place / 3 % 8;
          const int row = place / 24;
          if (first_row + batch_place < batch && first_unit + column < kDim) {
            const int t_2 = time - 1 - first_7;
            i64 from = i64(first_row + batch_place) * x_stride_b + first_unit + i64(t_2) * x_stride_t + (row * 40 + column);
            int to = slot_2 * 512 + (row * 8 + batch_place) * 32 + column;
            #pragma unroll 2
            for (int s_2 = 0; s_2 < count_2; ++s_2) {
              copy_async_16(&x_staged[to], &x[from]);
              from = from - x_stride_t;
              to = to + 256;
            }
          }
        }
        // stage m
        #pragma unroll 1
        for (int place_2 = thread_x - kFirstProducer; place_2 < count_2 * 8; place_2 += 32) {
          const int batch_row = first_row + place_2 % 8;
          const int t_3 = time - 1 - (first_7 + place_2 / 8);
          if (batch_row < batch) {
            const float element = bf16_to_float(m[i64(batch_row) * m_stride_b + i64(t_3) * m_stride_t]);
            m_staged[slot_2 * 16 + place_2] = float_to_bf16(element);
          }
        }
        // stage n_history
        #pragma unroll 1
        for (int place_3 = thread_x - kFirstProducer; place_3 < count_2 * 8; place_3 += 32) {
          const int batch_row_2 = first_row + place_3 % 8;
          const int t_4 = time - 1 - (first_7 + place_3 / 8) - 1;
          if (batch_row_2 < batch && t_4 >= 0) {
            const float element_2 = bf16_to_float(n_history[i64(batch_row_2) * n_history_stride_b + i64(t_4) * n_history_stride_t]);
            n_history_before[slot_2 * 16 + place_3] = float_to_bf16(element_2);
          }
        }
        // stage grad_h_out
        #pragma unroll 1
        for (int place_4 = thread_x - kFirstProducer; place_4 < 24; place_4 += 32) {
          const int column_2 = place_4 % 3 * 8;
          const int batch_place_2 = place_4 / 3 % 8;
          const int row_2 = place_4 / 24;
          if (first_row + batch_place_2 < batch && first_unit + column_2 < kDim) {
            const int t_5 = time - 1 - first_7;
            i64 from_2 = i64(first_row + batch_place_2) * grad_h_out_stride_b + first_unit + i64(t_5) * grad_h_out_stride_t + (row_2 * 40 + column_2);
            int to_2 = slot_2 * 512 + (row_2 * 8 + batch_place_2) * 32 + column_2;
            #pragma unroll 2
            for (int s_3 = 0; s_3 < count_2; ++s_3) {
              copy_async_16(&grad_h_out_staged[to_2], &grad_h_out[from_2]);
              from_2 = from_2 - grad_h_out_stride_t;
              to_2 = to_2 + 256;
            }
          }
        }
      }
      commit_copies();
      if (stage_2 >= 1) {
        wait_copies<1>();
        mbarrier_arrive(&full[(stage_2 - 1) % 3]);
      }
    }
  } else {
    #pragma unroll 1
    for (int stage_3 = 0; stage_3 < groups; ++stage_3) {
      const int turn_2 = stage_3 % 2;
      in_vain |= mbarrier_wait(&filled[turn_2], stage_3 / 2 % 2, status);
      const int first_8 = stage_3 * kSteps;
      const int count_3 = min(kSteps, time - first_8);
      // store grad_x
      int pieces[4];
      #pragma unroll 1
      for (int place_5 = (thread_x - kFirstStoreThread) / 32; place_5 < 1; ++place_5) {
        const int held_unit = min(lane % 8 / 2 * 8 + lane / 8 * 2 + lane % 2, 23);
        const int unit_2 = quarter * 8;
        const int row_3 = place_5;
        const int batch_row_3 = first_row + group;
        int from_3 = turn_2 * 384 + (row_3 * 24 + held_unit) * 8;
        i64 to_3 = i64(batch_row_3) * grad_x_stride_b + first_unit + i64(time - 1 - first_8) * grad_x_stride_t + (row_3 * 40 + unit_2);
        #pragma unroll 1
        for (int s_4 = 0; s_4 < count_3; ++s_4) {
          load_matrix_x4_transposed(&pieces[0], &grad_x_ring[from_3]);
          if (batch_row_3 < batch && unit_2 < 24) {
            if (unit_2 < kDim - first_unit) store_pairs_x4(&grad_x[to_3], pieces[0], pieces[1], pieces[2], pieces[3]);
          }
          from_3 = from_3 + 192;
          to_3 = to_3 - grad_x_stride_t;
        }
      }
      // store scratch_3
      #pragma unroll 1
      for (int place_6 = thread_x - kFirstStoreThread; place_6 < 8; place_6 += 32) {
        const int batch_row_4 = first_row + place_6 % 8;
        if (batch_row_4 < batch) {
          const int row_4 = place_6 / 8;
          int from_4 = turn_2 * 48 + row_4 * 24 + place_6 % 8;
          i64 to_4 = i64(batch_row_4) * scratch_3_stride_b + i64(time - 1 - first_8) * scratch_3_stride_t + (rank + row_4);
          #pragma unroll 1
          for (int s_5 = 0; s_5 < count_3; ++s_5) {
            const float head_value_3 = scratch_3_ring[from_4];
            float total = head_value_3;
            #pragma unroll 4
            for (int warp_2 = 1; warp_2 < 3; ++warp_2) {
              const float share_9 = scratch_3_ring[from_4 + warp_2 * 8];
              total = total + share_9;
            }
            scratch_3[to_4] = total;
            from_4 = from_4 + 24;
            to_4 = to_4 - scratch_3_stride_t;
          }
        }
      }
      // store scratch_2
      int pieces_2[4];
      #pragma unroll 1
      for (int place_7 = (thread_x - kFirstStoreThread) / 32; place_7 < 1; ++place_7) {
        const int held_unit_2 = min(lane % 8 / 2 * 8 + lane / 8 * 2 + lane % 2, 23);
        const int unit_3 = quarter * 8;
        const int row_5 = place_7;
        const int batch_row_5 = first_row + group;
        int from_5 = turn_2 * 384 + (row_5 * 24 + held_unit_2) * 8;
        i64 to_5 = i64(batch_row_5) * scratch_2_stride_b + first_unit + i64(time - 1 - first_8) * scratch_2_stride_t + (row_5 * 40 + unit_3);
        #pragma unroll 1
        for (int s_6 = 0; s_6 < count_3; ++s_6) {
          load_matrix_x4_transposed(&pieces_2[0], &scratch_2_ring[from_5]);
          if (batch_row_5 < batch && unit_3 < 24) {
            if (unit_3 < kDim - first_unit)
              store_pairs_x4(&scratch_2[to_5], pieces_2[0], pieces_2[1], pieces_2[2], pieces_2[3]);
          }
          from_5 = from_5 + 192;
          to_5 = to_5 - scratch_2_stride_t;
        }
      }
      mbarrier_arrive(&drained[turn_2]);
    }
  }
  // no block leaves while others may still send to it
  cluster_barrier();
}

// gradient of m: sum over the shares
extern "C" __global__ void __launch_bounds__(128, 1) shifted_grad_m(
    const float* __restrict__ scratch_3,             // [B, T, H, 2, 1]
    i64 scratch_3_stride_b, i64 scratch_3_stride_t,
    bf16* __restrict__ grad_m,                       // [B, T, H, 1]
    i64 grad_m_stride_b, i64 grad_m_stride_t,
    int time)                                        // T
{
  const int thread_x = threadIdx.x, block_x = blockIdx.x;

  const int spans = (time + 3) / 4;
  const int row = block_x / spans;
  const int t = block_x % spans * 4 + thread_x / 32;
  const int lane = thread_x % 32;
  if (t < time) {
    const i64 first = i64(row) * scratch_3_stride_b + i64(t) * scratch_3_stride_t;
    float total = 0.0f;
    #pragma unroll 4
    for (int d = lane; d < 2; d += 32) {
      const float share = scratch_3[first + d];
      total = total + share;
    }
    const float other = __shfl_xor_sync(0xffffffffu, total, 16);
    total = total + other;
    const float other_2 = __shfl_xor_sync(0xffffffffu, total, 8);
    total = total + other_2;
    const float other_3 = __shfl_xor_sync(0xffffffffu, total, 4);
    total = total + other_3;
    const float other_4 = __shfl_xor_sync(0xffffffffu, total, 2);
    total = total + other_4;
    const float other_5 = __shfl_xor_sync(0xffffffffu, total, 1);
    total = total + other_5;
    if (lane == 0) grad_m[i64(row) * grad_m_stride_b + i64(t) * grad_m_stride_t] = float_to_bf16(total);
  }
}
