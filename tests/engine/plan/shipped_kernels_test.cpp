// Kernels that Rondo chooses by itself for a shipped cell compile without a register spilled and within what
// a block of the GPU may use. (Of those whose warps lend registers ptxas keeps two in memory from sm_100 on;
// the test says which.) Each is compiled for one of nine architectures that have a profile, in turns, so that
// each gets a ninth of them, and sm_75 those of sm_80. RONDO_ALL_ARCHITECTURES=1 in the environment compiles
// all of them for all ten, and RONDO_ALL_ARCHITECTURES=sm_100,sm_121 for these two.
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

constexpr const char* kArchitectures[] = {"sm_80",  "sm_86",  "sm_89",  "sm_90",  "sm_100",
                                          "sm_103", "sm_110", "sm_120", "sm_121", "sm_75"};

constexpr step::Sizes kManyChannels{.batch = 8, .time = 4096, .heads = 1, .dim = 1536};
constexpr step::Sizes kLargeHead{.batch = 16, .time = 1024, .heads = 1, .dim = 2048};
constexpr step::Sizes kFewChannels{.batch = 1, .time = 65536, .heads = 1, .dim = 1024};
constexpr step::Sizes kOddChannels{.batch = 1, .time = 200, .heads = 2, .dim = 33};
constexpr step::Sizes kHeads{.batch = 16, .time = 1024, .heads = 12, .dim = 64};

// A kernel is for every ninth architecture, and those of sm_80 for sm_75 too; of which a short run takes a
// fourth.
constexpr std::size_t kTurns = 9;

// What RONDO_ALL_ARCHITECTURES names: all kernels are compiled for these. "1" names all of them.
bool is_named(const std::string& arch) {
  const char* named = std::getenv("RONDO_ALL_ARCHITECTURES");
  if (named == nullptr) return false;
  return std::string(named) == "1" ||
         (',' + std::string(named) + ',').find(',' + arch + ',') != std::string::npos;
}

// Bytes of stack of kernels that are known to spill: what is estimated of registers was measured for sm_90.
// With another compiler some may be fewer; docs/gpus.md lists them.
const std::map<std::string, int> kKnownSpills = {
    {"lstm fp32 bw sm_121", 136},    {"peephole fp32 bw sm_121", 136}, {"zoneout fp32 bw sm_121", 136},
    {"blockgru fp16 bw sm_110", 48}, {"gru bf16 bw sm_110", 16},       {"gru fp16 bw sm_110", 16},
    {"lstm bf16 bw sm_110", 8},      {"peephole bf16 bw sm_110", 16},  {"rmslstm bf16 bw sm_110", 80},
    {"rmslstm fp16 bw sm_110", 72},  {"lnlstm fp32 fw sm_90", 8},      {"peephole fp16 fws sm_89", 16},
};

std::string short_name(const schedule::Problem& problem, const step::Cell& cell,
                       const target::Profile& profile) {
  return cell.name + ' ' + kernel::storage_name(problem.storage) + ' ' + schedule::pass_name(problem.pass) +
         ' ' + profile.arch();
}

// One translation unit, and everything that chose it.
struct Unit {
  CompiledPlan plan;
  target::Limits limits;
  std::string what;
  bool lends = false;  // its computing warps get registers of others (setmaxnreg)

  std::string named;  // "lstm fp32 bw sm_121"; of no heads side by side "indrnn bf16 fws sm_90 shoot"

  // Bytes of stack that a kernel of it may have. With lent registers ptxas 13.0 keeps two of them in memory
  // for sm_100 and later, of PTX by NVRTC, before the roles of the warps begin: docs/gpus.md.
  int most_stack() const {
    const int of_lending = lends && plan.task->profile.target.major() >= 10 ? 8 : 0;
    const auto known = kKnownSpills.find(named);
    return (known == kKnownSpills.end() ? of_lending : known->second) + stack_of_functions();
  }

