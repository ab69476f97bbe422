// Resets of a stage go to shared memory as its inputs do: a byte that a step loaded itself would be waited
// for in each group of steps. Threads that compute load the bytes of a stage, one each, while the stage
// before is computed. The two places are ordered by the barrier of each stage, like the slots of the ring.
#include "compiler/schedule/stream/kernel.h"
#include "compiler/schedule/stream/resources.h"

namespace rondo::schedule {

using kernel::Value;

// The threads that compute have a step each, in as many turns as the stage's steps take.
void StreamKernel::each_reset(const std::function<void(std::size_t, Value)>& body) {
  const int threads = parameters_.computing(), steps = parameters_.steps;
  for (int first = 0; first < steps; first += threads) {
    const Value step = builder_.thread() + first;
    if_all({computing(), first + threads > steps ? step < steps : Value{}},
           [&] { body(static_cast<std::size_t>(first / threads), step); });
  }
}

void StreamKernel::begin_resets() {
  auto& b = builder_;
  for (const step::TensorId tensor : flags_.tensors())
    if (!flags_.is_length(tensor)) resets_.tensor = tensor;
  if (resets_.tensor < 0) return;
  resets_.shared =
      b.shared("resets_staged", kernel::Storage::I32, kResetLines * parameters_.steps, "[stages 2, steps]");
  for (int first = 0; first < parameters_.steps; first += parameters_.computing())
    resets_.coming.push_back(b.variable("coming_reset", b.constant(0)));
  load_resets(b.constant(0));
}

void StreamKernel::load_resets(Value block) {
  auto& b = builder_;
  const Value first = b.let("coming_step", first_step_of(block));
  each_reset([&](std::size_t turn, Value step) {
    b.if_(block < blocks_ && first + step < time_,
          [&] { b.assign(resets_.coming[turn], flags_.load(resets_.tensor, batch_index_, first + step)); });
  });
}

void StreamKernel::put_resets(Value block) {
  if (resets_.tensor < 0) return;
  resets_.line = builder_.let("reset_line", block % kResetLines * parameters_.steps);
  each_reset([&](std::size_t turn, Value step) {
    builder_.store(resets_.shared[resets_.line + step], resets_.coming[turn]);
  });
  load_resets(block + 1);
}

FlagReader::Values StreamKernel::flags_at(Value place, Value t) {
  FlagReader::Values values;
  for (const step::TensorId tensor : flags_.tensors()) {
    const Value loaded = tensor == resets_.tensor
                             ? builder_.load("reset_staged", resets_.shared[resets_.line + place])
                             : flags_.load(tensor, batch_index_, t);
    values[tensor] = flags_.value(tensor, loaded, t);
  }
  return values;
}

}  // namespace rondo::schedule
