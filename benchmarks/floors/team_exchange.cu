// What an exchange among the blocks that share a head costs at least. Prints nanoseconds as JSON. Build and run it on a
// machine with a GPU and nvcc:
//
//   nvcc -O3 -std=c++17 -arch=sm_90 benchmarks/floors/team_exchange.cu -o team_exchange && ./team_exchange
//
// Every exchange waits for the one before, as those of a recurrence do. Nothing else is done: one warp of each block sends
// and waits, without a barrier or arithmetic between two exchanges.
//   grid_pair_ns, cluster_pair_ns  from one block to one other, there and back, halved: no exchange is faster than that
//   grid_ns      each of 48 blocks sends a line of 64 bytes and waits for all of its team's, one block an SM, two teams:
//                self-flagged words through the L2 (st.relaxed, ld.relaxed)
//   cluster_ns   the same among the 16 blocks of a cluster: st.async into every block's shared memory, counted on an
//                mbarrier; two clusters
// A wait gives up after some seconds and says so.
#include <cstdio>
#include <cuda_runtime.h>

namespace {

constexpr int kExchanges = 1 << 13, kLine = 16, kTeam = 48, kTeams = 2, kCluster = 16, kTries = 1 << 22;
constexpr int kSlots = 4;  // of a line: a block is at most one exchange ahead of another
constexpr int kVectors = kTeam * kLine / (32 * 4);  // of four words, that a lane has of a team's lines

// Words are the number of their exchange, so none is cleared. Vectors that have come are not loaded again, and the lanes of
// the warp go on together.
template <int Vectors>
__device__ bool wait_for(int i, const int* first) {
  int word[Vectors * 4] = {};
  for (int tries = 0; tries < kTries; ++tries) {
    bool all = true;
#pragma unroll
    for (int k = 0; k < Vectors; ++k)
      if (word[4 * k] != i || word[4 * k + 1] != i || word[4 * k + 2] != i || word[4 * k + 3] != i)
        asm volatile("ld.relaxed.gpu.global.v4.b32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(word[4 * k]), "=r"(word[4 * k + 1]), "=r"(word[4 * k + 2]), "=r"(word[4 * k + 3])
                     : "l"(first + k * 128) : "memory");
#pragma unroll
    for (int k = 0; k < Vectors * 4; ++k) all = all && word[k] == i;
    if (__all_sync(0xffffffffu, all)) return true;
  }
  return false;
}

__device__ void send(int i, int* to) {
  asm volatile("st.relaxed.gpu.global.v4.b32 [%0], {%1, %1, %1, %1};" ::"l"(to), "r"(i) : "memory");
}

__global__ void through_grid(int* words, int* gave_up) {
  const int team = blockIdx.x / kTeam, rank = blockIdx.x % kTeam, lane = threadIdx.x;
  for (int i = 1; i <= kExchanges; ++i) {
    int* lines = words + (team * kSlots + i % kSlots) * kTeam * kLine;
    if (lane < 4) send(i, lines + rank * kLine + lane * 4);
    if (wait_for<kVectors>(i, lines + lane * 4)) continue;
    *gave_up = 1;
    return;
  }
}

// The first block sends first, and the last answers; those between do nothing. All lanes wait for the same vector.
__global__ void grid_pair(int* words, int* gave_up) {
  const int last = gridDim.x - 1, here = blockIdx.x == 0 ? 0 : 1;
  if (blockIdx.x != 0 && blockIdx.x != last) return;
  for (int i = 1; i <= kExchanges; ++i) {
    if (here == 0 && threadIdx.x == 0) send(i, words);
    if (!wait_for<1>(i, words + (here == 0 ? 128 : 0))) {
      *gave_up = 1;
      return;
    }
    if (here == 1 && threadIdx.x == 0) send(i, words + 128);
  }
}

__device__ unsigned shared_address(const void* p) { return unsigned(__cvta_generic_to_shared(p)); }

__global__ void __cluster_dims__(kCluster, 1, 1) through_cluster(int* gave_up) {
  __shared__ __align__(16) int lines[2][kCluster * kLine];
  __shared__ __align__(8) unsigned long long arrived[2];
  const int lane = threadIdx.x;
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  constexpr int kBytes = kCluster * kLine * 4;
  if (lane == 0)
    for (int slot = 0; slot < 2; ++slot) {
      asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&arrived[slot])) : "memory");
      asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], %1; }" ::"r"(shared_address(&arrived[slot])), "n"(kBytes)
                   : "memory");
    }
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  bool failed = false;
  for (int i = 0; i < kExchanges && !failed; ++i) {
    const int slot = i % 2;
    // Every lane sends half the line to one of the blocks.
    unsigned to, barrier;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(shared_address(&lines[slot][rank * kLine + lane / kCluster * 8])), "r"(lane % kCluster));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(barrier) : "r"(shared_address(&arrived[slot])), "r"(lane % kCluster));
    for (int half = 0; half < 2; ++half)
      asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %1, %1, %1}, [%2];" ::"r"(to + half * 16), "r"(i), "r"(barrier)
                   : "memory");
    int done = 0;
    for (int tries = 0; done == 0 && tries < kTries; ++tries)
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }"
                   : "=r"(done) : "r"(shared_address(&arrived[slot])), "r"(i / 2 % 2) : "memory");
    failed = done == 0;
    if (lane == 0)
      asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], %1; }" ::"r"(shared_address(&arrived[slot])), "n"(kBytes)
                   : "memory");
    __syncwarp();
  }
  if (failed) *gave_up = 1;
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}

