// What a state that the caller leaves out begins with.
#include <gtest/gtest.h>

#include "compiler/executable/launcher.h"
#include "compiler/schedule/plan/signature.h"
#include "tests/engine/plan/cells.h"
#include "tests/executable/recorder.h"
#include "tests/schedule/point_plan.h"

namespace rondo::executable {
namespace {

using schedule::Pass;
using testing::Recorder;

// A state that begins with a number of its own has its region filled with that where the caller leaves it
// out, and a call of no steps leaves it as the last state.
TEST(FirstStates, BeginAsTheCellSays) {
  step::Cell cell = rondo::testing::library_cell("mingru");
  for (step::Tensor& tensor : cell.tensors)
    if (tensor.kind == step::TensorKind::State) tensor.first.value = -1e30;
  const schedule::Problem problem = rondo::testing::problem_of(Pass::Forward);
  const schedule::KernelPlan plan = rondo::testing::stream_plan(cell, problem, 8);
  const Launcher launcher = rondo::testing::launcher_of(cell, problem, plan);
  Bindings bindings;
  Address next = Address{1} << 30;
  for (const Tensor& tensor : launcher.tensors())
    if (tensor.ref.role != Role::InitialState) bindings.set(tensor.ref, next += Address{1} << 30);
  bindings.set_workspace(next += Address{1} << 30);
  const step::TensorId state = cell.of_kind(step::TensorKind::State).front();
  const std::int64_t bytes = 3 * problem.sizes.heads * problem.sizes.dim * 4;
  Recorder recorder;
  ASSERT_TRUE(launcher.launch(recorder, bindings, 3, 16).ok());
  ASSERT_EQ(recorder.filled.size(), 1u);
  EXPECT_EQ(recorder.filled[0].value, -1e30F);
  EXPECT_EQ(recorder.filled[0].bytes, bytes);
  EXPECT_LE(recorder.filled[0].pointer + static_cast<Address>(bytes),
            next + static_cast<Address>(launcher.workspace_bytes(3, 16)));
  const auto& arguments = plan.launches[0].arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto* p = std::get_if<schedule::Pointer>(&arguments[i]);
    if (p == nullptr || p->tensor != TensorRef{Role::InitialState, state}) continue;
    EXPECT_EQ(static_cast<Address>(recorder.calls[0].values[i]), recorder.filled[0].pointer);
  }
  Recorder of_nothing;
  ASSERT_TRUE(launcher.launch(of_nothing, bindings, 3, 0).ok());
  const Recorder::Fill last{bindings.find({Role::LastState, state})->pointer, bytes, -1e30F};
  EXPECT_EQ(of_nothing.filled, std::vector<Recorder::Fill>{last});
  bindings.set({Role::InitialState, state}, next + (Address{1} << 30));
  Recorder given;
  ASSERT_TRUE(launcher.launch(given, bindings, 3, 16).ok());
  EXPECT_TRUE(given.filled.empty());
}

}  // namespace
}  // namespace rondo::executable
