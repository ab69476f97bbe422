// Hardly a thread comes here. A function, so that the loops of its kernel do not know of it.
__device__ __noinline__ void cold_branch_cold_0(const float* __restrict__ x, float* __restrict__ y, float v) {
  const int thread_x = threadIdx.x, block_x = blockIdx.x, grid_x = gridDim.x;
  const int place = block_x * 32 + thread_x;
  const float v_2 = x[place];
  y[place] = v_2 * float(grid_x);
  if (v < -1.0f) y[place] = 1.0f;
}

extern "C" __global__ void __launch_bounds__(32, 1) cold_branch(
    const float* __restrict__ x,  // [blocks, 32]
    float* __restrict__ y)        // [blocks, 32]
{
  const int thread_x = threadIdx.x, block_x = blockIdx.x;

  const float v = x[block_x * 32 + thread_x];
  if (v < 0.0f) {
    cold_branch_cold_0(x, y, v);
  }
  if (v >= 0.0f) y[block_x * 32 + thread_x] = v;
}
