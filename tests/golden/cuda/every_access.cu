typedef unsigned short bf16;  // the bits of a bfloat16
typedef unsigned short fp16;  // the bits of an IEEE half
__device__ __forceinline__ float bf16_to_float(bf16 x) { return __uint_as_float(unsigned(x) << 16); }

__device__ __forceinline__ bf16 float_to_bf16(float x) {
  bf16 y;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}

__device__ __forceinline__ float fp16_to_float(fp16 x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
  return y;
}

__device__ __forceinline__ fp16 float_to_fp16(float x) {
  fp16 y;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}

__device__ __forceinline__ void unpack_bf16(unsigned pair, float& low, float& high) {
  low = __uint_as_float(pair << 16);
  high = __uint_as_float(pair & 0xffff0000u);
}

__device__ __forceinline__ void unpack_fp16(unsigned pair, float& low, float& high) {
  asm("{ .reg .f16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h; }"
      : "=f"(low), "=f"(high) : "r"(pair));
}

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

__device__ __forceinline__ unsigned shared_address(const void* p) { return unsigned(__cvta_generic_to_shared(p)); }

__device__ __forceinline__ void copy_async_4(void* shared, const void* global) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"
               :: "r"(shared_address(shared)), "l"(__cvta_generic_to_global(global)) : "memory");
}

__device__ __forceinline__ void copy_async_8(void* shared, const void* global) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;"
               :: "r"(shared_address(shared)), "l"(__cvta_generic_to_global(global)) : "memory");
}

// .cg: past the L1 cache, which would only hold a second copy of what goes to shared memory.
__device__ __forceinline__ void copy_async_16(void* shared, const void* global) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
               :: "r"(shared_address(shared)), "l"(__cvta_generic_to_global(global)) : "memory");
}

__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int pending>
__device__ __forceinline__ void wait_copies() { asm volatile("cp.async.wait_group %0;" :: "n"(pending) : "memory"); }

__device__ __forceinline__ void load_fp32x2(const float* from, float& v0, float& v1) {
  const float2 packed = *reinterpret_cast<const float2*>(from);
  v0 = packed.x;
  v1 = packed.y;
}

__device__ __forceinline__ void load_fp32x2_streaming(const float* from, float& v0, float& v1) {
  const float2 packed = __ldcs(reinterpret_cast<const float2*>(from));
  v0 = packed.x;
  v1 = packed.y;
}

__device__ __forceinline__ void store_fp32x2(float* to, float v0, float v1) {
  *reinterpret_cast<float2*>(to) = make_float2(v0, v1);
}

__device__ __forceinline__ void store_fp32x2_streaming(float* to, float v0, float v1) {
  __stcs(reinterpret_cast<float2*>(to), make_float2(v0, v1));
}

__device__ __forceinline__ void load_fp32x4(const float* from, float& v0, float& v1, float& v2, float& v3) {
  const float4 packed = *reinterpret_cast<const float4*>(from);
  v0 = packed.x;
  v1 = packed.y;
  v2 = packed.z;
  v3 = packed.w;
}

__device__ __forceinline__ void load_fp32x4_streaming(const float* from, float& v0, float& v1, float& v2, float& v3) {
  const float4 packed = __ldcs(reinterpret_cast<const float4*>(from));
  v0 = packed.x;
  v1 = packed.y;
  v2 = packed.z;
  v3 = packed.w;
}

__device__ __forceinline__ void store_fp32x4(float* to, float v0, float v1, float v2, float v3) {
  *reinterpret_cast<float4*>(to) = make_float4(v0, v1, v2, v3);
}

__device__ __forceinline__ void store_fp32x4_streaming(float* to, float v0, float v1, float v2, float v3) {
  __stcs(reinterpret_cast<float4*>(to), make_float4(v0, v1, v2, v3));
}

__device__ __forceinline__ void load_bf16x2(const bf16* from, float& v0, float& v1) {
  const unsigned packed = *reinterpret_cast<const unsigned*>(from);
  unpack_bf16(packed, v0, v1);
}

__device__ __forceinline__ void load_bf16x2_streaming(const bf16* from, float& v0, float& v1) {
  const unsigned packed = __ldcs(reinterpret_cast<const unsigned*>(from));
  unpack_bf16(packed, v0, v1);
}

__device__ __forceinline__ void store_bf16x2(bf16* to, float v0, float v1) {
  *reinterpret_cast<unsigned*>(to) = pack_bf16(v0, v1);
}

__device__ __forceinline__ void store_bf16x2_streaming(bf16* to, float v0, float v1) {
  __stcs(reinterpret_cast<unsigned*>(to), pack_bf16(v0, v1));
}

