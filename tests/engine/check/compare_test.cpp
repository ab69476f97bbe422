#include "engine/check/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <tuple>

#include "compiler/scalar/storage.h"
#include "engine/check/verify.h"
#include "engine/data/host_problem.h"
#include "engine/measure/samples.h"

namespace rondo::engine {
namespace {

using kernel::Storage;

std::vector<double> exact_values(int count = 4096) { return random_values(Storage::F32, count, 1, 11); }

// Values with errors of at most `unit` of themselves.
std::vector<double> noisy(const std::vector<double>& values, double unit, std::uint64_t seed) {
  const auto noise = random_values(Storage::F32, static_cast<std::int64_t>(values.size()), 1, seed);
  std::vector<double> result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) result[i] = values[i] * (1 + unit * noise[i]);
  return result;
}

std::vector<double> stored(Storage storage, std::vector<double> values) {
  for (double& value : values)
    value = static_cast<double>(scalar::round_to(storage, static_cast<float>(value)));
  return values;
}

// As of a step with some fp32 roundings.
Spread spread_of(const std::vector<double>& exact, double unit = 0x1p-22) {
  const auto count = static_cast<std::int64_t>(exact.size());
  Spread spread(std::vector<schedule::Axis>{{"B", 4}, {"D", count / 4}});
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    spread.add(RunKind::Random, noisy(exact, unit, seed), exact);
    spread.add(RunKind::Steady, noisy(exact, unit, 10 + seed), exact);
    spread.add(RunKind::Far, noisy(exact, kFar * unit, 20 + seed), exact);
  }
  return spread;
}

// A result of the problem's storage type, or one in fp32.
class InEachStorage : public ::testing::TestWithParam<std::tuple<Storage, Storage>> {
 protected:
  Storage problem() const { return std::get<0>(GetParam()); }
  Storage type() const { return std::get<1>(GetParam()); }
  TensorCheck check(const std::vector<double>& out, const std::vector<double>& exact) const {
    const Spread spread = spread_of(exact);
    return compare("h", {&spread, false, type(), problem()}, out, exact);
  }
};
INSTANTIATE_TEST_SUITE_P(Storages, InEachStorage,
                         ::testing::Values(std::tuple(Storage::F32, Storage::F32),
                                           std::tuple(Storage::BF16, Storage::BF16),
                                           std::tuple(Storage::BF16, Storage::F32),
                                           std::tuple(Storage::F16, Storage::F16),
                                           std::tuple(Storage::F16, Storage::F32)));

TEST_P(InEachStorage, WhatRoundingGivesPasses) {
  const auto exact = exact_values();
  for (std::uint64_t seed = 100; seed < 120; ++seed) {
    const TensorCheck found = check(stored(type(), noisy(exact, 0x1p-22, seed)), exact);
    EXPECT_TRUE(found.passed) << found.text();
    EXPECT_LT(found.ratio, 1);
  }
}

TEST_P(InEachStorage, ASystematicErrorFails) {
  const auto exact = exact_values();
  std::vector<double> out = exact;
  const double unit = std::max(2 * scalar::unit_roundoff(type()), 8 * 0x1p-22);
  for (double& value : out) value *= 1 + unit;
  EXPECT_FALSE(check(stored(type(), out), exact).passed);
}

// Truncation errs twice as much as rounding to nearest.
TEST_P(InEachStorage, TruncationFails) {
  if (type() == Storage::F32) return;  // within the errors of the step
  const auto exact = exact_values();
  std::vector<double> out = exact;
  for (double& value : out) value *= 1 - scalar::unit_roundoff(type());  // rounds down, mostly
  EXPECT_FALSE(check(stored(type(), out), exact).passed);
}

TEST_P(InEachStorage, OneWrongElementOfManyFails) {
  const auto exact = exact_values(65536);
  auto out = stored(type(), exact);
  out[777] = exact[777] + (problem() == Storage::BF16 ? 0.02 : 0.01);  // hidden in the norm
  const TensorCheck found = check(out, exact);
  EXPECT_FALSE(found.passed) << found.text();
  EXPECT_NE(found.worst.find("D=777"), std::string::npos) << found.worst;
}

