extern "C" __global__ void __launch_bounds__(32, 1) bytes_and_lengths(
    const unsigned char* __restrict__ resets,  // [32]
    const int* __restrict__ lengths,           // [1]
    const float* __restrict__ x,               // [32]
    float* __restrict__ out)                   // [32]
{
  const int thread_x = threadIdx.x;

  const int byte = resets[thread_x];
  const float reset = byte == 0 ? 0.0f : 1.0f;
  const int length = lengths[0];
  const float valid = thread_x < length ? 1.0f : 0.0f;
  const float v = x[thread_x];
  out[thread_x] = valid != 0.0f ? (reset != 0.0f ? 0.0f : v) : -1.0f;
}
