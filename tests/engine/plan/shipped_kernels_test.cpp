// Kernels that Rondo chooses by itself for a shipped cell compile without a register spilled and within what
// a block of the GPU may use. Each is compiled for one of the six architectures that have a profile, in
// turns, so that each architecture gets a sixth of them; with RONDO_ALL_ARCHITECTURES=1 in the environment,
// for all six.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <thread>

#include "compiler/schedule/strategies.h"
#include "compiler/step/structure.h"
#include "engine/choice/choose.h"
#include "engine/emit/emit_stages.h"
#include "engine/plan/compile.h"
#include "engine/plan/ready_plan.h"
#include "engine/worker/compile_worker.h"
#include "tests/engine/plan/cells.h"
#include "tests/support/turns.h"

namespace rondo::engine {
namespace {

using kernel::Storage;
using schedule::Pass;

constexpr const char* kArchitectures[] = {"sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"};

constexpr step::Sizes kManyChannels{.batch = 8, .time = 4096, .heads = 1, .dim = 1536};
constexpr step::Sizes kLargeHead{.batch = 16, .time = 1024, .heads = 1, .dim = 2048};
constexpr step::Sizes kFewChannels{.batch = 1, .time = 65536, .heads = 1, .dim = 1024};
constexpr step::Sizes kOddChannels{.batch = 1, .time = 200, .heads = 2, .dim = 33};

constexpr std::size_t kTurns =
    6;  // a kernel is for every sixth architecture; of which a short run takes a fourth

// One translation unit, and everything that chose it.
struct Unit {
  CompiledPlan plan;
  target::Limits limits;
  std::string what;
};

class ShippedKernels : public ::testing::Test {
 protected:
  void SetUp() override {
    const Status available = backend::preferred_backend().available();
    if (!available) FAIL() << available.error().message << " (tools/setup installs it)";
    for (const EmbeddedCell& file : embedded_cells()) cells_.push_back(testing::library_cell(file.name));
  }

  // Whether the board's architecture has its turn at the kernels of a problem.
  bool has_turn(const std::string& problem, const target::Profile& profile) {
    if (std::getenv("RONDO_ALL_ARCHITECTURES") != nullptr) return true;
    const std::size_t number = numbers_.emplace(problem, numbers_.size()).first->second;
    const auto arch = std::find(std::begin(kArchitectures), std::end(kArchitectures), profile.arch());
    const auto place = static_cast<std::size_t>(arch - std::begin(kArchitectures)) + number;
    return place % kTurns == 0 && rondo::testing::has_turn(static_cast<int>(number / 2), 4);
  }

  // The kernels chosen for one problem on one board, by a strategy or, where it is empty, any; equal text is
  // compiled once an architecture.
  void choose_one(const step::Cell& cell, const step::Sizes& sizes, Storage storage, Pass pass,
                  const target::Profile& profile, const std::string& strategy = "stream") {
    schedule::Problem problem;
    problem.sizes = sizes;
    problem.storage = storage;
    problem.math = schedule::default_math(storage);
    problem.pass = pass;
    if (!strategy.empty() && !schedule::find_strategy(strategy)->legal({cell, problem, profile}).legal)
      return;
    const std::string named = cell.name + ' ' + kernel::storage_name(problem.storage) + ' ' +
                              schedule::pass_name(problem.pass) + " B" + std::to_string(problem.sizes.batch) +
                              ' ' + strategy;
    served_.insert(cell.name);
    if (!has_turn(named, profile)) return;
    const std::string what = named + " on " + profile.key;
    const Result<Choice> choice = choose_with({cell, problem, profile}, {strategy, {}});
    ASSERT_TRUE(choice.ok()) << what << ": " << choice.error().message;
    Result<schedule::KernelPlan> built = build_choice({cell, problem, profile}, *choice);
    ASSERT_TRUE(built.ok()) << what << ": " << built.error().message;
    CompiledPlan plan = uncompiled_plan(std::make_shared<const schedule::Task>(cell, problem, profile),
                                        std::move(*built), backend::preferred_backend(), "")
                            .value();
    ++chosen_;
    const auto [unit, is_new] = places_.emplace(std::pair(profile.arch(), plan.request.text), units_.size());
    if (is_new)
      units_.push_back({std::move(plan), profile.limits, what + ", " + schedule::print(choice->parameters)});
  }

