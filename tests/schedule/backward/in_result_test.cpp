// Products that are multiplied again, in the memory of the gradients that become of them: where they lie
// there, that nothing changes but the workspace, and that the simulator tells where they must not.
#include "compiler/schedule/backward/in_result.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/executable/launcher.h"
#include "compiler/schedule/plan/lower_plan.h"
#include "compiler/schedule/plan/tensor_layout.h"
#include "compiler/step/forms.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/comparison.h"
#include "tests/schedule/over_head_cells.h"
#include "tests/schedule/persistent/dense_points.h"

namespace rondo::schedule {
namespace {

using executable::Executable;

struct BackwardPlan {
  const Strategy* strategy;
  Task task;
  KernelPlan plan;

  BackwardPlan(const char* name, const step::Cell& cell, const step::Sizes& sizes, bool save_products = false)
      : strategy(find_strategy(name)), task(task_of(*strategy, cell, sizes, save_products)) {
    const std::string of(name);
    const Parameters point = of == "alternating"  ? alternating_point(task.problem, 1)
                             : of == "persistent" ? persistent_point(task.problem, 1, 0, 1, false)
                                                  : host_point();
    plan = point_plan(*strategy, cell, task.problem, point, task.profile);
  }

  static Parameters host_point() {
    return {{"lanes", 16}, {"vectors", 2}, {"rows", 2}, {"together", 2}, {"tile", 2}};
  }
  static Task task_of(const Strategy& strategy, const step::Cell& cell, const step::Sizes& sizes,
                      bool save_products) {
    Case c{&strategy, cell, {}, {}, {}, false};
    c.problem.sizes = sizes;
    c.problem.pass = Pass::Backward;
    c.problem.save_products = save_products;
    return c.task();
  }

  Executable lowered() const { return lower_plan(task, plan).value(); }

