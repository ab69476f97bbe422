// Helpers for products of warpgroups. Sections are those of the PTX ISA 8.x: 9.7.15, asynchronous warpgroup level
// matrix instructions. Other architectures than sm_90a have none: there each warp multiplies its rows by mma at once,
// and there is nothing to wait for. The product itself is compiler/backend/cuda/warpgroup_product.cpp, as its text
// depends on the number of columns.

//: panel_operand needs shared_address
// PTX ISA, matrix descriptor: place, bytes between panels and between eights of rows, all by 16; swizzle of 128 bytes.
template <int panel>
__device__ __forceinline__ unsigned long long panel_operand(const void* first) {
  return 1ull << 62 | 64ull << 32 | (panel / 8ull) << 16 | (shared_address(first) & 0x3ffff) >> 4;
}

//: swizzled
// Where the 16 bytes of a panel stand that would be at p.
__device__ __forceinline__ const void* swizzled(const void* p) {
  const unsigned long long at = reinterpret_cast<unsigned long long>(p);
  return reinterpret_cast<const void*>(at ^ (at >> 7 & 7) << 4);
}

//: publish_operands
__device__ __forceinline__ void publish_operands() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

//: wait_products
template <int pending>
__device__ __forceinline__ void wait_products() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(pending) : "memory");
#endif
}

//: settle
// What was waited for is read after the wait: the compiler does not know that it changed meanwhile.
template <int count>
__device__ __forceinline__ void settle(float* acc) {
  #pragma unroll
  for (int i = 0; i < count; ++i) asm volatile("" : "+f"(acc[i]) :: "memory");
}