// Too little for any element, but all of one batch row.
TEST(Compare, OneWrongSliceFails) {
  const auto exact = exact_values(65536);
  std::vector<double> out = exact;
  for (std::size_t i = 32768; i < 49152; ++i) out[i] *= 1 + 8 * 0x1p-22;
  const Spread spread = spread_of(exact);
  const TensorCheck found = compare("h", {&spread, false, Storage::F32, Storage::F32}, out, exact);
  EXPECT_FALSE(found.passed);
  EXPECT_EQ(found.worst, "B=2");
}

// A carry that is rounded to 16 bits at each step leaves a 16-bit number in an fp32 result.
TEST(Compare, AnFp32ResultOfShortNumbersFails) {
  const auto exact = exact_values();
  const Spread spread = spread_of(exact, 0x1p-10);  // errors by rounding are nearly as large as those of bf16
  const auto found = [&](const std::vector<double>& out, const std::vector<double>& want) {
    return compare("h_last", {&spread, false, Storage::F32, Storage::BF16}, out, want);
  };
  EXPECT_TRUE(found(exact, exact).passed);
  const TensorCheck shortened = found(stored(Storage::BF16, exact), exact);
  EXPECT_TRUE(shortened.shortened);
  EXPECT_LT(shortened.ratio, 1) << "no error tells it";
  EXPECT_FALSE(shortened.passed);
  EXPECT_TRUE(found(stored(Storage::BF16, exact), stored(Storage::BF16, exact)).passed)
      << "exact ones may be short";
}

// Where cancellation leaves few bits of an fp32 number, as in 1 - tanh(x)^2, a right result is a short
// number.
TEST(Compare, WhatCancellationShortensIsNoFault) {
  std::vector<double> exact;
  for (const double value : exact_values()) exact.push_back(0x1p-15 * (1 + std::abs(value)));
  const auto cancelled = [&](std::uint64_t seed) {
    const auto noise = random_values(Storage::F32, static_cast<std::int64_t>(exact.size()), 1, seed);
    std::vector<double> result;
    for (std::size_t i = 0; i < exact.size(); ++i)
      result.push_back(std::nearbyint(0x1p24 * exact[i] + 0.5 * noise[i]) * 0x1p-24);
    return result;
  };
  Spread spread(std::vector<schedule::Axis>{{"D", static_cast<std::int64_t>(exact.size())}});
  for (std::uint64_t seed = 1; seed <= 12; ++seed)
    spread.add(seed <= 4   ? RunKind::Random
               : seed <= 8 ? RunKind::Steady
                           : RunKind::Far,
               cancelled(seed), exact);
  const auto out = cancelled(100);
  ASSERT_EQ(out, stored(Storage::F16, out));
  const TensorCheck found = compare("h", {&spread, false, Storage::F32, Storage::F16}, out, exact);
  EXPECT_FALSE(found.shortened) << found.text();
}

// No fp32 number holds 1e-228: a kernel's 0 there says nothing of its precision.
TEST(Compare, WhatNoFp32NumberHoldsTellsNothing) {
  const std::vector<double> exact(64, 1e-228), zero(64, 0.0);
  Spread spread(std::vector<schedule::Axis>{{"D", 64}});
  for (const RunKind kind : {RunKind::Random, RunKind::Steady, RunKind::Far}) spread.add(kind, exact, exact);
  const TensorCheck found = compare("g", {&spread, false, Storage::F32, Storage::BF16}, zero, exact);
  EXPECT_TRUE(found.passed) << found.text();
}

TEST_P(InEachStorage, NanAndInfinityNeverPass) {
  const auto exact = exact_values();
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    auto out = stored(type(), exact);
    out.back() = bad;
    const TensorCheck found = check(out, exact);
    EXPECT_FALSE(found.passed);
    EXPECT_EQ(found.not_finite, 1);
  }
}

TEST(Compare, ZeroReferenceAsksForZero) {
  const std::vector<double> zero(16, 0.0);
  const Spread spread = spread_of(zero);
  EXPECT_TRUE(compare("g", {&spread, false, Storage::F32, Storage::F32}, zero, zero).passed);
  std::vector<double> out(16, 0.0);
  out[3] = 1e-30;
  EXPECT_FALSE(compare("g", {&spread, false, Storage::F32, Storage::F32}, out, zero).passed);
}

