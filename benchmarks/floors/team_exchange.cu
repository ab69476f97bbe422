// What an exchange among the blocks that share a head costs at least. Prints nanoseconds as JSON. Build and run it on a
// machine with a GPU and nvcc:
//
//   nvcc -O3 -std=c++17 -arch=sm_90 benchmarks/floors/team_exchange.cu -o team_exchange && ./team_exchange
//
// Every exchange waits for the one before, as those of a recurrence do. Each block contributes one line of 64 bytes and
// needs those of all blocks of its team; one warp of a block does nothing else, so no barrier and no arithmetic but the
// five shuffles' worth that tells it that all have come stands between two exchanges.
//   grid_ns      teams of 48 blocks, one an SM, two teams: self-flagged words through the L2 (st.relaxed, ld.relaxed)
//   cluster_ns   clusters of 16 blocks: st.async into every block's shared memory, counted on an mbarrier
// A wait gives up after some seconds and says so.
#include <cstdio>
#include <cuda_runtime.h>

namespace {

constexpr int kExchanges = 1 << 13, kLine = 16, kTeam = 48, kTeams = 2, kCluster = 16, kTries = 1 << 22;
constexpr int kSlots = 4;  // of a line: a block is at most one exchange ahead of another
constexpr int kVectors = kTeam * kLine / (32 * 4);  // of four words, that a lane has of a team's lines

// Words are the number of their exchange, so none is cleared.
__global__ void through_grid(int* words, int* gave_up) {
  const int team = blockIdx.x / kTeam, rank = blockIdx.x % kTeam, lane = threadIdx.x;
  for (int i = 1; i <= kExchanges; ++i) {
    int* lines = words + (team * kSlots + i % kSlots) * kTeam * kLine;
    if (lane < 4)
      asm volatile("st.relaxed.gpu.global.v4.b32 [%0], {%1, %1, %1, %1};" ::"l"(lines + rank * kLine + lane * 4), "r"(i) : "memory");
    for (int tries = 0;; ++tries) {
      bool all = true;
      int word[kVectors * 4];
#pragma unroll
      for (int k = 0; k < kVectors; ++k)
        asm volatile("ld.relaxed.gpu.global.v4.b32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(word[4 * k]), "=r"(word[4 * k + 1]), "=r"(word[4 * k + 2]), "=r"(word[4 * k + 3])
                     : "l"(lines + (k * 32 + lane) * 4) : "memory");
#pragma unroll
      for (int k = 0; k < kVectors * 4; ++k) all = all && word[k] == i;
      if (__all_sync(0xffffffffu, all)) break;
      if (tries == kTries) {
        *gave_up = 1;
        return;
      }
    }
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
  cudaFuncSetAttribute((const void*)through_cluster, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  const double grid = nanoseconds([&] {
    cudaMemsetAsync(words, 0, kWords * sizeof(int));
    void* arguments[] = {&words, &gave_up};
    cudaLaunchCooperativeKernel((const void*)through_grid, dim3(kTeam * kTeams), dim3(32), arguments, 0, nullptr);
  });
  const double cluster = nanoseconds([&] { through_cluster<<<2 * kCluster, 32>>>(gave_up); });
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess || *gave_up != 0) {
    std::fprintf(stderr, "team_exchange: %s\n", error != cudaSuccess ? cudaGetErrorString(error) : "a wait gave up");
    return 6;
  }
  std::printf("{\"device\": \"%s\", \"grid_ns\": %.1f, \"cluster_ns\": %.1f}\n", device.name, grid, cluster);
  return 0;
}
