// The LLVM IR of the sample kernels, character for character. RONDO_UPDATE_GOLDEN=1 writes the files anew.
#include <gtest/gtest.h>

#include "compiler/backend/interface/backend.h"
#include "compiler/backend/llvm/nvptx/emit.h"
#include "compiler/kernel/builder/builder.h"
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
