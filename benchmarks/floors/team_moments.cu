// What it costs at least that all blocks of a team know the mean and the variance of a vector that lies spread over them.
// Prints nanoseconds as JSON. Build and run it on a machine with a GPU and nvcc:
//
//   nvcc -O3 -std=c++17 -arch=sm_90 benchmarks/floors/team_moments.cu -o team_moments && ./team_moments
//
// One warp of each block takes part. A lane has a number of two batch rows; three shuffles give the warp's sums and spreads,
// which it sends to all blocks. It waits for those of the others, adds them up, and shuffles again; the next vector is made of
// the result. Nothing else is done. Two teams run side by side, as in a kernel for 16 batch rows.
//   grid_ns      48 blocks through the L2: self-flagging words, of which each lane loads six lines until all are there
//   cluster_ns   16 blocks of a cluster: st.async, counted on an mbarrier
// A wait gives up after some seconds and says so.
#include "floor.cuh"

namespace {

constexpr int kSteps = 2000, kTeams = 2, kBlocks = 48, kCluster = 16;
constexpr int kLine = 16;  // words of a block: 4 quarters of a warp, two batch rows, a sum and a spread

struct Moments {
  float sum[2], spread[2];  // of two batch rows
};

__device__ float square(float x) { return x * x; }

// Of all lanes with the same batch rows; each has `channels` numbers.
__device__ Moments across_lanes(Moments m, float channels) {
#pragma unroll
  for (int distance = 4; distance < 32; distance *= 2, channels *= 2)
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      const float sum = __shfl_xor_sync(~0u, m.sum[row], distance), spread = __shfl_xor_sync(~0u, m.spread[row], distance);
      m.spread[row] = fmaf(square(sum - m.sum[row]), 1 / (2 * channels), m.spread[row] + spread);
      m.sum[row] += sum;
    }
  return m;
}

template <int lines>
__device__ Moments added_up(const Moments* parts) {
  constexpr float kChannels = 16;  // of a line: a warp's eight lanes with two each
  Moments all{};
#pragma unroll
  for (int row = 0; row < 2; ++row) {
#pragma unroll
    for (int i = 0; i < lines; ++i) all.sum[row] += parts[i].sum[row];
    const float mean = all.sum[row] / (kChannels * lines);
#pragma unroll
    for (int i = 0; i < lines; ++i)
      all.spread[row] += fmaf(square(parts[i].sum[row] / kChannels - mean), kChannels, parts[i].spread[row]);
  }
  return across_lanes(all, kChannels * lines);
}

__device__ Moments next_vector(const Moments& x, const Moments& all, float blocks, float offset) {
  Moments next{};
  const float share = 1 / (16 * blocks);
  for (int row = 0; row < 2; ++row)
    next.sum[row] = (x.sum[row] - all.sum[row] * share) * rsqrtf(all.spread[row] * share + 1e-5f) + 0.01f * offset;
  return next;
}

__device__ void store(const Moments& m, int* to) {
  asm volatile("st.relaxed.gpu.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(__float_as_int(m.sum[0])),
               "r"(__float_as_int(m.spread[0])), "r"(__float_as_int(m.sum[1])), "r"(__float_as_int(m.spread[1])) : "memory");
}

__device__ Moments moments_of(const int* words) {
  return {{__int_as_float(words[0]), __int_as_float(words[2])}, {__int_as_float(words[1]), __int_as_float(words[3])}};
}

// Every step has words of its own, all ones at first, so none is cleared.
__global__ void through_grid(int* words, float* results, int* gave_up) {
  constexpr int kLines = kBlocks / 8;  // of a lane
  const int team = blockIdx.x / kBlocks, rank = blockIdx.x % kBlocks, lane = threadIdx.x, quarter = lane % 4, group = lane / 4;
  Moments x{{lane * 0.1f + rank, lane * 0.2f - rank}, {0, 0}};
  for (int step = 0; step < kSteps; ++step) {
    int* slot = words + (team * kSteps + step) * kBlocks * kLine + quarter * 4;
    const Moments own = across_lanes(x, 1);
    if (group == 0) store(own, slot + rank * kLine);
    int come[4 * kLines];
#pragma unroll
    for (int i = 0; i < 4 * kLines; ++i) come[i] = -1;  // not there yet
    for (int tries = 0;; ++tries) {
#pragma unroll
      for (int i = 0; i < kLines; ++i) load_unless_come(come + 4 * i, slot + (group + 8 * i) * kLine);
      bool all = true;
#pragma unroll
      for (int i = 0; i < 4 * kLines; ++i) all = all && come[i] != -1;
      if (__all_sync(~0u, all)) break;
      if (tries == kTries) *gave_up = 1;
      if (tries >= kTries) return;
    }
    Moments parts[kLines];
#pragma unroll
    for (int i = 0; i < kLines; ++i) parts[i] = moments_of(come + 4 * i);
    x = next_vector(x, added_up<kLines>(parts), kBlocks, lane);
  }
  results[blockIdx.x * 32 + lane] = x.sum[0] + x.sum[1];
}