  // All cells, types and passes with many channels, for a board of each architecture; bf16 for every board;
  // and bf16 with few channels, where the model prefers long unrolled segments, and clusters, by stream and
  // by shoot; and, of cells without matrices, what is chosen for a few odd ones.
  void choose_all() {
    std::set<std::string> archs;
    for (const target::Profile& profile : target::shipped_profiles()) {
      const bool first_of_arch = archs.insert(profile.arch()).second;
      for (const step::Cell& cell : cells_) {
        for (const Storage storage : {Storage::BF16, Storage::F16, Storage::F32}) {
          if (!first_of_arch && storage != Storage::BF16) continue;
          for (const Pass pass : {Pass::Forward, Pass::ForwardSave, Pass::Backward})
            ASSERT_NO_FATAL_FAILURE(choose_one(cell, kManyChannels, storage, pass, profile));
        }
        if (!first_of_arch) continue;
        for (const Pass pass : {Pass::ForwardSave, Pass::Backward}) {
          for (const char* strategy : {"stream", "shoot"})
            ASSERT_NO_FATAL_FAILURE(choose_one(cell, kFewChannels, Storage::BF16, pass, profile, strategy));
          if (!step::analyze(cell).has_matrix) {
            ASSERT_NO_FATAL_FAILURE(choose_one(cell, kOddChannels, Storage::BF16, pass, profile, ""));
          }
        }
      }
    }
  }

  // Heads that no chip holds: one cell in all types and both directions; of the others, one that has several
  // levels of products and one with many states, in bf16.
  void choose_alternating() {
    std::set<std::string> archs;
    for (const target::Profile& profile : target::shipped_profiles()) {
      if (!archs.insert(profile.arch()).second) continue;
      const auto choose = [&](const char* cell, Storage storage, Pass pass) {
        choose_one(testing::library_cell(cell), kLargeHead, storage, pass, profile, "alternating");
      };
      for (const Storage storage : {Storage::BF16, Storage::F16, Storage::F32})
        for (const Pass pass : {Pass::ForwardSave, Pass::Backward})
          ASSERT_NO_FATAL_FAILURE(choose("lstm", storage, pass));
      for (const char* cell : {"mgu", "slstm"})
        ASSERT_NO_FATAL_FAILURE(choose(cell, Storage::BF16, Pass::Backward));
    }
  }

  void compile_all() {
    CompilePool pool(static_cast<int>(std::max(1U, std::thread::hardware_concurrency())),
                     std::chrono::minutes(2));
    for (std::size_t i = 0; i < units_.size(); ++i) pool.submit({i, units_[i].plan.request});
    std::size_t compiled = 0;
    while (auto outcome = pool.next(std::chrono::minutes(3))) {
      Unit& unit = units_[outcome->id];
      ASSERT_EQ(outcome->end, CompileEnd::Compiled) << unit.what << ": " << outcome->result.error().message;
      check(unit, std::move(*outcome->result));
      ++compiled;
    }
    EXPECT_EQ(compiled, units_.size());
  }

  void check(Unit& unit, backend::Compiled code) const {
    SCOPED_TRACE(unit.what + " for " + unit.plan.task->profile.arch());
    EXPECT_EQ(code.image.resources.size(), unit.plan.plan.launches.size());
    for (const KernelResources& kernel : code.image.resources)
      EXPECT_EQ(kernel.stack_bytes, 0) << kernel.name << ": spilled registers live in local memory";
    const Status attached = attach_code(unit.plan, std::move(code));
    ASSERT_TRUE(attached.ok()) << attached.error().message;
    EXPECT_EQ(unit.plan.spill_bytes(), 0) << "by the compiler's own report";
    for (std::size_t i = 0; i < unit.plan.resources().size(); ++i) {
      const KernelResources& used = unit.plan.resources()[i];
      const int warps = (unit.plan.plan.launches[i].kernel.threads + 31) / 32;
      EXPECT_LE(used.registers * warps * 32, unit.limits.registers_per_sm) << used.name << ": does not start";
      EXPECT_LE(used.shared_bytes, unit.limits.shared_per_block) << used.name << ": does not start";
    }
  }

  std::vector<step::Cell> cells_;
  std::set<std::string> served_;
  std::map<std::string, std::size_t> numbers_;  // of problems
  std::vector<Unit> units_;
  std::map<std::pair<std::string, std::string>, std::size_t> places_;  // (architecture, source) -> unit
  std::size_t chosen_ = 0;
};

TEST_F(ShippedKernels, CompileWithoutSpills) {
  ASSERT_NO_FATAL_FAILURE(choose_all());
  for (const char* name :
       {"affine", "hgrn", "indrnn", "mingru", "minlstm", "paragru", "paralstm", "rglru", "sru"})
    EXPECT_EQ(served_.count(name), 1u) << name;
  std::map<std::string, std::size_t> by_arch;
  for (const Unit& unit : units_) ++by_arch[unit.plan.task->profile.arch()];
  for (const char* arch : kArchitectures) EXPECT_GT(by_arch[arch], 0u) << arch;
  std::printf("%zu choices, %zu different sources to compile:", chosen_, units_.size());
  for (const auto& [arch, count] : by_arch) std::printf(" %s %zu", arch.c_str(), count);
  std::printf("\n");
  compile_all();
}

TEST_F(ShippedKernels, LargeHeadsCompileWithoutSpills) {
  ASSERT_NO_FATAL_FAILURE(choose_alternating());
  compile_all();
}

}  // namespace
}  // namespace rondo::engine
