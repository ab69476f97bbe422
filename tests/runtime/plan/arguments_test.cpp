#include "runtime/plan/arguments.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <set>

#include "compiler/schedule/plan/signature.h"
#include "compiler/schedule/strategies.h"
#include "tests/runtime/plan/cells.h"

namespace rondo::runtime {
namespace {

using schedule::Pass;
using schedule::Role;
using schedule::TensorRef;

// Writes launches down instead of running them.
class Recorder final : public LaunchSink {
 public:
  struct Call {
    std::size_t index;
    std::int64_t blocks;
    std::vector<std::int64_t> values;
  };
  Status zero(DeviceAddress pointer, std::int64_t bytes) override {
    zeroed.emplace_back(pointer, bytes);
    EXPECT_TRUE(calls.empty()) << "zeroed after a launch";
    return success();
  }
  Status launch(std::size_t index, std::int64_t blocks, std::span<void* const> arguments) override {
    Call call{index, blocks, {}};
    for (void* argument : arguments) {
      std::int64_t value = 0;
      std::memcpy(&value, argument, sizeof value);
      call.values.push_back(value);
    }
    calls.push_back(call);
    return success();
  }
  std::vector<std::pair<DeviceAddress, std::int64_t>> zeroed;
  std::vector<Call> calls;
};

struct Fixture {
  step::Cell cell = testing::library_cell("paragru");
  schedule::Problem problem;
  schedule::KernelPlan plan;
  PlanArguments arguments;

  explicit Fixture(Pass pass, std::int64_t vector = 8)
      : problem(testing::problem_of(pass)),
        plan(testing::stream_plan(cell, problem, vector)),
        arguments(PlanArguments::make(cell, problem, plan).value()) {}

