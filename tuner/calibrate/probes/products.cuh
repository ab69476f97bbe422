// Products on the tensor cores by mma.sync, `chains` sums of a warp side by side: one gives the latency, several in several
// warps the rate. Cycles of block 0 in out[0].
template <int chains, class Multiply>
__device__ __forceinline__ void multiply_again(u64* out, int rounds, const Multiply& multiply) {
  float sums[chains][4] = {};
  unsigned a[4], b[2];
  for (int i = 0; i < 4; ++i) a[i] = 0x3c003c00u + (threadIdx.x + i) * 0x00010001u;  // small numbers in each type
  for (int i = 0; i < 2; ++i) b[i] = 0x38003800u + (threadIdx.x + i) * 0x00010001u;
  __syncthreads();
  const u64 begin = clock64();
  #pragma unroll 4
  for (int i = 0; i < rounds; ++i)
    #pragma unroll
    for (int c = 0; c < chains; ++c) multiply(sums[c], a, b);
  __syncthreads();
  const u64 cycles = clock64() - begin;
  float sum = 0;
  for (int c = 0; c < chains; ++c)
    for (int i = 0; i < 4; ++i) sum += sums[c][i];
  keep(out, sum);
  if (blockIdx.x == 0 && threadIdx.x == 0) out[0] = cycles;
}

#define MMA_PROBE(name, call)                                                                                              \
  extern "C" __global__ void name##_latency(u64* out, int rounds) {                                                        \
    multiply_again<1>(out, rounds, [](float* sum, const unsigned* a, const unsigned* b) { call; });                        \
  }                                                                                                                        \
  extern "C" __global__ void name##_rate(u64* out, int rounds) {                                                           \
    multiply_again<4>(out, rounds, [](float* sum, const unsigned* a, const unsigned* b) { call; });                        \
  }