__device__ __forceinline__ void load_bf16x4(const bf16* from, float& v0, float& v1, float& v2, float& v3) {
  const uint2 packed = *reinterpret_cast<const uint2*>(from);
  unpack_bf16(packed.x, v0, v1);
  unpack_bf16(packed.y, v2, v3);
}

__device__ __forceinline__ void load_bf16x4_streaming(const bf16* from, float& v0, float& v1, float& v2, float& v3) {
  const uint2 packed = __ldcs(reinterpret_cast<const uint2*>(from));
  unpack_bf16(packed.x, v0, v1);
  unpack_bf16(packed.y, v2, v3);
}

__device__ __forceinline__ void store_bf16x4(bf16* to, float v0, float v1, float v2, float v3) {
  *reinterpret_cast<uint2*>(to) = make_uint2(pack_bf16(v0, v1), pack_bf16(v2, v3));
}

__device__ __forceinline__ void store_bf16x4_streaming(bf16* to, float v0, float v1, float v2, float v3) {
  __stcs(reinterpret_cast<uint2*>(to), make_uint2(pack_bf16(v0, v1), pack_bf16(v2, v3)));
}

__device__ __forceinline__ void load_bf16x8(const bf16* from, float& v0, float& v1, float& v2, float& v3, float& v4, float& v5, float& v6, float& v7) {
  const uint4 packed = *reinterpret_cast<const uint4*>(from);
  unpack_bf16(packed.x, v0, v1);
  unpack_bf16(packed.y, v2, v3);
  unpack_bf16(packed.z, v4, v5);
  unpack_bf16(packed.w, v6, v7);
}

__device__ __forceinline__ void load_bf16x8_streaming(const bf16* from, float& v0, float& v1, float& v2, float& v3, float& v4, float& v5, float& v6, float& v7) {
  const uint4 packed = __ldcs(reinterpret_cast<const uint4*>(from));
  unpack_bf16(packed.x, v0, v1);
  unpack_bf16(packed.y, v2, v3);
  unpack_bf16(packed.z, v4, v5);
  unpack_bf16(packed.w, v6, v7);
}

__device__ __forceinline__ void store_bf16x8(bf16* to, float v0, float v1, float v2, float v3, float v4, float v5, float v6, float v7) {
  *reinterpret_cast<uint4*>(to) = make_uint4(pack_bf16(v0, v1), pack_bf16(v2, v3), pack_bf16(v4, v5), pack_bf16(v6, v7));
}

__device__ __forceinline__ void store_bf16x8_streaming(bf16* to, float v0, float v1, float v2, float v3, float v4, float v5, float v6, float v7) {
  __stcs(reinterpret_cast<uint4*>(to), make_uint4(pack_bf16(v0, v1), pack_bf16(v2, v3), pack_bf16(v4, v5), pack_bf16(v6, v7)));
}

__device__ __forceinline__ void load_fp16x2(const fp16* from, float& v0, float& v1) {
  const unsigned packed = *reinterpret_cast<const unsigned*>(from);
  unpack_fp16(packed, v0, v1);
}

__device__ __forceinline__ void load_fp16x2_streaming(const fp16* from, float& v0, float& v1) {
  const unsigned packed = __ldcs(reinterpret_cast<const unsigned*>(from));
  unpack_fp16(packed, v0, v1);
}

__device__ __forceinline__ void store_fp16x2(fp16* to, float v0, float v1) {
  *reinterpret_cast<unsigned*>(to) = pack_fp16(v0, v1);
}

__device__ __forceinline__ void store_fp16x2_streaming(fp16* to, float v0, float v1) {
  __stcs(reinterpret_cast<unsigned*>(to), pack_fp16(v0, v1));
}

__device__ __forceinline__ void load_fp16x4(const fp16* from, float& v0, float& v1, float& v2, float& v3) {
  const uint2 packed = *reinterpret_cast<const uint2*>(from);
  unpack_fp16(packed.x, v0, v1);
  unpack_fp16(packed.y, v2, v3);
}

__device__ __forceinline__ void load_fp16x4_streaming(const fp16* from, float& v0, float& v1, float& v2, float& v3) {
  const uint2 packed = __ldcs(reinterpret_cast<const uint2*>(from));
  unpack_fp16(packed.x, v0, v1);
  unpack_fp16(packed.y, v2, v3);
}

__device__ __forceinline__ void store_fp16x4(fp16* to, float v0, float v1, float v2, float v3) {
  *reinterpret_cast<uint2*>(to) = make_uint2(pack_fp16(v0, v1), pack_fp16(v2, v3));
}

