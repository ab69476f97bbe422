#include "compiler/executable/launcher.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

#include "compiler/schedule/plan/signature.h"
#include "compiler/schedule/plan/tensor_layout.h"
#include "compiler/schedule/strategies.h"
#include "tests/engine/plan/cells.h"
#include "tests/executable/recorder.h"
#include "tests/schedule/point_plan.h"

namespace rondo::executable {
namespace {

using schedule::Pass;

using testing::Recorder;

struct LauncherFixture {
  step::Cell cell = rondo::testing::library_cell("paragru");
  schedule::Problem problem;
  schedule::KernelPlan plan;
  Launcher launcher;

  explicit LauncherFixture(Pass pass, std::int64_t vector = 8)
      : problem(rondo::testing::problem_of(pass)),
        plan(rondo::testing::stream_plan(cell, problem, vector)),
        launcher(rondo::testing::launcher_of(cell, problem, plan)) {}

  // Every tensor at an address of its own, 1 GiB apart.
  Bindings all() const {
    Bindings bindings;
    Address next = Address{1} << 30;
    for (const Tensor& tensor : launcher.tensors()) bindings.set(tensor.ref, next += Address{1} << 30);
    return bindings;
  }
  Bindings without(std::initializer_list<Role> roles) const {
    Bindings result;
    const Bindings everything = all();
    for (const Binding& binding : everything.entries())
      if (std::find(roles.begin(), roles.end(), binding.tensor.role) == roles.end())
        result.set(binding.tensor, binding.pointer, binding.strides);
    return result;
  }
  TensorRef input() const { return {Role::Input, *cell.find("x")}; }
  TensorRef output() const { return {Role::Output, cell.of_kind(step::TensorKind::Output).at(0)}; }
  // What an argument has to be; 32-bit ones are compared by their low half.
  std::int64_t expected(const schedule::LaunchArgument& argument, const Bindings& bindings,
                        std::int64_t value, std::int64_t batch, std::int64_t time) const {
    if (const auto* p = std::get_if<schedule::Pointer>(&argument))
      return static_cast<std::int64_t>(bindings.find(p->tensor)->pointer);
    if (const auto* s = std::get_if<schedule::StrideT>(&argument))
      return schedule::unit_elements(s->tensor, cell, problem.sizes);
    if (const auto* s = std::get_if<schedule::StrideB>(&argument))
      return time * schedule::unit_elements(s->tensor, cell, problem.sizes);
    const std::int64_t low = std::holds_alternative<schedule::Batch>(argument) ? batch : time;
    return static_cast<std::int32_t>(value) == low ? value : low;
  }
  Error error(const Bindings& bindings, std::int64_t batch = 4, std::int64_t time = 16) const {
    Recorder recorder;
    const Status status = launcher.launch(recorder, bindings, batch, time);
    EXPECT_FALSE(status.ok());
    EXPECT_TRUE(recorder.calls.empty()) << "launched in spite of an error";
    return status.ok() ? Error{} : status.error();
  }
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Launcher, FillsEveryArgumentOfEveryLaunch) {
  const LauncherFixture f(Pass::Backward);
  ASSERT_GE(f.plan.launches.size(), 2u) << "the sweep and the sum over the batch";
  const Bindings bindings = f.all();
  Recorder recorder;
  const Status status = f.launcher.launch(recorder, bindings, 5, 17);
  ASSERT_TRUE(status.ok()) << status.error().message;
  ASSERT_EQ(recorder.calls.size(), f.plan.launches.size());
  EXPECT_TRUE(recorder.zeroed.empty());
  for (std::size_t k = 0; k < f.plan.launches.size(); ++k) {
    const schedule::Launch& launch = f.plan.launches[k];
    const Recorder::Call& call = recorder.calls[k];
    EXPECT_EQ(call.index, k);
    EXPECT_EQ(call.blocks, schedule::grid_blocks(launch, 5, 17));
    ASSERT_EQ(call.values.size(), launch.arguments.size());
    for (std::size_t i = 0; i < call.values.size(); ++i) {
      const auto& argument = launch.arguments[i];
      const std::int64_t value = call.values[i];
      EXPECT_EQ(value, f.expected(argument, bindings, value, 5, 17))
          << "argument " << i << " of launch " << k;
    }
  }
}

// Where kernels say that they have waited in vain: nothing that a caller binds.
TEST(Launcher, PassesTheStatus) {
  const step::Cell cell = rondo::testing::library_cell("lstm");
  const schedule::Problem problem = rondo::testing::problem_of(Pass::Forward);
  const schedule::KernelPlan plan =
      schedule::point_plan(*schedule::find_strategy("persistent"), cell, problem,
                           {{"blocks", 1},
                            {"exchange", 0},
                            {"batch_tiles_in_flight", 1},
                            {"split_k", 1},
                            {"unit_blocks", 1},
                            {"batch_tiles", 1},
                            {"register_k_tiles", 1},
                            {"accumulators", 1},
                            {"steps", 4},
                            {"stages", 3},
                            {"vector", 8},
                            {"producer_warps", 1},
                            {"store_warps", 1},
                            {"poll_delay", 0},
                            {"tiles_in_turn", 1},
                            {"gather_fragments", 0}});
  Launcher launcher = rondo::testing::launcher_of(cell, problem, plan);
  launcher.set_status(0x5000);
  Bindings bindings;
  Address next = 0;
  for (const Tensor& tensor : launcher.tensors())
    if (!schedule::is_internal(tensor.ref.role)) bindings.set(tensor.ref, next += Address{1} << 30);
  Recorder recorder;
  const Status status = launcher.launch(recorder, bindings, 4, 16);
  ASSERT_TRUE(status.ok()) << status.error().message;
  ASSERT_EQ(recorder.calls.size(), 1u);
  const kernel::Kernel& kernel = plan.launches[0].kernel;
  ASSERT_GE(kernel.status, 0);
  EXPECT_EQ(recorder.calls[0].values.at(static_cast<std::size_t>(kernel.status)), 0x5000);
}

TEST(Launcher, PassesGivenStrides) {
  const LauncherFixture f(Pass::Forward);
  Bindings bindings = f.all();
  bindings.set(f.input(), Address{1} << 40, Strides{1024 * 1024, 4096});
  Recorder recorder;
  ASSERT_TRUE(f.launcher.launch(recorder, bindings, 4, 16).ok());
  const auto& arguments = f.plan.launches[0].arguments;
  int seen = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (const auto* s = std::get_if<schedule::StrideB>(&arguments[i]); s != nullptr && s->tensor == f.input())
      seen += recorder.calls[0].values[i] == 1024 * 1024;
    if (const auto* s = std::get_if<schedule::StrideT>(&arguments[i]); s != nullptr && s->tensor == f.input())
      seen += recorder.calls[0].values[i] == 4096;
  }
  EXPECT_EQ(seen, 2);
}

TEST(Launcher, TensorsNotBoundGetTheirPlaceInTheWorkspace) {
  const LauncherFixture f(Pass::Backward);
  const std::int64_t batch = 3;
  const Address workspace = f.all().find({Role::Workspace, -1})->pointer;
  const auto end = workspace + static_cast<Address>(f.launcher.workspace_bytes(batch, 16));
  const Bindings bindings =
      f.without({Role::InitialState, Role::LastStateGradient, Role::InitialStateGradient, Role::ParamGradient,
                 Role::InputGradient, Role::OutputGradient});
  Recorder recorder;
  const Status status = f.launcher.launch(recorder, bindings, batch, 16);
  ASSERT_TRUE(status.ok()) << status.error().message;
  ASSERT_EQ(recorder.zeroed.size(), 1u);
  const auto [zero, zero_bytes] = recorder.zeroed[0];
  const auto own = static_cast<Address>(f.plan.workspace_elements_per_batch * batch * 4);
  EXPECT_GE(zero, workspace + own) << "zeroes what the kernels write";
  const auto& launch = f.plan.launches[0];
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const std::int64_t value = recorder.calls[0].values[i];
    if (const auto* s = std::get_if<schedule::StrideT>(&launch.arguments[i]);
        s && s->tensor.role == Role::InputGradient) {
      EXPECT_EQ(value, 0);
    }
    const auto* p = std::get_if<schedule::Pointer>(&launch.arguments[i]);
    if (p == nullptr || bindings.find(p->tensor) != nullptr) continue;
    const auto at = static_cast<Address>(value);
    const bool timed = schedule::has_time_axis(p->tensor.role);
    const auto bytes = static_cast<Address>(schedule::unit_elements(p->tensor, f.cell, f.problem.sizes)) *
                       (timed ? 2 : 4 * batch);
    EXPECT_LE(at + bytes, end) << schedule::name_of(p->tensor, f.cell);
    const bool in_zeroed = at == zero && bytes <= static_cast<Address>(zero_bytes);
    EXPECT_EQ(in_zeroed, role_info(p->tensor.role).need == Need::Zero)
        << schedule::name_of(p->tensor, f.cell);
    if (!in_zeroed) {
      EXPECT_GE(at, zero + static_cast<Address>(zero_bytes));
    }
  }
}

