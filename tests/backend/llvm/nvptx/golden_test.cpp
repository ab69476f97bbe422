// The LLVM IR of the sample kernels, character for character. RONDO_UPDATE_GOLDEN=1 writes the files anew.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/backend/interface/backend.h"
#include "compiler/backend/llvm/nvptx/emit.h"
#include "compiler/kernel/builder/builder.h"
#include "compiler/kernel/passes/legalise_copies.h"
#include "tests/backend/cuda/kernels.h"
#include "tests/backend/golden_text.h"

namespace rondo::backend::nvptx {
namespace {

target::Target target_of(const kernel::Kernel& kernel, int capability) {
  return target_for(target::Target::gpu(capability), kernel::features_of(kernel));
}

class LlvmGolden : public ::testing::TestWithParam<cuda::testing::Sample> {};

TEST_P(LlvmGolden, TextIsAsRecorded) {
  // But for one word the text of the other type, of 300 KB.
  if (GetParam().name == "warpgroup_product_fp16") return;
  const kernel::Kernel& kernel = GetParam().kernel;
  compare_golden("llvm/" + GetParam().name + ".ll", emit({&kernel}, target_of(kernel, 90)));
}

INSTANTIATE_TEST_SUITE_P(Nvptx, LlvmGolden, ::testing::ValuesIn(cuda::testing::samples()),
                         [](const auto& test) { return test.param.name; });

// What stands for instructions that only later architectures have.
TEST(LlvmGolden, OlderArchitectures) {
  const kernel::Kernel waits = cuda::testing::warp_roles();
  compare_golden("llvm/warp_roles_sm_80.ll", emit({&waits}, target_of(waits, 80)));
  const kernel::Kernel product = cuda::testing::warpgroup_product(kernel::Storage::BF16, false);
  const std::string text = emit({&product}, target_of(product, 80));
  EXPECT_EQ(text.find("wgmma"), std::string::npos);
  EXPECT_EQ(text.find("fence.proxy"), std::string::npos);
  EXPECT_NE(text.find("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"), std::string::npos);
}

// The forms for GPUs before compute capability 8.0: two words in the place of an mbarrier, two products of
// depth 8, or multiply-adds of what other lanes have.
TEST(LlvmGolden, BeforeAmpere) {
  const target::Target turing = target::Target::gpu(75);
  const kernel::Kernel waits = kernel::legalise_copies(cuda::testing::warp_roles());
  compare_golden("llvm/warp_roles_sm_75.ll", emit({&waits}, turing));
  for (const kernel::Storage storage : {kernel::Storage::F16, kernel::Storage::BF16}) {
    const kernel::Kernel product = cuda::testing::matrix_product(storage);
    compare_golden(fmt::format("llvm/matrix_product_{}_sm_75.ll", kernel::storage_name(storage)),
                   emit({&product}, turing));
  }
}

kernel::Kernel product_of(int columns) {
  constexpr int kSide = 64, kPanel = kSide * kSide;
  kernel::Builder b("product", 128, kernel::Math::Fast);
  const kernel::Memory y = b.output("y", kernel::Storage::F32);
  const kernel::Memory left = b.shared("left", kernel::Storage::BF16, kPanel, "a panel");
  const int panels = (columns + kSide - 1) / kSide;
  const kernel::Memory right = b.shared("right", kernel::Storage::BF16, panels * kPanel, "panels");
  b.for_("i", b.thread(), b.constant(panels * kPanel), b.constant(128), 1, [&](kernel::Value i) {
    b.store(right[i], b.real(1));
    b.if_(i < kPanel, [&] { b.store(left[i], b.real(1)); });
  });
  const kernel::Array sum = b.array("sum", kernel::Type::F32, columns / 2);
  b.for_("i", 0, columns / 2, kernel::kFullUnroll, [&](kernel::Value i) { b.write(sum, i, b.real(0)); });
  b.proxy_fence();
  b.barrier();
  b.warpgroup_mma(kernel::Storage::BF16, columns, kSide / 16, sum, {left[b.constant(0)], false, kPanel},
                  {right[b.constant(0)], false, kPanel});
  b.wgmma_wait(0);
  b.for_("i", 0, columns / 2, kernel::kFullUnroll,
         [&](kernel::Value i) { b.store(y[b.thread() * (columns / 2) + i], b.read(sum, i)); });
  return b.finish();
}

// Each width of a product names all of its registers, as results and as what they are added to (PTX ISA,
// wgmma: of an n of N a thread holds N / 2 numbers).
TEST(LlvmText, ProductsOfEveryWidthNameEachOfTheirRegisters) {
  for (int columns = 16; columns <= 256; columns += 16) {
    const kernel::Kernel kernel = product_of(columns);
    const std::string text = emit({&kernel}, target_of(kernel, 90));
    const std::string shape = "m64n" + std::to_string(columns) + "k16";
    const std::size_t first = text.find(shape);
    ASSERT_NE(first, std::string::npos) << shape;
    const std::string line = text.substr(first, text.find('\n', first) - first);
    const auto count = [&](const std::string& part) {
      int found = 0;
      for (std::size_t at = line.find(part); at != std::string::npos; at = line.find(part, at + 1)) ++found;
      return found;
    };
    EXPECT_EQ(count("=f"), columns / 2) << shape;
    for (int i = 0; i < columns / 2 + 2; ++i)
      EXPECT_GE(count("$" + std::to_string(i < columns / 2 ? i : columns + i - columns / 2)), 1)
          << shape << " " << i;
  }
}

// Behind a cold branch the text reads as before it, and a cluster's rank comes of what is read anew.
TEST(LlvmText, ColdBranchesReadAnew) {
  kernel::Builder b("cold", 32, kernel::Math::Fast);
  b.set_cluster(2);
  const kernel::Memory y = b.output("y", kernel::Storage::I32);
  b.if_cold(b.thread() < 4, [&] { b.store(y[b.thread()], b.cluster_rank() + 1); });
  b.store(y[b.thread()], b.cluster_rank());
  const kernel::Kernel kernel = b.finish();
  const std::string text = emit({&kernel}, target::Target::gpu(90));
  const std::size_t inside = text.find("then:"), behind = text.find(":\n", inside + 5);
  ASSERT_NE(behind, std::string::npos) << text;
  const std::string cold = text.substr(inside, behind - inside);
  for (const char* part :
       {"asm sideeffect \"mov.u32 $0, %tid.x;\"", "asm sideeffect \"mov.u32 $0, %ctaid.x;\"",
        "asm sideeffect \"\", \"=l,0\"(ptr addrspace(1) %y)"})
    EXPECT_NE(cold.find(part), std::string::npos) << text;
  EXPECT_EQ(cold.find("%thread_x"), std::string::npos) << text;
  EXPECT_EQ(text.find("asm", behind), std::string::npos) << text;
}

// A value that two registers hold keeps its first name.
TEST(LlvmText, AValueUnderTwoNames) {
  kernel::Builder b("twice", 32, kernel::Math::Fast);
  const kernel::Memory y = b.output("y", kernel::Storage::I32);
  const kernel::Value first = b.let("first", b.thread() + 1), second = b.let("second", first);
  b.store(y[first], second);
  const kernel::Kernel kernel = b.finish();
  const std::string text = emit({&kernel}, target::Target::gpu(90));
  EXPECT_NE(text.find("%first = add nsw i32 %thread_x, 1"), std::string::npos) << text;
  EXPECT_EQ(text.find("%second"), std::string::npos) << text;
}

}  // namespace
}  // namespace rondo::backend::nvptx
