// Values of a step that all channels of a warp share, resets and inputs with one value a head. A lane loads
// those of one step of the stage that comes, and puts them into shared memory when the stage is there. The
// lanes meet at the stage's barrier before they read, and at that of the stage between before the slot is
// written again.
#include <fmt/format.h>

#include "compiler/schedule/shoot/kernel.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

using kernel::Storage;
using kernel::Value;

int ShootKernel::stage_head_value(TensorRef ref) {
  StagedHeadValue head_value;
  head_value.input = signature_.reads(ref);
  head_values_.push_back(head_value);
  return static_cast<int>(head_values_.size()) - 1;
}

void ShootKernel::place_head_values() {
  auto& b = builder_;
  const ShootParameters& p = parameters_;
  for (const step::TensorId tensor : flags_.tensors())
    if (!flags_.is_length(tensor)) resets_.push_back({tensor, {}, {}});
  const std::int64_t slots = std::int64_t{p.warps()} * kHeadValueSlots * p.steps;
  const std::string shape = fmt::format("[warps {}, slots {}, steps {}", p.warps(), kHeadValueSlots, p.steps);
  for (StagedReset& reset : resets_)
    reset.shared = b.shared("resets_staged", Storage::F32, slots, shape + "]");
  for (StagedHeadValue& head_value : head_values_) {
    const int rows = head_value.input.rows;
    head_value.shared = b.shared(head_value.input.name + "_staged", Storage::F32, slots * rows,
                                 shape + fmt::format(", rows {}]", rows));
    head_value.base =
        b.let(head_value.input.name + "_base", row_base(head_value.input) + b.wide(head_ * rows));
  }
}

void ShootKernel::begin_head_values() {
  auto& b = builder_;
  for (StagedReset& reset : resets_) reset.coming = b.variable("coming_reset", b.constant(0));
  for (StagedHeadValue& head_value : head_values_) {
    head_value.coming.clear();
    for (int row = 0; row < head_value.input.rows; ++row)
      head_value.coming.push_back(b.variable("coming_" + head_value.input.name, b.real(0)));
  }
}

void ShootKernel::load_head_values(Value stage_step) {
  if (resets_.empty() && head_values_.empty()) return;
  auto& b = builder_;
  const Value step = b.let(head_values_.empty() ? "reset_step" : "number_step", stage_step + lane_of_warp_);
  b.if_(lane_of_warp_ < parameters_.steps && step < end_, [&] {
    for (const StagedReset& reset : resets_)
      b.assign(reset.coming, flags_.load(reset.tensor, batch_index_, step));
    for (const StagedHeadValue& head_value : head_values_)
      for (int row = 0; row < head_value.input.rows; ++row) {
        const Value place = head_value.base + b.wide(step) * head_value.input.stride_t + std::int64_t{row};
        b.assign(head_value.coming[at(row)], b.load("number", head_value.input.memory[place]));
      }
  });
}

void ShootKernel::store_head_values(Value block) {
  if (resets_.empty() && head_values_.empty()) return;
  auto& b = builder_;
  now_.head_values = b.let(head_values_.empty() ? "resets_at" : "numbers_at",
                           (warp_ * kHeadValueSlots + block % kHeadValueSlots) * parameters_.steps);
  b.if_(lane_of_warp_ < parameters_.steps, [&] {
    for (const StagedReset& reset : resets_)
      b.store(reset.shared[now_.head_values + lane_of_warp_], flags_.value(reset.tensor, reset.coming, {}));
    for (const StagedHeadValue& head_value : head_values_)
      for (int row = 0; row < head_value.input.rows; ++row)
        b.store(head_value.shared[(now_.head_values + lane_of_warp_) * head_value.input.rows + row],
                head_value.coming[at(row)]);
  });
}

ShootKernel::HeadValues ShootKernel::head_values_at(Value step_of_stage) const {
  HeadValues result;
  for (const step::TensorId tensor : flags_.tensors())
    if (flags_.is_length(tensor))
      result.flags[tensor] = flags_.read(tensor, batch_index_, now_.stage + step_of_stage);
  for (const StagedReset& reset : resets_)
    result.flags[reset.tensor] =
        batch_index_.builder()->load("reset", reset.shared[now_.head_values + step_of_stage]);
  for (const StagedHeadValue& head_value : head_values_) {
    std::vector<Value>& rows = result.inputs.emplace_back();
    for (int row = 0; row < head_value.input.rows; ++row)
      rows.push_back(batch_index_.builder()->load(
          head_value.input.name,
          head_value.shared[(now_.head_values + step_of_stage) * head_value.input.rows + row]));
  }
  return result;
}

}  // namespace rondo::schedule
