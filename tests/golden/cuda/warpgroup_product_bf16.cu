typedef unsigned short bf16;  // the bits of a bfloat16
__device__ __forceinline__ unsigned shared_address(const void* p) { return unsigned(__cvta_generic_to_shared(p)); }

// Each lane gives the place of one row of eight elements.
__device__ __forceinline__ void load_matrix_x4(int* into, const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(into[0]), "=r"(into[1]), "=r"(into[2]), "=r"(into[3]) : "r"(shared_address(row)) : "memory");
}

// Each lane gives the place of one row of eight elements.
__device__ __forceinline__ void load_matrix_x4_transposed(int* into, const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(into[0]), "=r"(into[1]), "=r"(into[2]), "=r"(into[3]) : "r"(shared_address(row)) : "memory");
}

// acc (16 x 8) += a (16 x 16) * b (16 x 8), spread over the lanes of the warp.
__device__ __forceinline__ void mma_bf16(float* acc, const int* a, const int* b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// PTX ISA, matrix descriptor: place, bytes between panels and between eights of rows, all by 16; swizzle of 128 bytes.
template <int panel>
__device__ __forceinline__ unsigned long long panel_operand(const void* first) {
  return 1ull << 62 | 64ull << 32 | (panel / 8ull) << 16 | (shared_address(first) & 0x3ffff) >> 4;
}

// Where the 16 bytes of a panel stand that would be at p.
__device__ __forceinline__ const void* swizzled(const void* p) {
  const unsigned long long at = reinterpret_cast<unsigned long long>(p);
  return reinterpret_cast<const void*>(at ^ (at >> 7 & 7) << 4);
}

__device__ __forceinline__ void publish_operands() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

template <int pending>
__device__ __forceinline__ void wait_products() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(pending) : "memory");
#endif
}

// What was waited for is read after the wait: the compiler does not know that it changed meanwhile.
template <int count>
__device__ __forceinline__ void settle(float* acc) {
  #pragma unroll
  for (int i = 0; i < count; ++i) asm volatile("" : "+f"(acc[i]) :: "memory");
}

__device__ __forceinline__ void store_fp32x2(float* to, float v0, float v1) {
  *reinterpret_cast<float2*>(to) = make_float2(v0, v1);
}

__device__ __forceinline__ void load_pairs_x4(const void* from, int& v0, int& v1, int& v2, int& v3) {
  const int4 packed = *reinterpret_cast<const int4*>(from);
  v0 = packed.x;
  v1 = packed.y;
  v2 = packed.z;
  v3 = packed.w;
}

__device__ __forceinline__ void store_pairs_x4(void* to, int v0, int v1, int v2, int v3) {
  *reinterpret_cast<int4*>(to) = make_int4(v0, v1, v2, v3);
}

// acc (64 x 128) += a (64 x 16 steps) * b, begun here and done when it is waited for.
template <int steps, bool a_along_result, bool b_along_result, int a_panel, int b_panel>
__device__ __forceinline__ void warpgroup_mma_bf16_x128(float* acc, const bf16* a, const bf16* b) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  const unsigned long long left = panel_operand<a_panel>(a), right = panel_operand<b_panel>(b);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  #pragma unroll
  for (int step = 0; step < steps; ++step)
    asm volatile("{ .reg .pred add; setp.ne.b32 add, 1, 0; "
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
                 "%0, %1, %2, %3, %4, %5, %6, %7, "
                 "%8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, "
                 "%24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, "
                 "%40, %41, %42, %43, %44, %45, %46, %47, "
                 "%48, %49, %50, %51, %52, %53, %54, %55, "
                 "%56, %57, %58, %59, %60, %61, %62, %63"
                 "}, %64, %65, add, 1, 1, %66, %67; }"
                 : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3]), "+f"(acc[4]), "+f"(acc[5]), "+f"(acc[6]), "+f"(acc[7]),
                   "+f"(acc[8]), "+f"(acc[9]), "+f"(acc[10]), "+f"(acc[11]), "+f"(acc[12]), "+f"(acc[13]), "+f"(acc[14]), "+f"(acc[15]),
                   "+f"(acc[16]), "+f"(acc[17]), "+f"(acc[18]), "+f"(acc[19]), "+f"(acc[20]), "+f"(acc[21]), "+f"(acc[22]), "+f"(acc[23]),
                   "+f"(acc[24]), "+f"(acc[25]), "+f"(acc[26]), "+f"(acc[27]), "+f"(acc[28]), "+f"(acc[29]), "+f"(acc[30]), "+f"(acc[31]),
                   "+f"(acc[32]), "+f"(acc[33]), "+f"(acc[34]), "+f"(acc[35]), "+f"(acc[36]), "+f"(acc[37]), "+f"(acc[38]), "+f"(acc[39]),
                   "+f"(acc[40]), "+f"(acc[41]), "+f"(acc[42]), "+f"(acc[43]), "+f"(acc[44]), "+f"(acc[45]), "+f"(acc[46]), "+f"(acc[47]),
                   "+f"(acc[48]), "+f"(acc[49]), "+f"(acc[50]), "+f"(acc[51]), "+f"(acc[52]), "+f"(acc[53]), "+f"(acc[54]), "+f"(acc[55]),
                   "+f"(acc[56]), "+f"(acc[57]), "+f"(acc[58]), "+f"(acc[59]), "+f"(acc[60]), "+f"(acc[61]), "+f"(acc[62]), "+f"(acc[63])
                 : "l"(left + step * (a_along_result ? 128 : 2)), "l"(right + step * (b_along_result ? 128 : 2)),
                   "n"(int(a_along_result)), "n"(int(b_along_result)));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#else
  const int lane = threadIdx.x % 32, row = threadIdx.x / 32 % 4 * 16;
  const int in_16 = lane % 16, next_8 = lane / 16 * 8, in_8 = lane % 8 + next_8, second_8 = lane / 8 % 2 * 8;
  #pragma unroll
  for (int step = 0; step < steps; ++step) {
    int left[4], right[4];
    if (a_along_result)
      load_matrix_x4_transposed(left, swizzled(a + (16 * step + in_8) * 64 + row + second_8));
    else
      load_matrix_x4(left, swizzled(a + (row + in_16) * 64 + 16 * step + next_8));
    #pragma unroll
    for (int n = 0; n < 128; n += 16) {
      if (b_along_result)
        load_matrix_x4_transposed(right, swizzled(b + n / 64 * b_panel + (16 * step + in_16) * 64 + n % 64 + next_8));
      else
        load_matrix_x4(right, swizzled(b + (n + in_8) * 64 + 16 * step + second_8));
      mma_bf16(acc + n / 2, left, right);
      mma_bf16(acc + n / 2 + 4, left, right + 2);
    }
  }
