// Rules of named barriers: numbers, threads, and that somebody waits.
#include "compiler/kernel/passes/barrier_uses.h"
#include "tests/kernel/findings.h"
#include "tests/kernel/harness.h"

namespace rondo::kernel::test {
namespace {

void meet(Builder& b, const std::vector<Barrier>& barriers) {
  for (const Barrier& barrier : barriers) b.named_barrier(barrier.id, barrier.threads, barrier.waits);
}

// Two warps that come to the same barriers.
Kernel together(const std::vector<Barrier>& barriers) {
  Builder b("k", 64);
  meet(b, barriers);
  return raw(b);
}

// Two warps, each with a role and barriers of its own.
Kernel roles(const std::vector<Barrier>& first, const std::vector<Barrier>& second) {
  Builder b("k", 64);
  const auto turns = [&](const std::vector<Barrier>& barriers) {
    b.for_("i", 0, 3, 1, [&](Value) { meet(b, barriers); });
  };
  b.if_(
      b.thread() < 32, [&] { turns(first); }, [&] { turns(second); });
  return raw(b);
}

TEST(VerifyNamedBarriers, NumbersAndThreads) {
  expect_sound(together({{1, 32}}));
  expect_sound(together({{15, 64}}));
  expect_finding(together({{0, 32}}), "barrier 0; named ones are 1 to 15");
  expect_finding(together({{16, 32}}), "barrier 16; named ones are 1 to 15");
  expect_finding(together({{1, 0}}), "0 threads; whole warps");
  expect_finding(together({{1, 40}}), "40 threads; whole warps");
  expect_finding(together({{1, 96}}), "up to the block's 64");
}

TEST(VerifyNamedBarriers, SomebodyWaits) {
  expect_sound(roles({{3, 64, false}}, {{3, 64}}));
  expect_sound(roles({{1, 64, false}, {2, 64}}, {{1, 64}, {2, 64, false}}));
  expect_sound(roles({{2, 64}}, {{2, 64}}));
  expect_finding(roles({{3, 64, false}}, {}), "nobody waits at barrier 3");
  expect_finding(roles({{3, 64, false}}, {{2, 64}, {3, 64, false}}), "nobody waits at barrier 3");
  expect_finding(roles({{0, 0, false}}, {}), "barrier 0; named ones are 1 to 15");
}

TEST(NamedBarriers, AwaitedInTwoRoles) {
  const auto two = [](const std::vector<Barrier>& first, const std::vector<Barrier>& second) {
    return awaited_in_two_roles(roles(first, second));
  };
  using Ids = std::set<int>;
  EXPECT_EQ(two({{2, 64}}, {{2, 64}}), Ids{2});
  EXPECT_EQ(two({{1, 32}, {2, 64}}, {{2, 64}, {3, 32}}), Ids{2});
  EXPECT_EQ(two({{2, 64}, {4, 64}}, {{4, 64}, {2, 64}}), (Ids{2, 4}));
  EXPECT_EQ(two({{2, 64, false}}, {{2, 64}}), Ids{});
  EXPECT_EQ(two({{2, 32}, {2, 32}}, {{3, 32}}), Ids{});
}

TEST(NamedBarriers, AwaitedDeepInRoles) {
  Builder b("k", 96);
  const auto meets = [&] { meet(b, {{2, 64}}); };
  const auto nothing = [] {};
  const auto later = [&](const std::function<void()>& role) {
    b.if_(b.thread() < 64, nothing, [&] { b.for_("i", 0, 3, 1, [&](Value) { role(); }); });
  };
  meets();
  b.if_(b.thread() < 32, meets);
  b.if_(b.thread() < 32, nothing, [&] { later(meets); });
  EXPECT_EQ(awaited_in_two_roles(raw(b)), std::set<int>{});
  b.if_(b.thread() < 32, meets, [&] { later(meets); });
  EXPECT_EQ(awaited_in_two_roles(raw(b)), std::set<int>{2});
}

}  // namespace
}  // namespace rondo::kernel::test