// An element that divides by what is nearly zero may differ as far as rounding moves it; its neighbours not.
TEST(Compare, LimitsFollowTheConditioningOfEachElement) {
  auto exact = exact_values();
  Spread spread(std::vector<schedule::Axis>{{"D", static_cast<std::int64_t>(exact.size())}});
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    auto run = noisy(exact, 0x1p-22, seed);
    run[5] = exact[5] * (1 + 0.1 * (static_cast<double>(seed) - 6) / 6);
    spread.add(seed <= 4 ? RunKind::Random : seed <= 8 ? RunKind::Steady : RunKind::Far, run, exact);
  }
  std::vector<double> out = exact;
  out[5] *= 1.05;
  EXPECT_TRUE(compare("h", {&spread, false, Storage::F32, Storage::F32}, out, exact).passed);
  out = exact;
  out[6] *= 1.05;
  EXPECT_FALSE(compare("h", {&spread, false, Storage::F32, Storage::F32}, out, exact).passed);
}

// A kernel rounds what it has, not the exact value: here 0.503, which is off by all that rounding may do.
TEST(Compare, WhatIsStoredIsOffAlready) {
  const std::vector<double> exact(64, 1e-3);
  Spread spread(std::vector<schedule::Axis>{{"D", 64}});
  std::vector<double> run = exact, out = exact;
  for (const RunKind kind : {RunKind::Random, RunKind::Steady}) spread.add(kind, exact, exact);
  run[7] += 0.251;  // on the other side of a decision, half of what a kernel may be off there
  spread.add(RunKind::Far, run, exact);
  const auto found = [&] { return compare("g", {&spread, true, Storage::BF16, Storage::BF16}, out, exact); };
  out = stored(Storage::BF16, exact);
  out[7] = stored(Storage::BF16, {0.503})[0];
  EXPECT_GT(out[7], 0.503 + 1e-3 * scalar::unit_roundoff(Storage::BF16));
  EXPECT_LE(found().ratio, 1) << found().text();
  out[7] += 0x1p-8;  // the next one
  EXPECT_GT(found().ratio, 1);
}

// Every slice of every axis, the last of each among them.
TEST(Compare, EverySliceIsCompared) {
  const auto exact = exact_values(4 * 3 * 512);
  const std::vector<schedule::Axis> axes{{"B", 4}, {"T", 3}, {"D", 512}};
  Spread spread(axes);
  for (std::uint64_t seed = 1; seed <= 4; ++seed)
    for (const RunKind kind : {RunKind::Random, RunKind::Steady})
      spread.add(kind, noisy(exact, 0x1p-22, 10 * seed + static_cast<std::uint64_t>(kind)), exact);
  spread.add(RunKind::Far, noisy(exact, kFar * 0x1p-22, 99), exact);
  for (std::size_t slice = 1; slice <= 7; ++slice) {  // those of B and T
    std::vector<double> out = exact;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::size_t b = i / (3 * 512), t = i / 512 % 3;
      if (slice <= 4 ? b == slice - 1 : t == slice - 5) out[i] *= 1 + 8 * 0x1p-22;
    }
    const TensorCheck found = compare("h", {&spread, false, Storage::F32, Storage::F32}, out, exact);
    EXPECT_FALSE(found.passed) << slice_name(axes, slice);
    EXPECT_EQ(found.worst, slice_name(axes, slice));
  }
  // One channel of 512: few elements, so by more.
  for (const std::size_t d : {0, 511}) {
    std::vector<double> out = exact;
    for (std::size_t i = d; i < out.size(); i += 512) out[i] *= 1 + 13 * 0x1p-22;
    const TensorCheck found = compare("h", {&spread, false, Storage::F32, Storage::F32}, out, exact);
    EXPECT_FALSE(found.passed) << d;
  }
}

// Far beyond what rounding does to one element, and lost in the norms of slices of 32768.
TEST(Compare, OneElementOfALargeSliceIsCompared) {
  const auto exact = exact_values(65536);
  Spread spread(std::vector<schedule::Axis>{{"B", 2}});
  for (std::uint64_t seed = 1; seed <= 4; ++seed)
    for (const RunKind kind : {RunKind::Random, RunKind::Steady})
      spread.add(kind, noisy(exact, 0x1p-22, 10 * seed + static_cast<std::uint64_t>(kind)), exact);
  spread.add(RunKind::Far, noisy(exact, kFar * 0x1p-22, 99), exact);
  const auto largest = std::max_element(exact.begin(), exact.end());
  std::vector<double> out = exact;
  out[static_cast<std::size_t>(largest - exact.begin())] *= 1 + 64 * 0x1p-22;
  const TensorCheck found = compare("h", {&spread, false, Storage::F32, Storage::F32}, out, exact);
  EXPECT_FALSE(found.passed);
  EXPECT_EQ(found.worst.find("element "), 0u) << found.worst;
}

