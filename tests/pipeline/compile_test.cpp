// The passes that compilations of shipped cells come to: each prints something, and its verifier accepts it.
#include <gtest/gtest.h>

#include <set>

#include "compiler/backend/backends.h"
#include "compiler/pipeline/record.h"
#include "compiler/schedule/strategies.h"
#include "engine/emit/emit_stages.h"
#include "engine/plan/compile.h"
#include "engine/plan/ready_plan.h"
#include "engine/request/cell_library.h"
#include "engine/request/load_cell.h"
#include "tests/backend/golden_text.h"
#include "tests/pipeline/verifying.h"
#include "tests/support/turns.h"
#include "tests/target/board.h"

namespace rondo::pipeline {
namespace {

// Remembers what came, in which order, and that whoever has a verifier in the list brought one.
class Reached final : public PassWatcher {
 public:
  bool verifies() const override { return true; }
  void begins(Pass) override {}
  void ends(Pass pass, const Made& made) override {
    EXPECT_EQ(static_cast<bool>(made.verify), *info(pass).verifier != '\0') << info(pass).text;
    ASSERT_TRUE(made.print) << info(pass).text;
    EXPECT_FALSE(made.print().empty()) << info(pass).text;
    if (passes.insert(pass).second) order.push_back(pass);
  }
  void verified(Pass pass) override { checked.insert(pass); }

