// Forms of helpers for GPUs before compute capability 8.0, as in arithmetic.cuh: those that are instructions of a GPU.

//: pack_fp16
__device__ __forceinline__ unsigned pack_fp16(float low, float high) {
  unsigned pair;
  asm("{ .reg .f16 l, h; cvt.rn.f16.f32 l, %1; cvt.rn.f16.f32 h, %2; mov.b32 %0, {l, h}; }"
      : "=r"(pair) : "f"(low), "f"(high));
  return pair;
}

//: mma_fp16
// acc (16 x 8) += a (16 x 16) * b (16 x 8), spread over the lanes of the warp: two products of depth 8, whose fragments
// are the halves of those of depth 16.
__device__ __forceinline__ void mma_fp16(float* acc, const int* a, const int* b) {
  #pragma unroll
  for (int half = 0; half < 2; ++half)
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
                 : "r"(a[2 * half]), "r"(a[2 * half + 1]), "r"(b[half]));
}