#endif
}

// c = a * b, 128 x 128 x 128; each of two warpgroups has 64 rows of c.
extern "C" __global__ void __launch_bounds__(256, 1) warpgroup_product_bf16(
    const bf16* __restrict__ a,  // [128, k 128]
    const bf16* __restrict__ b,  // [128, k 128]
    float* __restrict__ c)       // [128, 128]
{
  extern __shared__ __align__(1024) unsigned char shared_memory[];
  bf16* const a_staged = reinterpret_cast<bf16*>(shared_memory);          // in panels
  bf16* const b_staged = reinterpret_cast<bf16*>(shared_memory + 32768);  // in panels
  const int thread_x = threadIdx.x;

  #pragma unroll 1
  for (int stage = 0; stage < 2; ++stage) {
    #pragma unroll 1
    for (int turn = 0; turn < 4; ++turn) {
      const int vector = thread_x + turn * 256;
      const int row = vector / 8;
      const int column = vector % 8 * 8;
      int pair_0, pair_1, pair_2, pair_3;
      load_pairs_x4(&a[row * 128 + stage * 64 + column], pair_0, pair_1, pair_2, pair_3);
      store_pairs_x4(&a_staged[stage * 8192 + (column / 64 * 4096 + row * 64 + (column % 64 ^ row % 8 * 8))], pair_0, pair_1, pair_2, pair_3);
    }
  }
  #pragma unroll 1
  for (int stage_2 = 0; stage_2 < 2; ++stage_2) {
    #pragma unroll 1
    for (int turn_2 = 0; turn_2 < 4; ++turn_2) {
      const int vector_2 = thread_x + turn_2 * 256;
      const int row_2 = vector_2 / 8;
      const int column_2 = vector_2 % 8 * 8;
      int pair_0_2, pair_1_2, pair_2_2, pair_3_2;
      load_pairs_x4(&b[row_2 * 128 + stage_2 * 64 + column_2], pair_0_2, pair_1_2, pair_2_2, pair_3_2);
      store_pairs_x4(&b_staged[stage_2 * 8192 + (column_2 / 64 * 4096 + row_2 * 64 + (column_2 % 64 ^ row_2 % 8 * 8))], pair_0_2, pair_1_2, pair_2_2, pair_3_2);
    }
  }
  float sum[64];
  #pragma unroll
  for (int i = 0; i < 64; ++i) sum[i] = 0.0f;
  publish_operands();
  __syncthreads();
  const int group = thread_x / 128;
  warpgroup_mma_bf16_x128<4, false, false, 4096, 4096>(&sum[0], &a_staged[group * 4096], &b_staged[0]);
  warpgroup_mma_bf16_x128<4, false, false, 4096, 4096>(&sum[0], &a_staged[group * 4096 + 8192], &b_staged[8192]);
  wait_products<1>();
  wait_products<0>();
  settle<64>(sum);
  const int lane = thread_x % 32;
  const int to = (thread_x / 32 * 16 + lane / 4) * 128 + lane % 4 * 2;
  #pragma unroll
  for (int j = 0; j < 16; ++j) {
    store_fp32x2(&c[to + j * 8], sum[j * 4], sum[j * 4 + 1]);
    store_fp32x2(&c[to + j * 8 + 1024], sum[j * 4 + 2], sum[j * 4 + 3]);
  }
}
