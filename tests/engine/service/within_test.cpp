// Which way to save fits a memory.
#include "engine/service/within.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/step/forms.h"
#include "engine/data/host_problem.h"
#include "engine/service/run_training.h"
#include "tests/engine/plan/cells.h"
#include "tests/runtime/device/guarded_device.h"
#include "tests/support/slow_tests.h"

namespace rondo::engine {
namespace {

// Of a cell on the machine, of B=1, H=1.
struct Asked {
  step::Cell cell;
  Machine machine;
  Request request;

  Asked(const std::string& name, const std::string& arch, const step::Sizes& sizes,
        kernel::Storage storage = kernel::Storage::BF16)
      : cell(rondo::testing::library_cell(name)), machine(find_machine(arch, nullptr, false).value()) {
    request.cell = &cell;
    request.problem = rondo::testing::problem_of(schedule::Pass::Backward, sizes.dim, storage);
    request.problem.sizes = sizes;
    request.outline = true;
  }

  FittingWays within(std::int64_t most) const {
    const Result<FittingWays> ways = ways_within(request, machine, most);
    EXPECT_TRUE(ways.ok()) << ways.error().message;
    return ways.ok() ? *ways : FittingWays();
  }
  SavingWay best(std::int64_t most) const {
    const FittingWays ways = within(most);
    return ways.best() == nullptr ? SavingWay() : *ways.best();
  }
  std::int64_t bytes(std::int64_t every) const {
    const Result<TrainingAnswer> training = answer_training_in_parts(request, machine, every);
    EXPECT_TRUE(training.ok());
    const Result<PartsMemory> memory = training_memory(*training);
    EXPECT_TRUE(memory.ok());
    return memory->saved_bytes + memory->workspace_bytes;
  }
};

constexpr std::int64_t kPlenty = std::int64_t{1} << 40;

// Of an LSTM with 768 channels over 16,384 steps one piece saves c of each. Most of a workspace is sums for
// R, which parts need too.
TEST(Within, SavedBytesOfALongSequence) {
  if (rondo::testing::waits_for_its_turn()) GTEST_SKIP() << rondo::testing::kAnotherTurn;
  const Asked lstm("lstm", "h200", {1, 16384, 1, 768});
  const FittingWays plenty = lstm.within(kPlenty);
  ASSERT_FALSE(plenty.ways.empty());
  const SavingWay states = plenty.ways.front();
  EXPECT_EQ(states.text(), "states");
  EXPECT_EQ(states.memory.saved_bytes, std::int64_t{16384} * 768 * 2);
  const SavingWay parts = lstm.best(15'800'000);
  EXPECT_GT(parts.every, 0) << parts.text();
  EXPECT_GE(states.memory.saved_bytes, 16 * parts.memory.saved_bytes) << parts.text();
  EXPECT_LE(parts.memory.workspace_bytes, states.memory.workspace_bytes) << parts.text();
}

// Where so many steps fit, at least so many are taken, and twice as many would be too much.
TEST(Within, TheMostStepsThatFit) {
  if (rondo::testing::waits_for_its_turn()) GTEST_SKIP() << rondo::testing::kAnotherTurn;
  for (const char* name : {"lstm", "lnlstm"}) {
    const Asked asked(name, "h200", {2, 3000, 1, 256});
    for (const std::int64_t every : {64, 512}) {
      const std::int64_t most = asked.bytes(every);
      const SavingWay way = asked.best(most);
      EXPECT_LE(way.bytes(), most);
      EXPECT_GE(way.every, every) << name << " " << way.text();
      EXPECT_EQ(way.bytes(), asked.bytes(way.every)) << name << " " << way.text();
      EXPECT_GT(asked.bytes(std::min<std::int64_t>(2 * way.every, 3000)), most) << name << " " << way.text();
    }
  }
}

// Where states fit in one piece no part is looked at; products fit where there is room for both.
TEST(Within, OnePieceWhereItFits) {
  const Asked lstm("lstm", "h200", {4, 512, 1, 256});
  const FittingWays plenty = lstm.within(kPlenty);
  ASSERT_EQ(plenty.ways.size(), 2U);
  EXPECT_EQ(plenty.ways[1].text(), "products");
  Request outline = lstm.request;
  EXPECT_EQ(plenty.best()->save, answer_training(outline, lstm.machine, Save::Faster)->save);
  const FittingWays some = lstm.within(plenty.ways[0].bytes());
  EXPECT_EQ(some.ways.front().text(), "states");
  for (const SavingWay& way : some.ways) EXPECT_EQ(way.every, 0);
}

// The error says how much would do, and so much does.
TEST(Within, TheLeast) {
  if (rondo::testing::waits_for_its_turn()) GTEST_SKIP() << rondo::testing::kAnotherTurn;
  const Asked lstm("lstm", "h200", {1, 512, 1, 64});
  const Result<FittingWays> none = ways_within(lstm.request, lstm.machine, 1);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().kind, ErrorKind::Unsupported);
  const std::string& text = none.error().message;
  const std::string before = "needs ";
  const std::int64_t least = std::stoll(text.substr(text.find(before) + before.size()));
  EXPECT_NE(text.find("with every="), std::string::npos) << text;
  EXPECT_NE(text.find("and 1 are allowed"), std::string::npos) << text;
  EXPECT_EQ(lstm.best(least).bytes(), least);
  EXPECT_FALSE(ways_within(lstm.request, lstm.machine, least - 1).ok());
}

TEST(Within, ACellWithoutPartsSaysWhy) {
  const Asked zoneout("zoneout", "h200", {1, 512, 1, 64});
  const Result<FittingWays> none = ways_within(zoneout.request, zoneout.machine, 1000);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().message.find("every="), std::string::npos) << none.error().message;
  EXPECT_NE(none.error().hint.find("draws random numbers"), std::string::npos) << none.error().hint;
}

