#include "compiler/schedule/plan/simulate_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "compiler/executable/launcher.h"
#include "compiler/schedule/plan/lower_plan.h"
#include "compiler/schedule/plan/simulated_memory.h"

namespace rondo::schedule {

using executable::Address;
using executable::Executable;

namespace {

// Made-up device memory: tensors that are bound lie this far apart, and the workspace lies below them.
constexpr Address kApart = Address{1} << 44;
constexpr Address kStatus = Address{1} << 20, kWorkspace = Address{1} << 43;

// How a dense [B, T, unit] tensor lies in a buffer with padding.
struct Layout {
  std::int64_t batch = 1, time = 1, unit = 0;
  executable::Strides strides;
  bool from_end = false;  // the last step comes first
  std::int64_t dense_elements() const { return batch * time * unit; }
  std::int64_t buffer_elements() const { return batch * strides.b; }
  std::int64_t place(std::int64_t dense) const {
    const std::int64_t t = dense / unit % time;
    return dense / (time * unit) * strides.b + (from_end ? time - 1 - t : t) * strides.t + dense % unit;
  }
};

Layout layout_of(const executable::Tensor& tensor, const step::Sizes& sizes, int pad) {
  Layout l;
  if (!has_time_axis(tensor.ref.role) || is_internal(tensor.ref.role)) {
    l.unit = tensor.ref.role == Role::Status ? 1 : tensor.size.at(sizes.batch, sizes.time);
    l.strides = {l.unit, l.unit};
    return l;
  }
  l.batch = sizes.batch;
  l.time = sizes.time;
  l.unit = tensor.unit;
  l.strides.t = l.unit + pad;
  l.strides.b = l.strides.t * l.time + pad;
  return l;
}

class PlanSimulator final : public executable::LaunchSink {
 public:
  PlanSimulator(const Executable& executable, const KernelPlan& plan, const step::Sizes& sizes,
                const TensorValues& given, int pad, const kernel::SimulationOptions& options)
      : executable_(executable), plan_(plan), sizes_(sizes), given_(given), pad_(pad), options_(options) {}

  SimulatedRun run() {
    Result<executable::Launcher> launcher = executable::Launcher::make(executable_);
    if (!launcher) throw std::invalid_argument("simulate_plan: " + launcher.error().message);
    launcher->set_status(kStatus);
    bind();
    workspace_bytes_ = launcher->workspace_bytes(sizes_.batch, sizes_.time);
    const Status status = launcher->launch(*this, bindings_, sizes_.batch, sizes_.time);
    if (!status) throw std::invalid_argument("simulate_plan: " + status.error().message);
    for (const executable::Tensor& tensor : executable_.tensors)
      if (tensor.written && !is_internal(tensor.ref.role)) collect(tensor);
    if (const auto report = launcher->report(kWorkspace, sizes_.batch, sizes_.time))
      if (const kernel::GlobalBuffer* found = memory_.at(report->pointer)) {
        result_.report = found->values;
        if (!found->doubles.empty()) result_.report.assign(found->doubles.begin(), found->doubles.end());
      }
    return std::move(result_);
  }

  // The zeroed region stands for tensors of several types; each gets its own buffer of zeros there when a
  // kernel is first given it.
  Status fill(Address pointer, std::int64_t, float value, scalar::Storage) override {
    (value == 0 ? zeroed_ : filled_.emplace_back()) = pointer;
    return success();
  }

  // Of calls without rows or steps alone, which nobody simulates.
  Status copy(Address, Address, std::int64_t) override {
    throw std::logic_error("a call that computes nothing is simulated");
  }

