#include "tests/capi/simulated.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "compiler/kernel/simulator/simulate.h"
#include "compiler/schedule/plan/lower_plan.h"
#include "compiler/target/profile.h"
#include "engine/emit/emit_stages.h"
#include "engine/plan/ready_plan.h"
#include "engine/request/load_cell.h"
#include "runtime/capi/launch/plan.h"
#include "runtime/capi/launch/status.h"
#include "tools/librondo/cell.h"
#include "tools/librondo/choose.h"
#include "tools/librondo/training.h"

namespace {

using namespace rondo;  // NOLINT: a test
using executable::Address;
using executable::Role;
using executable::Tensor;

// A tensor's host memory as the simulator has it, for one launch.
struct Held {
  const Tensor* tensor = nullptr;
  std::byte* data = nullptr;
  kernel::GlobalBuffer before;
};

class SimulatorSink final : public executable::LaunchSink {
 public:
  SimulatorSink(const executable::Executable& executable, const schedule::KernelPlan& plan,
                std::int64_t batch, std::int64_t time)
      : executable_(executable), plan_(plan), batch_(batch), time_(time) {}

  Status fill(Address pointer, std::int64_t bytes, float value, scalar::Storage storage) override {
    executable::fill_host(pointer, bytes, value, storage);
    return success();
  }
  Status copy(Address target, Address source, std::int64_t bytes) override {
    std::memcpy(reinterpret_cast<void*>(target), reinterpret_cast<const void*>(source),
                static_cast<std::size_t>(bytes));
    return success();
  }

  Status launch(std::size_t index, std::int64_t blocks, std::span<void* const> arguments) override {
    const executable::Launch& launch = executable_.launches[index];
    const auto number = [&](std::size_t i) {
      std::int64_t value = 0;
      std::memcpy(&value, arguments[i], sizeof value);
      return value;
    };
    std::vector<Held> held;
    std::vector<kernel::GlobalBuffer> buffers;
    std::vector<kernel::Argument> values(arguments.size());
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const executable::Argument& argument = launch.arguments[i];
      if (argument.kind != executable::Argument::Kind::Pointer) {
        values[i].integer = argument.bytes == 4 ? static_cast<std::int32_t>(number(i)) : number(i);
        continue;
      }
      const Tensor& tensor = executable_.tensors[argument.tensor];
      values[i].buffer = static_cast<int>(buffers.size());
      held.push_back({&tensor, reinterpret_cast<std::byte*>(number(i)), {}});
      buffers.push_back(read(held.back(), elements_of(launch, argument.tensor, arguments)));
      held.back().before = buffers.back();
    }
    const auto ran = kernel::simulate(plan_.launches[index].kernel, blocks, values, buffers);
    if (!ran.faults.empty()) return Error{ErrorKind::Wrong, ran.faults.front().message, ""};
    for (std::size_t i = 0; i < held.size(); ++i) write(held[i], buffers[i]);
    return success();
  }

 private:
  // From the first element to the last that the launch may touch.
  std::int64_t elements_of(const executable::Launch& launch, std::uint16_t index,
                           std::span<void* const> arguments) const {
    const Tensor& tensor = executable_.tensors[index];
    if (tensor.ref.role == Role::Status) return 1;
    const bool in_workspace = executable::is_internal(tensor.ref.role) && tensor.lies_in < 0;
    if (!executable::has_time_axis(tensor.ref.role) || in_workspace) return tensor.size.at(batch_, time_);
    std::int64_t reach = tensor.unit;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (launch.arguments[i].tensor != index) continue;
      std::int64_t stride = 0;
      std::memcpy(&stride, arguments[i], sizeof stride);
      if (launch.arguments[i].kind == executable::Argument::Kind::StrideB) reach += stride * (batch_ - 1);
      if (launch.arguments[i].kind == executable::Argument::Kind::StrideT) reach += stride * (time_ - 1);
    }
    return reach;
  }

  static kernel::GlobalBuffer read(const Held& held, std::int64_t elements) {
    kernel::GlobalBuffer buffer = kernel::output_buffer(held.tensor->storage, elements);
    buffer.written.assign(buffer.written.size(), true);
    if (held.tensor->ref.role == Role::Status) return buffer.integers.assign(1, 0), buffer;
    const std::int64_t bytes = scalar::storage_bytes(buffer.storage);
    for (std::int64_t i = 0; i < elements; ++i) {
      const std::byte* at = held.data + i * bytes;
      if (buffer.storage == scalar::Storage::I32)
        std::memcpy(&buffer.integers[static_cast<std::size_t>(i)], at, sizeof(std::int32_t));
      else if (buffer.storage == scalar::Storage::U8)
        buffer.integers[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(*at);
      else
        buffer.values[static_cast<std::size_t>(i)] = static_cast<float>(scalar::decode(buffer.storage, at));
    }
    return buffer;
  }

  // What the kernel changed.
  static void write(const Held& held, const kernel::GlobalBuffer& after) {
    if (held.tensor->ref.role == Role::Status || after.storage == scalar::Storage::U8) return;
    const auto bytes = static_cast<std::size_t>(scalar::storage_bytes(after.storage));
    for (std::size_t i = 0; i < after.written.size(); ++i) {
      std::byte* at = held.data + i * bytes;
      if (after.storage == scalar::Storage::I32)
        std::memcpy(at, &after.integers[i], sizeof(std::int32_t));
      else if (std::bit_cast<std::uint32_t>(after.values[i]) !=
               std::bit_cast<std::uint32_t>(held.before.values[i]))
        scalar::encode(after.storage, static_cast<double>(after.values[i]), at);
    }
  }

  const executable::Executable& executable_;
  const schedule::KernelPlan& plan_;
  std::int64_t batch_, time_;
};