__device__ __forceinline__ void store_fp16x4_streaming(fp16* to, float v0, float v1, float v2, float v3) {
  __stcs(reinterpret_cast<uint2*>(to), make_uint2(pack_fp16(v0, v1), pack_fp16(v2, v3)));
}

__device__ __forceinline__ void load_fp16x8(const fp16* from, float& v0, float& v1, float& v2, float& v3, float& v4, float& v5, float& v6, float& v7) {
  const uint4 packed = *reinterpret_cast<const uint4*>(from);
  unpack_fp16(packed.x, v0, v1);
  unpack_fp16(packed.y, v2, v3);
  unpack_fp16(packed.z, v4, v5);
  unpack_fp16(packed.w, v6, v7);
}

__device__ __forceinline__ void load_fp16x8_streaming(const fp16* from, float& v0, float& v1, float& v2, float& v3, float& v4, float& v5, float& v6, float& v7) {
  const uint4 packed = __ldcs(reinterpret_cast<const uint4*>(from));
  unpack_fp16(packed.x, v0, v1);
  unpack_fp16(packed.y, v2, v3);
  unpack_fp16(packed.z, v4, v5);
  unpack_fp16(packed.w, v6, v7);
}

__device__ __forceinline__ void store_fp16x8(fp16* to, float v0, float v1, float v2, float v3, float v4, float v5, float v6, float v7) {
  *reinterpret_cast<uint4*>(to) = make_uint4(pack_fp16(v0, v1), pack_fp16(v2, v3), pack_fp16(v4, v5), pack_fp16(v6, v7));
}

__device__ __forceinline__ void store_fp16x8_streaming(fp16* to, float v0, float v1, float v2, float v3, float v4, float v5, float v6, float v7) {
  __stcs(reinterpret_cast<uint4*>(to), make_uint4(pack_fp16(v0, v1), pack_fp16(v2, v3), pack_fp16(v4, v5), pack_fp16(v6, v7)));
}

__device__ __forceinline__ void load_int32x2(const int* from, int& v0, int& v1) {
  const int2 packed = *reinterpret_cast<const int2*>(from);
  v0 = packed.x;
  v1 = packed.y;
}

__device__ __forceinline__ void load_int32x2_streaming(const int* from, int& v0, int& v1) {
  const int2 packed = __ldcs(reinterpret_cast<const int2*>(from));
  v0 = packed.x;
  v1 = packed.y;
}

__device__ __forceinline__ void store_int32x2(int* to, int v0, int v1) {
  *reinterpret_cast<int2*>(to) = make_int2(v0, v1);
}

__device__ __forceinline__ void store_int32x2_streaming(int* to, int v0, int v1) {
  __stcs(reinterpret_cast<int2*>(to), make_int2(v0, v1));
}

__device__ __forceinline__ void load_int32x4(const int* from, int& v0, int& v1, int& v2, int& v3) {
  const int4 packed = *reinterpret_cast<const int4*>(from);
  v0 = packed.x;
  v1 = packed.y;
  v2 = packed.z;
  v3 = packed.w;
}

__device__ __forceinline__ void load_int32x4_streaming(const int* from, int& v0, int& v1, int& v2, int& v3) {
  const int4 packed = __ldcs(reinterpret_cast<const int4*>(from));
  v0 = packed.x;
  v1 = packed.y;
  v2 = packed.z;
  v3 = packed.w;
}

__device__ __forceinline__ void store_int32x4(int* to, int v0, int v1, int v2, int v3) {
  *reinterpret_cast<int4*>(to) = make_int4(v0, v1, v2, v3);
}

__device__ __forceinline__ void store_int32x4_streaming(int* to, int v0, int v1, int v2, int v3) {
  __stcs(reinterpret_cast<int4*>(to), make_int4(v0, v1, v2, v3));
}