  Status launch(std::size_t index, std::int64_t blocks, std::span<void* const> arguments) override {
    const kernel::Kernel& kernel = plan_.launches[index].kernel;
    ++result_.launches;
    std::vector<kernel::Argument> values;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const executable::Argument& argument = executable_.launches[index].arguments[i];
      std::int64_t value = 0;
      std::memcpy(&value, arguments[i], sizeof value);
      kernel::Argument result;
      using Kind = executable::Argument::Kind;
      const std::uint16_t holder = holder_of(argument.tensor);
      const bool in_result = holder != argument.tensor && from_end(holder);  // of the walk's first step
      result.tensor = static_cast<std::uint8_t>(argument.tensor);
      if (argument.kind == Kind::LastStep || (argument.kind == Kind::Pointer && in_result))
        result.buffer = buffer(holder, first_step(holder, static_cast<Address>(value)));
      else if (argument.kind == Kind::Pointer)
        result.buffer = buffer(holder, static_cast<Address>(value));
      else if (argument.kind == Kind::StrideTBack || (argument.kind == Kind::StrideT && in_result))
        result.integer = -(argument.bytes == 4 ? static_cast<std::int32_t>(value) : value);
      else
        result.integer = argument.bytes == 4 ? static_cast<std::int32_t>(value) : value;
      values.push_back(result);
    }
    const auto ran = kernel::simulate(kernel, blocks, values, memory_.buffers(), options_);
    result_.gave_up |= ran.gave_up;
    result_.steps += ran.steps;
    for (const kernel::Fault& fault : ran.faults) {
      result_.faults.push_back(fmt::format("{}: {}", kernel.name, fault.message));
      result_.kinds.push_back(fault.kind);
    }
    return success();
  }

  bool holds(Address condition) override {
    const kernel::GlobalBuffer* found = memory_.at(condition);
    return found != nullptr && found->integers.at(0) != 0;
  }

 private:
  // A tensor that is walked from its end is kept in the order of the walk: this simulator's buffers have no
  // elements before their first one. The address of step 0 by that of the last step.
  Address first_step(std::uint16_t index, Address last) const {
    const executable::Tensor& tensor = executable_.tensors[index];
    if (bindings_.find(tensor.ref) == nullptr) return last;
    const Layout l = layout_of(tensor, sizes_, pad_);
    return last - static_cast<Address>((l.time - 1) * l.strides.t * scalar::storage_bytes(tensor.storage));
  }
  bool from_end(std::size_t index) const { return executable::is_walked_from_end(executable_, index); }
  // The tensor in whose memory this one lies, which may be its own.
  std::uint16_t holder_of(std::uint16_t index) const {
    const std::int32_t result = executable_.tensors[index].lies_in;
    return result < 0 ? index : static_cast<std::uint16_t>(result);
  }
  bool holds_another(std::size_t index) const {
    return std::ranges::any_of(executable_.tensors, [&](const executable::Tensor& tensor) {
      return tensor.lies_in == static_cast<std::int32_t>(index);
    });
  }
  Layout layout(std::size_t index) const {
    Layout l = layout_of(executable_.tensors[index], sizes_, pad_);
    l.from_end = from_end(index);
    return l;
  }

  // Every tensor that is given or written, each at an address of its own.
  void bind() {
    bindings_.set_workspace(kWorkspace);
    Address next = 0;
    for (const executable::Tensor& tensor : executable_.tensors) {
      if (is_internal(tensor.ref.role)) continue;
      const bool given = given_.count(tensor.ref) != 0;
      if (!given && !tensor.written && tensor.need == executable::Need::Zero) continue;
      next += kApart;
      const Layout l = layout_of(tensor, sizes_, pad_);
      bindings_.set(tensor.ref, next, l.strides);
    }
  }

  int buffer(std::uint16_t index, Address address) {
    const executable::Tensor& tensor = executable_.tensors[index];
    const bool from_zeros = !is_internal(tensor.ref.role) && bindings_.find(tensor.ref) == nullptr;
    // Tensors that are not bound share the zeroed region; they are kept apart by their number.
    const Layout l = layout(index);
    const bool no_place = from_zeros || l.buffer_elements() == 0;
    const Address key = no_place ? kApart * 1024 + index * kWorkspace : address;
    if (const int known = memory_.find(index, key); known >= 0) return known;
    const bool was_filled =
        executable::has_region(tensor) ? std::ranges::count(filled_, address) > 0 : address == zeroed_;
    if (from_zeros && !was_filled)
      result_.faults.push_back(tensor.name + ": it was not bound, and does not lie in the zeroed region");
    kernel::GlobalBuffer made = kernel::output_buffer(tensor.storage, l.buffer_elements(), options_.fp64);
    if (holds_another(index)) made.holds.resize(made.written.size());
    fill(tensor, l, from_zeros, made);
    const std::int64_t bytes = l.buffer_elements() * scalar::storage_bytes(tensor.storage);
    const std::string other = memory_.add(index, tensor.name, key, bytes, std::move(made));
    if (!other.empty())
      result_.faults.push_back(fmt::format("{}: it overlaps {} in memory", tensor.name, other));
    if (is_internal(tensor.ref.role) && tensor.ref.role != Role::Status &&
        address + static_cast<Address>(bytes) > kWorkspace + static_cast<Address>(workspace_bytes_))
      result_.faults.push_back(tensor.name + ": it does not fit into the workspace");
    return memory_.find(index, key);
  }

