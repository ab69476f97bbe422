// What Strategy::build says of points that it cannot make: always a value, never an exception.
#include "compiler/schedule/plan/strategy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "compiler/schedule/strategies.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/first_point.h"
#include "tests/target/board.h"

namespace rondo::schedule {
namespace {

bool says(const Error& error, const std::string& part) {
  return error.message.find(part) != std::string::npos;
}

Problem small_problem(Pass pass) {
  Problem problem;
  problem.sizes = {4, 64, 1, 64};
  problem.storage = kernel::Storage::BF16;
  problem.math = default_math(problem.storage);
  problem.pass = pass;
  return problem;
}

struct Built {
  std::string strategy, cell;
};

TEST(StrategyBuild, EveryFaultOfAPointIsAnErrorThatSaysWhy) {
  for (const auto& [name, cell_name] :
       {Built{"stream", "mingru"}, Built{"persistent", "lstm"}, Built{"alternating", "lstm"}})
    for (const Pass pass : {Pass::Forward, Pass::Backward}) {
      const Strategy& strategy = *find_strategy(name);
      const step::Cell cell = cell_named(cell_name);
      const Problem problem = small_problem(pass);
      const Parameters good = first_point(strategy, cell, problem);
      ASSERT_FALSE(good.empty());
      const auto built = strategy.build({cell, problem, target::board()}, good);
      ASSERT_TRUE(built.ok()) << built.error().message;
      for (const auto& [parameter, value] : good) {
        Parameters bad = good;
        bad[parameter] = -12345;
        const auto outside = strategy.build({cell, problem, target::board()}, bad);
        ASSERT_FALSE(outside.ok()) << parameter;
        EXPECT_EQ(outside.error().kind, ErrorKind::Input);
        EXPECT_TRUE(says(outside.error(), "'" + parameter + "' = -12345 is not allowed"))
            << outside.error().message;
        EXPECT_TRUE(says(outside.error(), "strategy " + name)) << outside.error().message;
        EXPECT_NE(outside.error().hint.find("choose from"), std::string::npos);
      }
      Parameters unknown = good;
      unknown["bogus"] = 1;
      EXPECT_TRUE(says(strategy.build({cell, problem, target::board()}, unknown).error(), "'bogus'"));
      Parameters missing = good;
      missing.erase(name == "stream" ? "channels" : "batch_tiles");
      EXPECT_TRUE(says(strategy.build({cell, problem, target::board()}, missing).error(), "no value for '"));
    }
}

// A rule over several parameters: its text and the numbers at the point.
TEST(StrategyBuild, ABrokenRuleIsPrintedWithItsNumbers) {
  const Strategy& strategy = *find_strategy("stream");
  const step::Cell cell = cell_named("mingru");
  const Problem problem = small_problem(Pass::Forward);
  const constraint::System space = strategy.space({cell, problem, target::board()});
  Parameters widest;
  for (std::size_t i = 0; i < space.domains().size(); ++i)
    widest[space.names().variables[i].name] = space.domains()[i].values().back();
  const auto built = strategy.build({cell, problem, target::board()}, widest);
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.error().kind, ErrorKind::Input);
  EXPECT_TRUE(says(built.error(), " does not hold")) << built.error().message;
  for (const auto& [parameter, value] : widest)
    EXPECT_TRUE(says(built.error(), parameter + " = " + std::to_string(value))) << built.error().message;
}

// Twice as many rows until an int overflowed, and then for ever, was how a batch of 2^34 rows ended.
TEST(StrategySpace, IsMadeForAnyBatch) {
  for (const char* name : {"persistent", "alternating"})
    for (const std::int64_t batch : {std::int64_t{1} << 34, std::int64_t{1} << 62}) {
      Problem problem = small_problem(Pass::Forward);
      problem.sizes.batch = batch;
      const constraint::System space =
          find_strategy(name)->space({cell_named("lstm"), problem, target::board()});
      EXPECT_FALSE(space.domains().empty()) << name;
    }
}

TEST(StrategyBuild, CellsAndGpusThatAreNotServed) {
  const step::Cell lstm = cell_named("lstm"), mingru = cell_named("mingru");
  const Problem problem = small_problem(Pass::Forward);
  const Parameters point = first_point(*find_strategy("stream"), mingru, problem);
  const auto dense = find_strategy("stream")->build({lstm, problem, target::board()}, point);
  ASSERT_FALSE(dense.ok());
  EXPECT_EQ(dense.error().kind, ErrorKind::Input);
  EXPECT_TRUE(says(dense.error(), "cannot compute cell lstm")) << dense.error().message;
  target::Profile old = target::board();
  old.target = target::Target::gpu(70);
  const auto served = find_strategy("stream")->build({mingru, problem, old}, point);
  ASSERT_FALSE(served.ok());
  EXPECT_EQ(served.error().kind, ErrorKind::Unsupported);
}

// Kernels would otherwise take the default of a constant that is misspelt.
TEST(StrategyBuild, AConstantThatTheCellHasNotIsRefused) {
  const step::Cell cell = cell_named("rglru");
  ASSERT_FALSE(cell.constants.empty());
  Problem problem = small_problem(Pass::Forward);
  const Strategy& strategy = *find_strategy("stream");
  const Parameters point = first_point(strategy, cell, problem);
  problem.constants = {{cell.constants.front().name, 7}};
  EXPECT_TRUE(strategy.build({cell, problem, target::board()}, point).ok());
  problem.constants["misspelt"] = 7;
  const auto built = strategy.build({cell, problem, target::board()}, point);
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.error().kind, ErrorKind::Input);
  EXPECT_TRUE(says(built.error(), "cell rglru has no constant 'misspelt'")) << built.error().message;
  EXPECT_NE(built.error().hint.find(cell.constants.front().name), std::string::npos) << built.error().hint;
  problem.constants = {{cell.constants.front().name, NAN}};
  EXPECT_FALSE(strategy.build({cell, problem, target::board()}, point).ok());
}