extern "C" __global__ void __launch_bounds__(32, 1) every_access(
    const float* __restrict__ fp32_in,
    float* __restrict__ fp32_out,
    const bf16* __restrict__ bf16_in,
    bf16* __restrict__ bf16_out,
    const fp16* __restrict__ fp16_in,
    fp16* __restrict__ fp16_out,
    const int* __restrict__ int32_in,
    int* __restrict__ int32_out)
{
  extern __shared__ __align__(16) unsigned char shared_memory[];
  float* const fp32_stage = reinterpret_cast<float*>(shared_memory);
  bf16* const bf16_stage = reinterpret_cast<bf16*>(shared_memory + 1024);
  fp16* const fp16_stage = reinterpret_cast<fp16*>(shared_memory + 1536);
  int* const int32_stage = reinterpret_cast<int*>(shared_memory + 2048);
  const int thread_x = threadIdx.x;

  const int place = thread_x * 8;
  const float v = fp32_in[place];
  fp32_out[place] = v;
  fp32_stage[place] = v;
  const float s = fp32_stage[place];
  fp32_out[place] = s;
  const float own = fp32_out[place];
  fp32_out[place] = own;
  const float v_2 = __ldcs(&fp32_in[place]);
  __stcs(&fp32_out[place], v_2);
  fp32_stage[place] = v_2;
  const float s_2 = fp32_stage[place];
  __stcs(&fp32_out[place], s_2);
  const float own_2 = fp32_out[place];
  fp32_out[place] = own_2;
  float v_0, v_1;
  load_fp32x2(&fp32_in[place], v_0, v_1);
  store_fp32x2(&fp32_out[place], v_0, v_1);
  store_fp32x2(&fp32_stage[place], v_0, v_1);
  float s_0, s_1;
  load_fp32x2(&fp32_stage[place], s_0, s_1);
  store_fp32x2(&fp32_out[place], s_0, s_1);
  float own_0, own_1;
  load_fp32x2(&fp32_out[place], own_0, own_1);
  store_fp32x2(&fp32_out[place], own_0, own_1);
  float v_0_2, v_1_2;
  load_fp32x2_streaming(&fp32_in[place], v_0_2, v_1_2);
  store_fp32x2_streaming(&fp32_out[place], v_0_2, v_1_2);
  store_fp32x2(&fp32_stage[place], v_0_2, v_1_2);
  float s_0_2, s_1_2;
  load_fp32x2(&fp32_stage[place], s_0_2, s_1_2);
  store_fp32x2_streaming(&fp32_out[place], s_0_2, s_1_2);
  float own_0_2, own_1_2;
  load_fp32x2(&fp32_out[place], own_0_2, own_1_2);
  store_fp32x2(&fp32_out[place], own_0_2, own_1_2);
  float v_0_3, v_1_3, v_2_2, v_3;
  load_fp32x4(&fp32_in[place], v_0_3, v_1_3, v_2_2, v_3);
  store_fp32x4(&fp32_out[place], v_0_3, v_1_3, v_2_2, v_3);
  store_fp32x4(&fp32_stage[place], v_0_3, v_1_3, v_2_2, v_3);
  float s_0_3, s_1_3, s_2_2, s_3;
  load_fp32x4(&fp32_stage[place], s_0_3, s_1_3, s_2_2, s_3);
  store_fp32x4(&fp32_out[place], s_0_3, s_1_3, s_2_2, s_3);
  float own_0_3, own_1_3, own_2_2, own_3;
  load_fp32x4(&fp32_out[place], own_0_3, own_1_3, own_2_2, own_3);
  store_fp32x4(&fp32_out[place], own_0_3, own_1_3, own_2_2, own_3);
  float v_0_4, v_1_4, v_2_3, v_3_2;
  load_fp32x4_streaming(&fp32_in[place], v_0_4, v_1_4, v_2_3, v_3_2);
  store_fp32x4_streaming(&fp32_out[place], v_0_4, v_1_4, v_2_3, v_3_2);
  store_fp32x4(&fp32_stage[place], v_0_4, v_1_4, v_2_3, v_3_2);
  float s_0_4, s_1_4, s_2_3, s_3_2;
  load_fp32x4(&fp32_stage[place], s_0_4, s_1_4, s_2_3, s_3_2);
  store_fp32x4_streaming(&fp32_out[place], s_0_4, s_1_4, s_2_3, s_3_2);
  float own_0_4, own_1_4, own_2_3, own_3_2;
  load_fp32x4(&fp32_out[place], own_0_4, own_1_4, own_2_3, own_3_2);
  store_fp32x4(&fp32_out[place], own_0_4, own_1_4, own_2_3, own_3_2);
  copy_async_4(&fp32_stage[place], &fp32_in[place]);
  copy_async_8(&fp32_stage[place], &fp32_in[place]);
  copy_async_16(&fp32_stage[place], &fp32_in[place]);
  commit_copies();
  wait_copies<0>();
  const float v_4 = bf16_to_float(bf16_in[place]);
  bf16_out[place] = float_to_bf16(v_4);
  bf16_stage[place] = float_to_bf16(v_4);
  const float s_4 = bf16_to_float(bf16_stage[place]);
  bf16_out[place] = float_to_bf16(s_4);
  const float own_4 = bf16_to_float(bf16_out[place]);
  bf16_out[place] = float_to_bf16(own_4);
  const float v_5 = bf16_to_float(__ldcs(&bf16_in[place]));
  __stcs(&bf16_out[place], float_to_bf16(v_5));
  bf16_stage[place] = float_to_bf16(v_5);
  const float s_5 = bf16_to_float(bf16_stage[place]);
  __stcs(&bf16_out[place], float_to_bf16(s_5));
  const float own_5 = bf16_to_float(bf16_out[place]);
  bf16_out[place] = float_to_bf16(own_5);
  float v_0_5, v_1_5;
  load_bf16x2(&bf16_in[place], v_0_5, v_1_5);
  store_bf16x2(&bf16_out[place], v_0_5, v_1_5);
  store_bf16x2(&bf16_stage[place], v_0_5, v_1_5);
  float s_0_5, s_1_5;
  load_bf16x2(&bf16_stage[place], s_0_5, s_1_5);
  store_bf16x2(&bf16_out[place], s_0_5, s_1_5);
  float own_0_5, own_1_5;
  load_bf16x2(&bf16_out[place], own_0_5, own_1_5);
  store_bf16x2(&bf16_out[place], own_0_5, own_1_5);
  float v_0_6, v_1_6;
  load_bf16x2_streaming(&bf16_in[place], v_0_6, v_1_6);
  store_bf16x2_streaming(&bf16_out[place], v_0_6, v_1_6);
  store_bf16x2(&bf16_stage[place], v_0_6, v_1_6);
  float s_0_6, s_1_6;
  load_bf16x2(&bf16_stage[place], s_0_6, s_1_6);
  store_bf16x2_streaming(&bf16_out[place], s_0_6, s_1_6);
  float own_0_6, own_1_6;
  load_bf16x2(&bf16_out[place], own_0_6, own_1_6);
  store_bf16x2(&bf16_out[place], own_0_6, own_1_6);
  float v_0_7, v_1_7, v_2_4, v_3_3;
  load_bf16x4(&bf16_in[place], v_0_7, v_1_7, v_2_4, v_3_3);
  store_bf16x4(&bf16_out[place], v_0_7, v_1_7, v_2_4, v_3_3);
  store_bf16x4(&bf16_stage[place], v_0_7, v_1_7, v_2_4, v_3_3);
  float s_0_7, s_1_7, s_2_4, s_3_3;
  load_bf16x4(&bf16_stage[place], s_0_7, s_1_7, s_2_4, s_3_3);
  store_bf16x4(&bf16_out[place], s_0_7, s_1_7, s_2_4, s_3_3);
  float own_0_7, own_1_7, own_2_4, own_3_3;
  load_bf16x4(&bf16_out[place], own_0_7, own_1_7, own_2_4, own_3_3);
  store_bf16x4(&bf16_out[place], own_0_7, own_1_7, own_2_4, own_3_3);
  float v_0_8, v_1_8, v_2_5, v_3_4;
  load_bf16x4_streaming(&bf16_in[place], v_0_8, v_1_8, v_2_5, v_3_4);
  store_bf16x4_streaming(&bf16_out[place], v_0_8, v_1_8, v_2_5, v_3_4);
  store_bf16x4(&bf16_stage[place], v_0_8, v_1_8, v_2_5, v_3_4);
  float s_0_8, s_1_8, s_2_5, s_3_4;
  load_bf16x4(&bf16_stage[place], s_0_8, s_1_8, s_2_5, s_3_4);
  store_bf16x4_streaming(&bf16_out[place], s_0_8, s_1_8, s_2_5, s_3_4);
  float own_0_8, own_1_8, own_2_5, own_3_4;
  load_bf16x4(&bf16_out[place], own_0_8, own_1_8, own_2_5, own_3_4);
  store_bf16x4(&bf16_out[place], own_0_8, own_1_8, own_2_5, own_3_4);
  float v_0_9, v_1_9, v_2_6, v_3_5, v_4_2, v_5_2, v_6, v_7;
  load_bf16x8(&bf16_in[place], v_0_9, v_1_9, v_2_6, v_3_5, v_4_2, v_5_2, v_6, v_7);
  store_bf16x8(&bf16_out[place], v_0_9, v_1_9, v_2_6, v_3_5, v_4_2, v_5_2, v_6, v_7);
  store_bf16x8(&bf16_stage[place], v_0_9, v_1_9, v_2_6, v_3_5, v_4_2, v_5_2, v_6, v_7);
  float s_0_9, s_1_9, s_2_6, s_3_5, s_4_2, s_5_2, s_6, s_7;
  load_bf16x8(&bf16_stage[place], s_0_9, s_1_9, s_2_6, s_3_5, s_4_2, s_5_2, s_6, s_7);
  store_bf16x8(&bf16_out[place], s_0_9, s_1_9, s_2_6, s_3_5, s_4_2, s_5_2, s_6, s_7);
  float own_0_9, own_1_9, own_2_6, own_3_5, own_4_2, own_5_2, own_6, own_7;
  load_bf16x8(&bf16_out[place], own_0_9, own_1_9, own_2_6, own_3_5, own_4_2, own_5_2, own_6, own_7);
  store_bf16x8(&bf16_out[place], own_0_9, own_1_9, own_2_6, own_3_5, own_4_2, own_5_2, own_6, own_7);
  float v_0_10, v_1_10, v_2_7, v_3_6, v_4_3, v_5_3, v_6_2, v_7_2;
  load_bf16x8_streaming(&bf16_in[place], v_0_10, v_1_10, v_2_7, v_3_6, v_4_3, v_5_3, v_6_2, v_7_2);
  store_bf16x8_streaming(&bf16_out[place], v_0_10, v_1_10, v_2_7, v_3_6, v_4_3, v_5_3, v_6_2, v_7_2);
  store_bf16x8(&bf16_stage[place], v_0_10, v_1_10, v_2_7, v_3_6, v_4_3, v_5_3, v_6_2, v_7_2);
  float s_0_10, s_1_10, s_2_7, s_3_6, s_4_3, s_5_3, s_6_2, s_7_2;
  load_bf16x8(&bf16_stage[place], s_0_10, s_1_10, s_2_7, s_3_6, s_4_3, s_5_3, s_6_2, s_7_2);
  store_bf16x8_streaming(&bf16_out[place], s_0_10, s_1_10, s_2_7, s_3_6, s_4_3, s_5_3, s_6_2, s_7_2);
  float own_0_10, own_1_10, own_2_7, own_3_6, own_4_3, own_5_3, own_6_2, own_7_2;
  load_bf16x8(&bf16_out[place], own_0_10, own_1_10, own_2_7, own_3_6, own_4_3, own_5_3, own_6_2, own_7_2);
  store_bf16x8(&bf16_out[place], own_0_10, own_1_10, own_2_7, own_3_6, own_4_3, own_5_3, own_6_2, own_7_2);
  copy_async_4(&bf16_stage[place], &bf16_in[place]);
  copy_async_8(&bf16_stage[place], &bf16_in[place]);
  copy_async_16(&bf16_stage[place], &bf16_in[place]);
  commit_copies();
  wait_copies<0>();
  const float v_8 = fp16_to_float(fp16_in[place]);
  fp16_out[place] = float_to_fp16(v_8);
  fp16_stage[place] = float_to_fp16(v_8);
  const float s_8 = fp16_to_float(fp16_stage[place]);
  fp16_out[place] = float_to_fp16(s_8);
  const float own_8 = fp16_to_float(fp16_out[place]);
  fp16_out[place] = float_to_fp16(own_8);
  const float v_9 = fp16_to_float(__ldcs(&fp16_in[place]));
  __stcs(&fp16_out[place], float_to_fp16(v_9));
  fp16_stage[place] = float_to_fp16(v_9);
  const float s_9 = fp16_to_float(fp16_stage[place]);
  __stcs(&fp16_out[place], float_to_fp16(s_9));
  const float own_9 = fp16_to_float(fp16_out[place]);
  fp16_out[place] = float_to_fp16(own_9);
  float v_0_11, v_1_11;
  load_fp16x2(&fp16_in[place], v_0_11, v_1_11);
  store_fp16x2(&fp16_out[place], v_0_11, v_1_11);
  store_fp16x2(&fp16_stage[place], v_0_11, v_1_11);
  float s_0_11, s_1_11;
  load_fp16x2(&fp16_stage[place], s_0_11, s_1_11);
  store_fp16x2(&fp16_out[place], s_0_11, s_1_11);
  float own_0_11, own_1_11;
  load_fp16x2(&fp16_out[place], own_0_11, own_1_11);
  store_fp16x2(&fp16_out[place], own_0_11, own_1_11);
  float v_0_12, v_1_12;
  load_fp16x2_streaming(&fp16_in[place], v_0_12, v_1_12);
  store_fp16x2_streaming(&fp16_out[place], v_0_12, v_1_12);
  store_fp16x2(&fp16_stage[place], v_0_12, v_1_12);
  float s_0_12, s_1_12;
  load_fp16x2(&fp16_stage[place], s_0_12, s_1_12);
  store_fp16x2_streaming(&fp16_out[place], s_0_12, s_1_12);
  float own_0_12, own_1_12;
  load_fp16x2(&fp16_out[place], own_0_12, own_1_12);
  store_fp16x2(&fp16_out[place], own_0_12, own_1_12);
  float v_0_13, v_1_13, v_2_8, v_3_7;
  load_fp16x4(&fp16_in[place], v_0_13, v_1_13, v_2_8, v_3_7);
  store_fp16x4(&fp16_out[place], v_0_13, v_1_13, v_2_8, v_3_7);
  store_fp16x4(&fp16_stage[place], v_0_13, v_1_13, v_2_8, v_3_7);
  float s_0_13, s_1_13, s_2_8, s_3_7;
  load_fp16x4(&fp16_stage[place], s_0_13, s_1_13, s_2_8, s_3_7);
  store_fp16x4(&fp16_out[place], s_0_13, s_1_13, s_2_8, s_3_7);
  float own_0_13, own_1_13, own_2_8, own_3_7;
  load_fp16x4(&fp16_out[place], own_0_13, own_1_13, own_2_8, own_3_7);
  store_fp16x4(&fp16_out[place], own_0_13, own_1_13, own_2_8, own_3_7);
  float v_0_14, v_1_14, v_2_9, v_3_8;
  load_fp16x4_streaming(&fp16_in[place], v_0_14, v_1_14, v_2_9, v_3_8);
  store_fp16x4_streaming(&fp16_out[place], v_0_14, v_1_14, v_2_9, v_3_8);
  store_fp16x4(&fp16_stage[place], v_0_14, v_1_14, v_2_9, v_3_8);
  float s_0_14, s_1_14, s_2_9, s_3_8;
  load_fp16x4(&fp16_stage[place], s_0_14, s_1_14, s_2_9, s_3_8);
  store_fp16x4_streaming(&fp16_out[place], s_0_14, s_1_14, s_2_9, s_3_8);
  float own_0_14, own_1_14, own_2_9, own_3_8;
  load_fp16x4(&fp16_out[place], own_0_14, own_1_14, own_2_9, own_3_8);
  store_fp16x4(&fp16_out[place], own_0_14, own_1_14, own_2_9, own_3_8);
  float v_0_15, v_1_15, v_2_10, v_3_9, v_4_4, v_5_4, v_6_3, v_7_3;
  load_fp16x8(&fp16_in[place], v_0_15, v_1_15, v_2_10, v_3_9, v_4_4, v_5_4, v_6_3, v_7_3);
  store_fp16x8(&fp16_out[place], v_0_15, v_1_15, v_2_10, v_3_9, v_4_4, v_5_4, v_6_3, v_7_3);
  store_fp16x8(&fp16_stage[place], v_0_15, v_1_15, v_2_10, v_3_9, v_4_4, v_5_4, v_6_3, v_7_3);
  float s_0_15, s_1_15, s_2_10, s_3_9, s_4_4, s_5_4, s_6_3, s_7_3;
  load_fp16x8(&fp16_stage[place], s_0_15, s_1_15, s_2_10, s_3_9, s_4_4, s_5_4, s_6_3, s_7_3);
  store_fp16x8(&fp16_out[place], s_0_15, s_1_15, s_2_10, s_3_9, s_4_4, s_5_4, s_6_3, s_7_3);
  float own_0_15, own_1_15, own_2_10, own_3_9, own_4_4, own_5_4, own_6_3, own_7_3;
  load_fp16x8(&fp16_out[place], own_0_15, own_1_15, own_2_10, own_3_9, own_4_4, own_5_4, own_6_3, own_7_3);
  store_fp16x8(&fp16_out[place], own_0_15, own_1_15, own_2_10, own_3_9, own_4_4, own_5_4, own_6_3, own_7_3);
  float v_0_16, v_1_16, v_2_11, v_3_10, v_4_5, v_5_5, v_6_4, v_7_4;
  load_fp16x8_streaming(&fp16_in[place], v_0_16, v_1_16, v_2_11, v_3_10, v_4_5, v_5_5, v_6_4, v_7_4);
  store_fp16x8_streaming(&fp16_out[place], v_0_16, v_1_16, v_2_11, v_3_10, v_4_5, v_5_5, v_6_4, v_7_4);
  store_fp16x8(&fp16_stage[place], v_0_16, v_1_16, v_2_11, v_3_10, v_4_5, v_5_5, v_6_4, v_7_4);
  float s_0_16, s_1_16, s_2_11, s_3_10, s_4_5, s_5_5, s_6_4, s_7_4;
  load_fp16x8(&fp16_stage[place], s_0_16, s_1_16, s_2_11, s_3_10, s_4_5, s_5_5, s_6_4, s_7_4);
  store_fp16x8_streaming(&fp16_out[place], s_0_16, s_1_16, s_2_11, s_3_10, s_4_5, s_5_5, s_6_4, s_7_4);
  float own_0_16, own_1_16, own_2_11, own_3_10, own_4_5, own_5_5, own_6_4, own_7_4;
  load_fp16x8(&fp16_out[place], own_0_16, own_1_16, own_2_11, own_3_10, own_4_5, own_5_5, own_6_4, own_7_4);
  store_fp16x8(&fp16_out[place], own_0_16, own_1_16, own_2_11, own_3_10, own_4_5, own_5_5, own_6_4, own_7_4);
  copy_async_4(&fp16_stage[place], &fp16_in[place]);
  copy_async_8(&fp16_stage[place], &fp16_in[place]);
  copy_async_16(&fp16_stage[place], &fp16_in[place]);
  commit_copies();
  wait_copies<0>();
  const int v_10 = int32_in[place];
  int32_out[place] = v_10;
  int32_stage[place] = v_10;
  const int s_10 = int32_stage[place];
  int32_out[place] = s_10;
  const int own_10 = int32_out[place];
  int32_out[place] = own_10;
  const int v_11 = __ldcs(&int32_in[place]);
  __stcs(&int32_out[place], v_11);
  int32_stage[place] = v_11;
  const int s_11 = int32_stage[place];
  __stcs(&int32_out[place], s_11);
  const int own_11 = int32_out[place];
  int32_out[place] = own_11;
  int v_0_17, v_1_17;
  load_int32x2(&int32_in[place], v_0_17, v_1_17);
  store_int32x2(&int32_out[place], v_0_17, v_1_17);
  store_int32x2(&int32_stage[place], v_0_17, v_1_17);
  int s_0_17, s_1_17;
  load_int32x2(&int32_stage[place], s_0_17, s_1_17);
  store_int32x2(&int32_out[place], s_0_17, s_1_17);
  int own_0_17, own_1_17;
  load_int32x2(&int32_out[place], own_0_17, own_1_17);
  store_int32x2(&int32_out[place], own_0_17, own_1_17);
  int v_0_18, v_1_18;
  load_int32x2_streaming(&int32_in[place], v_0_18, v_1_18);
  store_int32x2_streaming(&int32_out[place], v_0_18, v_1_18);
  store_int32x2(&int32_stage[place], v_0_18, v_1_18);
  int s_0_18, s_1_18;
  load_int32x2(&int32_stage[place], s_0_18, s_1_18);
  store_int32x2_streaming(&int32_out[place], s_0_18, s_1_18);
  int own_0_18, own_1_18;
  load_int32x2(&int32_out[place], own_0_18, own_1_18);
  store_int32x2(&int32_out[place], own_0_18, own_1_18);
  int v_0_19, v_1_19, v_2_12, v_3_11;
  load_int32x4(&int32_in[place], v_0_19, v_1_19, v_2_12, v_3_11);
  store_int32x4(&int32_out[place], v_0_19, v_1_19, v_2_12, v_3_11);
  store_int32x4(&int32_stage[place], v_0_19, v_1_19, v_2_12, v_3_11);
  int s_0_19, s_1_19, s_2_12, s_3_11;
  load_int32x4(&int32_stage[place], s_0_19, s_1_19, s_2_12, s_3_11);
  store_int32x4(&int32_out[place], s_0_19, s_1_19, s_2_12, s_3_11);
  int own_0_19, own_1_19, own_2_12, own_3_11;
  load_int32x4(&int32_out[place], own_0_19, own_1_19, own_2_12, own_3_11);
  store_int32x4(&int32_out[place], own_0_19, own_1_19, own_2_12, own_3_11);
  int v_0_20, v_1_20, v_2_13, v_3_12;
  load_int32x4_streaming(&int32_in[place], v_0_20, v_1_20, v_2_13, v_3_12);
  store_int32x4_streaming(&int32_out[place], v_0_20, v_1_20, v_2_13, v_3_12);
  store_int32x4(&int32_stage[place], v_0_20, v_1_20, v_2_13, v_3_12);
  int s_0_20, s_1_20, s_2_13, s_3_12;
  load_int32x4(&int32_stage[place], s_0_20, s_1_20, s_2_13, s_3_12);
  store_int32x4_streaming(&int32_out[place], s_0_20, s_1_20, s_2_13, s_3_12);
  int own_0_20, own_1_20, own_2_13, own_3_12;
  load_int32x4(&int32_out[place], own_0_20, own_1_20, own_2_13, own_3_12);
  store_int32x4(&int32_out[place], own_0_20, own_1_20, own_2_13, own_3_12);
  copy_async_4(&int32_stage[place], &int32_in[place]);
  copy_async_8(&int32_stage[place], &int32_in[place]);
  copy_async_16(&int32_stage[place], &int32_in[place]);
  commit_copies();
  wait_copies<0>();
}