TEST(Launcher, WorkspaceOfStreamGrowsWithTheBatchOnly) {
  const LauncherFixture f(Pass::Backward);
  EXPECT_GE(f.launcher.workspace_bytes(8, 16), f.plan.workspace_elements_per_batch * 8 * 4);
  EXPECT_EQ(f.launcher.workspace_bytes(8, 16) % 256, 0);
  EXPECT_LT(f.launcher.workspace_bytes(1, 16), f.launcher.workspace_bytes(64, 16));
  EXPECT_EQ(f.launcher.workspace_bytes(8, 16), f.launcher.workspace_bytes(8, 1024));
}

TEST(Launcher, MissingTensorsAreNamed) {
  const LauncherFixture f(Pass::Forward);
  const Error error = f.error(f.without({Role::Input}));
  EXPECT_EQ(error.kind, ErrorKind::Input);
  EXPECT_EQ(error.message, "tensor 'x' is not bound");
  const Error workspace = f.error(f.without({Role::Workspace, Role::InitialState}));
  EXPECT_TRUE(contains(workspace.message, "no workspace is bound; 'h_first' needs 2048 bytes"))
      << workspace.message;
  EXPECT_TRUE(contains(workspace.hint, "workspace_bytes(B = 4, T = ")) << workspace.hint;
}