  // Every tensor at an address of its own, 1 GiB apart.
  Bindings all() const {
    Bindings bindings;
    DeviceAddress next = DeviceAddress{1} << 30;
    for (const PlanTensor& tensor : arguments.tensors())
      bindings.set(tensor.ref, next += DeviceAddress{1} << 30);
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
      return unit_elements(s->tensor, cell, problem.sizes);
    if (const auto* s = std::get_if<schedule::StrideB>(&argument))
      return time * unit_elements(s->tensor, cell, problem.sizes);
    const std::int64_t low = std::holds_alternative<schedule::Batch>(argument) ? batch : time;
    return static_cast<std::int32_t>(value) == low ? value : low;
  }
  Error error(const Bindings& bindings, std::int64_t batch = 4, std::int64_t time = 16) const {
    Recorder recorder;
    const Status status = arguments.launch(recorder, bindings, batch, time);
    EXPECT_FALSE(status.ok());
    EXPECT_TRUE(recorder.calls.empty()) << "launched in spite of an error";
    return status.ok() ? Error{} : status.error();
  }
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(PlanArguments, FillsEveryArgumentOfEveryLaunch) {
  const Fixture f(Pass::Backward);
  ASSERT_GE(f.plan.launches.size(), 2u) << "the sweep and the sum over the batch";
  const Bindings bindings = f.all();
  Recorder recorder;
  const Status status = f.arguments.launch(recorder, bindings, 5, 17);
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
TEST(PlanArguments, PassesTheStatus) {
  const step::Cell cell = testing::library_cell("lstm");
  const schedule::Problem problem = testing::problem_of(Pass::Forward);
  const schedule::KernelPlan plan = schedule::find_strategy("persistent")
                                        ->build(cell, problem,
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
                                                 {"store_warps", 1}});
  PlanArguments arguments = PlanArguments::make(cell, problem, plan).value();
  arguments.set_status(0x5000);
  Bindings bindings;
  for (const PlanTensor& tensor : arguments.tensors())
    if (!schedule::is_internal(tensor.ref.role)) bindings.set(tensor.ref, DeviceAddress{1} << 30);
  Recorder recorder;
  const Status status = arguments.launch(recorder, bindings, 4, 16);
  ASSERT_TRUE(status.ok()) << status.error().message;
  ASSERT_EQ(recorder.calls.size(), 1u);
  const kernel::Kernel& kernel = plan.launches[0].kernel;
  ASSERT_GE(kernel.status, 0);
  EXPECT_EQ(recorder.calls[0].values.at(static_cast<std::size_t>(kernel.status)), 0x5000);
}

TEST(PlanArguments, PassesGivenStrides) {
  const Fixture f(Pass::Forward);
  Bindings bindings = f.all();
  bindings.set(f.input(), DeviceAddress{1} << 40, Strides{1024 * 1024, 4096});
  Recorder recorder;
  ASSERT_TRUE(f.arguments.launch(recorder, bindings, 4, 16).ok());
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

TEST(PlanArguments, TensorsNotBoundGetTheirPlaceInTheWorkspace) {
  const Fixture f(Pass::Backward);
  const std::int64_t batch = 3;
  const DeviceAddress workspace = f.all().find({Role::Workspace, -1})->pointer;
  const auto end = workspace + static_cast<DeviceAddress>(f.arguments.workspace_bytes(batch, 16));
  const Bindings bindings =
      f.without({Role::InitialState, Role::LastStateGradient, Role::InitialStateGradient, Role::ParamGradient,
                 Role::InputGradient, Role::OutputGradient});
  Recorder recorder;
  const Status status = f.arguments.launch(recorder, bindings, batch, 16);
  ASSERT_TRUE(status.ok()) << status.error().message;
  ASSERT_EQ(recorder.zeroed.size(), 1u);
  const auto [zero, zero_bytes] = recorder.zeroed[0];
  const auto own = static_cast<DeviceAddress>(f.plan.workspace_elements_per_batch * batch * 4);
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
    const auto at = static_cast<DeviceAddress>(value);
    const bool timed = schedule::has_time_axis(p->tensor.role);
    const auto bytes = static_cast<DeviceAddress>(unit_elements(p->tensor, f.cell, f.problem.sizes)) *
                       (timed ? 2 : 4 * batch);
    EXPECT_LE(at + bytes, end) << schedule::name_of(p->tensor, f.cell);
    const bool in_zeroed = at == zero && bytes <= static_cast<DeviceAddress>(zero_bytes);
    EXPECT_EQ(in_zeroed, need_of(p->tensor.role) == Need::Zero) << schedule::name_of(p->tensor, f.cell);
    if (!in_zeroed) {
      EXPECT_GE(at, zero + static_cast<DeviceAddress>(zero_bytes));
    }
  }
}

TEST(PlanArguments, WorkspaceOfStreamGrowsWithTheBatchOnly) {
  const Fixture f(Pass::Backward);
  EXPECT_GE(f.arguments.workspace_bytes(8, 16), f.plan.workspace_elements_per_batch * 8 * 4);
  EXPECT_EQ(f.arguments.workspace_bytes(8, 16) % 256, 0);
  EXPECT_LT(f.arguments.workspace_bytes(1, 16), f.arguments.workspace_bytes(64, 16));
  EXPECT_EQ(f.arguments.workspace_bytes(8, 16), f.arguments.workspace_bytes(8, 1024));
}

TEST(PlanArguments, MissingTensorsAreNamed) {
  const Fixture f(Pass::Forward);
  const Error error = f.error(f.without({Role::Input}));
  EXPECT_EQ(error.kind, ErrorKind::Input);
  EXPECT_EQ(error.message, "tensor 'x' is not bound");
  const Error workspace = f.error(f.without({Role::Workspace, Role::InitialState}));
  EXPECT_TRUE(contains(workspace.message, "no workspace is bound; 'h_first' needs")) << workspace.message;
  EXPECT_TRUE(contains(workspace.hint, "workspace_bytes(B = 4, T = ")) << workspace.hint;
}

TEST(PlanArguments, NullAndMisalignedPointers) {
  const Fixture f(Pass::Forward);
  Bindings bindings = f.all();
  bindings.set(f.output(), 0);
  EXPECT_TRUE(contains(f.error(bindings).message, "'h_out' is bound to a null pointer"));
  bindings = f.all();
  bindings.set(f.input(), 0x10000002);
  const Error error = f.error(bindings);
  EXPECT_TRUE(contains(error.message, "tensor 'x' lies at 0x10000002")) << error.message;
  EXPECT_TRUE(contains(error.message, "aligned to 16 bytes")) << error.message;
  EXPECT_TRUE(contains(error.hint, "ChooseOptions::alignment"));
}

TEST(PlanArguments, StridesAreChecked) {
  const Fixture f(Pass::Forward);
  const std::int64_t unit = unit_elements(f.input(), f.cell, f.problem.sizes);
  Bindings bindings = f.all();
  bindings.set(f.input(), 1 << 20, Strides{16 * (unit + 4), unit + 4});
  const Error error = f.error(bindings);
  EXPECT_TRUE(contains(error.message, "stride of 388 elements in T")) << error.message;
  EXPECT_TRUE(contains(error.message, "multiple of 16 bytes")) << error.message;
  // One step, one row: strides multiply nothing.
  Recorder recorder;
  EXPECT_TRUE(f.arguments.launch(recorder, bindings, 1, 1).ok());
  // The variant for misaligned tensors takes them.
  const Fixture narrow(Pass::Forward, 2);
  Recorder again;
  const Status status = narrow.arguments.launch(again, bindings, 4, 16);
  EXPECT_TRUE(status.ok()) << status.error().message;
}

TEST(PlanArguments, AStrideInTimeHas32Bits) {
  const Fixture f(Pass::Forward);
  const std::int64_t most = std::int64_t{1} << 31;
  Bindings bindings = f.all();
  bindings.set(f.input(), 1 << 20, Strides{16, most});
  const Error error = f.error(bindings);
  EXPECT_TRUE(contains(error.message, "tensor 'x' has a stride of 2147483648 elements in T"))
      << error.message;
  EXPECT_TRUE(contains(error.hint, "dense layout")) << error.hint;
  bindings.set(f.input(), 1 << 20, Strides{16, most - 8});
  Recorder recorder;
  EXPECT_TRUE(f.arguments.launch(recorder, bindings, 4, 16).ok());
}

TEST(PlanArguments, OnlyWhatIsReadMayBeBroadcast) {
  const Fixture f(Pass::Forward);
  const std::int64_t in = unit_elements(f.input(), f.cell, f.problem.sizes);
  Bindings bindings = f.all();
  bindings.set(f.input(), 1 << 20, Strides{0, in});
  Recorder recorder;
  EXPECT_TRUE(f.arguments.launch(recorder, bindings, 4, 16).ok());
  bindings.set(f.output(), 1 << 21, Strides{0, unit_elements(f.output(), f.cell, f.problem.sizes)});
  const Error error = f.error(bindings);
  EXPECT_TRUE(contains(error.message, "'h_out' is written with a stride of 0 elements in B"))
      << error.message;
}

TEST(PlanArguments, SizesOutOfRange) {
  const Fixture f(Pass::Forward);
  EXPECT_TRUE(contains(f.error(f.all(), 0, 16).message, "B = 0 is outside 1"));
  EXPECT_TRUE(contains(f.error(f.all(), 4, 0).message, "T = 0 is outside 1"));
  EXPECT_TRUE(contains(f.error(f.all(), 4, std::int64_t{1} << 31).message, "T = 2147483648"));
  const Error grid = f.error(f.all(), 2147483647, 1);
  EXPECT_TRUE(contains(grid.message, "a grid has at most 2147483647")) << grid.message;
  EXPECT_TRUE(contains(grid.hint, "at most B = 1073741823")) << grid.hint;
}

TEST(PlanArguments, HostTimeOfALaunch) {
  const Fixture f(Pass::Backward);
  const Bindings bindings = f.all();
  class Nothing final : public LaunchSink {
    Status zero(DeviceAddress, std::int64_t) override { return success(); }
    Status launch(std::size_t, std::int64_t, std::span<void* const>) override { return success(); }
  } nothing;
  std::vector<double> samples;
  for (int sample = 0; sample < 50; ++sample) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(f.arguments.launch(nothing, bindings, 4, 16).ok());
    samples.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() / 100);
  }
  // The whole launch may take 10 us, most of it the driver's. Quietest sample: the machine is shared.
  EXPECT_LT(*std::min_element(samples.begin(), samples.end()), 5.0) << "microseconds";
}

TEST(PlanArguments, EveryTensorOfThePassAppearsOnce) {
  for (const Pass pass : {Pass::Forward, Pass::ForwardSave, Pass::Backward}) {
    const Fixture f(pass);
    std::set<std::string> names;
    for (const PlanTensor& tensor : f.arguments.tensors())
      EXPECT_TRUE(names.insert(tensor.name).second) << tensor.name;
    EXPECT_EQ(names.count("x"), 1u);
    EXPECT_EQ(names.count("a"), 1u);
    EXPECT_EQ(names.count("grad_x"), pass == Pass::Backward ? 1u : 0u);
  }
}

}  // namespace
}  // namespace rondo::runtime
