// Helpers for packed pairs and tensor cores. Sections are those of the PTX ISA 8.x: 9.7.14.5 mma and ldmatrix
// (warp-level matrix instructions).
//
// A pair's low half is the element at the lower address. Fragments and cvt.rn.bf16x2.f32 (whose first source goes to
// the high half) agree on this. Register arrays are passed by pointer: inlined, with constant indices, they stay in
// registers. The asm of mma is volatile because a warp must run it together: the compiler could move a pure one under
// the condition that its result is used under. It does not say "memory", so loads and stores move freely across it.
//
// Products of fp32 in three terms follow Ootomo and Yokota, "Recovering single precision accuracy from Tensor Cores
// while surpassing the FP32 theoretical peak performance" (2022): an mma truncates its sums, which over many of them
// would be a bias of many units in the last place. So each k16 is summed from zero and added to the accumulator by the
// plain adders, which round to nearest.

//: low_bf16
__device__ __forceinline__ float low_bf16(int pair) { return __uint_as_float(unsigned(pair) << 16); }

//: high_bf16
__device__ __forceinline__ float high_bf16(int pair) { return __uint_as_float(unsigned(pair) & 0xffff0000u); }

//: low_fp16
__device__ __forceinline__ float low_fp16(int pair) {
  float x;
  asm("{ .reg .f16 l, h; mov.b32 {l, h}, %1; cvt.f32.f16 %0, l; }" : "=f"(x) : "r"(pair));
  return x;
}

//: high_fp16
__device__ __forceinline__ float high_fp16(int pair) {
  float x;
  asm("{ .reg .f16 l, h; mov.b32 {l, h}, %1; cvt.f32.f16 %0, h; }" : "=f"(x) : "r"(pair));
  return x;
}

//: load_matrix_x1 needs shared_address
// Each lane gives the place of one row of eight elements.
__device__ __forceinline__ void load_matrix_x1(int* into, const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(into[0]) : "r"(shared_address(row)) : "memory");
}

//: load_matrix_x2 needs shared_address
// Each lane gives the place of one row of eight elements.
__device__ __forceinline__ void load_matrix_x2(int* into, const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(into[0]), "=r"(into[1]) : "r"(shared_address(row)) : "memory");
}

//: load_matrix_x4 needs shared_address
// Each lane gives the place of one row of eight elements.
__device__ __forceinline__ void load_matrix_x4(int* into, const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(into[0]), "=r"(into[1]), "=r"(into[2]), "=r"(into[3]) : "r"(shared_address(row)) : "memory");
}

//: load_matrix_x1_transposed needs shared_address
// Each lane gives the place of one row of eight elements.
__device__ __forceinline__ void load_matrix_x1_transposed(int* into, const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
               : "=r"(into[0]) : "r"(shared_address(row)) : "memory");
}

//: load_matrix_x2_transposed needs shared_address
// Each lane gives the place of one row of eight elements.
__device__ __forceinline__ void load_matrix_x2_transposed(int* into, const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(into[0]), "=r"(into[1]) : "r"(shared_address(row)) : "memory");
}

//: load_matrix_x4_transposed needs shared_address
// Each lane gives the place of one row of eight elements.
__device__ __forceinline__ void load_matrix_x4_transposed(int* into, const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(into[0]), "=r"(into[1]), "=r"(into[2]), "=r"(into[3]) : "r"(shared_address(row)) : "memory");
}

//: mma_bf16
// acc (16 x 8) += a (16 x 16) * b (16 x 8), spread over the lanes of the warp.
__device__ __forceinline__ void mma_bf16(float* acc, const int* a, const int* b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

//: mma_fp16
// acc (16 x 8) += a (16 x 16) * b (16 x 8), spread over the lanes of the warp.
__device__ __forceinline__ void mma_fp16(float* acc, const int* a, const int* b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

//: round_tf32
// 10 bits of fraction; ties away from zero.
__device__ __forceinline__ float round_tf32(float x) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return __uint_as_float(bits);
}

//: mma_tf32_k8
// acc (16 x 8) += a (16 x 8) * b (8 x 8), spread over the lanes of the warp.
__device__ __forceinline__ void mma_tf32_k8(float* acc, const unsigned* a, const unsigned* b) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

//: mma_tf32 needs mma_tf32_k8
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

//: split_tf32
// x as the sum of two numbers of tf32: x rounded as by cvt.rna, and what is left without its last bit. A NaN
// may be lost from the one, not from the other.
__device__ __forceinline__ void split_tf32(float x, unsigned& big, unsigned& small) {
  big = (__float_as_uint(x) + 0x1000u) & 0xffffe000u;
  small = __float_as_uint(x - __uint_as_float(big)) & 0xffffe000u;
}

//: mma_tf32x3 needs mma_tf32_k8 split_tf32
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
