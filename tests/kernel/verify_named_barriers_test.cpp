// Rules of named barriers: numbers, threads, sides, and from where warps of two roles come.
#include "tests/kernel/findings.h"
#include "tests/kernel/harness.h"

namespace rondo::kernel::test {
namespace {

using enum BarrierSide;

void meet(Builder& b, const std::vector<Barrier>& barriers) {
  for (const Barrier& barrier : barriers) b.named_barrier(barrier.id, barrier.threads, barrier.side);
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

TEST(VerifyNamedBarriers, Sides) {
  for (const int id : {1, 14}) {
    expect_sound(roles({{id, 64, First}}, {{id, 64, Second}}));
    expect_sound(roles({{id, 64, Second}}, {{id, 64, First}}));
  }
  for (const int id : {0, 15})
    expect_finding(roles({{id, 64, First}}, {{id, 64, Second}}),
                   "barrier " + std::to_string(id) + "; named ones with sides are 1 to 14");
  expect_finding(roles({{0, 0, First}}, {}), "barrier 0; named ones with sides are 1 to 14");
  expect_finding(roles({{3, 40, First}}, {{3, 64, Second}}), "40 threads; whole warps");
  expect_finding(roles({{3, 64, First}}, {}), "nobody comes to the second side of barrier 3");
  expect_finding(roles({}, {{3, 64, Second}}), "nobody comes to the first side of barrier 3");
  expect_finding(roles({{3, 64, First}}, {{3, 64}}), "barrier 3 is met both with sides and without");
}

TEST(VerifyNamedBarriers, SecondNumbers) {
  expect_sound(roles({{1, 64, First}, {3, 64, Second}, {5, 32}}, {{1, 64, Second}, {3, 64, First}, {6, 32}}));
  for (const BarrierSide side : {Same, First})
    expect_finding(roles({{1, 64, First}, {2, 64, side}}, {{1, 64, Second}}),
                   "barrier 2 is the second number of barrier 1, which has sides");
}

TEST(VerifyNamedBarriers, FromTwoPlaces) {
  const std::string found = "warps of two roles meet at barrier 2 from two places: give each a side";
  expect_finding(roles({{2, 64}}, {{2, 64}}), found);
  expect_finding(roles({{1, 32}, {2, 64}}, {{2, 64}, {3, 32}}), found);
  expect_finding(roles({{2, 64, First}, {2, 64, Second}}, {{2, 64, Second}}), found);
  expect_sound(roles({{2, 32}, {2, 32}}, {{3, 32}}));
  expect_sound(roles({{2, 64, Any}}, {{2, 64, Any}}));
  expect_finding(roles({{2, 64, Any}}, {{2, 64}}),
                 "barrier 2 is met both with sides and without, or both at");
  expect_finding(roles({{2, 64, Any}}, {{2, 64, First}}), "barrier 2 is met both with sides and without");
}

TEST(VerifyNamedBarriers, FromPlacesDeepInRoles) {
  Builder b("k", 96);
  const auto meets = [&] { meet(b, {{2, 64}}); };
  const auto nothing = [] {};
  const auto later = [&](const std::function<void()>& role) {
    b.if_(b.thread() < 64, nothing, [&] { b.for_("i", 0, 3, 1, [&](Value) { role(); }); });
  };
  meets();
  b.if_(b.thread() < 32, meets);
  b.if_(b.thread() < 32, nothing, [&] { later(meets); });
  expect_sound(raw(b));
  b.if_(b.thread() < 32, meets, [&] { later(meets); });
  expect_finding(raw(b), "warps of two roles meet at barrier 2 from two places");
}

}  // namespace
}  // namespace rondo::kernel::test
