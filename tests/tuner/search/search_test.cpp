#include "tuner/search/search.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/tuner/search/landscape.h"

namespace rondo::tuner {
namespace {

using db::TrialStatus;
using testing::Landscape;
using testing::Point;
using testing::TableMeasurer;

std::size_t index_of(const SearchResult& result, std::int64_t channels) {
  for (std::size_t i = 0; i < result.rows.size(); ++i)
    if (result.rows[i].candidate.parameters.at("channels") == channels) return i;
  return result.rows.size();
}

const Row& row_of(const SearchResult& result, std::int64_t channels) {
  return result.rows.at(index_of(result, channels));
}

double true_time(const Landscape& land, const Row& row) {
  for (std::size_t i = 0; i < land.candidates.size(); ++i)
    if (land.candidates[i].parameters == row.candidate.parameters) return land.points[i].seconds;
  return 1e9;
}

class OnLandscapes : public ::testing::TestWithParam<int> {};

TEST_P(OnLandscapes, ComesWithinFivePercentOfTheBestInTheBudget) {
  const Landscape land = testing::synthetic(static_cast<std::uint64_t>(GetParam()), 0.15);
  ASSERT_GT(land.candidates.size(), 3000u);
  TableMeasurer machine(land.points);
  SearchOptions options;
  options.budget_s = 60;
  const SearchResult result = search(land.candidates, machine, options, machine.clock());
  ASSERT_TRUE(result.best);
  EXPECT_TRUE(result.measured);
  EXPECT_TRUE(result.rows[*result.best].verified);
  EXPECT_LE(true_time(land, result.rows[*result.best]), 1.05 * land.best_s);
  EXPECT_LE(result.seconds, 1.05 * options.budget_s);
  EXPECT_LT(result.tried, land.candidates.size() / 2) << "the search is no better than trying everything";
}

INSTANTIATE_TEST_SUITE_P(Seeds, OnLandscapes, ::testing::Range(1, 25));

TEST(Search, AUselessModelStillGetsThere) {
  const Landscape land = testing::synthetic(99, 2.0);
  TableMeasurer machine(land.points);
  SearchOptions options;
  options.budget_s = 60;
  const SearchResult result = search(land.candidates, machine, options, machine.clock());
  ASSERT_TRUE(result.best);
  EXPECT_LE(true_time(land, result.rows[*result.best]), 1.08 * land.best_s);
}

TEST(Search, ExhaustiveTriesEverythingAndFindsTheBest) {
  const Landscape land = testing::synthetic(5, 0.3);
  TableMeasurer machine(land.points);
  machine.noise = 0;
  SearchOptions options;
  options.budget_s = 1;  // does not matter
  options.exhaustive = true;
  const SearchResult result = search(land.candidates, machine, options, machine.clock());
  EXPECT_EQ(result.tried, land.candidates.size());
  EXPECT_EQ(result.end, SearchEnd::Exhausted);
  ASSERT_TRUE(result.best);
  EXPECT_DOUBLE_EQ(true_time(land, result.rows[*result.best]), land.best_s);
}

// With a small budget a tune must not end with less than a choice without tuning, whatever the compiler
// finished before it.
// It is what nobody fears to spill: the first is no use to a user without a tune if it does.
TEST(Search, TheFirstChoiceOfTheModelIsTriedThoughItComesLate) {
  for (const auto& [late_until, untuned] :
       {std::pair(3.0, std::size_t{0}), std::pair(1e9, std::size_t{0}), std::pair(3.0, std::size_t{50})}) {
    std::vector<Point> points(400);
    for (std::size_t i = 0; i < points.size(); ++i) points[i].seconds = i == untuned ? 1e-3 : 4e-3;
    std::vector<engine::Candidate> candidates = testing::line(400);
    for (std::size_t i = 0; i < untuned; ++i) candidates[i].estimate.may_spill = true;
    TableMeasurer machine(points);
    machine.compile_s = 1;
    machine.late = untuned;
    machine.late_until = late_until;
    SearchOptions options;
    options.budget_s = 1;
    const SearchResult result = search(candidates, machine, options, machine.clock());
    ASSERT_TRUE(result.best);
    const std::int64_t winner = result.rows[*result.best].candidate.parameters.at("channels");
    EXPECT_EQ(winner == static_cast<std::int64_t>(untuned), late_until < 10);
    EXPECT_LT(result.seconds, 12) << "one that never comes does not hold the tune up for long";
    EXPECT_EQ(result.end, SearchEnd::Budget);
  }
}

// Seven tunes side by side once made a comparison with the reference outlast budget and patience, and the
// tune ended with the only kernel that had come from the compiler so far, 1.5 times as slow as what no tune
// gives.
TEST(Search, TheFirstChoiceIsTriedThoughTheReferenceTakesLong) {
  std::vector<Point> points(400);
  for (std::size_t i = 0; i < points.size(); ++i) points[i].seconds = i == 0 ? 1e-3 : 4e-3;
  const std::vector<engine::Candidate> candidates = testing::line(400);
  TableMeasurer machine(points);
  machine.compile_s = 1;
  machine.late = 0;
  machine.late_until = 20;
  machine.verify_s = 18;
  SearchOptions options;
  options.budget_s = 1;
  const SearchResult result = search(candidates, machine, options, machine.clock());
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.rows[*result.best].candidate.parameters.at("channels"), 0);
  EXPECT_LE(machine.compiled.size(), 4u * static_cast<std::size_t>(machine.slots))
      << "nothing is begun past the budget";
}

// The leaders' kernels by another compiler race too, and win if they are faster and right.
TEST(Search, LeadersAreTriedWithAnotherCompiler) {
  std::vector<engine::Candidate> candidates(40);
  std::vector<Point> points(80);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    candidates[i].strategy = "stream";
    candidates[i].parameters = {{"channels", static_cast<std::int64_t>(i)}};
    points[i].seconds = 1e-3 + 1e-5 * static_cast<double>(i);
    points[i + 40].seconds = points[i].seconds * (i == 2 ? 0.95 : 1.1);
  }
  points[40].wrong = true;
  points[40].seconds = 1e-4;
  TableMeasurer machine(points);
  machine.twins_from = candidates.size();
  machine.noise = 0;
  const SearchResult result = search(candidates, machine, {}, machine.clock());
  ASSERT_TRUE(result.best);
  const Row& best = result.rows[*result.best];
  EXPECT_EQ(best.candidate.parameters.at("channels"), 2);
  EXPECT_EQ(best.compiler, "other");
  EXPECT_EQ(best.index, 42u);
  EXPECT_TRUE(best.verified && best.confirmed);
  const auto twins = std::count_if(machine.compiled.begin(), machine.compiled.end(),
                                   [](std::size_t candidate) { return candidate >= 40; });
  EXPECT_EQ(twins, SearchOptions{}.leaders) << "of the leaders, and of nobody else";
  EXPECT_EQ(result.total, candidates.size() + static_cast<std::size_t>(twins));
}

