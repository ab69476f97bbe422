// The key of a call's graph: whatever a call hands to a plan makes another key, or a graph of another call
// would be replayed.
#include "runtime/launch/call_key.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace rondo::runtime {
namespace {

using executable::Binding;
using executable::Bindings;
using executable::Role;
using executable::Strides;

GraphCache::Key key_of(const std::vector<Binding>& all, std::int64_t batch = 2, std::int64_t time = 3) {
  Bindings bindings;
  for (const Binding& binding : all) bindings.set(binding);
  return key_of_call(bindings, batch, time);
}

// `plain` with each of its members changed, one at a time. The names stand for all members that there are:
// with a new one this does not compile, and it has to be changed here too.
std::vector<Binding> each_member_changed(const Binding& plain) {
  const auto& [tensor, pointer, strides, bytes] = plain;
  const auto& [role, number] = tensor;
  const auto& [b, t] = *strides;
  return {{{Role::Output, number}, pointer, strides, bytes},
          {{role, number + 1}, pointer, strides, bytes},
          {tensor, pointer + 256, strides, bytes},
          {tensor, pointer, Strides{b + 1, t}, bytes},
          {tensor, pointer, Strides{b, t + 1}, bytes},
          {tensor, pointer, std::nullopt, bytes},
          {tensor, pointer, strides, *bytes + 1},
          {tensor, pointer, strides, std::nullopt}};
}

TEST(CallKey, EveryMemberOfABindingChangesIt) {
  for (const Strides strides : {Strides{80, 8}, Strides{0, 0}}) {
    const Binding first{{Role::Input, 0}, 4096, Strides{80, 8}, 640};
    const Binding plain{{Role::Input, 1}, 8192, strides, 640};
    std::set<GraphCache::Key> keys{key_of({first, plain})};
    for (const Binding& changed : each_member_changed(plain)) keys.insert(key_of({first, changed}));
    EXPECT_EQ(keys.size(), 1 + each_member_changed(plain).size()) << strides.b;
  }
}

TEST(CallKey, SizesThatCoverAsManyStepsDiffer) {
  const Binding plain{{Role::Input, 1}, 8192, Strides{80, 8}, 640};
  std::set<GraphCache::Key> keys;
  int calls = 0;
  for (std::int64_t batch = 1; batch <= 12; ++batch)
    for (std::int64_t time = 1; time <= 12; ++time, ++calls) keys.insert(key_of({plain}, batch, time));
  EXPECT_EQ(keys.size(), static_cast<std::size_t>(calls));
}

auto members(const Binding& binding) {
  const Strides strides = binding.strides.value_or(Strides{-1, -1});
  return std::tuple(static_cast<int>(binding.tensor.role), binding.tensor.tensor, binding.pointer,
                    binding.strides.has_value(), strides.b, strides.t, binding.bytes.value_or(-1));
}

// Of calls that have little to differ in, so that many are equal.
TEST(CallKey, TwoCallsHaveOneKeyWhereAllIsEqual) {
  std::mt19937 random(1);
  const auto draw = [&](int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); };
  const auto call = [&] {
    std::vector<Binding> all;
    for (int i = draw(3); i >= 0; --i) {
      Binding binding{{draw(2) == 0 ? Role::Input : Role::Param, i}, 256, std::nullopt, std::nullopt};
      if (draw(2) == 0) binding.strides = Strides{draw(2), draw(2)};
      if (draw(2) == 0) binding.bytes = draw(2);
      all.push_back(binding);
    }
    return all;
  };
  int equal = 0;
  for (int turn = 0; turn < 4000; ++turn) {
    const std::vector<Binding> a = call(), b = call();
    const bool same = std::equal(a.begin(), a.end(), b.begin(), b.end(),
                                 [](const auto& x, const auto& y) { return members(x) == members(y); });
    ASSERT_EQ(key_of(a) == key_of(b), same) << turn;
    equal += same;
  }
  EXPECT_GT(equal, 20) << "the test would see nothing";
}

}  // namespace
}  // namespace rondo::runtime
