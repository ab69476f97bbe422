typedef unsigned short bf16;  // the bits of a bfloat16
__device__ __forceinline__ float bf16_to_float(bf16 x) { return __uint_as_float(unsigned(x) << 16); }

__device__ __forceinline__ bf16 float_to_bf16(float x) {
  bf16 y;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}

// y = 2 x, one element a thread.
extern "C" __global__ void __launch_bounds__(128, 1) axpy(
    const bf16* __restrict__ x,  // [n]
    bf16* __restrict__ y,        // [n]
    int n)                       // elements
{
  const int thread_x = threadIdx.x, block_x = blockIdx.x;

  const int i = block_x * 128 + thread_x;
  if (i < n) {
    const float v = bf16_to_float(x[i]);
    y[i] = float_to_bf16(v * 2.0f);
  }
}
