// Numbers of a step that all channels of the block share, resets and inputs with one value a head, go to
// shared memory as the rows of inputs do: what a step loaded itself would be waited for in each group of
// steps. Threads that compute load those of a stage, a step each, while the stage before is computed. The two
// places are ordered by the barrier of each stage, like the slots of the ring.
#include <fmt/format.h>

#include "compiler/schedule/stream/kernel.h"
#include "compiler/schedule/stream/resources.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

using kernel::Value;

void StreamKernel::stage_numbers(step::TensorId input) {
  StagedNumbers numbers;
  numbers.tensor = input;
  numbers.input = signature_.reads({Role::Input, input});
  numbers_.push_back(numbers);
}

// The threads that compute have a step each, in as many turns as the stage's steps take.
void StreamKernel::each_number(const std::function<void(std::size_t, Value)>& body) {
  const int threads = parameters_.computing(), steps = parameters_.steps;
  for (int first = 0; first < steps; first += threads) {
    const Value step = builder_.thread() + first;
    if_all({computing(), first + threads > steps ? step < steps : Value{}},
           [&] { body(at(first / threads), step); });
  }
}

void StreamKernel::begin_numbers() {
  auto& b = builder_;
  for (const step::TensorId tensor : flags_.tensors())
    if (!flags_.is_length(tensor)) numbers_.push_back({tensor, {}, {}, {}});
  if (numbers_.empty()) return;
  for (StagedNumbers& numbers : numbers_) {
    const bool reset = numbers.is_reset();
    numbers.shared =
        b.shared(reset ? "resets_staged" : numbers.input.name + "_staged",
                 reset ? kernel::Storage::I32 : kernel::Storage::F32,
                 std::int64_t{kNumberLines} * parameters_.steps * numbers.rows(),
                 reset ? "[stages 2, steps]" : fmt::format("[stages 2, steps, rows {}]", numbers.rows()));
    for (int first = 0; first < parameters_.steps; first += parameters_.computing())
      for (int row = 0; row < numbers.rows(); ++row)
        numbers.coming.push_back(reset ? b.variable("coming_reset", b.constant(0))
                                       : b.variable("coming_" + numbers.input.name, b.real(0)));
  }
  load_numbers(b.constant(0));
}

Value StreamKernel::load_number(const StagedNumbers& numbers, int row, Value t) {
  auto& b = builder_;
  if (numbers.is_reset()) return flags_.load(numbers.tensor, batch_index_, t);
  const KernelTensor& from = numbers.input;
  const Value place = b.wide(batch_index_) * from.stride_b + b.wide(t) * from.stride_t;
  return b.load("number", from.memory[place + b.wide(head_ * from.rows + row)]);
}

void StreamKernel::load_numbers(Value block) {
  auto& b = builder_;
  const Value first = b.let("coming_step", first_step_of(block));
  each_number([&](std::size_t turn, Value step) {
    b.if_(block < blocks_ && first + step < time_, [&] {
      for (const StagedNumbers& numbers : numbers_)
        for (int row = 0; row < numbers.rows(); ++row)
          b.assign(numbers.coming[turn * at(numbers.rows()) + at(row)],
                   load_number(numbers, row, first + step));
    });
  });
}

void StreamKernel::put_numbers(Value block) {
  if (numbers_.empty()) return;
  number_line_ = builder_.let("number_line", block % kNumberLines * parameters_.steps);
  each_number([&](std::size_t turn, Value step) {
    for (const StagedNumbers& numbers : numbers_)
      for (int row = 0; row < numbers.rows(); ++row)
        builder_.store(numbers.shared[(number_line_ + step) * numbers.rows() + row],
                       numbers.coming[turn * at(numbers.rows()) + at(row)]);
  });
  load_numbers(block + 1);
}

StreamKernel::Numbers StreamKernel::numbers_at(Value place, Value t) {
  auto& b = builder_;
  Numbers result;
  for (const step::TensorId tensor : flags_.tensors())
    if (flags_.is_length(tensor)) result.flags[tensor] = flags_.read(tensor, batch_index_, t);
  for (const StagedNumbers& numbers : numbers_)
    for (int row = 0; row < numbers.rows(); ++row) {
      const kernel::Place from = numbers.shared[(number_line_ + place) * numbers.rows() + row];
      if (numbers.is_reset())
        result.flags[numbers.tensor] = flags_.value(numbers.tensor, b.load("reset_staged", from), t);
      else
        result.inputs.emplace(std::pair{numbers.tensor, row}, b.load(numbers.input.name, from));
    }
  return result;
}

void StreamKernel::set_numbers(Numbers numbers) {
  flags_now_ = std::move(numbers.flags);
  inputs_now_ = std::move(numbers.inputs);
}

}  // namespace rondo::schedule