// What is known from before is compared in the same interleaved runs, though the race would have dropped it.
TEST(Search, TheIncumbentIsTriedFirstAndConfirmed) {
  for (const bool exhaustive : {true, false}) {
    std::vector<Point> points(400);
    for (std::size_t i = 0; i < points.size(); ++i) points[i].seconds = 1e-3 + 1e-6 * static_cast<double>(i);
    points[399].seconds = 9e-3;
    TableMeasurer machine(points);
    SearchOptions options;
    options.exhaustive = exhaustive;
    options.incumbent = 399;
    const SearchResult result = search(testing::line(400), machine, options, machine.clock());
    ASSERT_FALSE(machine.compiled.empty());
    EXPECT_EQ(machine.compiled.front(), 399u);
    EXPECT_EQ(std::set<std::size_t>(machine.compiled.begin(), machine.compiled.end()).size(),
              machine.compiled.size());
    ASSERT_TRUE(result.incumbent);
    const Row& known = result.rows[*result.incumbent];
    EXPECT_EQ(known.candidate.parameters.at("channels"), 399);
    EXPECT_TRUE(known.confirmed && known.verified);
    ASSERT_TRUE(result.best);
    EXPECT_TRUE(result.rows[*result.best].confirmed);
    EXPECT_NEAR(known.timing.median_s / result.rows[*result.best].timing.median_s, 9, 0.3);
  }
}

