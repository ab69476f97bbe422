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

int StreamKernel::stage_numbers(TensorRef ref, bool shifted) {
  StagedNumbers numbers;
  numbers.input = signature_.reads(ref);
  if (shifted) numbers.input.name += "_before";
  numbers.shifted = shifted;
  numbers.heads = parameters_.heads;
  numbers_.push_back(numbers);
  return static_cast<int>(numbers_.size()) - 1;
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
    if (!flags_.is_length(tensor)) numbers_.push_back({tensor, {}, false, 1, {}, {}});
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
  const Value place = row_base(from) + b.wide(numbers.shifted ? t - 1 : t) * from.stride_t;
  Value of_head = (parameters_.heads > 1 ? first_head_ : head_) * from.rows + row;
  if (task_.problem.sizes.heads % parameters_.heads != 0)
    of_head = min(of_head, b.constant(task_.problem.sizes.heads * from.rows - 1));
  return b.load("number", from.memory[place + b.wide(of_head)]);
}

void StreamKernel::load_numbers(Value block) {
  auto& b = builder_;
  const Value first = b.let("coming_step", first_step_of(block));
  each_number([&](std::size_t turn, Value step) {
    b.if_(block < blocks_ && first + step < time_, [&] {
      for (const StagedNumbers& numbers : numbers_)
        if_all({numbers.shifted ? first + step >= 1 : Value{}}, [&] {
          for (int row = 0; row < numbers.rows(); ++row)
            b.assign(numbers.coming[turn * at(numbers.rows()) + at(row)],
                     load_number(numbers, row, first + step));
        });
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
  for (std::size_t i = 0; i < numbers_.size(); ++i) {
    const StagedNumbers& numbers = numbers_[i];
    const Value line = (number_line_ + place) * numbers.rows();
    if (numbers.is_reset()) {
      const Value staged = b.load("reset_staged", numbers.shared[line]);
      result.flags[numbers.tensor] = flags_.value(numbers.tensor, staged, t);
      continue;
    }
    for (int row = 0; row < numbers.input.rows; ++row) {
      Value own = line + row;
      if (parameters_.heads > 1) own = own + head_read_ * numbers.input.rows;
      result.inputs.emplace(std::pair{static_cast<int>(i), row},
                            b.load(numbers.input.name, numbers.shared[own]));
    }
  }
  return result;
}

void StreamKernel::set_numbers(Numbers numbers) {
  flags_now_ = std::move(numbers.flags);
  inputs_now_ = std::move(numbers.inputs);
}

}  // namespace rondo::schedule
