typedef unsigned short bf16;  // the bits of a bfloat16

__device__ __forceinline__ bf16 float_to_bf16(float x) {
  bf16 y;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}

__device__ __forceinline__ void unpack_bf16(unsigned pair, float& low, float& high) {
  low = __uint_as_float(pair << 16);
  high = __uint_as_float(pair & 0xffff0000u);
}

__device__ __forceinline__ unsigned pack_bf16(float low, float high) {
  unsigned pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

__device__ __forceinline__ unsigned shared_address(const void* p) { return unsigned(__cvta_generic_to_shared(p)); }

// Each lane gives the place of one row of eight elements.
__device__ __forceinline__ void load_matrix_x1(int* into, const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(into[0]) : "r"(shared_address(row)) : "memory");
}

// Each lane gives the place of one row of eight elements.
__device__ __forceinline__ void load_matrix_x2(int* into, const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(into[0]), "=r"(into[1]) : "r"(shared_address(row)) : "memory");
}

// Each lane gives the place of one row of eight elements.
__device__ __forceinline__ void load_matrix_x4(int* into, const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(into[0]), "=r"(into[1]), "=r"(into[2]), "=r"(into[3]) : "r"(shared_address(row)) : "memory");
}

// Each lane gives the place of one row of eight elements.
__device__ __forceinline__ void load_matrix_x1_transposed(int* into, const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
               : "=r"(into[0]) : "r"(shared_address(row)) : "memory");
}

// Each lane gives the place of one row of eight elements.
__device__ __forceinline__ void load_matrix_x2_transposed(int* into, const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(into[0]), "=r"(into[1]) : "r"(shared_address(row)) : "memory");
}

// acc (16 x 8) += a (16 x 16) * b (16 x 8), spread over the lanes of the warp.
__device__ __forceinline__ void mma_bf16(float* acc, const int* a, const int* b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ __forceinline__ void store_fp32x2(float* to, float v0, float v1) {
  *reinterpret_cast<float2*>(to) = make_float2(v0, v1);
}

__device__ __forceinline__ void load_bf16x4(const bf16* from, float& v0, float& v1, float& v2, float& v3) {
  const uint2 packed = *reinterpret_cast<const uint2*>(from);
  unpack_bf16(packed.x, v0, v1);
  unpack_bf16(packed.y, v2, v3);
}

__device__ __forceinline__ void store_bf16x4(bf16* to, float v0, float v1, float v2, float v3) {
  *reinterpret_cast<uint2*>(to) = make_uint2(pack_bf16(v0, v1), pack_bf16(v2, v3));
}

__device__ __forceinline__ void load_pairs_x2(const void* from, int& v0, int& v1) {
  const int2 packed = *reinterpret_cast<const int2*>(from);
  v0 = packed.x;
  v1 = packed.y;
}

__device__ __forceinline__ void store_pairs_x2(void* to, int v0, int v1) {
  *reinterpret_cast<int2*>(to) = make_int2(v0, v1);
}

// c = a * b, 16 x 16 x 16; each of two warps has eight columns of c.
extern "C" __global__ void __launch_bounds__(64, 1) matrix_product_bf16(
    const bf16* __restrict__ a,  // [16, 16]
    const bf16* __restrict__ b,  // [16, 16], rows of k
    float* __restrict__ c)       // [3, 16, 16]: by columns of b, by rows of b, both
{
  extern __shared__ __align__(16) unsigned char shared_memory[];
  bf16* const a_tile = reinterpret_cast<bf16*>(shared_memory);
  bf16* const rows = reinterpret_cast<bf16*>(shared_memory + 768);      // b as it is
  bf16* const columns = reinterpret_cast<bf16*>(shared_memory + 1536);  // b transposed
  const int thread_x = threadIdx.x;

  const int warp = thread_x / 32;
  const int lane = thread_x % 32;
  const int row = thread_x / 4;
  const int column = thread_x % 4 * 4;
  int pair_0, pair_1;
  load_pairs_x2(&a[row * 16 + column], pair_0, pair_1);
  store_pairs_x2(&a_tile[row * 24 + column], pair_0, pair_1);
  float v_0, v_1, v_2, v_3;
  load_bf16x4(&b[row * 16 + column], v_0, v_1, v_2, v_3);
  store_bf16x4(&rows[row * 24 + column], v_0, v_1, v_2, v_3);
  columns[column * 24 + row] = float_to_bf16(v_0);
  columns[(column + 1) * 24 + row] = float_to_bf16(v_1);
  columns[(column + 2) * 24 + row] = float_to_bf16(v_2);
  columns[(column + 3) * 24 + row] = float_to_bf16(v_3);
  __syncthreads();
  int left[4];
  int right[6];
  float sum[12];
  #pragma unroll
  for (int i = 0; i < 12; ++i) sum[i] = 0.0f;
  load_matrix_x4(&left[0], &a_tile[lane % 16 * 24 + lane / 16 * 8]);
  const int mine = (warp * 8 + lane % 8) * 24 + lane / 8 % 2 * 8;
  load_matrix_x2(&right[0], &columns[mine]);
  load_matrix_x2_transposed(&right[2], &rows[lane % 16 * 24 + warp * 8]);
  load_matrix_x1(&right[4], &columns[mine]);
  load_matrix_x1_transposed(&right[5], &rows[(lane % 8 + 8) * 24 + warp * 8]);
  #pragma unroll
  for (int p = 0; p < 3; ++p) mma_bf16(&sum[p * 4], &left[0], &right[p * 2]);
  const int to = lane / 4 * 16 + warp * 8 + lane % 4 * 2;
  store_fp32x2(&c[to], sum[0], sum[1]);
  store_fp32x2(&c[to + 128], sum[2], sum[3]);
  store_fp32x2(&c[to + 256], sum[4], sum[5]);
  store_fp32x2(&c[to + 384], sum[6], sum[7]);
  store_fp32x2(&c[to + 512], sum[8], sum[9]);
  store_fp32x2(&c[to + 640], sum[10], sum[11]);
}
