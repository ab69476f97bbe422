// What a reduction over the channels of a head costs at least, where the warps of one block share the head. Prints
// nanoseconds as JSON. Build and run it on a machine with a GPU and nvcc:
//
//   nvcc -O3 -std=c++17 -arch=sm_90 benchmarks/floors/block_exchange.cu -o block_exchange && ./block_exchange
//
// Every exchange waits for the one before, as those of a recurrence do:
//   store_barrier_load   a word by warp into shared memory, a barrier of 256 threads, the other warps' words out of it
//   one_sum              the same with three shuffles before it, which add up 8 channels of a warp, and three after it, for 8 warps
#include "floor.cuh"

namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kExchanges = 1 << 16;

__device__ float shuffled(float value, int from, int to) {
  for (int distance = from; distance <= to; distance *= 2)
    value += __shfl_xor_sync(0xffffffffu, value, distance);
  return value;
}

template <bool Sums>
__global__ void exchanges(float* out, float start) {
  __shared__ float lines[2][kWarps];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float value = start + threadIdx.x;
  for (int i = 0; i < kExchanges; ++i) {
    if (Sums) value = shuffled(value, 4, 16);
    if (lane == 0) lines[i % 2][warp] = value;
    asm volatile("bar.sync 1, 256;" ::: "memory");
    value = lines[i % 2][Sums ? lane / 4 : (warp + 1) % kWarps];
    if (Sums) value = shuffled(value, 4, 16) * (1.0f / 64);
  }
  out[threadIdx.x] = value;
}

template <bool Sums>
double nanoseconds(float* out) {
  return least_nanoseconds([&] { exchanges<Sums><<<1, kThreads>>>(out, 1.0f); }) / kExchanges;
}

}  // namespace

int main() {
  cudaDeviceProp device;
  float* out = nullptr;
  if (cudaGetDeviceProperties(&device, 0) != cudaSuccess || cudaMalloc(&out, kThreads * sizeof(float)) != cudaSuccess) {
    std::fprintf(stderr, "block_exchange: no GPU\n");
    return 4;
  }
  const double bare = nanoseconds<false>(out), sum = nanoseconds<true>(out);
  if (const int status = status_of_kernels("block_exchange"); status != 0) return status;
  std::printf("{\"device\": \"%s\", \"store_barrier_load_ns\": %.1f, \"one_sum_ns\": %.1f}\n", device.name, bare, sum);
  return 0;
}