#ifdef RONDO_BUILT_LLVM

// By kernels of this machine: the plans need what was told, and gradients are those of one piece.
TEST(Within, PlansNeedNoMore) {
  if (rondo::testing::waits_for_its_turn()) GTEST_SKIP() << rondo::testing::kAnotherTurn;
  constexpr std::int64_t kTime = 300;
  Asked asked("lnlstm", "cpu", {2, kTime, 1, 32}, kernel::Storage::F32);
  asked.machine = find_machine("cpu", nullptr).value();
  const std::int64_t most = (asked.bytes(32) + asked.bytes(64)) / 2;
  const SavingWay way = asked.best(most);
  ASSERT_EQ(way.every, 32);
  asked.request.outline = false;
  const Result<TrainingAnswer> made = answer_training_within(asked.request, asked.machine, most);
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(made->parts.every, way.every);
  const schedule::Task task{asked.cell, asked.request.problem, asked.machine.profile};
  const HostProblem data = random_problem(task, task.problem.sizes, {}).value();
  const rondo::testing::GuardedDevice guarded(rondo::testing::Guard::Behind);
  std::vector<TrainingRun> runs;
  for (const std::int64_t every : {kTime, way.every}) {
    Result<TrainingRun> run = train_on_device(task, data.forward, data.loss, guarded, made->plans(), every);
    ASSERT_TRUE(run.ok()) << run.error().message;
    runs.push_back(std::move(run).value());
  }
  EXPECT_LE(runs[1].memory->saved_bytes + runs[1].memory->workspace_bytes, most);
  EXPECT_GT(runs[0].memory->saved_bytes + runs[0].memory->workspace_bytes, most);
  EXPECT_EQ(runs[1].forward.outputs, runs[0].forward.outputs);
  EXPECT_EQ(runs[1].gradients.inputs, runs[0].gradients.inputs);
}

#endif

}  // namespace
}  // namespace rondo::engine