TEST(Launcher, NullAndMisalignedPointers) {
  const LauncherFixture f(Pass::Forward);
  Bindings bindings = f.all();
  bindings.set(f.output(), 0);
  EXPECT_TRUE(contains(f.error(bindings).message, "'h_out' is bound to a null pointer"));
  bindings = f.all();
  bindings.set(f.input(), 0x10000002);
  const Error error = f.error(bindings);
  EXPECT_TRUE(contains(error.message, "tensor 'x' lies at 0x10000002")) << error.message;
  EXPECT_TRUE(contains(error.message, "aligned to 16 bytes")) << error.message;
  EXPECT_TRUE(contains(error.hint, "option `alignment`"));
}

TEST(Launcher, StridesAreChecked) {
  const LauncherFixture f(Pass::Forward);
  const std::int64_t unit = schedule::unit_elements(f.input(), f.cell, f.problem.sizes);
  Bindings bindings = f.all();
  bindings.set(f.input(), 1 << 20, Strides{16 * (unit + 4), unit + 4});
  const Error error = f.error(bindings);
  EXPECT_TRUE(contains(error.message, "stride of 388 elements in T")) << error.message;
  EXPECT_TRUE(contains(error.message, "multiple of 16 bytes")) << error.message;
  // One step, one row: strides multiply nothing.
  Recorder recorder;
  EXPECT_TRUE(f.launcher.launch(recorder, bindings, 1, 1).ok());
  // The variant for misaligned tensors takes them.
  const LauncherFixture narrow(Pass::Forward, 2);
  Recorder again;
  const Status status = narrow.launcher.launch(again, bindings, 4, 16);
  EXPECT_TRUE(status.ok()) << status.error().message;
}

TEST(Launcher, AStrideInTimeHas32Bits) {
  const LauncherFixture f(Pass::Forward);
  const std::int64_t most = std::int64_t{1} << 31;
  Bindings bindings = f.all();
  bindings.set(f.input(), 1 << 20, Strides{16, most});
  const Error error = f.error(bindings);
  EXPECT_TRUE(contains(error.message, "tensor 'x' has a stride of 2147483648 elements in T"))
      << error.message;
  EXPECT_TRUE(contains(error.hint, "dense layout")) << error.hint;
  bindings.set(f.input(), 1 << 20, Strides{16, most - 8});
  Recorder recorder;
  EXPECT_TRUE(f.launcher.launch(recorder, bindings, 4, 16).ok());
}

