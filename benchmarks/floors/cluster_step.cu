// What a step of an LSTM with one head of 768 channels costs a kernel by hand that does only what must be done, if the 16
// blocks of a cluster exchange through their shared memory: bf16, 16 batch rows in two clusters. Prints nanoseconds as JSON.
// Build and run it on a machine with a GPU and nvcc:
//
//   nvcc -O3 -std=c++17 -arch=sm_90 benchmarks/floors/cluster_step.cu -o cluster_step && ./cluster_step
//
// What is left out, and the forms, are those of team_step.cu. A block has 48 channels, whose part of R is larger than its
// registers: 7 of a warp's 12 k-tiles lie there, and the others in shared memory. A warp multiplies half of the channels by a
// quarter of h. Of the four warps that share channels, three then own 8 of them each, with all batch rows. A wait gives up
// after some seconds: the kernel ends with an error.
#include "step.cuh"

namespace {

constexpr int kTeams = 2, kCluster = 16, kChannels = 768, kUnits = kChannels / kCluster, kLine = 16;  // bytes of a channel of h
constexpr int kWarps = 8, kThreads = 32 * kWarps, kShares = 4, kOwners = 3;  // of the four warps that share columns
constexpr int kComputing = 2 * kOwners, kRowTiles = 2 * kOwners, kTiles = 12, kInRegisters = 7, kOutside = kTiles - kInRegisters;
constexpr int kFragment = 32 * 16;  // bytes of a tile of R, of all lanes
constexpr unsigned kVectorBytes = kChannels * kLine;

struct Shared {
  unsigned matrix[kWarps][kOutside][kRowTiles][32][4];
  unsigned vector[2][kChannels][kLine / 4];     // h: a step's and the next one's
  float4 sums[2][kOwners][kShares - 1][2][32];  // what the other shares give an owner
  float4 of_warps[2][kComputing][4];            // for R h and for c: sums and squares of two batch rows
  float4 of_blocks[2][kCluster][4];
  unsigned long long ready[2], come[2];  // mbarriers: h is there; sums of all blocks are there
};

__device__ void load_vector(unsigned (&b)[4], unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3]) : "r"(from));
}
__device__ void load_tiles(unsigned (&a)[kRowTiles][4], unsigned from) {
#pragma unroll
  for (int r = 0; r < kRowTiles; ++r)
    asm volatile("ld.shared.v4.b32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(a[r][0]), "=r"(a[r][1]), "=r"(a[r][2]), "=r"(a[r][3]) : "r"(from + r * kFragment));
}
__device__ void meet(int barrier, int threads) { asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory"); }
__device__ void add(float4& to, const float4& x) { to.x += x.x, to.y += x.y, to.z += x.z, to.w += x.w; }

struct Thread {
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, half = warp / kShares, share = warp % kShares;
  int pair = lane % 4, group = lane / 4;  // of batch rows; channel
  int owner = half * kOwners + share, rank = int(rank_in_cluster());
};

// Over the channels of a warp.
__device__ void over_groups(float4& sums) {
#pragma unroll
  for (int distance = 4; distance <= 16; distance *= 2)
    add(sums, make_float4(__shfl_xor_sync(~0u, sums.x, distance), __shfl_xor_sync(~0u, sums.y, distance),
                          __shfl_xor_sync(~0u, sums.z, distance), __shfl_xor_sync(~0u, sums.w, distance)));
}

// Sums of two batch rows over all channels of the cluster. A block adds its own up and sends 64 bytes to each.
__device__ void over_cluster(Sums (&rows)[2], Shared& s, int which, const Thread& t, int step) {
  float4 sums = make_float4(rows[0].x, rows[0].xx, rows[1].x, rows[1].xx);
  over_groups(sums);
  if (t.group == 0) s.of_warps[which][t.owner][t.pair] = sums;
  meet(3, 32 * kComputing);
  const unsigned arrived = shared_address(&s.come[which]);
  if (t.owner < 2) {
    sums = s.of_warps[which][0][t.pair];
#pragma unroll
    for (int i = 1; i < kComputing; ++i) add(sums, s.of_warps[which][i][t.pair]);
    const unsigned peer = t.owner * 8 + t.group;
    store_async(in_block(shared_address(&s.of_blocks[which][t.rank][t.pair]), peer),
                {__float_as_int(sums.x), __float_as_int(sums.y), __float_as_int(sums.z), __float_as_int(sums.w)}, in_block(arrived, peer));
  }
  if (!wait_for_phase(arrived, step % 2)) __trap();
  if (t.owner == 0 && t.lane == 0) expect_bytes(arrived, sizeof(s.of_blocks[0]));
  sums = s.of_blocks[which][t.group][t.pair];
  add(sums, s.of_blocks[which][t.group + 8][t.pair]);
  over_groups(sums);
  rows[0] = {sums.x, sums.y}, rows[1] = {sums.z, sums.w};
}

// This warp's products. `next`: the first tiles from shared memory, there before h is, and afterwards for the next step.
__device__ void multiply_share(float (&d)[kRowTiles][4], const unsigned (&a)[kInRegisters][kRowTiles][4], unsigned (&next)[kRowTiles][4],
                               unsigned matrix, unsigned vector) {
  unsigned b[kTiles / 2][4];
#pragma unroll
  for (int k = 0; k < kTiles / 2; ++k) load_vector(b[k], vector + k * 32 * kLine);
#pragma unroll
  for (int outside = 0; outside < kOutside; ++outside) {
    const int k = kInRegisters + outside;
#pragma unroll
    for (int r = 0; r < kRowTiles; ++r) multiply(d[r], next[r], b[k / 2][k % 2 * 2], b[k / 2][k % 2 * 2 + 1]);
    load_tiles(next, matrix + (outside + 1) % kOutside * kRowTiles * kFragment);
#pragma unroll
    for (int i = kInRegisters * outside / kOutside; i < kInRegisters * (outside + 1) / kOutside; ++i)
#pragma unroll
      for (int r = 0; r < kRowTiles; ++r) multiply(d[r], a[i][r], b[i / 2][i % 2 * 2], b[i / 2][i % 2 * 2 + 1]);
  }
}

// y: of each gate for two batch rows, of the warps that own channels.
__device__ void sums_of_shares(float (&y)[4][2], const float (&d)[kRowTiles][4], Shared& s, const Thread& t) {
  float4 own[2] = {};
#pragma unroll
  for (int owner = 0; owner < kOwners; ++owner)
#pragma unroll
    for (int tile = 0; tile < 2; ++tile) {
      const float(&of)[4] = d[2 * owner + tile];
      const float4 sums = make_float4(of[0], of[1], of[2], of[3]);
      if (owner == t.share)
        own[tile] = sums;
      else
        s.sums[t.half][owner][t.share < owner ? t.share : t.share - 1][tile][t.lane] = sums;
    }
  meet(1 + t.half, kThreads / 2);
  if (t.share == kOwners) return;
#pragma unroll
  for (int tile = 0; tile < 2; ++tile) {
#pragma unroll
    for (int i = 0; i < kShares - 1; ++i) add(own[tile], s.sums[t.half][t.share][i][tile][t.lane]);
    y[2 * tile][0] = own[tile].x, y[2 * tile][1] = own[tile].y, y[2 * tile + 1][0] = own[tile].z, y[2 * tile + 1][1] = own[tile].w;
  }
}

// To all blocks: four lanes have the batch rows of a channel, and each sends all of them to a quarter of the blocks.
__device__ void send(const float (&h)[2], Shared& s, const Thread& t, int parity) {
  const unsigned own = packed(h[0], h[1]);
  int words[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) words[i] = int(__shfl_sync(~0u, own, t.group * 4 + i));
  const unsigned line = shared_address(s.vector[parity][t.rank * kUnits + t.owner * 8 + t.group]), ready = shared_address(&s.ready[parity]);
#pragma unroll
  for (int peer = 0; peer < kCluster; peer += 4) store_async(in_block(line, t.pair + peer), words, in_block(ready, t.pair + peer));
}

template <Form form>
__device__ void elements(float (&y)[4][2], float (&c)[2], float (&h)[2], Shared& s, const Thread& t, int step) {
  Sums rows[2] = {};
  if constexpr (form != kPlain) {
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int gate = 0; gate < 4; ++gate) rows[i].x += y[gate][i], rows[i].xx = fmaf(y[gate][i], y[gate][i], rows[i].xx);
    over_cluster(rows, s, 0, t, step);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const Scale scale = scale_of(rows[i], 4 * kChannels);
#pragma unroll
      for (int gate = 0; gate < 4; ++gate) y[gate][i] = (y[gate][i] - scale.mean) * scale.factor;
    }
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    c[i] = fmaf(fast_sigmoid(y[1][i] + 0.3f), c[i], fast_sigmoid(y[0][i] + 0.2f) * fast_tanh(y[2][i] + 0.01f * t.group));
    rows[i] = {c[i], c[i] * c[i]};
  }
  if constexpr (form == kApart) over_cluster(rows, s, 1, t, step);
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const Scale scale = form == kApart ? scale_of(rows[i], kChannels) : Scale{0, 1};
    h[i] = fast_sigmoid(y[3][i] + 0.1f * t.pair) * fast_tanh((c[i] - scale.mean) * scale.factor);
  }
}