  std::set<Pass> passes, checked;
  std::vector<Pass> order;  // by when they first ended
};

schedule::Problem small_problem(schedule::Pass pass, std::int64_t time = 64,
                                kernel::Storage storage = kernel::Storage::BF16) {
  schedule::Problem problem;
  problem.sizes = {4, time, 1, 64};
  problem.storage = storage;
  problem.math = schedule::default_math(problem.storage);
  problem.pass = pass;
  return problem;
}

struct Case {
  const char* cell;
  schedule::Pass pass;
  const char* strategy;
  schedule::Parameters parameters;
  Stage stage;
  const char* arch = "h200";
  std::int64_t time = 64;
  kernel::Storage storage = kernel::Storage::BF16;
};

// The stage as text, with everything that made it watched.
std::string emitted(const Case& wanted, PassWatcher& watcher) {
  const auto file = engine::load_cell_file(wanted.cell, &watcher);
  EXPECT_TRUE(file.ok() && file->parsed.ok());
  const auto cell = engine::changed_cell(file->parsed.cells.front(), {}, {}, &watcher);
  const target::Profile profile =
      std::string(wanted.arch) == "cpu" ? target::host_profile() : target::find_profile(wanted.arch).value();
  engine::EmitRequest request{
      &*file,
      {*cell, small_problem(wanted.pass, wanted.time, wanted.storage), profile, &watcher},
      {wanted.strategy, wanted.parameters},
      {}};
  const auto text = engine::emit_stage(wanted.stage, request);
  EXPECT_TRUE(text.ok()) << wanted.cell << ": " << (text.ok() ? "" : text.error().message);
  return text.ok() ? *text : "";
}

constexpr schedule::Pass kForward = schedule::Pass::Forward, kBackward = schedule::Pass::Backward;

std::vector<Case> cases() {
  std::vector<Case> result = {
      {"mingru", kForward, "stream", {{"rewrite", 2}}, Stage::Cuda},
      {"mingru", kBackward, "stream", {{"segments", 4}}, Stage::Launches},
      {"paralstm", kForward, "shoot", {{"newton", 1}}, Stage::Cuda, "h200", 1024},
      {"lstm", kForward, "persistent", {}, Stage::Cuda},
      {"lstm", kBackward, "persistent", {}, Stage::Kernel},
      {"lnlstm", kForward, "persistent", {}, Stage::Llvm},
      {"mingru", kForward, "stream", {}, Stage::Cuda, "t4"},
      {"lstm", kBackward, "", {}, Stage::Backward},
      {"mingru", kForward, "", {}, Stage::Jacobian},
      {"mingru", kForward, "", {}, Stage::Step},
      {"mingru", kForward, "", {}, Stage::Graph},
      {"mingru", kForward, "", {}, Stage::Ast},
      {"mingru", kForward, "host", {}, Stage::Llvm, "cpu", 64, kernel::Storage::F64},
      {"gated_deltanet", kBackward, "stream", {{"row_lanes", 8}}, Stage::Cuda},
  };
#ifdef RONDO_BUILT_LLVM
  result.push_back({"mingru", kForward, "stream", {}, Stage::Ptx});
  result.push_back({"mingru", kForward, "host", {}, Stage::Object, "cpu"});
#endif
  return result;
}

// A stage shows what the pass made that the list names, and levels come one after the other.
void check_way(const StageInfo& stage, const Reached& way) {
  EXPECT_TRUE(way.passes.count(stage.last)) << stage.text;
  for (std::size_t i = 1; i < way.order.size(); ++i)
    EXPECT_LE(info(way.order[i - 1]).level, info(way.order[i]).level)
        << info(way.order[i - 1]).text << " before " << info(way.order[i]).text;
}

TEST(Pipeline, EveryPassAndStageOfTheListIsReached) {
  std::set<Pass> reached, checked;
  std::set<Stage> stages;
  for (const Case& wanted : cases()) {
    Reached watcher;
    emitted(wanted, watcher);
    check_way(kStages[static_cast<std::size_t>(wanted.stage)], watcher);
    reached.insert(watcher.passes.begin(), watcher.passes.end());
    checked.insert(watcher.checked.begin(), watcher.checked.end());
    stages.insert(wanted.stage);
  }
#ifndef RONDO_BUILT_LLVM
  reached.insert({Pass::Assemble, Pass::Compile});
  stages.insert({Stage::Ptx, Stage::Object});
#endif
  EXPECT_EQ(stages.size(), std::size(kStages));
  for (const PassInfo& row : kPasses) {
    EXPECT_TRUE(reached.count(row.value)) << row.text << ": no compilation comes to it";
    EXPECT_EQ(checked.count(row.value), *row.verifier != '\0' ? 1u : 0u) << row.text;
  }
}

// Every shipped cell with every strategy that computes it.
TEST(Pipeline, VerifiersAcceptWhatPassesMake) {
  int turn = 0, built = 0;
  for (const engine::EmbeddedCell& shipped : engine::embedded_cells())
    for (const schedule::Pass pass : {kForward, kBackward})
      for (const schedule::Strategy* strategy : schedule::strategies()) {
        if (!rondo::testing::has_turn(++turn, 4)) continue;
        const auto file = engine::load_cell_file(shipped.name);
        const target::Profile profile = strategy->name() == "host" ? target::host_profile() : target::board();
        const schedule::Task quiet{file->parsed.cells.front(), small_problem(pass), profile};
        if (!strategy->legal(quiet).legal) continue;
        const auto choice = engine::choose_with(quiet, {strategy->name(), {}}, {});
        if (!choice) continue;  // no room on this board
        testing::Verifying verifying;
        const schedule::Task task{quiet.written, quiet.problem, quiet.profile, &verifying};
        const auto plan = engine::build_choice(task, *choice);
        EXPECT_TRUE(plan.ok()) << shipped.name << ": " << (plan.ok() ? "" : plan.error().message);
        ++built;
      }
  EXPECT_GT(built, 10);
}

// Kernels are the same whether somebody watches or not.
TEST(Pipeline, WatchingChangesNothing) {
  for (const Case& wanted : {cases()[0], cases()[3]}) {
    Reached watcher;
    const std::string text = emitted(wanted, watcher);
    engine::EmitRequest request;
    const auto file = engine::load_cell_file(wanted.cell);
    request.file = &*file;
    request.task = {file->parsed.cells.front(), small_problem(wanted.pass),
                    target::find_profile(wanted.arch).value()};
    request.overrides = {wanted.strategy, wanted.parameters};
    EXPECT_EQ(engine::emit_stage(wanted.stage, request).value(), text);
  }
}

// People read this one: what each pass makes of minGRU on its way to kernels of segments.
TEST(Pipeline, MinGruAfterEachPassOverItsStep) {
  std::vector<Pass> steps;
  for (const PassInfo& row : kPasses)
    if (row.level == Level::Step) steps.push_back(row.value);
  PassRecord record(steps);
  emitted({"mingru", kBackward, "stream", {{"segments", 4}, {"rewrite", 0}}, Stage::Cuda}, record);
  backend::compare_golden("pipeline/mingru.txt", print_texts(record.texts().value()));
}

}  // namespace
}  // namespace rondo::pipeline