class SimulatedWork final : public capi::Work {
 public:
  SimulatedWork(executable::Executable executable, schedule::KernelPlan plan, executable::Launcher launcher)
      : executable_(std::move(executable)), plan_(std::move(plan)), launcher_(std::move(launcher)) {}

  const std::vector<Tensor>& tensors() const override { return launcher_.tensors(); }
  std::int64_t workspace_bytes(std::int64_t batch, std::int64_t time) const override {
    return launcher_.workspace_bytes(batch, time);
  }
  Status launch(void*, const executable::Bindings& bindings, std::int64_t batch,
                std::int64_t time) const override {
    SimulatorSink sink(executable_, plan_, batch, time);
    return launcher_.launch(sink, bindings, batch, time);
  }
  // The simulator runs a grid of any size.
  Status check_fits(std::int64_t, std::int64_t) const override { return success(); }
  Status prepare(const executable::Bindings& bindings, std::int64_t batch, std::int64_t time) const override {
    return launcher_.check_call(bindings, batch, time);
  }
  Status copy(void*, Address target, Address source, std::int64_t bytes) const override {
    std::memcpy(reinterpret_cast<void*>(target), reinterpret_cast<const void*>(source),
                static_cast<std::size_t>(bytes));
    return success();
  }

 private:
  executable::Executable executable_;
  schedule::KernelPlan plan_;
  executable::Launcher launcher_;
};

Result<std::unique_ptr<capi::PlanObject>> simulated(const std::shared_ptr<const capi::Device>& device,
                                                    const step::Cell& cell, const schedule::Problem& problem,
                                                    const std::string& strategy) {
  const auto profile = target::find_profile("h100");
  if (!profile) return profile.error();
  const auto choice = engine::choose_with({cell, problem, *profile}, {strategy, {}});
  if (!choice) return choice.error();
  auto plan = engine::build_choice({cell, problem, *profile}, *choice);
  if (!plan) return plan.error();
  auto executable = schedule::lower_plan({cell, problem, *profile}, *plan);
  if (!executable) return executable.error();
  auto launcher = executable::Launcher::make(*executable);
  if (!launcher) return launcher.error();
  auto identity = executable->identity;
  auto work = std::make_unique<SimulatedWork>(std::move(*executable), std::move(*plan), std::move(*launcher));
  return capi::make_plan(device, std::move(identity), std::move(work), {"simulated", "for tests", false, 0});
}

Result<std::unique_ptr<capi::PlanObject>> simulated_pass(const std::shared_ptr<const capi::Device>& device,
                                                         const std::string& name, const rondo_problem& given,
                                                         const std::string& strategy) {
  const auto file = engine::load_cell_file(name);
  if (!file) return file.error();
  const auto cell = engine::select_cell(*file, "");
  if (!cell) return cell.error();
  const auto problem = capi::problem_of(*cell, given);
  if (!problem) return problem.error();
  return simulated(device, *cell, *problem, strategy);
}

}  // namespace

extern "C" rondo_status simulated_plan(rondo_context* context, const char* cell, const rondo_problem* problem,
                                       const char* strategy, rondo_plan** plan) {
  return capi::guarded([&]() -> Status {
    const auto object = capi::object_of<capi::ContextObject>(context);
    if (!object) return object.error();
    auto made = simulated_pass((*object)->device, cell, *problem, strategy);
    if (!made) return made.error();
    *plan = capi::new_handle(std::move(made).value());
    return success();
  });
}

extern "C" rondo_status simulated_training(rondo_context* context, const rondo_cell* cell,
                                           const rondo_problem* problem, rondo_training** training) {
  return capi::guarded([&]() -> Status {
    const auto object = capi::object_of<capi::ContextObject>(context);
    if (!object) return object.error();
    const auto of = capi::object_of<capi::CellObject>(cell);
    if (!of) return of.error();
    rondo_problem part = *problem;
    part.pass = RONDO_PASS_FORWARD_SAVE;
    if (part.every > 0) part.time = std::min(part.time, part.every);
    auto asked = capi::problem_of(*(*of)->cell, part);
    if (!asked) return asked.error();
    auto forward = simulated((*object)->device, *(*of)->cell, *asked, "");
    if (!forward) return forward.error();
    asked->pass = schedule::Pass::Backward;
    auto backward = simulated((*object)->device, *(*of)->cell, *asked, "");
    if (!backward) return backward.error();
    *training = capi::new_handle(capi::make_training(
        *(*of)->cell, {engine::Save::States, std::move(*forward), std::move(*backward), problem->every}));
    return success();
  });
}
