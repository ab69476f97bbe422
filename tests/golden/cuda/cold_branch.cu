__device__ __forceinline__ int thread_x_anew() {
  int x;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(x));
  return x;
}

__device__ __forceinline__ int block_x_anew() {
  int x;
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(x));
  return x;
}

template <class T>
__device__ __forceinline__ T* pointer_anew(T* p) {
  asm volatile("" : "+l"(p));
  return p;
}

extern "C" __global__ void __launch_bounds__(32, 1) cold_branch(
    const float* __restrict__ x,  // [blocks, 32]
    float* __restrict__ y)        // [blocks, 32]
{
  const int thread_x = threadIdx.x, block_x = blockIdx.x;

  const float v = x[block_x * 32 + thread_x];
  if (v < 0.0f) {
    const int place = block_x_anew() * 32 + thread_x_anew();
    const float v_2 = pointer_anew(x)[place];
    pointer_anew(y)[place] = v_2 * float(int(gridDim.x));
    if (v < -1.0f) pointer_anew(y)[place] = 1.0f;
  }
  if (v >= 0.0f) y[block_x * 32 + thread_x] = v;
}