__global__ void __cluster_dims__(kCluster, 1, 1) through_cluster(float* results, int* gave_up) {
  constexpr int kLines = kCluster / 8;
  __shared__ __align__(16) int words[2][kCluster * kLine];
  __shared__ __align__(8) unsigned long long arrived[2];
  const unsigned rank = rank_in_cluster();
  const int lane = threadIdx.x, quarter = lane % 4, group = lane / 4;
  const auto expect = [&](int slot) { expect_bytes(shared_address(&arrived[slot]), kCluster * kLine * 4); };
  for (int slot = 0; lane == 0 && slot < 2; ++slot) {
    init_mbarrier(shared_address(&arrived[slot]));
    expect(slot);
  }
  cluster_barrier();
  Moments x{{lane * 0.1f + rank, lane * 0.2f - rank}, {0, 0}};
  for (int step = 0; step < kSteps; ++step) {
    const int slot = step % 2;
    const Moments own = across_lanes(x, 1);
    const int sent[4] = {__float_as_int(own.sum[0]), __float_as_int(own.spread[0]), __float_as_int(own.sum[1]),
                         __float_as_int(own.spread[1])};
#pragma unroll
    for (int first = 0; first < kCluster; first += 8)
      store_async(in_block(shared_address(&words[slot][rank * kLine + quarter * 4]), first + group), sent,
                  in_block(shared_address(&arrived[slot]), first + group));
    if (!wait_for_phase(shared_address(&arrived[slot]), step / 2 % 2)) *gave_up = 1;
    Moments parts[kLines];
#pragma unroll
    for (int i = 0; i < kLines; ++i) parts[i] = moments_of(&words[slot][(group + 8 * i) * kLine + quarter * 4]);
    __syncwarp();
    if (lane == 0) expect(slot);
    x = next_vector(x, added_up<kLines>(parts), kCluster, lane);
  }
  results[blockIdx.x * 32 + lane] = x.sum[0] + x.sum[1];
  cluster_barrier();
}

}  // namespace

int main() {
  cudaDeviceProp device;
  int *words = nullptr, *gave_up = nullptr;
  float* results = nullptr;
  constexpr std::size_t kBytes = std::size_t{kTeams} * kSteps * kBlocks * kLine * sizeof(int);
  if (cudaGetDeviceProperties(&device, 0) != cudaSuccess || cudaMalloc(&words, kBytes) != cudaSuccess ||
      cudaMalloc(&results, kTeams * kBlocks * 32 * sizeof(float)) != cudaSuccess ||
      cudaMallocManaged(&gave_up, sizeof(int)) != cudaSuccess) {
    std::fprintf(stderr, "team_moments: no GPU\n");
    return 4;
  }
  *gave_up = 0;
  cudaFuncSetAttribute((const void*)through_cluster, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  const double grid = least_nanoseconds([&] { cudaMemsetAsync(words, 0xff, kBytes); }, [&] {
    void* arguments[] = {&words, &results, &gave_up};
    cudaLaunchCooperativeKernel((const void*)through_grid, dim3(kTeams * kBlocks), dim3(32), arguments, 0, nullptr);
  });
  const double cluster = least_nanoseconds([&] { through_cluster<<<kTeams * kCluster, 32>>>(results, gave_up); });
  if (const int status = status_of_kernels("team_moments", gave_up); status != 0) return status;
  std::printf("{\"device\": \"%s\", \"grid_ns\": %.1f, \"cluster_ns\": %.1f}\n", device.name, grid / kSteps, cluster / kSteps);
  return 0;
}
