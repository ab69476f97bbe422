extern "C" __global__ void __launch_bounds__(32, 1) votes(
    const int* __restrict__ x,  // [32]
    int* __restrict__ y)        // [32]
{
  const int thread_x = threadIdx.x;

  const int v = x[thread_x];
  const int negative = __ballot_sync(0xffffffffu, v < 0);
  y[thread_x] = negative >> thread_x & 1;
}