__device__ void begin(Shared& s) {
  for (unsigned i = threadIdx.x; i < sizeof(s.vector) / 4; i += kThreads) (&s.vector[0][0][0])[i] = 0;
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; ++i) init_mbarrier(shared_address(&s.ready[i])), init_mbarrier(shared_address(&s.come[i]));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    for (int i = 0; i < 2; ++i)
      expect_bytes(shared_address(&s.ready[i]), kVectorBytes), expect_bytes(shared_address(&s.come[i]), sizeof(s.of_blocks[0]));
  }
  __syncthreads();
  cluster_barrier();
}

template <Form form>
__global__ void __launch_bounds__(kThreads, 1) steps(float* results, int count) {
  extern __shared__ __align__(128) unsigned char bytes[];
  Shared& s = *reinterpret_cast<Shared*>(bytes);
  const Thread t;
  Weights weights;
  unsigned a[kInRegisters][kRowTiles][4], next[kRowTiles][4];
#pragma unroll
  for (int i = 0; i < kInRegisters * kRowTiles * 4; ++i) a[i / (kRowTiles * 4)][i / 4 % kRowTiles][i % 4] = weights.next();
  for (int i = 0; i < kOutside * kRowTiles * 4; ++i) s.matrix[t.warp][i / (kRowTiles * 4)][i / 4 % kRowTiles][t.lane][i % 4] = weights.next();
  begin(s);
  const unsigned matrix = shared_address(s.matrix[t.warp][0][0][t.lane]);
  load_tiles(next, matrix);
  float c[2] = {}, h[2] = {}, y[4][2];
  for (int step = 0; step < count; ++step) {
    const int parity = step % 2;
    float d[kRowTiles][4] = {};
    if (step > 0) {
      const unsigned ready = shared_address(&s.ready[parity]);
      if (!wait_for_phase(ready, (step - 2 + parity) / 2 % 2)) __trap();
      if (threadIdx.x == 0) expect_bytes(ready, kVectorBytes);
      multiply_share(d, a, next, matrix, shared_address(s.vector[parity][t.share * kTiles * 16 + t.lane]));
    }
    sums_of_shares(y, d, s, t);
    if (t.share == kOwners) continue;
    elements<form>(y, c, h, s, t, step);
    if (step + 1 < count) send(h, s, t, 1 - parity);
  }
  cluster_barrier();
  results[blockIdx.x * kThreads + threadIdx.x] = h[0] + h[1] + c[0] + c[1];
}