// Winners of other problems come right after the incumbent, each once.
TEST(Search, StartsWhereItIsTold) {
  TableMeasurer machine(std::vector<Point>(400));
  SearchOptions options;
  options.incumbent = 399;
  options.starts = {250, 399, 120};
  const SearchResult result = search(testing::line(400), machine, options, machine.clock());
  ASSERT_GT(machine.compiled.size(), 3u);
  machine.compiled.resize(3);
  EXPECT_EQ(machine.compiled, (std::vector<std::size_t>{399, 250, 120}));
  ASSERT_TRUE(result.best);
}

// Whichever comes from the compiler first: what is known is compared with what was found, its code or
// another's.
TEST(Search, TheIncumbentIsNoDuplicate) {
  for (const double late_until : {0.0, 0.1, 0.2})
    for (const std::size_t twin : {0u, 3u, 19u}) {
      std::vector<Point> points(20);
      points[7].code = points[twin].code = "same";
      TableMeasurer machine(points);
      machine.late = 7;
      machine.late_until = late_until;
      SearchOptions options;
      options.incumbent = 7;
      const SearchResult result = search(testing::line(20), machine, options, machine.clock());
      ASSERT_TRUE(result.incumbent && result.best);
      EXPECT_EQ(result.rows[*result.incumbent].status, TrialStatus::Ok) << late_until << " " << twin;
      EXPECT_TRUE(result.rows[*result.incumbent].confirmed) << late_until << " " << twin;
    }
}

TEST(Search, AnIncumbentThatIsWrongIsNotKept) {
  std::vector<Point> points(20);
  points[7].seconds = 1e-6;
  points[7].wrong = true;
  points[3].code = points[7].code = "same";  // that of a candidate which may be compiled before it
  TableMeasurer machine(points);
  SearchOptions options;
  options.incumbent = 7;
  const SearchResult result = search(testing::line(20), machine, options, machine.clock());
  ASSERT_TRUE(result.incumbent && result.best);
  EXPECT_EQ(result.rows[*result.incumbent].status, TrialStatus::Wrong);
  EXPECT_NE(*result.best, *result.incumbent);
}

TEST(Search, KeepsFailuresWithTheirReason) {
  std::vector<Point> points(8);
  points[0].build = TrialStatus::CompileError;
  points[1].spill_bytes = 257;
  points[2].fails = true;
  points[3].wrong = true;
  points[3].seconds = 1e-4;
  points[4].seconds = 1e-2;
  points[5].seconds = 5e-4;
  points[5].code = points[6].code = "same";
  points[7].build = TrialStatus::Timeout;
  TableMeasurer machine(points);
  std::vector<std::string> settled;
  SearchOptions options;
  options.settled = [&](const Row& row) { settled.emplace_back(db::to_text(row.status)); };
  const SearchResult result = search(testing::line(8), machine, options, machine.clock());
  EXPECT_EQ(row_of(result, 0).status, TrialStatus::CompileError);
  EXPECT_EQ(row_of(result, 0).reason, "as recorded");
  EXPECT_EQ(row_of(result, 1).status, TrialStatus::Spill);
  EXPECT_EQ(row_of(result, 1).reason, "257 bytes of registers spilled a thread");
  EXPECT_EQ(row_of(result, 2).status, TrialStatus::LaunchError);
  EXPECT_EQ(row_of(result, 2).reason, "too many resources requested for launch");
  EXPECT_EQ(row_of(result, 3).status, TrialStatus::Wrong);
  EXPECT_EQ(row_of(result, 3).reason, "h_out: error 3.1e-01 (limit 4.0e-03)");
  EXPECT_EQ(row_of(result, 6).status, TrialStatus::Duplicate);
  EXPECT_EQ(row_of(result, 6).reason, "same code as channels=5");
  EXPECT_EQ(row_of(result, 7).status, TrialStatus::Timeout);
  EXPECT_EQ(settled.size(), 8u) << "every candidate is settled exactly once";
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.rows[*result.best].candidate.parameters.at("channels"), 5);
  for (const Row& row : result.rows)
    EXPECT_EQ(row.reason.empty(), row.status == TrialStatus::Ok) << db::to_text(row.status);
}

