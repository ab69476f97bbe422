// Draws of the LLVM prelude, evaluated on the CPU.
#include <gtest/gtest.h>

#include <bit>

#include "compiler/backend/llvm/nvptx/module_text.h"
#include "compiler/scalar/philox.h"
#include "tests/backend/llvm/nvptx/evaluator.h"

namespace rondo::backend::nvptx {
namespace {

TEST(LlvmRandom, TenThousandPlacesGiveTheBitsOfTheReference) {
  testing::Evaluator evaluate;
  for (const Helper& helper : helpers())
    if (helper.name.starts_with("philox")) evaluate.add(helper.text);
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    const float seed = static_cast<float>(i % 7) - 2.5f;
    const std::uint32_t stream = scalar::philox_stream(i % 2 == 0 ? "drop" : "keep");
    const std::uint32_t row = i / 100, step = i * 31 % 4099, head = i % 11, channel = i * 7919;
    const std::uint64_t bits =
        evaluate("philox_uniform", {std::bit_cast<std::uint32_t>(seed), stream, row, step, head, channel});
    ASSERT_EQ(bits,
              std::bit_cast<std::uint32_t>(scalar::philox_uniform(seed, stream, row, step, head, channel)))
        << "place " << i;
  }
}

}  // namespace
}  // namespace rondo::backend::nvptx