TEST(Launcher, OnlyWhatIsReadMayBeBroadcast) {
  const LauncherFixture f(Pass::Forward);
  const std::int64_t in = schedule::unit_elements(f.input(), f.cell, f.problem.sizes);
  Bindings bindings = f.all();
  bindings.set(f.input(), 1 << 20, Strides{0, in});
  Recorder recorder;
  EXPECT_TRUE(f.launcher.launch(recorder, bindings, 4, 16).ok());
  bindings.set(f.output(), 1 << 21, Strides{0, schedule::unit_elements(f.output(), f.cell, f.problem.sizes)});
  const Error error = f.error(bindings);
  EXPECT_TRUE(contains(error.message, "'h_out' is written with a stride of 0 elements in B"))
      << error.message;
}

// Where kernels take it that memory is not shared, sharing is refused, and both tensors are named.
TEST(Launcher, WhatIsWrittenSharesNoMemory) {
  const LauncherFixture f(Pass::Forward);
  const auto at = [&](TensorRef tensor) { return f.all().find(tensor)->pointer; };
  Bindings bindings = f.all();
  bindings.set(f.output(), at(f.input()));  // in place
  Error error = f.error(bindings);
  EXPECT_EQ(error.kind, ErrorKind::Input);
  EXPECT_TRUE(contains(error.message, "'h_out'") && contains(error.message, "'x'") &&
              contains(error.message, "share memory"))
      << error.message;
  // By its last bytes only.
  const std::int64_t bytes = 4 * 16 * 2 * 3 * 64 * 2;
  bindings.set(f.output(), at(f.input()) + static_cast<Address>(bytes) - 16);
  EXPECT_TRUE(contains(f.error(bindings).message, "share memory"));
  bindings.set(f.output(), at(f.input()) + static_cast<Address>(bytes));
  Recorder recorder;
  Status status = f.launcher.launch(recorder, bindings, 4, 16);
  EXPECT_TRUE(status.ok()) << status.error().message;
  // Two results, and a result in the workspace.
  const TensorRef last{Role::LastState, f.cell.of_kind(step::TensorKind::State).at(0)};
  bindings = f.all();
  bindings.set(last, at(f.output()));
  error = f.error(bindings);
  EXPECT_TRUE(contains(error.message, "'h_out'") && contains(error.message, "'h_last'")) << error.message;
  bindings = f.without({Role::InitialState});
  ASSERT_GT(f.launcher.workspace_bytes(4, 16), 0);
  bindings.set_workspace(Address{1} << 45);
  bindings.set(f.output(), (Address{1} << 45) + 64);
  error = f.error(bindings);
  EXPECT_TRUE(contains(error.message, "'h_out'") && contains(error.message, "the workspace"))
      << error.message;
  // What is only read may lie anywhere, and a workspace that nothing uses.
  bindings = f.all();
  bindings.set_workspace(at(f.output()) + 256);
  bindings.set({Role::InitialState, last.tensor}, at(f.input()) + 64);
  recorder = {};
  status = f.launcher.launch(recorder, bindings, 4, 16);
  EXPECT_TRUE(status.ok()) << status.error().message;
}

TEST(Launcher, StepsOfAResultShareNoMemory) {
  const LauncherFixture f(Pass::Forward);
  const std::int64_t unit = schedule::unit_elements(f.output(), f.cell, f.problem.sizes);
  const auto status = [&](Strides strides) {
    Bindings bindings = f.all();
    bindings.set(f.output(), Address{1} << 45, strides);
    Recorder recorder;
    return f.launcher.launch(recorder, bindings, 4, 16);
  };
  // Neither stride is too small by itself.
  for (const Strides strides : {Strides{unit, unit}, Strides{unit, -unit}, Strides{15 * unit, unit},
                                Strides{2 * unit, 3 * unit}, Strides{3 * unit + 8, unit}}) {
    const Status refused = status(strides);
    ASSERT_FALSE(refused.ok()) << strides.b << " " << strides.t;
    EXPECT_TRUE(contains(refused.error().message, "two of its steps share memory"))
        << refused.error().message;
    EXPECT_TRUE(contains(refused.error().message, "'h_out'"));
  }
  for (const Strides strides : {Strides{16 * unit, unit}, Strides{unit, 4 * unit}, Strides{-16 * unit, unit},
                                Strides{40 * unit, 2 * unit}})
    EXPECT_TRUE(status(strides).ok()) << strides.b << " " << strides.t;
  EXPECT_TRUE(contains(status({16 * unit, 0}).error().message, "a stride of 0 elements in T"));
}