  void fill(const executable::Tensor& tensor, const Layout& l, bool zeros,
            kernel::GlobalBuffer& buffer) const {
    if (tensor.ref.role == Role::Status) {
      buffer.integers[0] = 0;
      buffer.written[0] = true;
    }
    const auto found = given_.find(tensor.ref);
    if (found == given_.end() && !zeros) return;  // written by the plan; reading it first is a fault
    for (std::int64_t i = 0; i < l.dense_elements(); ++i) {
      const double value =
          zeros ? static_cast<double>(tensor.first) : found->second.at(static_cast<std::size_t>(i));
      const auto at = static_cast<std::size_t>(l.place(i));
      if (is_integer(buffer.storage))
        buffer.integers[at] = static_cast<std::int32_t>(value);
      else if (!buffer.doubles.empty())
        buffer.doubles[at] = value;
      else
        buffer.values[at] = scalar::round_to(buffer.storage, static_cast<float>(value));
      buffer.written[at] = true;
    }
  }

  void collect(const executable::Tensor& tensor) {
    const auto index = static_cast<std::size_t>(&tensor - executable_.tensors.data());
    const Layout l = layout(index);
    const int found = memory_.find(index, bindings_.find(tensor.ref)->pointer);
    std::vector<double>& values = result_.written[tensor.ref];
    if (found < 0) {  // no kernel was given it
      result_.unwritten.push_back(tensor.name);
      return;
    }
    const kernel::GlobalBuffer& buffer = memory_.buffers()[static_cast<std::size_t>(found)];
    bool complete = true;
    for (std::int64_t i = 0; i < l.dense_elements(); ++i) {
      const auto at = static_cast<std::size_t>(l.place(i));
      complete = complete && buffer.written[at] && (buffer.holds.empty() || buffer.holds[at] == index);
      values.push_back(!buffer.doubles.empty() ? buffer.doubles[at] : static_cast<double>(buffer.values[at]));
    }
    const auto touched = std::ranges::count(buffer.written, true);
    if (!complete) result_.unwritten.push_back(tensor.name);
    if (touched > l.dense_elements()) result_.faults.push_back(tensor.name + ": padding was written");
  }

  const Executable& executable_;
  const KernelPlan& plan_;
  step::Sizes sizes_;
  const TensorValues& given_;
  int pad_;
  kernel::SimulationOptions options_;
  executable::Bindings bindings_;
  SimulatedMemory memory_;
  Address zeroed_ = 0;
  std::vector<Address> filled_;  // with other numbers than 0
  std::int64_t workspace_bytes_ = 0;
  SimulatedRun result_;
};

}  // namespace

SimulatedRun simulate_executable(const Executable& executable, const KernelPlan& plan,
                                 const step::Sizes& sizes, const TensorValues& given, int pad,
                                 const kernel::SimulationOptions& options) {
  return PlanSimulator(executable, plan, sizes, given, pad, options).run();
}

SimulatedRun simulate_plan(const Task& task, const KernelPlan& plan, const TensorValues& given, int pad,
                           const kernel::SimulationOptions& options) {
  const Result<Executable> lowered = lower_plan(task, plan);
  if (!lowered) throw std::invalid_argument("simulate_plan: " + lowered.error().message);
  return simulate_executable(*lowered, plan, task.problem.sizes, given, pad, options);
}

}  // namespace rondo::schedule