// A few words outside the loops may cost less than the blocks that their registers would displace.
TEST(Search, WhatAFewSpilledBytesCostTheClockSays) {
  std::vector<Point> points(6);
  for (std::size_t i = 0; i < 6; ++i) points[i].seconds = 1e-4 + 1e-5 * static_cast<double>(i);
  points[1].spill_bytes = 160, points[1].seconds = 9e-5;
  points[2].spill_bytes = 160, points[2].seconds = 3e-4;
  points[3].spill_bytes = 300, points[3].seconds = 5e-5;
  TableMeasurer machine(points);
  const SearchResult result = search(testing::line(6), machine, {}, machine.clock());
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.rows[*result.best].candidate.parameters.at("channels"), 1);
  EXPECT_TRUE(result.rows[*result.best].verified);
  EXPECT_EQ(row_of(result, 3).status, TrialStatus::Spill);
}

TEST(Search, RaceStopsEarlyWhatIsFarBehind) {
  std::vector<Point> points(3);
  points[0].seconds = 1e-4;
  points[1].seconds = 2.9e-4;
  points[2].seconds = 3.5e-4;
  TableMeasurer machine(points);
  const SearchResult result = search(testing::line(3), machine, {}, machine.clock());
  EXPECT_EQ(row_of(result, 1).status, TrialStatus::Ok);
  EXPECT_EQ(row_of(result, 2).status, TrialStatus::Slower);
  EXPECT_NE(row_of(result, 2).reason.find("3.5 times the best so far"), std::string::npos)
      << row_of(result, 2).reason;
  EXPECT_EQ(machine.runs[0], 2) << "a short look, then in full";
  EXPECT_EQ(machine.runs[1], 1) << "a short look only";
  EXPECT_EQ(machine.runs[2], 1);
}

TEST(Search, WhatIsNotVerifiedIsNeverBest) {
  std::vector<Point> points(12);
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].seconds = 1e-3 - 1e-5 * static_cast<double>(i);
    points[i].wrong = i != 4;  // all faster ones are wrong
  }
  TableMeasurer machine(points);
  const SearchResult result = search(testing::line(12), machine, {}, machine.clock());
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.rows[*result.best].candidate.parameters.at("channels"), 4);
  for (const Row& row : result.rows) EXPECT_FALSE(row.verified && row.status == TrialStatus::Wrong);

  for (Point& point : points) point.wrong = true;
  TableMeasurer hopeless(points);
  const SearchResult none = search(testing::line(12), hopeless, {}, hopeless.clock());
  EXPECT_FALSE(none.best);
  EXPECT_FALSE(none.measured);
}

TEST(Search, ConfirmsLeadersSideBySide) {
  std::vector<Point> points(10);
  for (std::size_t i = 0; i < points.size(); ++i)
    points[i].seconds = 1e-4 * (1 + 0.01 * static_cast<double>((i * 7) % 10));
  TableMeasurer machine(points);
  machine.noise = 0.02;  // more than the candidates differ: the race alone cannot tell them apart
  SearchOptions options;
  options.confirm_rounds = 31;
  const SearchResult result = search(testing::line(10), machine, options, machine.clock());
  ASSERT_TRUE(result.best);
  const Row& best = result.rows[*result.best];
  EXPECT_TRUE(best.confirmed);
  EXPECT_EQ(best.timing.samples, 31);
  EXPECT_GT(best.timing.spread, 0);
  EXPECT_LE(points[static_cast<std::size_t>(best.candidate.parameters.at("channels"))].seconds, 1.03e-4);
  const auto confirmed =
      std::count_if(result.rows.begin(), result.rows.end(), [](const Row& r) { return r.confirmed; });
  EXPECT_EQ(confirmed, options.leaders);
}