  // Small numbers for all that the pass is given.
  TensorValues given() const {
    TensorValues values;
    std::mt19937 rng(11);
    for (const executable::Tensor& tensor : lowered().tensors) {
      if (is_internal(tensor.ref.role) || tensor.written) continue;
      values[tensor.ref] =
          draw(rng, total_elements(tensor.ref, task.cell, task.problem.sizes), 0.5, task.problem.storage);
      for (double& value : values[tensor.ref])
        if (tensor.ref.role == Role::Lengths || tensor.ref.role == Role::Resets)
          value = value > 0.2 ? static_cast<double>(task.problem.sizes.time) : value > 0 ? 1 : 0;
    }
    return values;
  }
};

// The name of the gradient in which the products lie; "" where they have a region of the workspace.
std::string place_of_products(const Executable& executable) {
  for (const executable::Tensor& tensor : executable.tensors)
    if (tensor.ref == TensorRef{Role::Scratch, kProducts} && tensor.lies_in >= 0)
      return executable.tensors[static_cast<std::size_t>(tensor.lies_in)].name;
  return "";
}

std::int64_t workspace_bytes(const Executable& executable, const step::Sizes& sizes) {
  return executable::Launcher::make(executable)->workspace_bytes(sizes.batch, sizes.time);
}

step::Cell with(const char* name, const step::Forms& forms) {
  return step::with_forms(cell_named(name), forms).value();
}

constexpr const char* kWithProducts[] = {"persistent", "alternating", "host"};

TEST(InResult, ProductsLieInTheGradientOfTheirInput) {
  for (const char* strategy : kWithProducts)
    for (const char* cell :
         {"lstm", "gru", "elman", "mgu", "slstm", "peephole", "alif", "janet", "blockgru"}) {
      const BackwardPlan of(strategy, cell_named(cell), {3, 5, 2, 32});
      EXPECT_EQ(place_of_products(of.lowered()), "grad_x") << strategy << " " << cell;
    }
}

// What the workspace had for them and has no more, to the byte: of an LSTM 4 rows of each step.
TEST(InResult, TheWorkspaceIsSmallerByTheProducts) {
  for (const char* strategy : kWithProducts) {
    const step::Sizes sizes{16, 24, 2, 32};
    const BackwardPlan of(strategy, cell_named("lstm"), sizes);
    Executable executable = of.lowered();
    const std::int64_t with_result = workspace_bytes(executable, sizes);
    for (executable::Tensor& tensor : executable.tensors) tensor.lies_in = -1;
    EXPECT_EQ(workspace_bytes(executable, sizes) - with_result, 2 * 16 * 24 * 2 * 4 * 32) << strategy;
  }
}

// Heads whose rows lie elsewhere than the gradients' rows would be overwritten by other heads; with a single
// head each row still lies where its gradient will.
TEST(InResult, FewerRowsNeedASingleHead) {
  const step::Cell cell = cells_of_text(R"(
cell gated(D) {
  input x[2, D]
  param R[D, D]
  state h[D]
  next h = tanh(x[0] + R @ h) * sigmoid(x[1])
  output h
}
)")[0];
  for (const char* strategy : kWithProducts) {
    EXPECT_EQ(place_of_products(BackwardPlan(strategy, cell, {3, 5, 1, 32}).lowered()), "grad_x") << strategy;
    EXPECT_EQ(place_of_products(BackwardPlan(strategy, cell, {3, 5, 2, 32}).lowered()), "") << strategy;
  }
}

// More products than the input has rows; heads that walk in two directions; products that were saved.
TEST(InResult, OthersKeepARegionOfTheirOwn) {
  const step::Cell two = cells_of_text(R"(
cell twice(D) {
  input x[D]
  param R[D, D], S[D, D]
  state h[D]
  next h = tanh(x + R @ h) * sigmoid(S @ h)
  output h
}
)")[0];
  for (const char* strategy : kWithProducts) {
    EXPECT_EQ(place_of_products(BackwardPlan(strategy, two, {3, 5, 1, 32}).lowered()), "") << strategy;
    const BackwardPlan both_ways(strategy, with("lstm", {.directions = true}), {3, 5, 2, 32});
    EXPECT_EQ(place_of_products(both_ways.lowered()), "") << strategy;
    const BackwardPlan saved(strategy, cell_named("lstm"), {3, 5, 1, 32}, true);
    EXPECT_EQ(place_of_products(saved.lowered()), "") << strategy;
  }
}

// Who does not want the gradient need not bind it, and then there is no memory to lie in.
TEST(InResult, AGradientThatMayBeLeftOutHoldsNothing) {
  const BackwardPlan of("persistent", cell_named("lnlstm"), {3, 5, 1, 32});
  ASSERT_TRUE(of.plan.in_result.has_value());
  const Executable executable = of.lowered();
  const auto gradient = std::ranges::find_if(
      executable.tensors, [](const auto& tensor) { return tensor.ref.role == Role::InputGradient; });
  ASSERT_EQ(gradient->need, executable::Need::Discard);
  EXPECT_EQ(place_of_products(executable), "");
}

// In any layout, with rows of any length, forward and reversed, all results are the same to the bit.
TEST(InResult, ResultsAreTheSame) {
  int seen = 0;
  for (const char* strategy : kWithProducts)
    for (const char* cell : {"lstm", "gru", "mgu"})
      for (const step::Forms& forms :
           {step::Forms{}, {.reversed = true}, {.resets = true, .lengths = true, .reversed = true}})
        for (const int pad : {0, 24}) {
          BackwardPlan of(strategy, with(cell, forms), {3, 5, 2, 24});
          const TensorValues given = of.given();
          const SimulatedRun shared = simulate_plan(of.task, of.plan, given, pad);
          ASSERT_EQ(place_of_products(of.lowered()), "grad_x");
          of.plan.in_result.reset();
          const SimulatedRun apart = simulate_plan(of.task, of.plan, given, pad);
          EXPECT_EQ(shared.faults, std::vector<std::string>{}) << strategy << " " << cell << " pad " << pad;
          EXPECT_EQ(shared.unwritten, std::vector<std::string>{}) << strategy << " " << cell;
          EXPECT_EQ(shared.written, apart.written) << strategy << " " << cell << " pad " << pad;
          ++seen;
        }
  EXPECT_EQ(seen, 3 * 3 * 3 * 2);
}

bool finds_a_product_overwritten(const SimulatedRun& run) {
  return std::ranges::any_of(run.faults, [](const std::string& fault) {
    return fault.find("where another tensor was written in its place") != std::string::npos;
  });
}

// A sweep that ran twice would take gradients for products.
TEST(InResult, AReadBehindTheSweepIsFound) {
  for (const char* strategy : {"persistent", "host"}) {
    BackwardPlan of(strategy, cell_named("lstm"), {2, 3, 1, 16});
    ASSERT_EQ(simulate_plan(of.task, of.plan, of.given()).faults, std::vector<std::string>{});
    const auto sweep = std::ranges::find_if(of.plan.launches, [](const Launch& launch) {
      return std::ranges::any_of(launch.arguments, [](const LaunchArgument& argument) {
        const auto* pointer = std::get_if<Pointer>(&argument);
        return pointer != nullptr && pointer->tensor.role == Role::InputGradient;
      });
    });
    ASSERT_NE(sweep, of.plan.launches.end());
    const std::vector<Launch> launches(sweep, of.plan.launches.end());
    for (const Launch& launch : launches) {
      of.plan.launches.push_back(launch);
      of.plan.launches.back().kernel.name += "_again";
    }
    EXPECT_TRUE(finds_a_product_overwritten(simulate_plan(of.task, of.plan, of.given()))) << strategy;
  }
}

// The second product is read when the gradient in its place is there: the first stage of a backward step
// makes that of it, and the second stage reads it once more, for the gate's gradient.
step::Cell cell_of_two_stages() {
  return cells_of_text(R"(
cell staged(D) {
  input x[2, D]
  param R[2, D, D]
  state h[D]
  f = sigmoid(x[0] + R[0] @ h)
  p = R[1] @ (f * h)
  next h = f * (p + tanh(p + x[1]))
  output h
}
)")[0];
}

TEST(InResult, LaunchesOfAStepThatReadALateProductKeepItApart) {
  for (const char* strategy : {"alternating", "host"}) {
    BackwardPlan of(strategy, cell_of_two_stages(), {2, 3, 1, 16});
    EXPECT_FALSE(of.plan.in_result.has_value()) << strategy;
    EXPECT_EQ(simulate_plan(of.task, of.plan, of.given()).faults, std::vector<std::string>{}) << strategy;
    of.plan.in_result = InResult{{Role::Scratch, kProducts}, {Role::InputGradient, 0}};
    ASSERT_EQ(place_of_products(of.lowered()), "grad_x");
    EXPECT_TRUE(finds_a_product_overwritten(simulate_plan(of.task, of.plan, of.given()))) << strategy;
  }
}

// A persistent sweep has all rows of a step on the chip before it writes the first.
TEST(InResult, APersistentSweepReadsAStepAsAWhole) {
  const BackwardPlan of("persistent", cell_of_two_stages(), {2, 3, 1, 16});
  EXPECT_EQ(place_of_products(of.lowered()), "grad_x");
  EXPECT_EQ(simulate_plan(of.task, of.plan, of.given()).faults, std::vector<std::string>{});
}

// A gradient that does not follow from the product in its place might be written before that is read: threads
// that have both load the product where they please.
TEST(InResult, ThreadsOfAStepWriteWhatFollowsFromTheProduct) {
  const std::vector<step::Cell> cells = cells_of_text(R"(
cell straight(D) {
  input x[2, D]
  param R[2, D, D]
  state h[D]
  next h = tanh(x[0] + R[0] @ h) + tanh(x[1] + R[1] @ h)
  output h
}
cell crossed(D) {
  input x[2, D]
  param R[2, D, D]
  state h[D]
  next h = tanh(x[1] + R[0] @ h) + tanh(x[0] + R[1] @ h)
  output h
}
)");
  const auto place = [](const char* strategy, const step::Cell& cell) {
    return place_of_products(BackwardPlan(strategy, cell, {2, 3, 1, 16}).lowered());
  };
  for (const char* strategy : {"alternating", "host"}) {
    EXPECT_EQ(place(strategy, cells[0]), "grad_x") << strategy;
    EXPECT_EQ(place(strategy, cells[1]), "") << strategy;
  }
  EXPECT_EQ(place("persistent", cells[1]), "grad_x");
}

}  // namespace
}  // namespace rondo::schedule
