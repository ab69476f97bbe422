typedef unsigned short bf16;  // the bits of a bfloat16
typedef unsigned short fp16;  // the bits of an IEEE half

__device__ __forceinline__ unsigned pack_bf16(float low, float high) {
  unsigned pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

__device__ __forceinline__ unsigned pack_fp16(float low, float high) {
  unsigned pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

__device__ __forceinline__ float low_bf16(int pair) { return __uint_as_float(unsigned(pair) << 16); }
__device__ __forceinline__ float high_bf16(int pair) { return __uint_as_float(unsigned(pair) & 0xffff0000u); }

__device__ __forceinline__ float low_fp16(int pair) {
  float x;
  asm("{ .reg .f16 l, h; mov.b32 {l, h}, %1; cvt.f32.f16 %0, l; }" : "=f"(x) : "r"(pair));
  return x;
}

__device__ __forceinline__ float high_fp16(int pair) {
  float x;
  asm("{ .reg .f16 l, h; mov.b32 {l, h}, %1; cvt.f32.f16 %0, h; }" : "=f"(x) : "r"(pair));
  return x;
}

__device__ __forceinline__ void store_bf16x4(bf16* to, float v0, float v1, float v2, float v3) {
  *reinterpret_cast<uint2*>(to) = make_uint2(pack_bf16(v0, v1), pack_bf16(v2, v3));
}

__device__ __forceinline__ void store_fp16x4(fp16* to, float v0, float v1, float v2, float v3) {
  *reinterpret_cast<uint2*>(to) = make_uint2(pack_fp16(v0, v1), pack_fp16(v2, v3));
}

__device__ __forceinline__ int load_pair(const void* from) { return *reinterpret_cast<const int*>(from); }

__device__ __forceinline__ int load_pair_streaming(const void* from) {
  return __ldcs(reinterpret_cast<const int*>(from));
}

__device__ __forceinline__ void store_pair(void* to, int v0) { *reinterpret_cast<int*>(to) = v0; }
__device__ __forceinline__ void store_pair_streaming(void* to, int v0) { __stcs(reinterpret_cast<int*>(to), v0); }

__device__ __forceinline__ void load_pairs_x2(const void* from, int& v0, int& v1) {
  const int2 packed = *reinterpret_cast<const int2*>(from);
  v0 = packed.x;
  v1 = packed.y;
}

__device__ __forceinline__ void load_pairs_x2_streaming(const void* from, int& v0, int& v1) {
  const int2 packed = __ldcs(reinterpret_cast<const int2*>(from));
  v0 = packed.x;
  v1 = packed.y;
}

__device__ __forceinline__ void store_pairs_x2(void* to, int v0, int v1) {
  *reinterpret_cast<int2*>(to) = make_int2(v0, v1);
}

__device__ __forceinline__ void store_pairs_x2_streaming(void* to, int v0, int v1) {
  __stcs(reinterpret_cast<int2*>(to), make_int2(v0, v1));
}

__device__ __forceinline__ void load_pairs_x4(const void* from, int& v0, int& v1, int& v2, int& v3) {
  const int4 packed = *reinterpret_cast<const int4*>(from);
  v0 = packed.x;
  v1 = packed.y;
  v2 = packed.z;
  v3 = packed.w;
}

__device__ __forceinline__ void load_pairs_x4_streaming(const void* from, int& v0, int& v1, int& v2, int& v3) {
  const int4 packed = __ldcs(reinterpret_cast<const int4*>(from));
  v0 = packed.x;
  v1 = packed.y;
  v2 = packed.z;
  v3 = packed.w;
}

__device__ __forceinline__ void store_pairs_x4(void* to, int v0, int v1, int v2, int v3) {
  *reinterpret_cast<int4*>(to) = make_int4(v0, v1, v2, v3);
}

__device__ __forceinline__ void store_pairs_x4_streaming(void* to, int v0, int v1, int v2, int v3) {
  __stcs(reinterpret_cast<int4*>(to), make_int4(v0, v1, v2, v3));
}

// Pairs of 16-bit values, moved and computed with.
extern "C" __global__ void __launch_bounds__(32, 1) packed_pairs(
    const bf16* __restrict__ bf16_in,  // [256]
    bf16* __restrict__ bf16_out,       // [4, 256]
    const fp16* __restrict__ fp16_in,  // [256]
    fp16* __restrict__ fp16_out)       // [4, 256]
{
  extern __shared__ __align__(16) unsigned char shared_memory[];
  bf16* const bf16_stage = reinterpret_cast<bf16*>(shared_memory);
  fp16* const fp16_stage = reinterpret_cast<fp16*>(shared_memory + 512);
  const int thread_x = threadIdx.x;

  const int place = thread_x * 8;
  const int pair = load_pair(&bf16_in[place]);
  store_pair(&bf16_stage[place], pair);
  const int staged = load_pair(&bf16_stage[place]);
  store_pair(&bf16_out[place], staged);
  const int pair_2 = load_pair_streaming(&bf16_in[place]);
  store_pair(&bf16_stage[place], pair_2);
  const int staged_2 = load_pair(&bf16_stage[place]);
  store_pair_streaming(&bf16_out[place + 256], staged_2);
  int pair_0, pair_1;
  load_pairs_x2(&bf16_in[place], pair_0, pair_1);
  store_pairs_x2(&bf16_stage[place], pair_0, pair_1);
  int staged_0, staged_1;
  load_pairs_x2(&bf16_stage[place], staged_0, staged_1);
  store_pairs_x2(&bf16_out[place + 512], staged_0, staged_1);
  int pair_0_2, pair_1_2;
  load_pairs_x2_streaming(&bf16_in[place], pair_0_2, pair_1_2);
  store_pairs_x2(&bf16_stage[place], pair_0_2, pair_1_2);
  int staged_0_2, staged_1_2;
  load_pairs_x2(&bf16_stage[place], staged_0_2, staged_1_2);
  store_pairs_x2_streaming(&bf16_out[place], staged_0_2, staged_1_2);
  int pair_0_3, pair_1_3, pair_2_2, pair_3;
  load_pairs_x4(&bf16_in[place], pair_0_3, pair_1_3, pair_2_2, pair_3);
  store_pairs_x4(&bf16_stage[place], pair_0_3, pair_1_3, pair_2_2, pair_3);
  int staged_0_3, staged_1_3, staged_2_2, staged_3;
  load_pairs_x4(&bf16_stage[place], staged_0_3, staged_1_3, staged_2_2, staged_3);
  store_pairs_x4(&bf16_out[place + 256], staged_0_3, staged_1_3, staged_2_2, staged_3);
  int pair_0_4, pair_1_4, pair_2_3, pair_3_2;
  load_pairs_x4_streaming(&bf16_in[place], pair_0_4, pair_1_4, pair_2_3, pair_3_2);
  store_pairs_x4(&bf16_stage[place], pair_0_4, pair_1_4, pair_2_3, pair_3_2);
  int staged_0_4, staged_1_4, staged_2_3, staged_3_2;
  load_pairs_x4(&bf16_stage[place], staged_0_4, staged_1_4, staged_2_3, staged_3_2);
  store_pairs_x4_streaming(&bf16_out[place + 512], staged_0_4, staged_1_4, staged_2_3, staged_3_2);
  const int mixed = load_pair(&bf16_in[place]);
  const int swapped = int(pack_bf16(high_bf16(mixed) * 0.33333334f, low_bf16(mixed)));
  store_pairs_x2(&bf16_out[place + 768], swapped, int(pack_bf16(high_bf16(swapped), high_bf16(mixed) + low_bf16(mixed))));
  store_bf16x4(&bf16_out[place + 772], high_bf16(mixed), low_bf16(mixed), 0.0f, 1.0f);
  const int pair_4 = load_pair(&fp16_in[place]);
  store_pair(&fp16_stage[place], pair_4);
  const int staged_4 = load_pair(&fp16_stage[place]);
  store_pair(&fp16_out[place], staged_4);
  const int pair_5 = load_pair_streaming(&fp16_in[place]);
  store_pair(&fp16_stage[place], pair_5);
  const int staged_5 = load_pair(&fp16_stage[place]);
  store_pair_streaming(&fp16_out[place + 256], staged_5);
  int pair_0_5, pair_1_5;
  load_pairs_x2(&fp16_in[place], pair_0_5, pair_1_5);
  store_pairs_x2(&fp16_stage[place], pair_0_5, pair_1_5);
  int staged_0_5, staged_1_5;
  load_pairs_x2(&fp16_stage[place], staged_0_5, staged_1_5);
  store_pairs_x2(&fp16_out[place + 512], staged_0_5, staged_1_5);
  int pair_0_6, pair_1_6;
  load_pairs_x2_streaming(&fp16_in[place], pair_0_6, pair_1_6);
  store_pairs_x2(&fp16_stage[place], pair_0_6, pair_1_6);
  int staged_0_6, staged_1_6;
  load_pairs_x2(&fp16_stage[place], staged_0_6, staged_1_6);
  store_pairs_x2_streaming(&fp16_out[place], staged_0_6, staged_1_6);
  int pair_0_7, pair_1_7, pair_2_4, pair_3_3;
  load_pairs_x4(&fp16_in[place], pair_0_7, pair_1_7, pair_2_4, pair_3_3);
  store_pairs_x4(&fp16_stage[place], pair_0_7, pair_1_7, pair_2_4, pair_3_3);
  int staged_0_7, staged_1_7, staged_2_4, staged_3_3;
  load_pairs_x4(&fp16_stage[place], staged_0_7, staged_1_7, staged_2_4, staged_3_3);
  store_pairs_x4(&fp16_out[place + 256], staged_0_7, staged_1_7, staged_2_4, staged_3_3);
  int pair_0_8, pair_1_8, pair_2_5, pair_3_4;
  load_pairs_x4_streaming(&fp16_in[place], pair_0_8, pair_1_8, pair_2_5, pair_3_4);
  store_pairs_x4(&fp16_stage[place], pair_0_8, pair_1_8, pair_2_5, pair_3_4);
  int staged_0_8, staged_1_8, staged_2_5, staged_3_4;
  load_pairs_x4(&fp16_stage[place], staged_0_8, staged_1_8, staged_2_5, staged_3_4);
  store_pairs_x4_streaming(&fp16_out[place + 512], staged_0_8, staged_1_8, staged_2_5, staged_3_4);
  const int mixed_2 = load_pair(&fp16_in[place]);
  const int swapped_2 = int(pack_fp16(high_fp16(mixed_2) * 0.33333334f, low_fp16(mixed_2)));
  store_pairs_x2(&fp16_out[place + 768], swapped_2, int(pack_fp16(high_fp16(swapped_2), high_fp16(mixed_2) + low_fp16(mixed_2))));
  store_fp16x4(&fp16_out[place + 772], high_fp16(mixed_2), low_fp16(mixed_2), 0.0f, 1.0f);
}