// The race's few samples flatter all, and the leaders lose that when they are measured side by side. What was
// raced alone then looks faster than each of them, and is not: the best is one that was confirmed.
TEST(Search, ARacedBestDoesNotBeatAConfirmedOne) {
  for (const double flatters : {0.9, 0.95, 0.99})
    for (const int leaders : {2, 3, 4}) {
      std::vector<Point> points(12);
      // Each is faster than those before it, so that most were best and verified once.
      for (std::size_t i = 0; i < points.size(); ++i)
        points[i].seconds = 1e-4 * (1 + 0.004 * static_cast<double>(points.size() - 1 - i));
      TableMeasurer machine(points);
      machine.noise = 0;
      machine.flatters = flatters;
      SearchOptions options;
      options.leaders = leaders;
      const SearchResult result = search(testing::line(12), machine, options, machine.clock());
      ASSERT_TRUE(result.best);
      const Row& best = result.rows[*result.best];
      EXPECT_TRUE(best.confirmed) << flatters << " " << leaders;
      EXPECT_EQ(best.candidate.parameters.at("channels"), 11) << "the fastest in truth";
      EXPECT_DOUBLE_EQ(best.timing.median_s, 1e-4) << "what it was confirmed with";
    }
}

// Fastest in the race and verified, but it hangs when the leaders are timed again: it is not the choice.
TEST(Search, ALeaderThatHangsInTheEndIsOut) {
  std::vector<Point> points(6);
  for (std::size_t i = 0; i < points.size(); ++i)
    points[i].seconds = 1e-4 * (1 + 0.02 * static_cast<double>(i));
  points[0].hangs_late = true;
  TableMeasurer machine(points);
  const SearchResult result = search(testing::line(6), machine, {}, machine.clock());
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.rows[*result.best].candidate.parameters.at("channels"), 1);
  EXPECT_TRUE(result.rows[*result.best].verified);
  const auto out = std::find_if(result.rows.begin(), result.rows.end(),
                                [](const Row& row) { return row.candidate.parameters.at("channels") == 0; });
  ASSERT_NE(out, result.rows.end());
  EXPECT_EQ(out->status, TrialStatus::Timeout);
  EXPECT_EQ(out->reason, "timeout: as planted");
}

TEST(Search, CancelKeepsWhatIsKnown) {
  const Landscape land = testing::synthetic(3, 0.2);
  TableMeasurer machine(land.points);
  std::atomic<bool> cancel{false};
  int runs = 0;
  machine.after_run = [&] { cancel = ++runs >= 20; };
  SearchOptions options;
  options.cancel = &cancel;
  const SearchResult result = search(land.candidates, machine, options, machine.clock());
  EXPECT_EQ(result.end, SearchEnd::Cancelled);
  ASSERT_TRUE(result.best);
  EXPECT_TRUE(result.measured);
  EXPECT_TRUE(result.rows[*result.best].verified);
  EXPECT_LT(machine.compiled.size(), 40u);
  EXPECT_GE(result.rows.size(), 10u);
}

TEST(Search, CancelledBeforeAnythingHasNoBest) {
  TableMeasurer machine(std::vector<Point>(4));
  const std::atomic<bool> cancel{true};
  SearchOptions options;
  options.cancel = &cancel;
  const SearchResult result = search(testing::line(4), machine, options, machine.clock());
  EXPECT_EQ(result.end, SearchEnd::Cancelled);
  EXPECT_FALSE(result.best);
  EXPECT_TRUE(result.rows.empty());
}

TEST(Search, KeepsToTheBudget) {
  const Landscape land = testing::synthetic(4, 0.2);
  for (const double budget : {2.0, 5.0, 20.0}) {
    TableMeasurer machine(land.points);
    machine.compile_s = 1;
    SearchOptions options;
    options.budget_s = budget;
    options.patience = 1000000;
    const SearchResult result = search(land.candidates, machine, options, machine.clock());
    EXPECT_EQ(result.end, SearchEnd::Budget);
    EXPECT_LE(result.seconds, budget + 0.7) << "compile and verification in hand may finish";
    EXPECT_GE(result.seconds, 0.8 * budget);
    EXPECT_TRUE(result.best) << budget;
  }
}

