// The product of a warpgroup (PTX ISA 8.x, 9.7.15, asynchronous warpgroup level matrix instructions): its
// text names all registers of the accumulator, so it is made for each number of columns. Its fixed helpers
// are prelude/warpgroup.cuh.
#include <fmt/format.h>

#include "compiler/backend/cuda/prelude.h"

namespace rondo::backend::cuda {

std::string name(const WarpgroupProduct& product) {
  return fmt::format("warpgroup_mma_{}_x{}", storage_name(product.storage), product.columns);
}

std::vector<std::string_view> needs(const WarpgroupProduct& product) {
  const bool bf16 = product.storage == kernel::Storage::BF16;
  return {element_type(product.storage),  "panel_operand",  "swizzled",
          bf16 ? "mma_bf16" : "mma_fp16", "load_matrix_x4", "load_matrix_x4_transposed"};
}

namespace {

// "%0, %1, ..." or what the numbers are given to, some on a line.
std::string list(int count, std::string_view item, std::string_view line) {
  constexpr int kOnALine = 8;
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += fmt::format(fmt::runtime(item), i);
    if (i + 1 < count) text += i % kOnALine == kOnALine - 1 ? line : ", ";
  }
  return text;
}

constexpr std::string_view kHead =
    R"(// acc (64 x {columns}) += a (64 x 16 steps) * b, begun here and done when it is waited for.
template <int steps, bool a_along_result, bool b_along_result, int a_panel, int b_panel>
__device__ __forceinline__ void {name}(float* acc, const {type}* a, const {type}* b) {{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  const unsigned long long left = panel_operand<a_panel>(a), right = panel_operand<b_panel>(b);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  #pragma unroll
  for (int step = 0; step < steps; ++step)
    asm volatile("{{ .reg .pred add; setp.ne.b32 add, 1, 0; "
                 "wgmma.mma_async.sync.aligned.m64n{columns}k16.f32.{ptx}.{ptx} {{"
                 "{numbers}"
                 "}}, %{left}, %{right}, add, 1, 1, %{left_way}, %{right_way}; }}"
                 : {registers}
                 : "l"(left + step * (a_along_result ? 128 : 2)), "l"(right + step * (b_along_result ? 128 : 2)),
                   "n"(int(a_along_result)), "n"(int(b_along_result)));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#else
  const int lane = threadIdx.x % 32, row = threadIdx.x / 32 % 4 * 16;
  const int in_16 = lane % 16, next_8 = lane / 16 * 8, in_8 = lane % 8 + next_8, second_8 = lane / 8 % 2 * 8;
  #pragma unroll
  for (int step = 0; step < steps; ++step) {{
    int left[4], right[4];
    if (a_along_result)
      load_matrix_x4_transposed(left, swizzled(a + (16 * step + in_8) * 64 + row + second_8));
    else
      load_matrix_x4(left, swizzled(a + (row + in_16) * 64 + 16 * step + next_8));
    #pragma unroll
    for (int n = 0; n < {columns}; n += 16) {{
      if (b_along_result)
        load_matrix_x4_transposed(right, swizzled(b + n / 64 * b_panel + (16 * step + in_16) * 64 + n % 64 + next_8));
      else
        load_matrix_x4(right, swizzled(b + (n + in_8) * 64 + 16 * step + second_8));
      {mma}(acc + n / 2, left, right);
      {mma}(acc + n / 2 + 4, left, right + 2);
    }}
  }}
#endif
}}
)";

}  // namespace

std::string define(const WarpgroupProduct& product) {
  const int registers = product.columns / 2;
  const bool bf16 = product.storage == kernel::Storage::BF16;
  return fmt::format(
      fmt::runtime(kHead), fmt::arg("columns", product.columns), fmt::arg("name", name(product)),
      fmt::arg("type", element_type(product.storage)), fmt::arg("ptx", bf16 ? "bf16" : "f16"),
      fmt::arg("numbers", list(registers, "%{}", ", \"\n                 \"")), fmt::arg("left", registers),
      fmt::arg("right", registers + 1), fmt::arg("left_way", registers + 2),
      fmt::arg("right_way", registers + 3), fmt::arg("mma", bf16 ? "mma_bf16" : "mma_fp16"),
      fmt::arg("registers", list(registers, "\"+f\"(acc[{}])", ",\n                   ")));
}

}  // namespace rondo::backend::cuda
