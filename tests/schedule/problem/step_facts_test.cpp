// What tasks of one cell know of its step.
#include "compiler/schedule/problem/step_facts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <tuple>
#include <vector>

#include "compiler/frontend/frontend.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/schedule/stream/resources.h"
#include "compiler/schedule/sweep/backward_split.h"
#include "tests/schedule/cell_files.h"

namespace rondo::schedule {
namespace {

TEST(StepFacts, AFactIsMadeOnceForAllSizes) {
  const step::Cell cell =
      frontend::parse("cell c(D) { input x[D]; state h[D]; next h = x * h; output h }", "c.cell").cells.at(0);
  const Task task(cell, {}, {});
  Problem longer;
  longer.sizes.time = 100;
  const Task other = task.with(longer);
  int made = 0;
  const std::function<int()> make = [&] { return ++made; };
  EXPECT_EQ(*task.fact<int>("a number", make), 1);
  EXPECT_EQ(*other.fact<int>("a number", make), 1);
  EXPECT_EQ(*other.fact<int>("another", make), 2);
  EXPECT_EQ(*Task(cell, {}, {}).fact<int>("a number", make), 3) << "another task, of any cell";
}

// A pass that is watched is run each time, so that the watcher sees it.
TEST(StepFacts, NothingIsKeptWhereSomebodyWatches) {
  class Watcher final : public pipeline::PassWatcher {
    void begins(pipeline::Pass) override {}
    void ends(pipeline::Pass, const pipeline::Made&) override {}
  };
  const step::Cell cell =
      frontend::parse("cell c(D) { input x[D]; state h[D]; next h = x * h; output h }", "c.cell").cells.at(0);
  Watcher watcher;
  const Task task(cell, {}, {}, &watcher);
  int made = 0;
  const std::function<int()> make = [&] { return ++made; };
  EXPECT_EQ(*task.fact<int>("a number", make), 1);
  EXPECT_EQ(*task.fact<int>("a number", make), 2);
}

auto numbers_of(const SweepShape& s) {
  return std::tuple(s.products, s.terms, s.reductions, s.levels, s.rows_in, s.rows_out, s.wide_in, s.wide_out,
                    s.states, s.shares, s.handed, s.sums);
}

auto numbers_of(const SegmentShape& s) {
  return std::tuple(s.parts, s.again, s.pattern.entries(), s.params, s.gradients, s.accurate, s.shared);
}

// What depends on the pass or on types is another fact for each.
TEST(StepFacts, ShapesAreThoseOfATaskOfItsOwn) {
  for (const step::Cell& cell : all_cells()) {
    const Task first(cell, {}, {});
    for (const kernel::Storage storage : {kernel::Storage::F16, kernel::Storage::F32})
      for (Problem problem : in_all_passes({})) {
        problem.storage = storage;
        problem.math = default_math(storage);
        const Task shared = first.with(problem), own(cell, problem, {});
        const std::string of = fmt::format("{} {}", cell.name, pass_key(problem));
        if (own.structure.has_matrix)
          EXPECT_EQ(numbers_of(sweep_shape(shared)), numbers_of(sweep_shape(own))) << of;
        else
          EXPECT_EQ(numbers_of(segment_shape(shared)), numbers_of(segment_shape(own))) << of;
      }
  }
}

TEST(StepFacts, ThreadsWaitForTheFirst) {
  StepFacts facts;
  std::atomic<int> made = 0;
  const std::function<int()> make = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return ++made;
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { EXPECT_EQ(*facts.remember<int>("it", make), 1); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
}

TEST(StepFacts, AFactMayAskForAnother) {
  StepFacts facts;
  const std::function<int()> inner = [] { return 2; };
  const std::function<int()> outer = [&] { return 1 + *facts.remember<int>("inner", inner); };
  EXPECT_EQ(*facts.remember<int>("outer", outer), 3);
}

}  // namespace
}  // namespace rondo::schedule
