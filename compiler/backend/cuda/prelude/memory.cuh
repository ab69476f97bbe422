// Helpers that move data: aliases of the 16-bit types, conversion, asynchronous copies. Sections are those of the
// PTX ISA 8.x: 9.7.9.21 cvt, 9.7.9.25.3 cp.async. How these files are read is in compiler/backend/cuda/prelude.h.
//
// 16-bit values are kept as their bits: no header is needed, and a widened bf16 is a shift. All conversions round
// to nearest even. cvt.rn.bf16.f32 and cvt.rn.bf16x2.f32 exist from sm_80 on.

//: i64
typedef long long i64;

//: bf16
typedef unsigned short bf16;  // the bits of a bfloat16

//: fp16
typedef unsigned short fp16;  // the bits of an IEEE half

//: bf16_to_float needs bf16
__device__ __forceinline__ float bf16_to_float(bf16 x) { return __uint_as_float(unsigned(x) << 16); }

//: float_to_bf16 needs bf16
__device__ __forceinline__ bf16 float_to_bf16(float x) {
  bf16 y;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}

//: fp16_to_float needs fp16
__device__ __forceinline__ float fp16_to_float(fp16 x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
  return y;
}

//: float_to_fp16 needs fp16
__device__ __forceinline__ fp16 float_to_fp16(float x) {
  fp16 y;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}

//: unpack_bf16
__device__ __forceinline__ void unpack_bf16(unsigned pair, float& low, float& high) {
  low = __uint_as_float(pair << 16);
  high = __uint_as_float(pair & 0xffff0000u);
}

//: unpack_fp16
__device__ __forceinline__ void unpack_fp16(unsigned pair, float& low, float& high) {
  asm("{ .reg .f16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h; }"
      : "=f"(low), "=f"(high) : "r"(pair));
}

//: pack_bf16
__device__ __forceinline__ unsigned pack_bf16(float low, float high) {
  unsigned pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

//: pack_fp16
__device__ __forceinline__ unsigned pack_fp16(float low, float high) {
  unsigned pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

//: shared_address
__device__ __forceinline__ unsigned shared_address(const void* p) { return unsigned(__cvta_generic_to_shared(p)); }

//: prefetch
__device__ __forceinline__ void prefetch(const void* p) {
  asm volatile("prefetch.global.L1 [%0];" :: "l"(__cvta_generic_to_global(p)));
}

//: prefetch_second
__device__ __forceinline__ void prefetch_second(const void* p) {
  asm volatile("prefetch.global.L2 [%0];" :: "l"(__cvta_generic_to_global(p)));
}

//: copy_async_4 needs shared_address
__device__ __forceinline__ void copy_async_4(void* shared, const void* global) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"
               :: "r"(shared_address(shared)), "l"(__cvta_generic_to_global(global)) : "memory");
}

//: copy_async_8 needs shared_address
__device__ __forceinline__ void copy_async_8(void* shared, const void* global) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;"
               :: "r"(shared_address(shared)), "l"(__cvta_generic_to_global(global)) : "memory");
}

//: copy_async_16 needs shared_address
// .cg: past the L1 cache, which would only hold a second copy of what goes to shared memory.
__device__ __forceinline__ void copy_async_16(void* shared, const void* global) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
               :: "r"(shared_address(shared)), "l"(__cvta_generic_to_global(global)) : "memory");
}

//: commit_copies
__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

//: wait_copies
template <int pending>
__device__ __forceinline__ void wait_copies() { asm volatile("cp.async.wait_group %0;" :: "n"(pending) : "memory"); }
