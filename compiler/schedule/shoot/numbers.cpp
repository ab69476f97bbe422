// Numbers of a step that all channels of a warp share, resets and inputs with one value a head. A lane loads
// those of one step of the stage that comes, and puts them into shared memory when the stage is there. The
// lanes meet at the stage's barrier before they read, and at that of the stage between before the slot is
// written again.
#include <fmt/format.h>

#include "compiler/schedule/shoot/kernel.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

using kernel::Storage;
using kernel::Value;

int ShootKernel::stage_number(TensorRef ref) {
  StagedNumber number;
  number.input = signature_.reads(ref);
  numbers_.push_back(number);
  return static_cast<int>(numbers_.size()) - 1;
}

void ShootKernel::place_numbers() {
  auto& b = builder_;
  const ShootParameters& p = parameters_;
  for (const step::TensorId tensor : flags_.tensors())
    if (!flags_.is_length(tensor)) resets_.push_back({tensor, {}, {}});
  const std::int64_t slots = std::int64_t{p.warps()} * kNumberSlots * p.steps;
  const std::string shape = fmt::format("[warps {}, slots {}, steps {}", p.warps(), kNumberSlots, p.steps);
  for (StagedReset& reset : resets_)
    reset.shared = b.shared("resets_staged", Storage::F32, slots, shape + "]");
  for (StagedNumber& number : numbers_) {
    const int rows = number.input.rows;
    number.shared = b.shared(number.input.name + "_staged", Storage::F32, slots * rows,
                             shape + fmt::format(", rows {}]", rows));
    number.base = b.let(number.input.name + "_base", row_base(number.input) + b.wide(head_ * rows));
  }
}

void ShootKernel::begin_numbers() {
  auto& b = builder_;
  for (StagedReset& reset : resets_) reset.coming = b.variable("coming_reset", b.constant(0));
  for (StagedNumber& number : numbers_) {
    number.coming.clear();
    for (int row = 0; row < number.input.rows; ++row)
      number.coming.push_back(b.variable("coming_" + number.input.name, b.real(0)));
  }
}

void ShootKernel::load_numbers(Value stage_step) {
  if (resets_.empty() && numbers_.empty()) return;
  auto& b = builder_;
  const Value step = b.let(numbers_.empty() ? "reset_step" : "number_step", stage_step + lane_of_warp_);
  b.if_(lane_of_warp_ < parameters_.steps && step < end_, [&] {
    for (const StagedReset& reset : resets_)
      b.assign(reset.coming, flags_.load(reset.tensor, batch_index_, step));
    for (const StagedNumber& number : numbers_)
      for (int row = 0; row < number.input.rows; ++row) {
        const Value place = number.base + b.wide(step) * number.input.stride_t + std::int64_t{row};
        b.assign(number.coming[at(row)], b.load("number", number.input.memory[place]));
      }
  });
}

void ShootKernel::store_numbers(Value block) {
  if (resets_.empty() && numbers_.empty()) return;
  auto& b = builder_;
  now_.numbers = b.let(numbers_.empty() ? "resets_at" : "numbers_at",
                       (warp_ * kNumberSlots + block % kNumberSlots) * parameters_.steps);
  b.if_(lane_of_warp_ < parameters_.steps, [&] {
    for (const StagedReset& reset : resets_)
      b.store(reset.shared[now_.numbers + lane_of_warp_], flags_.value(reset.tensor, reset.coming, {}));
    for (const StagedNumber& number : numbers_)
      for (int row = 0; row < number.input.rows; ++row)
        b.store(number.shared[(now_.numbers + lane_of_warp_) * number.input.rows + row],
                number.coming[at(row)]);
  });
}

ShootKernel::Numbers ShootKernel::numbers_at(Value step_of_stage) const {
  Numbers result;
  for (const step::TensorId tensor : flags_.tensors())
    if (flags_.is_length(tensor))
      result.flags[tensor] = flags_.read(tensor, batch_index_, now_.stage + step_of_stage);
  for (const StagedReset& reset : resets_)
    result.flags[reset.tensor] =
        batch_index_.builder()->load("reset", reset.shared[now_.numbers + step_of_stage]);
  for (const StagedNumber& number : numbers_) {
    std::vector<Value>& rows = result.inputs.emplace_back();
    for (int row = 0; row < number.input.rows; ++row)
      rows.push_back(batch_index_.builder()->load(
          number.input.name, number.shared[(now_.numbers + step_of_stage) * number.input.rows + row]));
  }
  return result;
}

}  // namespace rondo::schedule