TEST(StrategyBuild, SizesThatKernelsCannotCountAreRefused) {
  const step::Cell cell = cell_named("lstm");
  const Strategy& strategy = *find_strategy("alternating");
  const Problem small = small_problem(Pass::Backward);
  const Parameters point = first_point(strategy, cell, small);
  const auto error = [&](step::Sizes sizes) {
    Problem problem = small;
    problem.sizes = sizes;
    const auto built = strategy.build({cell, problem, target::board()}, point);
    EXPECT_FALSE(built.ok());
    return built.ok() ? Error{} : built.error();
  };
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(error({4, 64, 0, 64}).message, "H is 0");
  EXPECT_EQ(error({4, -1, 1, 64}).message, "T is -1");
  // A matrix of 2^62 elements; products that wrap to something small.
  for (const step::Sizes sizes :
       {step::Sizes{1, 1, 1, 2147483647}, step::Sizes{1, 1, 2147483647, 64},
        step::Sizes{1, 1, 1, std::int64_t{1} << 32}, step::Sizes{1, 1, kMost, kMost}}) {
    EXPECT_EQ(error(sizes).kind, ErrorKind::Unsupported);
    EXPECT_TRUE(says(error(sizes), "elements a step")) << error(sizes).message;
  }
  for (const step::Sizes sizes :
       {step::Sizes{kMost, 1, 1, 64}, step::Sizes{std::int64_t{1} << 40, 1 << 30, 1, 64}}) {
    EXPECT_EQ(error(sizes).kind, ErrorKind::Unsupported);
    EXPECT_TRUE(says(error(sizes), "larger than any memory")) << error(sizes).message;
  }
}

class Defective final : public Strategy {
 public:
  std::string name() const override { return "defective"; }
  Legality serves(const target::Profile&) const override { return {}; }
  Legality legal(const Task&) const override { return {}; }
  constraint::System space(const Task&) const override { return {}; }
  CostModel cost_model(const Task&) const override {
    return [](const Parameters&) { return Estimate{}; };
  }
  int alignment(const Problem&, const Parameters&) const override { return 1; }
  KernelPlan build_kernels(const Task&, const Parameters&) const override {
    throw std::logic_error("a state row that is never advanced");
  }
};

TEST(StrategyBuild, ADefectIsAnErrorToo) {
  const step::Cell cell = cell_named("mingru");
  const auto built = Defective().build({cell, small_problem(Pass::Forward), target::board()}, {});
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.error().kind, ErrorKind::Internal);
  EXPECT_TRUE(says(built.error(), "a state row that is never advanced")) << built.error().message;
}

}  // namespace
}  // namespace rondo::schedule