TEST(Compare, OneElementThatIsNoNumberFails) {
  const auto exact = exact_values();
  std::vector<double> out = exact;
  out[7] = std::nan("");
  const Spread spread = spread_of(exact);
  EXPECT_FALSE(compare("h", {&spread, false, Storage::F32, Storage::F32}, out, exact).passed);
}

// What is stored in fp32 is held to fp32, whatever the other tensors are stored in.
TEST(Compare, AnElementInFp32OfA16BitProblemIsHeldToFp32) {
  const auto exact = exact_values(65536);
  const Spread spread = spread_of(exact);
  const Tolerance tolerance{&spread, false, Storage::F32, Storage::BF16};
  for (std::size_t i = 0; i < exact.size(); i += 4096)
    EXPECT_LE(element_limit(tolerance, i, exact), 64 * 0x1p-22) << i;
}

// Rounding that errs the same way at every step moves norms further than rounding at random.
TEST(Compare, SteadyRunsWidenTheLimits) {
  const auto exact = exact_values();
  const auto spread = [&](double steady) {
    Spread made(std::vector<schedule::Axis>{{"D", static_cast<std::int64_t>(exact.size())}});
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      made.add(RunKind::Random, noisy(exact, 0x1p-22, seed), exact);
      made.add(RunKind::Steady, noisy(exact, steady, 10 + seed), exact);
      made.add(RunKind::Far, noisy(exact, kFar * 0x1p-22, 20 + seed), exact);
    }
    return made;
  };
  const auto elements = static_cast<std::int64_t>(exact.size());
  EXPECT_GT(spread(0x1p-18).slice_limit(0, elements, false),
            8 * spread(0x1p-22).slice_limit(0, elements, false));
}

// Far runs say what a decision may turn, and nothing of cells without one.
TEST(Compare, FarRunsWidenTheLimitsOfDecisionsAlone) {
  const auto exact = exact_values();
  const Spread spread = spread_of(exact);
  const auto elements = static_cast<std::int64_t>(exact.size());
  EXPECT_GT(spread.slice_limit(0, elements, true), 1.5 * spread.slice_limit(0, elements, false));
}

// sLSTM's backward pass: a kernel takes the other side of a maximum once. So does a far run, whose rounding
// makes its error less than the jump.
TEST(Compare, AKernelMayJumpAsFarRunsDo) {
  const auto exact = exact_values();
  Spread spread = spread_of(exact);
  constexpr std::size_t kAt = 7;
  std::vector<double> far = exact, out = exact;
  out[kAt] += 1;
  far[kAt] += 0.75;
  spread.add(RunKind::Far, far, exact);
  const auto passes = [&](bool decisions) {
    return compare("h", {&spread, decisions, Storage::F32, Storage::F32}, out, exact).passed;
  };
  EXPECT_TRUE(passes(true));
  EXPECT_FALSE(passes(false));
  EXPECT_LT(element_limit({&spread, false, Storage::F32, Storage::F32}, kAt, exact), 1);
  out[kAt + 1] += 1;  // where no run jumps
  EXPECT_FALSE(passes(true));
}

TEST(Compare, OnlyWhatRoundingTearsApartIsExcused) {
  const auto exact = exact_values();
  std::vector<double> out = exact;
  for (double& value : out) value *= 2;
  const Spread firm = spread_of(exact, 0x1p-8), torn = spread_of(exact, 2);
  EXPECT_FALSE(compare("h", {&firm, false, Storage::F32, Storage::F32}, out, exact).ill_conditioned);
  EXPECT_FALSE(compare("h", {&firm, false, Storage::F32, Storage::F32}, out, exact).passed);
  EXPECT_TRUE(compare("h", {&torn, false, Storage::F32, Storage::F32}, out, exact).ill_conditioned);
}

TensorCheck checked(const char* name, bool passed, bool ill_conditioned = false) {
  TensorCheck check;
  check.name = name;
  check.passed = passed;
  check.ill_conditioned = ill_conditioned;
  return check;
}

