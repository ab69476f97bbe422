__device__ __forceinline__ void prefetch(const void* p) {
  asm volatile("prefetch.global.L1 [%0];" :: "l"(__cvta_generic_to_global(p)));
}

__device__ __forceinline__ void prefetch_second(const void* p) {
  asm volatile("prefetch.global.L2 [%0];" :: "l"(__cvta_generic_to_global(p)));
}

extern "C" __global__ void __launch_bounds__(64, 1) asked_ahead(
    const float* __restrict__ x,  // [steps, 64]
    float* __restrict__ y,        // [64]
    int steps)                    // steps
{
  const int thread_x = threadIdx.x;

  float sum = 0.0f;
  #pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    prefetch(&x[(step + 1) * 64 + thread_x]);
    prefetch_second(&x[(step + 2) * 64 + thread_x]);
    const float v = x[step * 64 + thread_x];
    sum = sum + v;
  }
  y[thread_x] = sum;
}
