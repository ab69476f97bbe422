// A round of Philox 4x32 (Salmon et al. 2011) on the counter a, b, c, d; then the next round's keys.
__device__ __forceinline__ void philox_round(unsigned& a, unsigned& b, unsigned& c, unsigned& d, unsigned& key0,
                                             unsigned& key1) {
  const unsigned low_a = a * 0xD2511F53u, high_a = __umulhi(a, 0xD2511F53u);
  const unsigned low_c = c * 0xCD9E8D57u, high_c = __umulhi(c, 0xCD9E8D57u);
  a = high_c ^ b ^ key0;
  b = low_c;
  c = high_a ^ d ^ key1;
  d = low_a;
  key0 += 0x9E3779B9u;
  key1 += 0xBB67AE85u;
}

// The draw of a channel at its place, a multiple of 2^-24 in [0, 1): ten rounds, whose key is the seed's bits and the
// number of the draw's name.
__device__ __forceinline__ float philox_uniform(float seed, unsigned stream, unsigned row, unsigned step, unsigned head,
                                                unsigned channel) {
  unsigned a = channel, b = step, c = row, d = head;
  unsigned key0 = __float_as_uint(seed), key1 = stream;
  philox_round(a, b, c, d, key0, key1);
  philox_round(a, b, c, d, key0, key1);
  philox_round(a, b, c, d, key0, key1);
  philox_round(a, b, c, d, key0, key1);
  philox_round(a, b, c, d, key0, key1);
  philox_round(a, b, c, d, key0, key1);
  philox_round(a, b, c, d, key0, key1);
  philox_round(a, b, c, d, key0, key1);
  philox_round(a, b, c, d, key0, key1);
  philox_round(a, b, c, d, key0, key1);
  return float(a >> 8) * 5.9604644775390625e-8f;  // 2^-24
}

extern "C" __global__ void __launch_bounds__(32, 1) draws(
    const float* __restrict__ seed,  // [1]
    float* __restrict__ out,         // [3, 32]
    int step)
{
  const int thread_x = threadIdx.x, block_x = blockIdx.x;

  const float seed_0 = seed[0];
  const float drop = philox_uniform(seed_0, 0xa9a58d8cu, block_x, step, 3, thread_x);
  out[thread_x] = drop;
  const float keep = philox_uniform(seed_0, 0xee7b9448u, block_x, step, 3, thread_x);
  out[thread_x + 32] = keep;
  const float next_drop = philox_uniform(seed_0, 0xa9a58d8cu, block_x, step, 3, thread_x + 1);
  out[thread_x + 64] = next_drop;
}