bool proves(std::vector<TensorCheck> checks) {
  Verification verification;
  verification.checks = std::move(checks);
  verification.finish();
  return verification.passed;
}

TEST(Verifications, PassWhereAllTensorsAgreeAndSomethingWasCompared) {
  EXPECT_TRUE(proves({checked("h", true), checked("g", true)}));
  EXPECT_FALSE(proves({checked("h", true), checked("g", true, true)})) << "nothing can be said of g";
  EXPECT_TRUE(proves({checked("h", true), checked("g", true, true), checked("g", true)}));
  EXPECT_FALSE(proves({checked("h", true), checked("g", false)}));
  EXPECT_FALSE(proves({checked("h", false), checked("g", true)}));
  EXPECT_FALSE(proves({checked("h", true, true), checked("g", true, true)}))
      << "of which nothing can be said";
  EXPECT_FALSE(proves({})) << "nothing was compared";
}

// One step says little of a recurrence: where runs have several steps, one of these has to agree.
TEST(Verifications, SayThreeThings) {
  const auto of = [](std::vector<TensorCheck> checks) {
    Verification verification;
    verification.checks = std::move(checks);
    verification.finish();
    return verification;
  };
  const auto at = [](TensorCheck check, std::int64_t steps) {
    check.steps = steps;
    return check;
  };
  EXPECT_EQ(of({at(checked("h", true), 9), at(checked("h", true), 1)}).said(), Said::Agrees);
  const Verification untold = of({at(checked("h", true, true), 9), at(checked("h", true), 1)});
  EXPECT_EQ(untold.said(), Said::CannotTell);
  EXPECT_EQ(untold.untold(), std::vector<std::string>{"h"});
  EXPECT_NE(untold.summary().find("1 agree, 0 wrong, 1 cannot tell"), std::string::npos) << untold.summary();
  EXPECT_EQ(of({at(checked("h", false), 9), at(checked("g", true, true), 9)}).said(), Said::Wrong);
  EXPECT_EQ(of({at(checked("h", true), 1)}).said(), Said::Agrees) << "there is but one step";
}

// Two results that were both stored: one rounds up where the other rounds down, in one element of a column.
// By four ulps it is wrong all the same.
TEST(Compare, OfTwoStoredResultsOneMayLieAnUlpAway) {
  const auto exact = stored(Storage::BF16, exact_values());
  const Spread spread = spread_of(exact);
  const auto with = [&](int ulps, bool with_stored) {
    std::vector<double> out = exact;
    out[10] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(static_cast<float>(out[10])) +
                                   (static_cast<std::uint32_t>(ulps) << 16));
    return compare("g", {&spread, false, Storage::BF16, Storage::BF16, with_stored}, out, exact);
  };
  EXPECT_FALSE(with(1, false).passed);
  EXPECT_TRUE(with(1, true).passed) << with(1, true).text();
  EXPECT_FALSE(with(4, true).passed);
}

// Within a limit above a tenth of the values a wrong result might lie too; beyond it, it is wrong.
TEST(Compare, LargeLimitsCannotTell) {
  const auto exact = exact_values();
  const Spread wide = spread_of(exact, 0.1);
  const auto with = [&](double factor) {
    std::vector<double> out = exact;
    for (double& value : out) value *= factor;
    return compare("h", {&wide, false, Storage::F32, Storage::F32}, out, exact);
  };
  const TensorCheck near = with(1.05), far = with(1.6);
  EXPECT_GT(near.limit, 0.1);
  EXPECT_LT(near.limit, 0.5);
  EXPECT_EQ(near.said(), Said::CannotTell) << near.text();
  EXPECT_NE(near.text().find("cannot tell"), std::string::npos) << near.text();
  EXPECT_EQ(far.said(), Said::Wrong) << far.text();
}