  // CUDA's sinf and cosf reduce an argument beyond 105,615 by 28 bytes of a table each, which they put on the
  // stack. These are no registers.
  int stack_of_functions() const {
    constexpr int kTable = 28;
    const auto has = [&](scalar::Op op) {
      return std::ranges::any_of(plan.task->cell.graph.nodes, [&](const step::Node& node) {
        return node.kind == step::NodeKind::Scalar && node.op == op;
      });
    };
    const bool sine = has(scalar::Op::Sin), cosine = has(scalar::Op::Cos);
    const bool both = (sine || cosine) && plan.task->problem.pass == schedule::Pass::Backward;
    return kTable * (both ? 2 : int{sine} + int{cosine});
  }
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
    if (std::getenv("RONDO_ALL_ARCHITECTURES") != nullptr) return is_named(profile.arch());
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
      units_.push_back(
          {std::move(plan), profile.limits, what + ", " + schedule::print(choice->parameters),
           choice->parameters.contains("setmaxnreg") && choice->parameters.at("setmaxnreg") == 1,
           short_name(problem, cell, profile) + (sizes.heads == kHeads.heads ? "" : ' ' + choice->strategy)});
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

  // Cells with matrices in heads that a chip holds, in all types and passes, for a board of each
  // architecture.
  void choose_heads() {
    std::set<std::string> archs;
    for (const target::Profile& profile : target::shipped_profiles()) {
      if (!archs.insert(profile.arch()).second) continue;
      for (const step::Cell& cell : cells_)
        for (const Storage storage : {Storage::BF16, Storage::F16, Storage::F32})
          for (const Pass pass : {Pass::Forward, Pass::ForwardSave, Pass::Backward})
            if (step::analyze(cell).has_matrix) {
              ASSERT_NO_FATAL_FAILURE(choose_one(cell, kHeads, storage, pass, profile, ""));
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

  // Says what is to be compiled; sources by architecture.
  std::map<std::string, std::size_t> tell() const {
    std::map<std::string, std::size_t> by_arch;
    for (const Unit& unit : units_) ++by_arch[unit.plan.task->profile.arch()];
    std::printf("%zu choices, %zu different sources to compile:", chosen_, units_.size());
    for (const auto& [arch, count] : by_arch) std::printf(" %s %zu", arch.c_str(), count);
    std::printf("\n");
    return by_arch;
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
    if (!spilled_.empty()) std::printf("%zu keep registers in memory:\n", spilled_.size());
    for (const std::string& line : spilled_) std::printf("  %s\n", line.c_str());
  }

  void check(Unit& unit, backend::Compiled code) {
    SCOPED_TRACE(unit.what + " for " + unit.plan.task->profile.arch());
    EXPECT_EQ(code.image.resources.size(), unit.plan.plan.launches.size());
    for (const KernelResources& kernel : code.image.resources) {
      EXPECT_LE(kernel.stack_bytes, unit.most_stack())
          << kernel.name << ": spilled registers live in local memory";
      EXPECT_TRUE(unit.stack_of_functions() == 0 ||
                  kernel.spill_store_bytes <= unit.most_stack() - unit.stack_of_functions())
          << kernel.name << ": " << kernel.spill_store_bytes << " bytes of registers are stored";
      if (kernel.stack_bytes > 0)
        spilled_.push_back(unit.what + " for " + unit.plan.task->profile.arch() + ": " + kernel.name + ", " +
                           std::to_string(kernel.stack_bytes) + " bytes");
    }
    const Status attached = attach_code(unit.plan, std::move(code));
    ASSERT_TRUE(attached.ok()) << attached.error().message;
    if (unit.most_stack() == 0) {
      EXPECT_EQ(unit.plan.spill_bytes(), 0) << "by the compiler's own report";
    }
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
  std::vector<std::string> spilled_;
};

TEST_F(ShippedKernels, CompileWithoutSpills) {
  ASSERT_NO_FATAL_FAILURE(choose_all());
  for (const char* name :
       {"affine", "hgrn", "indrnn", "mingru", "minlstm", "paragru", "paralstm", "rglru", "sru"})
    EXPECT_EQ(served_.count(name), 1u) << name;
  std::map<std::string, std::size_t> by_arch = tell();
  for (const char* arch : kArchitectures)
    if (is_named(arch) || std::getenv("RONDO_ALL_ARCHITECTURES") == nullptr) {
      EXPECT_GT(by_arch[arch], 0u) << arch;
    }
  compile_all();
}

TEST_F(ShippedKernels, HeadsCompile) {
  ASSERT_NO_FATAL_FAILURE(choose_heads());
  tell();
  compile_all();
}

TEST_F(ShippedKernels, LargeHeadsCompileWithoutSpills) {
  ASSERT_NO_FATAL_FAILURE(choose_alternating());
  compile_all();
}

}  // namespace
}  // namespace rondo::engine
