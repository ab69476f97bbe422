// The two parts of an index: their sum is the index, and what is known when a kernel is compiled is in one.
#include "compiler/kernel/builder/split_index.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>

#include "compiler/kernel/passes/integer.h"

namespace rondo::kernel {
namespace {

// Numbers of the registers, as an execution would have them; none of others.
using Numbers = std::map<RegId, std::int64_t>;

std::optional<std::int64_t> value_of(const Builder& builder, Value value, const Numbers& numbers) {
  return constant_value(builder.kernel(), value.id(), [&](RegId reg) -> std::optional<std::int64_t> {
    const auto found = numbers.find(reg);
    return found == numbers.end() ? std::nullopt : std::optional(found->second);
  });
}

RegId register_of(const Builder& builder, Value value) {
  return std::get<RegRead>(builder.kernel().expr(value.id()).node).reg;
}

// Sums, differences and products of three registers, a loop's variable and constants, of some depth.
Value random_index(Builder& b, std::mt19937& random, const std::vector<Value>& leaves, int depth) {
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  if (depth == 0) {
    const int leaf = pick(static_cast<int>(leaves.size()) + 1);
    return leaf == static_cast<int>(leaves.size()) ? b.constant(pick(40) - 20)
                                                   : leaves[static_cast<std::size_t>(leaf)];
  }
  const Value a = random_index(b, random, leaves, depth - 1);
  switch (pick(5)) {
    case 0: return a + random_index(b, random, leaves, depth - 1);
    case 1: return a - random_index(b, random, leaves, depth - 1);
    case 2: return a * (pick(9) - 4);
    case 3: return b.constant(pick(5)) * a;
    default: return min(a, random_index(b, random, leaves, depth - 1)) + pick(7);
  }
}

TEST(SplitIndex, ThePartsAddUpToTheIndex) {
  std::mt19937 random(1);
  int with_step = 0, with_base = 0;
  for (int i = 0; i < 500; ++i) {
    Builder b("index", 32);
    std::vector<Value> leaves;
    for (int leaf = 0; leaf < 3; ++leaf) leaves.push_back(b.let("v", b.thread() + leaf));
    b.for_("k", 0, 4, kFullUnroll, [&](Value k) {
      leaves.push_back(k);
      const Value index = random_index(b, random, leaves, 4);
      const auto [base, step] = split_index(index);
      Numbers loop{{register_of(b, k), 3}}, all = loop;
      for (int leaf = 0; leaf < 3; ++leaf)
        all[register_of(b, leaves[static_cast<std::size_t>(leaf)])] = static_cast<int>(random() % 100);
      ASSERT_TRUE(value_of(b, index, all) && value_of(b, base, all));
      // The step is known as soon as the loop is unrolled.
      ASSERT_TRUE(value_of(b, step, loop));
      EXPECT_EQ(*value_of(b, base, all) + *value_of(b, step, loop), *value_of(b, index, all));
      with_step += *value_of(b, step, loop) != 0;
      with_base += *value_of(b, base, all) != 0;
    });
  }
  EXPECT_GT(with_step, 250);
  EXPECT_GT(with_base, 250);
}

// A loop that stays one runs with its variable in a register.
TEST(SplitIndex, TheVariableOfALoopThatIsNotUnrolledIsNotKnown) {
  Builder b("index", 32);
  b.for_("i", b.constant(0), b.constant(4), b.constant(1), 1, [&](Value i) {
    const auto [base, step] = split_index(i * 8 + 5);
    EXPECT_EQ(value_of(b, step, {}), 5);
    EXPECT_EQ(value_of(b, base, {{register_of(b, i), 2}}), 16);
  });
}

}  // namespace
}  // namespace rondo::kernel