TEST(Launcher, SlicesOfOneBufferMayInterleave) {
  const LauncherFixture f(Pass::Forward);
  const std::int64_t in = schedule::unit_elements(f.input(), f.cell, f.problem.sizes);
  const std::int64_t out = schedule::unit_elements(f.output(), f.cell, f.problem.sizes);
  const Strides strides{16 * (in + out), in + out};
  const Address buffer = Address{1} << 45;
  Bindings bindings = f.all();
  bindings.set(f.input(), buffer, strides);
  bindings.set(f.output(), buffer + static_cast<Address>(2 * in), strides);
  Recorder recorder;
  const Status status = f.launcher.launch(recorder, bindings, 4, 16);
  EXPECT_TRUE(status.ok()) << status.error().message;
  bindings.set(f.output(), buffer + static_cast<Address>(2 * in - 16), strides);
  EXPECT_TRUE(contains(f.error(bindings).message, "share memory"));
}

TEST(Launcher, WhatIsTouchedFitsIntoTheMemoryThatIsGiven) {
  const LauncherFixture f(Pass::Forward);
  const std::int64_t unit = schedule::unit_elements(f.input(), f.cell, f.problem.sizes);
  const Address at = Address{1} << 45;
  const auto launch = [&](Strides strides, std::int64_t bytes) {
    Bindings bindings = f.all();
    bindings.set(f.input(), at, strides, bytes);
    Recorder recorder;
    return f.launcher.launch(recorder, bindings, 4, 16);
  };
  const std::int64_t dense = 4 * 16 * unit * 2;
  EXPECT_TRUE(launch({16 * unit, unit}, dense).ok());
  const Status small = launch({16 * unit, unit}, dense - 1);
  ASSERT_FALSE(small.ok());
  EXPECT_EQ(small.error().kind, ErrorKind::Input);
  EXPECT_TRUE(contains(small.error().message, "tensor 'x' needs " + std::to_string(dense) + " bytes"))
      << small.error().message;
  EXPECT_TRUE(contains(small.error().message, "bound to " + std::to_string(dense - 1)));
  // The last row needs no gap behind it; a broadcast needs one row; downwards nothing is known.
  EXPECT_TRUE(launch({32 * unit, 2 * unit}, 2 * dense - 2 * unit).ok());
  EXPECT_FALSE(launch({32 * unit, 2 * unit}, 2 * dense - 2 * unit - 1).ok());
  EXPECT_TRUE(launch({0, unit}, 16 * unit * 2).ok());
  EXPECT_TRUE(contains(launch({16 * unit, -unit}, dense).error().message, "below its pointer"));
  // A tensor without a time axis, and the workspace.
  const TensorRef first{Role::InitialState, f.cell.of_kind(step::TensorKind::State).at(0)};
  Bindings bindings = f.all();
  bindings.set(first, at, std::nullopt, 4 * 2 * 64 * 4 - 1);
  EXPECT_TRUE(contains(f.error(bindings).message, "tensor 'h_first' needs 2048 bytes"))
      << f.error(bindings).message;
  bindings = f.without({Role::InitialState, Role::LastState});
  const std::int64_t workspace = f.launcher.workspace_bytes(4, 16);
  bindings.set_workspace(at, workspace - 1);
  EXPECT_TRUE(contains(f.error(bindings).message, "the workspace has"));
  bindings.set_workspace(at, workspace);
  Recorder recorder;
  EXPECT_TRUE(f.launcher.launch(recorder, bindings, 4, 16).ok());
}

TEST(Launcher, StridesThatOverflowAreRefused) {
  const LauncherFixture f(Pass::Forward);
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max() / 64 * 64;
  for (const Strides strides :
       {Strides{kLargest, 384}, Strides{-kLargest, 384}, Strides{kLargest / 4, 384}}) {
    Bindings bindings = f.all();
    bindings.set(f.input(), Address{1} << 45, strides, 1 << 20);
    EXPECT_TRUE(contains(f.error(bindings).message, "'x' would reach past the end of memory"))
        << f.error(bindings).message;
  }
}

