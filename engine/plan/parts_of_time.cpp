#include "engine/plan/parts_of_time.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/scalar/storage.h"
#include "compiler/support/index.h"

namespace rondo::engine {

using schedule::Role;
using schedule::TensorRef;

namespace {

const DeviceTensor* find(const std::vector<DeviceTensor>& tensors, TensorRef ref) {
  const auto found =
      std::ranges::find_if(tensors, [&](const DeviceTensor& tensor) { return tensor.ref() == ref; });
  return found == tensors.end() ? nullptr : &*found;
}

bool is_given(Role role) {
  return role == Role::Input || role == Role::Param || role == Role::InitialState || role == Role::Resets ||
         role == Role::Lengths || role == Role::OutputGradient || role == Role::LastStateGradient;
}

bool is_result(Role role) { return !is_given(role) && !executable::is_saved(role); }

}  // namespace

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
  const TimeParts parts{sizes.time, every, task.written.direction == step::Direction::Reversed};
  if (parts.count() > 1)
    if (Status status = check_parts_of_time(task.written); !status) return status.error();
  TrainingStep made(task, sizes, plans, device, parts);
  if (Status status = made.allocate(given); !status) return status.error();
  return made;
}

TrainingStep::TrainingStep(const schedule::Task& task, const step::Sizes& sizes, const TrainingPlans& plans,
                           const runtime::Device& device, TimeParts parts)
    : task_(&task),
      sizes_(sizes),
      plans_(plans),
      device_(&device),
      parts_(parts, sizes.batch, (parts.count() > 1 ? plans.forward : plans.saving)->tensors(),
             plans.saving->tensors(), plans.backward->tensors(), plans.again_of) {}

Status TrainingStep::allocate(const GivenOf& given) {
  for (const runtime::LoadedPlan* plan : {plans_.saving, plans_.backward})
    for (const executable::Tensor& tensor : plan->tensors())
      if (Status status = allocate(tensor, given); !status) return status;
  for (PartBindings::Piece& piece : parts_.pieces()) {
    Result<runtime::Memory> memory = device_->allocate(at(piece.bytes()));
    if (!memory) return memory.error();
    piece.address = memory->address();
    if (Status status = device_->fill(piece.address, scalar::kPoisonByte, memory->bytes()); !status)
      return status;
    pieces_.push_back(std::move(memory).value());
  }
  Result<runtime::Memory> workspace = device_->allocate(at(workspace_bytes()));
  if (!workspace) return workspace.error();
  workspace_ = std::move(workspace).value();
  return success();
}

// What both plans have is there once.
Status TrainingStep::allocate(const executable::Tensor& tensor, const GivenOf& given) {
  const TensorRef ref = tensor.ref;
  if (schedule::is_internal(ref.role) || !(is_given(ref.role) || is_result(ref.role)) || find(whole_, ref) ||
      find(lengths_, ref))
    return success();
  const std::vector<double>* values = is_given(ref.role) ? given(ref) : nullptr;
  if (values == nullptr && tensor.need == executable::Need::Zero) return success();
  if (ref.role == Role::Lengths && values != nullptr) return allocate_lengths(ref, *values);
  Result<DeviceTensor> made = DeviceTensor::allocate(*device_, ref, *task_, sizes_);
  if (!made) return made.error();
  if (Status filled = values != nullptr ? made->upload(*values) : made->poison(); !filled) return filled;
  whole_.push_back(std::move(made).value());
  return success();
}

// The steps that each row has in a part: those of its length that stand there.
Status TrainingStep::allocate_lengths(TensorRef ref, const std::vector<double>& lengths) {
  for (std::int64_t number = 0; number < parts_.parts().count(); ++number) {
    const TimePart part = parts_.parts().part(number);
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

std::int64_t TrainingStep::workspace_bytes() const {
  std::int64_t bytes = 0;
  for (const runtime::LoadedPlan* plan : all_plans())
    for (const std::int64_t number : {std::int64_t{0}, parts_.parts().count() - 1})
      bytes = std::max(bytes, plan->workspace_bytes(sizes_.batch, parts_.parts().part(number).steps));
  return bytes;
}

std::vector<const runtime::LoadedPlan*> TrainingStep::all_plans() const {
  std::vector<const runtime::LoadedPlan*> all{plans_.forward, plans_.saving, plans_.backward, plans_.again};
  std::erase(all, nullptr);
  return all;
}

const runtime::LoadedPlan& TrainingStep::plan_of(PartLaunch which) const {
  return *(which == PartLaunch::Walk    ? plans_.forward
           : which == PartLaunch::Save  ? plans_.saving
           : which == PartLaunch::Again ? plans_.again
                                        : plans_.backward);
}

Status TrainingStep::start(PartLaunch which, std::int64_t part) const {
  const runtime::LoadedPlan& plan = plan_of(which);
  runtime::Bindings whole, bindings;
  for (const DeviceTensor& tensor : whole_) whole.set(tensor.binding());
  if (!lengths_.empty()) whole.set(lengths_[at(part)].binding());
  parts_.bind(plan.tensors(), part, which, whole, bindings);
  if (workspace_.bytes() > 0)
    bindings.set_workspace(workspace_.address(), static_cast<std::int64_t>(workspace_.bytes()));
  return plan.launch(bindings, sizes_.batch, parts_.parts().part(part).steps);
}

Status TrainingStep::launch(PartLaunch which, std::int64_t part) {
  if (Status status = start(which, part); !status) return status;
  if (Status status = device_->wait(); !status) return status;
  return plan_of(which).check();
}

Status TrainingStep::submit() const {
  const std::int64_t count = parts_.parts().count();
  for (std::int64_t part = 0; part + 1 < count; ++part)
    if (Status status = start(PartLaunch::Walk, part); !status) return status;
  for (std::int64_t part = count; part-- > 0;) {
    if (const auto saving = parts_.saving(part))
      if (Status status = start(*saving, part); !status) return status;
    if (Status status = start(PartLaunch::Back, part); !status) return status;
  }
  return success();
}

Status TrainingStep::check() const {
  for (const runtime::LoadedPlan* plan : all_plans())
    if (Status status = plan->check(); !status) return status;
  return success();
}

Status TrainingStep::run() {
  sums_.clear();
  const std::int64_t count = parts_.parts().count();
  for (std::int64_t part = 0; part + 1 < count; ++part)
    if (Status status = launch(PartLaunch::Walk, part); !status) return status;
  for (std::int64_t part = count; part-- > 0;) {
    if (const auto saving = parts_.saving(part))
      if (Status status = launch(*saving, part); !status) return status;
    if (Status status = launch(PartLaunch::Back, part); !status) return status;
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
  PartsMemory memory{parts_.parts().count(), 0, static_cast<std::int64_t>(workspace_.bytes())};
  memory.products = std::ranges::any_of(plans_.saving->tensors(), [](const executable::Tensor& tensor) {
    return tensor.ref.role == Role::Products;
  });
  for (const runtime::Memory& piece : pieces_) memory.saved_bytes += static_cast<std::int64_t>(piece.bytes());
  return memory;
}

}  // namespace rondo::engine
