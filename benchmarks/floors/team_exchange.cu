// What an exchange between two blocks that share a head costs at least. Prints nanoseconds as JSON. Build and run it on a
// machine with a GPU and nvcc:
//
//   nvcc -O3 -std=c++17 -arch=sm_90 benchmarks/floors/team_exchange.cu -o team_exchange && ./team_exchange
//
// One block sends 16 bytes to another and waits for its answer; half of that is one way. Nothing else is done, without a
// barrier or arithmetic, so no exchange among more blocks is faster.
//   grid_ns      through the L2, as self-flagging words (st.relaxed, ld.relaxed), one block an SM
//   cluster_ns   between the first and the last block of a cluster of 16: st.async, counted on an mbarrier
// A wait gives up after some seconds and says so.
#include "floor.cuh"

namespace {

constexpr int kExchanges = 1 << 13, kBlocks = 96, kCluster = 16;
constexpr int kAnswer = 128;  // words from those of the first block to those of the other

// Words are the number of their exchange, so none is cleared.
__device__ bool wait_for(int i, const int* words) {
  for (int tries = 0; tries < kTries; ++tries) {
    int word[4];
    asm volatile("ld.relaxed.gpu.global.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3]) : "l"(words) : "memory");
    if (word[0] == i && word[1] == i && word[2] == i && word[3] == i) return true;
  }
  return false;
}

__device__ void send(int i, int* words) {
  asm volatile("st.relaxed.gpu.global.v4.b32 [%0], {%1, %1, %1, %1};" ::"l"(words), "r"(i) : "memory");
}

// The first block sends first, and the last answers; those between only take up SMs.
__global__ void through_grid(int* words, int* gave_up) {
  const bool first = blockIdx.x == 0;
  if (threadIdx.x != 0 || (!first && blockIdx.x != gridDim.x - 1)) return;
  for (int i = 1; i <= kExchanges; ++i) {
    if (first) send(i, words);
    if (!wait_for(i, words + (first ? kAnswer : 0))) {
      *gave_up = 1;
      return;
    }
    if (!first) send(i, words + kAnswer);
  }
}

__global__ void __cluster_dims__(kCluster, 1, 1) through_cluster(int* gave_up) {
  __shared__ __align__(16) int word[4];
  __shared__ __align__(8) unsigned long long arrived;
  const unsigned rank = rank_in_cluster(), barrier = shared_address(&arrived);
  const bool plays = threadIdx.x == 0 && (rank == 0 || rank == kCluster - 1);
  if (plays) {
    init_mbarrier(barrier);
    expect_bytes(barrier, 16);
  }
  cluster_barrier();
  if (plays) {
    const unsigned other = kCluster - 1 - rank, to = in_block(shared_address(word), other), there = in_block(barrier, other);
    for (int i = 0; i < kExchanges; ++i) {
      if (rank == 0) store_async(to, {i, i, i, i}, there);
      if (!wait_for_phase(barrier, i % 2)) *gave_up = 1;
      expect_bytes(barrier, 16);
      if (rank != 0) store_async(to, {i, i, i, i}, there);
    }
  }
  cluster_barrier();
}

// One way.
template <class Run>
double nanoseconds(const Run& run) {
  return least_nanoseconds(run) / kExchanges / 2;
}

}  // namespace

int main() {
  cudaDeviceProp device;
  int *words = nullptr, *gave_up = nullptr;
  constexpr std::size_t kBytes = 2 * kAnswer * sizeof(int);
  if (cudaGetDeviceProperties(&device, 0) != cudaSuccess || cudaMalloc(&words, kBytes) != cudaSuccess ||
      cudaMallocManaged(&gave_up, sizeof(int)) != cudaSuccess) {
    std::fprintf(stderr, "team_exchange: no GPU\n");
    return 4;
  }
  *gave_up = 0;
  cudaFuncSetAttribute((const void*)through_cluster, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  const double grid = nanoseconds([&] {
    cudaMemsetAsync(words, 0, kBytes);
    void* arguments[] = {&words, &gave_up};
    cudaLaunchCooperativeKernel((const void*)through_grid, dim3(kBlocks), dim3(32), arguments, 0, nullptr);
  });
  const double cluster = nanoseconds([&] { through_cluster<<<kCluster, 32>>>(gave_up); });
  if (const int status = status_of_kernels("team_exchange", gave_up); status != 0) return status;
  std::printf("{\"device\": \"%s\", \"grid_ns\": %.1f, \"cluster_ns\": %.1f}\n", device.name, grid, cluster);
  return 0;
}