// The reference or a slow compiler may take all of a short budget.
TEST(Search, ABudgetTooShortForAnythingStillEndsWithOneChoice) {
  TableMeasurer machine(std::vector<Point>(1000));
  machine.compile_s = 5;
  machine.slots = 1;
  SearchOptions options;
  options.budget_s = 0;
  const SearchResult result = search(testing::line(1000), machine, options, machine.clock());
  EXPECT_EQ(result.end, SearchEnd::Budget);
  ASSERT_TRUE(result.best);
  EXPECT_TRUE(result.rows[*result.best].verified);
  EXPECT_LT(result.seconds, 20) << "one is enough";

  machine.gpu = false;
  const SearchResult by_model = search(testing::line(1000), machine, options, machine.clock());
  EXPECT_EQ(by_model.end, SearchEnd::Budget);
  EXPECT_TRUE(by_model.best);
  EXPECT_LT(by_model.seconds, 20);
}

TEST(Search, WhatNeverSucceedsEndsAMinuteAfterTheBudget) {
  std::vector<Point> points(1000);
  for (Point& point : points) point.build = TrialStatus::CompileError;
  TableMeasurer machine(points);
  machine.compile_s = 5;
  machine.slots = 1;
  SearchOptions options;
  options.budget_s = 10;
  const SearchResult result = search(testing::line(1000), machine, options, machine.clock());
  EXPECT_EQ(result.end, SearchEnd::Budget);
  EXPECT_FALSE(result.best);
  EXPECT_GE(result.seconds, 60);
  EXPECT_LE(result.seconds, 10 + 60 + 5 + 0.7);
}

TEST(Search, ALostDeviceEndsItWithTheBestSoFar) {
  std::vector<Point> points(20);
  points[10].kills = true;
  TableMeasurer machine(points);
  machine.slots = 1;
  const SearchResult result = search(testing::line(20), machine, {}, machine.clock());
  EXPECT_EQ(result.end, SearchEnd::DeviceLost);
  ASSERT_TRUE(result.best);
  EXPECT_TRUE(result.rows[*result.best].verified);
  EXPECT_EQ(row_of(result, 10).status, TrialStatus::LaunchError);
}

TEST(Search, WithoutAGpuTakesTheModelsFirstCleanCandidate) {
  std::vector<Point> points(100);
  points[0].spill_bytes = 8;
  points[1].build = TrialStatus::CompileError;
  TableMeasurer machine(points);
  machine.gpu = false;
  SearchOptions options;
  options.by_model_wanted = 3;
  const SearchResult result = search(testing::line(100), machine, options, machine.clock());
  ASSERT_TRUE(result.best);
  EXPECT_FALSE(result.measured);
  EXPECT_EQ(result.rows[*result.best].candidate.parameters.at("channels"), 2);
  EXPECT_FALSE(result.rows[*result.best].verified);
  EXPECT_EQ(result.rows[*result.best].timing.samples, 0);
  EXPECT_TRUE(machine.runs.empty());
  EXPECT_TRUE(machine.verified.empty());
  EXPECT_LT(machine.compiled.size(), 30u);
}

TEST(Search, ReportsProgress) {
  const Landscape land = testing::synthetic(6, 0.2);
  TableMeasurer machine(land.points);
  std::vector<Progress> seen;
  SearchOptions options;
  options.budget_s = 10;
  options.progress = [&](const Progress& progress) { seen.push_back(progress); };
  (void)search(land.candidates, machine, options, machine.clock());
  ASSERT_GT(seen.size(), 10u);
  EXPECT_EQ(seen.front().tried, 0u);
  EXPECT_EQ(seen.front().total, land.candidates.size());
  EXPECT_EQ(seen.back().phase, Phase::Done);
  EXPECT_GT(seen.back().best_ms, 0);
  EXPECT_EQ(seen.back().best.rfind("stream channels=", 0), 0u);
  for (std::size_t i = 1; i < seen.size(); ++i) {
    EXPECT_GE(seen[i].tried, seen[i - 1].tried);
    EXPECT_LE(seen[i].seconds_left, seen[i - 1].seconds_left);
  }
}

}  // namespace
}  // namespace rondo::tuner
