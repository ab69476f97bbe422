// Random legal points of every strategy's tuning space: what the space thinks they need against what they do
// need, and what they compute in the simulator against the reference executor.
//
// RONDO_POINTS says how many (600 at least), RONDO_POINTS_SEED where the seeds begin, RONDO_POINT runs the
// one of a seed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "tests/points/coverage.h"
#include "tests/points/resources.h"
#include "tests/points/run.h"
#include "tests/support/turns.h"

namespace rondo::points {
namespace {

constexpr int kLeastPoints = 600, kChunk = 20;

std::int64_t number(const char* variable, std::int64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoll(text);
}
int points() { return static_cast<int>(std::max<std::int64_t>(kLeastPoints, number("RONDO_POINTS", 0))); }
std::uint64_t seed_of(int index) {
  return static_cast<std::uint64_t>(number("RONDO_POINTS_SEED", 1) * 1'000'000 + index);
}

void expect_none(const std::vector<std::string>& complaints, const Point& point) {
  std::string text;
  for (const std::string& complaint : complaints) text += complaint + "\n";
  EXPECT_TRUE(complaints.empty()) << text << describe(point);
}

// Whether there were numbers to compare.
bool check(const Point& point) {
  try {
    const Outcome outcome = run_point(point);
    expect_none(outcome.complaints, point);
    return outcome.compared;
  } catch (const std::exception& e) {
    expect_none({fmt::format("exception: {}", e.what())}, point);
    return true;
  }
}

void check_resources(const Point& point) {
  try {
    expect_none(resource_complaints(point, build(point)), point);
  } catch (const std::exception& e) {
    expect_none({fmt::format("exception: {}", e.what())}, point);
  }
}

class Points : public ::testing::TestWithParam<int> {};

TEST_P(Points, ComputeWhatTheReferenceDoes) {
  int compared = 0;
  const int first = GetParam() * kChunk, end = std::min(first + kChunk, points());
  for (int i = first; i < end; ++i) compared += check(point_of_seed(seed_of(i))) ? 1 : 0;
  EXPECT_GE(compared, (end - first) * 9 / 10) << "too many points without numbers that stay exact";
}

// At sizes that users have, where nothing is run.
TEST_P(Points, NeedNoMoreThanTheirSpacesSay) {
  const int first = GetParam() * kChunk, end = std::min(first + kChunk, points());
  for (int i = first; i < end; ++i) check_resources(point_of_seed(seed_of(i), Scale::Full));
}

std::vector<int> chunks() {
  std::vector<int> all((points() + kChunk - 1) / kChunk);
  std::iota(all.begin(), all.end(), 0);
  return rondo::testing::with_turns(all, 2);
}
INSTANTIATE_TEST_SUITE_P(Random, Points, ::testing::ValuesIn(chunks()), ::testing::PrintToStringParamName());

TEST(PointsTogether, ComeAcrossEveryParameterAndSituation) {
  Coverage coverage;
  for (int i = 0; i < points(); ++i) coverage.add(point_of_seed(seed_of(i)));
  fmt::print("{}", coverage.text());
  for (const std::string& gap : coverage.gaps()) ADD_FAILURE() << gap;
}

// What a failure names.
TEST(PointOfASeed, IsRight) {
  const auto seed = static_cast<std::uint64_t>(number("RONDO_POINT", static_cast<std::int64_t>(seed_of(0))));
  const Point small = point_of_seed(seed), full = point_of_seed(seed, Scale::Full);
  fmt::print("{}\nand at full size\n{}\n", describe(small), describe(full));
  check(small);
  check_resources(full);
}

}  // namespace
}  // namespace rondo::points