float* results;

// Without what a launch costs: the difference of two numbers of steps.
template <Form form>
double step_ns() {
  cudaFuncSetAttribute(steps<form>, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Shared));
  cudaFuncSetAttribute(steps<form>, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  const auto run_ns = [&](int count) {
    return least_nanoseconds([&] {
      cudaLaunchConfig_t config = {};
      config.gridDim = dim3(kTeams * kCluster), config.blockDim = dim3(kThreads), config.dynamicSmemBytes = sizeof(Shared);
      cudaLaunchAttribute cluster;
      cluster.id = cudaLaunchAttributeClusterDimension;
      cluster.val.clusterDim = {kCluster, 1, 1};
      config.attrs = &cluster, config.numAttrs = 1;
      cudaLaunchKernelEx(&config, steps<form>, results, count);
    });
  };
  constexpr int kFewer = 1024, kMore = 3 * kFewer;
  return (run_ns(kMore) - run_ns(kFewer)) / (kMore - kFewer);
}

}  // namespace

int main() {
  cudaDeviceProp device;
  if (cudaGetDeviceProperties(&device, 0) != cudaSuccess || cudaMalloc(&results, kTeams * kCluster * kThreads * sizeof(float)) != cudaSuccess) {
    std::fprintf(stderr, "cluster_step: no GPU\n");
    return 4;
  }
  const double plain = step_ns<kPlain>(), gates = step_ns<kGates>(), apart = step_ns<kApart>();
  if (const int status = status_of_kernels("cluster_step"); status != 0) return status;
  std::printf("{\"device\": \"%s\", \"plain_ns\": %.1f, \"gates_ns\": %.1f, \"apart_ns\": %.1f}\n", device.name, plain, gates, apart);
  return 0;
}