TEST(Launcher, SizesOutOfRange) {
  const LauncherFixture f(Pass::Forward);
  EXPECT_TRUE(contains(f.error(f.all(), -1, 16).message, "B = -1 is outside 0"));
  EXPECT_TRUE(contains(f.error(f.all(), 4, -1).message, "T = -1 is outside 0"));
  EXPECT_TRUE(contains(f.error(f.all(), 4, std::int64_t{1} << 31).message, "T = 2147483648"));
  const Error grid = f.error(f.all(), 2147483647, 1);
  EXPECT_TRUE(contains(grid.message, "a grid has at most 2147483647")) << grid.message;
  EXPECT_TRUE(contains(grid.hint, "at most B = 1073741823")) << grid.hint;
}

// Of no rows or no steps nothing is launched, and tensors without an element lie nowhere.
TEST(Launcher, NoStepsGiveTheStatesBack) {
  for (const bool given : {true, false}) {
    const LauncherFixture forward(Pass::ForwardSave), backward(Pass::Backward);
    for (const LauncherFixture* f : {&forward, &backward}) {
      const bool back = f == &backward;
      const Role from = back ? Role::LastStateGradient : Role::InitialState;
      const Role to = back ? Role::InitialStateGradient : Role::LastState;
      Bindings all = f->without({Role::Workspace}), bindings;
      for (const Binding& binding : all.entries()) {
        if (is_internal(binding.tensor.role) || has_time_axis(binding.tensor.role)) continue;
        if (given || binding.tensor.role != from) bindings.set(binding);
      }
      Recorder recorder;
      const Status status = f->launcher.launch(recorder, bindings, 3, 0);
      ASSERT_TRUE(status.ok()) << status.error().message;
      EXPECT_TRUE(recorder.calls.empty());
      EXPECT_EQ(f->launcher.workspace_bytes(3, 0), 0);
      const step::TensorId state = f->cell.of_kind(step::TensorKind::State).at(0);
      const std::int64_t bytes = 3 * schedule::unit_elements({to, state}, f->cell, f->problem.sizes) * 4;
      const Address target = bindings.find({to, state})->pointer;
      if (given) {
        EXPECT_EQ(recorder.copied,
                  (std::vector<Recorder::Copy>{{target, bindings.find({from, state})->pointer, bytes}}));
      } else {
        EXPECT_TRUE(recorder.copied.empty());
        EXPECT_EQ(std::count(recorder.zeroed.begin(), recorder.zeroed.end(), std::pair(target, bytes)), 1);
      }
      std::size_t sums = 0;
      for (const Tensor& tensor : f->launcher.tensors()) {
        if (tensor.ref.role != Role::ParamGradient) continue;
        const std::pair zeroed(bindings.find(tensor.ref)->pointer, tensor.size.at(3, 0) * 4);
        EXPECT_EQ(std::count(recorder.zeroed.begin(), recorder.zeroed.end(), zeroed), 1) << tensor.name;
        ++sums;
      }
      EXPECT_EQ(sums > 0, back);
      EXPECT_EQ(recorder.zeroed.size(), sums + (given ? 0 : 1));
    }
  }
}

TEST(Launcher, NoRowsLeaveSumsAlone) {
  const LauncherFixture f(Pass::Backward);
  Bindings all = f.all(), bindings;
  std::size_t sums = 0;
  for (const Binding& binding : all.entries())
    if (binding.tensor.role == Role::Param || binding.tensor.role == Role::ParamGradient) {
      bindings.set(binding);
      sums += binding.tensor.role == Role::ParamGradient ? 1 : 0;
    }
  Recorder recorder;
  const Status status = f.launcher.launch(recorder, bindings, 0, 16);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_TRUE(recorder.calls.empty() && recorder.copied.empty());
  EXPECT_EQ(recorder.zeroed.size(), sums);
  EXPECT_FALSE(f.launcher.launch(recorder, {}, 0, 16).ok()) << "parameters are not bound";
}

TEST(Launcher, EveryTensorOfThePassAppearsOnce) {
  for (const Pass pass : {Pass::Forward, Pass::ForwardSave, Pass::Backward}) {
    const LauncherFixture f(pass);
    std::set<std::string> names;
    for (const Tensor& tensor : f.launcher.tensors())
      EXPECT_TRUE(names.insert(tensor.name).second) << tensor.name;
    EXPECT_EQ(names.count("x"), 1u);
    EXPECT_EQ(names.count("a"), 1u);
    EXPECT_EQ(names.count("grad_x"), pass == Pass::Backward ? 1u : 0u);
  }
}

}  // namespace
}  // namespace rondo::executable
