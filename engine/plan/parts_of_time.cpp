#include "engine/plan/parts_of_time.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/support/index.h"

namespace rondo::engine {

using executable::Binding;
using schedule::Role;
using schedule::TensorRef;

namespace {

const DeviceTensor* find(const std::vector<DeviceTensor>& tensors, TensorRef ref) {
  const auto found =
      std::ranges::find_if(tensors, [&](const DeviceTensor& tensor) { return tensor.ref() == ref; });
  return found == tensors.end() ? nullptr : &*found;
}

std::optional<Binding> bound(const std::vector<DeviceTensor>& tensors, TensorRef ref) {
  const DeviceTensor* tensor = find(tensors, ref);
  return tensor == nullptr ? std::nullopt : std::optional(tensor->binding());
}

// The same memory in another role: last states are the first ones of the part behind.
std::optional<Binding> bound_as(TensorRef ref, const std::vector<DeviceTensor>& tensors, Role role) {
  std::optional<Binding> binding = bound(tensors, {role, ref.tensor});
  if (binding) binding->tensor = ref;
  return binding;
}

// From a step on.
std::optional<Binding> sliced(const std::vector<DeviceTensor>& tensors, TensorRef ref, std::int64_t begin) {
  const DeviceTensor* tensor = find(tensors, ref);
  if (tensor == nullptr) return std::nullopt;
  Binding binding = tensor->binding();
  const std::int64_t bytes = begin * binding.strides->t * kernel::storage_bytes(tensor->storage());
  binding.pointer += static_cast<executable::Address>(bytes);
  binding.bytes = *binding.bytes - bytes;
  return binding;
}

bool is_given(Role role) {
  return role == Role::Input || role == Role::Param || role == Role::InitialState || role == Role::Resets ||
         role == Role::Lengths || role == Role::OutputGradient || role == Role::LastStateGradient;
}

bool is_saved(Role role) { return role == Role::History || role == Role::Products; }

bool is_result(Role role) { return !is_given(role) && !is_saved(role); }

std::int64_t bytes_of(const std::vector<DeviceTensor>& tensors) {
  std::int64_t bytes = 0;
  for (const DeviceTensor& tensor : tensors) bytes += static_cast<std::int64_t>(tensor.buffer().bytes());
  return bytes;
}

}  // namespace

std::vector<TimePart> parts_of_time(std::int64_t time, std::int64_t every, bool reversed) {
  std::vector<TimePart> parts;
  for (std::int64_t walked = 0; walked < time; walked += parts.back().steps) {
    const std::int64_t steps = std::min(every, time - walked);
    parts.push_back({reversed ? time - walked - steps : walked, steps});
  }
  return parts;
}

Status check_parts_of_time(const step::Cell& cell) {
  const char* why = cell.seed() ? "draws random numbers, which parts would repeat"
                    : cell.direction == step::Direction::Halves
                        ? "walks both ways, and parts of time follow each other one way"
                        : nullptr;
  if (why == nullptr) return success();
  return Error{ErrorKind::Unsupported, fmt::format("no parts of time: cell {} {}", cell.name, why),
               "save what a whole pass saves: leave out --save every=K"};
}

Result<TrainingStep> TrainingStep::make(const schedule::Task& task, const step::Sizes& sizes,
                                        std::int64_t every, const TrainingPlans& plans,
                                        const runtime::Device& device, const GivenOf& given) {
  TrainingStep made(task, sizes, plans, device);
  made.parts_ = parts_of_time(sizes.time, every, task.written.direction == step::Direction::Reversed);
  if (made.parts_.size() > 1)
    if (Status status = check_parts_of_time(task.written); !status) return status.error();
  if (Status status = made.allocate(given); !status) return status.error();
  return made;
}

Status TrainingStep::allocate(const GivenOf& given) {
  for (const runtime::LoadedPlan* plan : {plans_.saving, plans_.backward})
    for (const executable::Tensor& tensor : plan->tensors())
      if (Status status = allocate(tensor, given); !status) return status;
  if (Status status = allocate_between(); !status) return status;
  Result<runtime::Memory> workspace = device_->allocate(at(workspace_bytes()));
  if (!workspace) return workspace.error();
  workspace_ = std::move(workspace).value();
  return success();
}

// What both plans have is there once.
Status TrainingStep::allocate(const executable::Tensor& tensor, const GivenOf& given) {
  const TensorRef ref = tensor.ref;
  if (schedule::is_internal(ref.role) || find(whole_, ref) || find(part_, ref) || find(lengths_, ref))
    return success();
  const std::vector<double>* values = is_given(ref.role) ? given(ref) : nullptr;
  if (values == nullptr && tensor.need == executable::Need::Zero) return success();
  if (ref.role == Role::Lengths && values != nullptr) return allocate_lengths(ref, *values);
  step::Sizes sizes = sizes_;
  if (is_saved(ref.role)) sizes.time = parts_.front().steps;  // the longest
  Result<DeviceTensor> made = DeviceTensor::allocate(*device_, ref, *task_, sizes);
  if (!made) return made.error();
  if (Status filled = values != nullptr ? made->upload(*values) : made->poison(); !filled) return filled;
  (is_saved(ref.role) ? part_ : whole_).push_back(std::move(made).value());
  return success();
}

// The steps that each row has in a part: those of its length that stand there.
Status TrainingStep::allocate_lengths(TensorRef ref, const std::vector<double>& lengths) {
  for (const TimePart& part : parts_) {
    std::vector<double> left = lengths;
    for (double& length : left)
      length = std::clamp(length - static_cast<double>(part.begin), 0.0, static_cast<double>(part.steps));
    Result<DeviceTensor> made = DeviceTensor::allocate(*device_, ref, *task_, sizes_);
    if (!made) return made.error();
    if (Status status = made->upload(left); !status) return status;
    lengths_.push_back(std::move(made).value());
  }
  return success();
}

// Of each part but the last its last states; of all together two sets of gradients of states.
Status TrainingStep::allocate_between() {
  if (parts_.size() == 1) return success();
  between_.resize(parts_.size() - 1);
  const auto add = [&](Tensors& tensors, TensorRef ref) -> Status {
    Result<DeviceTensor> made = DeviceTensor::allocate(*device_, ref, *task_, sizes_);
    if (!made) return made.error();
    tensors.push_back(std::move(made).value());
    return success();
  };
  for (const executable::Tensor& tensor : plans_.forward->tensors())
    for (Tensors& states : between_)
      if (tensor.ref.role == Role::LastState)
        if (Status status = add(states, tensor.ref); !status) return status;
  for (const executable::Tensor& tensor : plans_.backward->tensors())
    for (Tensors& gradients : gradients_)
      if (tensor.ref.role == Role::InitialStateGradient)
        if (Status status = add(gradients, tensor.ref); !status) return status;
  return success();
}

std::int64_t TrainingStep::workspace_bytes() const {
  std::int64_t bytes = 0;
  for (const runtime::LoadedPlan* plan : {plans_.forward, plans_.saving, plans_.backward})
    for (const TimePart& part : {parts_.front(), parts_.back()})
      if (plan != nullptr) bytes = std::max(bytes, plan->workspace_bytes(sizes_.batch, part.steps));
  return bytes;
}

const runtime::LoadedPlan& TrainingStep::plan_of(Launch which) const {
  return *(which == Launch::Forward  ? plans_.forward
           : which == Launch::Saving ? plans_.saving
                                     : plans_.backward);
}

std::optional<Binding> TrainingStep::binding_of(TensorRef ref, std::size_t part, Launch which) const {
  const bool is_last = part + 1 == parts_.size();
  switch (ref.role) {
    case Role::InitialState:
      return part == 0 ? bound(whole_, ref) : bound_as(ref, between_[part - 1], Role::LastState);
    case Role::LastState:
      if (is_last) return bound(whole_, ref);
      return which == Launch::Forward ? bound(between_[part], ref) : std::nullopt;
    case Role::LastStateGradient:
      if (is_last) return bound(whole_, ref);
      return bound_as(ref, gradients_[(part + 1) % 2], Role::InitialStateGradient);
    case Role::InitialStateGradient: return bound(part == 0 ? whole_ : gradients_[part % 2], ref);
    case Role::Lengths: return lengths_.empty() ? std::nullopt : std::optional(lengths_[part].binding());
    case Role::History:
    case Role::Products: return bound(part_, ref);
    default:
      return schedule::has_time_axis(ref.role) ? sliced(whole_, ref, parts_[part].begin) : bound(whole_, ref);
  }
}

Status TrainingStep::launch(Launch which, std::size_t part) {
  const runtime::LoadedPlan& plan = plan_of(which);
  runtime::Bindings bindings;
  for (const executable::Tensor& tensor : plan.tensors())
    if (!schedule::is_internal(tensor.ref.role))
      if (const std::optional<Binding> binding = binding_of(tensor.ref, part, which)) bindings.set(*binding);
  if (workspace_.bytes() > 0)
    bindings.set_workspace(workspace_.address(), static_cast<std::int64_t>(workspace_.bytes()));
  if (Status status = plan.launch(bindings, sizes_.batch, parts_[part].steps); !status) return status;
  if (Status status = device_->wait(); !status) return status;
  return plan.check();
}

Status TrainingStep::run() {
  sums_.clear();
  for (std::size_t part = 0; part + 1 < parts_.size(); ++part)
    if (Status status = launch(Launch::Forward, part); !status) return status;
  for (std::size_t part = parts_.size(); part-- > 0;) {
    if (Status status = launch(Launch::Saving, part); !status) return status;
    if (Status status = launch(Launch::Backward, part); !status) return status;
    if (Status status = add_gradients(); !status) return status;
  }
  return success();
}

// Those of a part to those of the parts behind it.
Status TrainingStep::add_gradients() {
  for (const DeviceTensor& tensor : whole_) {
    if (tensor.ref().role != Role::ParamGradient) continue;
    Result<ReadBack> part = tensor.download();
    if (!part) return part.error();
    const auto [sum, is_first] = sums_.try_emplace(tensor.ref().tensor, *part);
    if (!is_first) {
      sum->second.unwritten += part->unwritten;
      for (std::size_t i = 0; i < part->values.size(); ++i)
        sum->second.values[i] = static_cast<double>(static_cast<float>(sum->second.values[i]) +
                                                    static_cast<float>(part->values[i]));
    }
    if (Status status = tensor.poison(); !status) return status;
  }
  return success();
}

Result<TrainingStep::Results> TrainingStep::download() const {
  Results results;
  for (const DeviceTensor& tensor : whole_) {
    if (!is_result(tensor.ref().role)) continue;
    const auto sum = sums_.find(tensor.ref().tensor);
    if (tensor.ref().role == Role::ParamGradient && sum != sums_.end()) {
      results.push_back({tensor.ref(), tensor.name(), sum->second});
      continue;
    }
    Result<ReadBack> result = tensor.download();
    if (!result) return result.error();
    results.push_back({tensor.ref(), tensor.name(), std::move(result).value()});
  }
  return results;
}

PartsMemory TrainingStep::memory() const {
  PartsMemory memory{static_cast<std::int64_t>(parts_.size()), bytes_of(part_),
                     static_cast<std::int64_t>(workspace_.bytes())};
  for (const Tensors& states : between_) memory.saved_bytes += bytes_of(states);
  return memory;
}

}  // namespace rondo::engine