__global__ void __cluster_dims__(kCluster, 1, 1) cluster_pair(int* gave_up) {
  __shared__ __align__(16) int word[4];
  __shared__ __align__(8) unsigned long long arrived;
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  const bool plays = threadIdx.x == 0 && (rank == 0 || rank == kCluster - 1);
  const auto expect = [&] {
    asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], 16; }" ::"r"(shared_address(&arrived)) : "memory");
  };
  if (plays) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&arrived)) : "memory");
    expect();
  }
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  if (plays) {
    unsigned to, barrier;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(shared_address(word)), "r"(kCluster - 1 - rank));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(barrier) : "r"(shared_address(&arrived)), "r"(kCluster - 1 - rank));
    const auto send = [&](int i) {
      asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %1, %1, %1}, [%2];" ::"r"(to), "r"(i), "r"(barrier)
                   : "memory");
    };
    for (int i = 0; i < kExchanges; ++i) {
      if (rank == 0) send(i);
      int done = 0;
      for (int tries = 0; done == 0 && tries < kTries; ++tries)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(shared_address(&arrived)), "r"(i % 2) : "memory");
      if (done == 0) *gave_up = 1;
      expect();
      if (rank != 0) send(i);
    }
  }
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}

template <class Run>
double nanoseconds(const Run& run) {
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  float best = 1e30f;
  for (int turn = 0; turn < 6; ++turn) {  // the least: the first ones also wake the clocks
    cudaEventRecord(begin);
    run();
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    float ms = 0;
    cudaEventElapsedTime(&ms, begin, end);
    best = ms < best ? ms : best;
  }
  return best * 1e6 / kExchanges;
}

}  // namespace

int main() {
  cudaDeviceProp device;
  int *words = nullptr, *gave_up = nullptr;
  constexpr int kWords = kTeams * kSlots * kTeam * kLine;
  if (cudaGetDeviceProperties(&device, 0) != cudaSuccess || cudaMalloc(&words, kWords * sizeof(int)) != cudaSuccess ||
      cudaMallocManaged(&gave_up, sizeof(int)) != cudaSuccess) {
    std::fprintf(stderr, "team_exchange: no GPU\n");
    return 4;
  }
  *gave_up = 0;
  for (const void* kernel : {(const void*)through_cluster, (const void*)cluster_pair})
    cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  const auto cooperative = [&](const void* kernel) {
    return nanoseconds([&] {
      cudaMemsetAsync(words, 0, kWords * sizeof(int));
      void* arguments[] = {&words, &gave_up};
      cudaLaunchCooperativeKernel(kernel, dim3(kTeam * kTeams), dim3(32), arguments, 0, nullptr);
    });
  };
  const double grid = cooperative((const void*)through_grid), grid_one = cooperative((const void*)grid_pair) / 2;
  const double cluster = nanoseconds([&] { through_cluster<<<2 * kCluster, 32>>>(gave_up); });
  const double cluster_one = nanoseconds([&] { cluster_pair<<<kCluster, 32>>>(gave_up); }) / 2;
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess || *gave_up != 0) {
    std::fprintf(stderr, "team_exchange: %s\n", error != cudaSuccess ? cudaGetErrorString(error) : "a wait gave up");
    return 6;
  }
  std::printf("{\"device\": \"%s\", \"grid_pair_ns\": %.1f, \"cluster_pair_ns\": %.1f, \"grid_ns\": %.1f, \"cluster_ns\": %.1f}\n",
              device.name, grid_one, cluster_one, grid, cluster);
  return 0;
}
