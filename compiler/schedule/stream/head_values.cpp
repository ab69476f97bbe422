// Values of a step that all channels of the block share, resets and inputs with one value a head, go to
// shared memory as the rows of inputs do: what a step loaded itself would be waited for in each group of
// steps. Threads that compute load those of a stage, a step each, while the stage before is computed. The two
// places are ordered by the barrier of each stage, like the slots of the ring.
#include <fmt/format.h>

#include "compiler/schedule/stream/kernel.h"
#include "compiler/schedule/stream/resources.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

using kernel::Value;

int StreamKernel::stage_head_values(TensorRef ref, bool shifted) {
  StagedHeadValues head_values;
  head_values.input = signature_.reads(ref);
  if (shifted) head_values.input.name += "_before";
  head_values.shifted = shifted;
  head_values.heads = parameters_.heads;
  head_values_.push_back(head_values);
  return static_cast<int>(head_values_.size()) - 1;
}

// The threads that compute have a step each, in as many turns as the stage's steps take.
void StreamKernel::each_head_value(const std::function<void(std::size_t, Value)>& body) {
  const int threads = parameters_.computing(), steps = parameters_.steps;
  for (int first = 0; first < steps; first += threads) {
    const Value step = builder_.thread() + first;
    if_all({computing(), first + threads > steps ? step < steps : Value{}},
           [&] { body(at(first / threads), step); });
  }
}

void StreamKernel::begin_head_values() {
  auto& b = builder_;
  for (const step::TensorId tensor : flags_.tensors())
    if (!flags_.is_length(tensor)) head_values_.push_back({tensor, {}, false, 1, {}, {}});
  if (head_values_.empty()) return;
  for (StagedHeadValues& head_values : head_values_) {
    const bool reset = head_values.is_reset();
    head_values.shared =
        b.shared(reset ? "resets_staged" : head_values.input.name + "_staged",
                 reset ? kernel::Storage::I32 : kernel::Storage::F32,
                 std::int64_t{kHeadValueLines} * parameters_.steps * head_values.rows(),
                 reset ? "[stages 2, steps]" : fmt::format("[stages 2, steps, rows {}]", head_values.rows()));
    for (int first = 0; first < parameters_.steps; first += parameters_.computing())
      for (int row = 0; row < head_values.rows(); ++row)
        head_values.coming.push_back(reset ? b.variable("coming_reset", b.constant(0))
                                           : b.variable("coming_" + head_values.input.name, b.real(0)));
  }
  load_head_values(b.constant(0));
}

Value StreamKernel::load_head_value(const StagedHeadValues& head_values, int row, Value t) {
  auto& b = builder_;
  if (head_values.is_reset()) return flags_.load(head_values.tensor, batch_index_, t);
  const KernelTensor& from = head_values.input;
  const Value place = row_base(from) + b.wide(head_values.shifted ? t - 1 : t) * from.stride_t;
  Value of_head = (parameters_.heads > 1 ? first_head_ : head_) * from.rows + row;
  if (task_.problem.sizes.heads % parameters_.heads != 0)
    of_head = min(of_head, b.constant(task_.problem.sizes.heads * from.rows - 1));
  return b.load("number", from.memory[place + b.wide(of_head)]);
}

void StreamKernel::load_head_values(Value block) {
  auto& b = builder_;
  const Value first = b.let("coming_step", first_step_of(block));
  each_head_value([&](std::size_t turn, Value step) {
    b.if_(block < blocks_ && first + step < time_, [&] {
      for (const StagedHeadValues& head_values : head_values_)
        if_all({head_values.shifted ? first + step >= 1 : Value{}}, [&] {
          for (int row = 0; row < head_values.rows(); ++row)
            b.assign(head_values.coming[turn * at(head_values.rows()) + at(row)],
                     load_head_value(head_values, row, first + step));
        });
    });
  });
}

void StreamKernel::put_head_values(Value block) {
  if (head_values_.empty()) return;
  head_value_line_ = builder_.let("number_line", block % kHeadValueLines * parameters_.steps);
  each_head_value([&](std::size_t turn, Value step) {
    for (const StagedHeadValues& head_values : head_values_)
      for (int row = 0; row < head_values.rows(); ++row)
        builder_.store(head_values.shared[(head_value_line_ + step) * head_values.rows() + row],
                       head_values.coming[turn * at(head_values.rows()) + at(row)]);
  });
  load_head_values(block + 1);
}

StreamKernel::HeadValues StreamKernel::head_values_at(Value place, Value t) {
  auto& b = builder_;
  HeadValues result;
  for (const step::TensorId tensor : flags_.tensors())
    if (flags_.is_length(tensor)) result.flags[tensor] = flags_.read(tensor, batch_index_, t);
  for (std::size_t i = 0; i < head_values_.size(); ++i) {
    const StagedHeadValues& head_values = head_values_[i];
    const Value line = (head_value_line_ + place) * head_values.rows();
    if (head_values.is_reset()) {
      const Value staged = b.load("reset_staged", head_values.shared[line]);
      result.flags[head_values.tensor] = flags_.value(head_values.tensor, staged, t);
      continue;
    }
    for (int row = 0; row < head_values.input.rows; ++row) {
      Value own = line + row;
      if (parameters_.heads > 1) own = own + head_read_ * head_values.input.rows;
      result.inputs.emplace(std::pair{static_cast<int>(i), row},
                            b.load(head_values.input.name, head_values.shared[own]));
    }
  }
  return result;
}

void StreamKernel::set_head_values(HeadValues head_values) {
  flags_now_ = std::move(head_values.flags);
  inputs_now_ = std::move(head_values.inputs);
}

}  // namespace rondo::schedule
