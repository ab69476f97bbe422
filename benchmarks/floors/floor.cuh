// What the floors share: the instructions of clusters, and timing.
#pragma once

#include <cstdio>
#include <cuda_runtime.h>

constexpr int kTries = 1 << 22;  // of a wait, some seconds; it gives up then

__device__ inline unsigned shared_address(const void* p) { return unsigned(__cvta_generic_to_shared(p)); }

// Of an address in the same shared memory of another block of the cluster.
__device__ inline unsigned in_block(unsigned address, unsigned rank) {
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}

__device__ inline unsigned rank_in_cluster() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

__device__ inline void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}

__device__ inline void init_mbarrier(unsigned barrier) {
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier) : "memory");
}

// Arrives, and announces the bytes of the phase.
__device__ inline void expect_bytes(unsigned barrier, int bytes) {
  asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], %1; }" ::"r"(barrier), "r"(bytes) : "memory");
}

// 16 bytes into a block of the cluster, counted on its mbarrier.
__device__ inline void store_async(unsigned to, const int (&words)[4], unsigned barrier) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(to), "r"(words[0]),
               "r"(words[1]), "r"(words[2]), "r"(words[3]), "r"(barrier) : "memory");
}

// Whether the phase of this parity has completed.
__device__ inline bool wait_for_phase(unsigned barrier, int parity) {
  int done = 0;
  for (int tries = 0; done == 0 && tries < kTries; ++tries)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(barrier), "r"(parity) : "memory");
  return done != 0;
}

// Self-flagging words: all ones say that nothing has come yet.
__device__ inline bool have_come(const int* words) {
  return words[0] != -1 && words[1] != -1 && words[2] != -1 && words[3] != -1;
}

// A predicate, as a branch around the load would cost more than the load's own instructions.
__device__ inline void load_unless_come(int* words, const int* from) {
  asm volatile("{ .reg .pred p; setp.eq.s32 p, %5, 0; @p ld.relaxed.gpu.global.v4.b32 {%0, %1, %2, %3}, [%4]; }"
               : "+r"(words[0]), "+r"(words[1]), "+r"(words[2]), "+r"(words[3]) : "l"(from), "r"(int(have_come(words))) : "memory");
}

// The least time of some runs, in nanoseconds; the first ones also wake the clocks. `prepare` is not timed.
template <class Prepare, class Run>
double least_nanoseconds(const Prepare& prepare, const Run& run) {
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  float best = 1e30f;
  for (int turn = 0; turn < 6; ++turn) {
    prepare();
    cudaEventRecord(begin);
    run();
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    float ms = 0;
    cudaEventElapsedTime(&ms, begin, end);
    best = ms < best ? ms : best;
  }
  return best * 1e6;
}

template <class Run>
double least_nanoseconds(const Run& run) {
  return least_nanoseconds([] {}, run);
}

// Status of a program whose kernels have been submitted, 0 or 6; says what went wrong. `gave_up`: managed memory, or null.
inline int status_of_kernels(const char* program, const int* gave_up = nullptr) {
  const cudaError_t refused = cudaGetLastError();  // a launch that is refused is no error of the wait
  const cudaError_t error = refused != cudaSuccess ? refused : cudaDeviceSynchronize();
  const bool in_vain = gave_up != nullptr && *gave_up != 0;
  if (error == cudaSuccess && !in_vain) return 0;
  std::fprintf(stderr, "%s: %s\n", program, error != cudaSuccess ? cudaGetErrorString(error) : "a wait gave up");
  return 6;
}