// Where the limit is large, only a result that is near in every slice agrees: one that is off in a slice of
// either axis, and hardly on the whole, may be wrong there.
TEST(Compare, WhatIsFarInOneSliceOfAnyAxisIsNotNear) {
  const auto exact = exact_values();
  const Spread wide = spread_of(exact, 0.1);
  const std::size_t width = exact.size() / 4;
  const auto said = [&](auto is_off) {
    std::vector<double> out = exact;
    for (std::size_t i = 0; i < out.size(); ++i)
      if (is_off(i)) out[i] *= 1.1;
    const TensorCheck check = compare("h", {&wide, false, Storage::BF16, Storage::BF16}, out, exact);
    EXPECT_GT(check.limit, 0.1);
    EXPECT_LT(check.error, 16 * 0x1p-8) << "near on the whole";
    return check.said();
  };
  EXPECT_EQ(said([](std::size_t) { return false; }), Said::Agrees);
  for (std::size_t row = 0; row < 4; ++row)
    EXPECT_EQ(said([&](std::size_t i) { return i / width == row; }), Said::CannotTell) << "B=" << row;
  double average = 0;
  for (const double value : exact) average += value * value / static_cast<double>(width);
  int columns = 0;
  for (std::size_t column = 0; column < width; column += 100) {
    double size = 0;
    for (std::size_t i = column; i < exact.size(); i += width) size += exact[i] * exact[i];
    if (size < average) continue;  // then its error is held against that of an average one
    ++columns;
    EXPECT_EQ(said([&](std::size_t i) { return i % width == column; }), Said::CannotTell) << "D=" << column;
  }
  EXPECT_GT(columns, 0);
}

// Far runs that jump make limits of which nothing can be told, except of a result that did not jump.
TEST(Compare, WhoTakesNoOtherSideAgreesBesideLargeJumps) {
  const auto exact = exact_values();
  Spread spread = spread_of(exact, 0x1p-9);
  std::vector<double> jumped = exact;
  for (double& value : jumped) value *= 1.5;
  spread.add(RunKind::Far, jumped, exact);
  const auto with = [&](double factor) {
    std::vector<double> out = exact;
    for (double& value : out) value *= factor;
    return compare("h", {&spread, true, Storage::F32, Storage::F32}, out, exact).said();
  };
  EXPECT_EQ(with(1 + 0x1p-10), Said::Agrees);
  EXPECT_EQ(with(1.4), Said::CannotTell) << "it may have jumped as well";
  EXPECT_EQ(with(40), Said::Wrong);
}

TEST(Slices, AreNamed) {
  const std::vector<schedule::Axis> axes{{"B", 2}, {"T", 3}};
  const std::vector<double> values{3, 0, 0, 4, 0, std::nan("")};
  const std::vector<double> norms = slice_norms(axes, values);
  ASSERT_EQ(norms.size(), 6u);
  EXPECT_DOUBLE_EQ(norms[0], 5);
  EXPECT_DOUBLE_EQ(norms[1], 3);
  EXPECT_DOUBLE_EQ(norms[2], 4);
  EXPECT_DOUBLE_EQ(norms[3], 5);
  EXPECT_EQ(slice_name(axes, 0), "all of it");
  EXPECT_EQ(slice_name(axes, 2), "B=1");
  EXPECT_EQ(slice_name(axes, 5), "T=2");
  EXPECT_EQ(element_name(axes, 4), "B=1 T=1");
}

TEST(Slices, OfThreeAxes) {
  const std::vector<schedule::Axis> axes{{"B", 2}, {"T", 1}, {"D", 3}};
  const std::vector<double> values{1, 2, 3, 4, 5, 6};
  const std::vector<double> norms = slice_norms(axes, values);
  ASSERT_EQ(norms.size(), 7u);
  EXPECT_DOUBLE_EQ(norms[1], std::sqrt(14.0));      // B=0
  EXPECT_DOUBLE_EQ(norms[3], std::sqrt(91.0));      // T=0
  EXPECT_DOUBLE_EQ(norms[4], std::sqrt(1 + 16.0));  // D=0
  EXPECT_DOUBLE_EQ(norms[6], std::sqrt(9 + 36.0));  // D=2
  EXPECT_EQ(slice_name(axes, 6), "D=2");
}

TEST(Samples, MediansAndSpread) {
  EXPECT_DOUBLE_EQ(median({3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_DOUBLE_EQ(median({}), 0);
  const Timing timing = timing_of({1, 2, 3, 4, 5});
  EXPECT_DOUBLE_EQ(timing.median_s, 3);
  EXPECT_DOUBLE_EQ(timing.spread, (4.6 - 1.4) / 3) << "from the 10th to the 90th percentile";
  EXPECT_EQ(timing.samples, 5);
}

}  // namespace
}  // namespace rondo::engine
