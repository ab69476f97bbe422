// 10 bits of fraction; ties away from zero.
__device__ __forceinline__ float round_tf32(float x) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return __uint_as_float(bits);
}

// acc (16 x 8) += a (16 x 8) * b (8 x 8), spread over the lanes of the warp.
__device__ __forceinline__ void mma_tf32_k8(float* acc, const unsigned* a, const unsigned* b) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// acc (16 x 8) += a (16 x 16) * b (16 x 8), numbers of tf32.
__device__ __forceinline__ void mma_tf32(float* acc, const float* a, const float* b) {
  unsigned left[8], right[4];
  #pragma unroll
  for (int i = 0; i < 8; ++i) left[i] = __float_as_uint(a[i]);
  #pragma unroll
  for (int i = 0; i < 4; ++i) right[i] = __float_as_uint(b[i]);
  mma_tf32_k8(acc, left, right);
  mma_tf32_k8(acc, left + 4, right + 2);
}

// x as the sum of two numbers of tf32: x rounded as by cvt.rna, and what is left without its last bit. A NaN
// may be lost from the one, not from the other.
__device__ __forceinline__ void split_tf32(float x, unsigned& big, unsigned& small) {
  big = (__float_as_uint(x) + 0x1000u) & 0xffffe000u;
  small = __float_as_uint(x - __uint_as_float(big)) & 0xffffe000u;
}

// acc (16 x 8) += a (16 x 16) * b (16 x 8) in fp32, from products of tf32, the small ones first. What a is split
// into is not to be kept beside a matrix that stays in registers: the empty asm hides that it is always the same.
__device__ __forceinline__ void mma_tf32x3(float* acc, const float* a, const float* b) {
  unsigned left[8], left_small[8], right[4], right_small[4];
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    float x = a[i];
    asm volatile("" : "+f"(x));
    split_tf32(x, left[i], left_small[i]);
  }
  #pragma unroll
  for (int i = 0; i < 4; ++i) split_tf32(b[i], right[i], right_small[i]);
  float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  #pragma unroll
  for (int half = 0; half < 2; ++half) {
    mma_tf32_k8(sum, left_small + 4 * half, right + 2 * half);
    mma_tf32_k8(sum, left + 4 * half, right_small + 2 * half);
  }
  mma_tf32_k8(sum, left, right);
  mma_tf32_k8(sum, left + 4, right + 2);
  #pragma unroll
  for (int i = 0; i < 4; ++i) acc[i] += sum[i];
}

__device__ __forceinline__ void store_fp32x2(float* to, float v0, float v1) {
  *reinterpret_cast<float2*>(to) = make_float2(v0, v1);
}

// c = a * b, 16 x 8 x 16; and a, rounded.
extern "C" __global__ void __launch_bounds__(32, 1) real_product(
    const float* __restrict__ a,  // [16, 16]
    const float* __restrict__ b,  // [16, 8]
    float* __restrict__ c,        // [2, 16, 8]: in three terms, in tf32
    float* __restrict__ rounded)  // [16, 16]
{
  const int thread_x = threadIdx.x;

  const int group = thread_x / 4;
  const int quarter = thread_x % 4;
  float left[16];
  float right[8];
  const int place = group * 16 + quarter;
  const float x = a[place];
  left[0] = x;
  left[8] = round_tf32(x);
  rounded[place] = left[8];
  const int place_2 = (group + 8) * 16 + quarter;
  const float x_2 = a[place_2];
  left[1] = x_2;
  left[9] = round_tf32(x_2);
  rounded[place_2] = left[9];
  const int place_3 = group * 16 + (quarter + 4);
  const float x_3 = a[place_3];
  left[2] = x_3;
  left[10] = round_tf32(x_3);
  rounded[place_3] = left[10];
  const int place_4 = (group + 8) * 16 + (quarter + 4);
  const float x_4 = a[place_4];
  left[3] = x_4;
  left[11] = round_tf32(x_4);
  rounded[place_4] = left[11];
  const int place_5 = group * 16 + (quarter + 8);
  const float x_5 = a[place_5];
  left[4] = x_5;
  left[12] = round_tf32(x_5);
  rounded[place_5] = left[12];
  const int place_6 = (group + 8) * 16 + (quarter + 8);
  const float x_6 = a[place_6];
  left[5] = x_6;
  left[13] = round_tf32(x_6);
  rounded[place_6] = left[13];
  const int place_7 = group * 16 + (quarter + 12);
  const float x_7 = a[place_7];
  left[6] = x_7;
  left[14] = round_tf32(x_7);
  rounded[place_7] = left[14];
  const int place_8 = (group + 8) * 16 + (quarter + 12);
  const float x_8 = a[place_8];
  left[7] = x_8;
  left[15] = round_tf32(x_8);
  rounded[place_8] = left[15];
  const float x_9 = b[quarter * 8 + group];
  right[0] = x_9;
  right[4] = round_tf32(x_9);
  const float x_10 = b[(quarter + 4) * 8 + group];
  right[1] = x_10;
  right[5] = round_tf32(x_10);
  const float x_11 = b[(quarter + 8) * 8 + group];
  right[2] = x_11;
  right[6] = round_tf32(x_11);
  const float x_12 = b[(quarter + 12) * 8 + group];
  right[3] = x_12;
  right[7] = round_tf32(x_12);
  float sum[8];
  #pragma unroll
  for (int i = 0; i < 8; ++i) sum[i] = 0.0f;
  mma_tf32x3(&sum[0], &left[0], &right[0]);
  store_fp32x2(&c[group * 8 + quarter * 2], sum[0], sum[1]);
  store_fp32x2(&c[(group + 8) * 8 + quarter * 2], sum[2], sum[3]);
  mma_tf32(&sum[4], &left[8], &right[4]);
  store_fp32x2(&c[group * 8 + quarter * 2 + 128], sum[4], sum[5]);
  store_fp32x2(&c[(group + 8) * 8 + quarter * 2 + 128], sum[6], sum[7]);
}
