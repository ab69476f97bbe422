// Inputs that stay on the chip from sweep to sweep, in the ring of a warp or in registers of its threads. A
// call is free to have a longer T than the one that the plan was made for; where a segment does not fit then,
// its inputs are read again.
#include "compiler/schedule/shoot/kernel.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

void ShootKernel::place_kept() {
  const ShootParameters& p = parameters_;
  if (!p.keeps_on_chip()) return;
  auto& b = builder();
  const Value own = own_.end - own_.first;
  const bool in_ring = p.keep_inputs == KeptInputs::Shared;
  on_chip_.fits =
      b.let("fits", in_ring ? own_.lead + ceil_div(own, p.steps) < p.stages + 1 : own < p.steps + 1);
  on_chip_.fresh = b.variable("fresh", b.constant(1));
  for (int step = 0; step < p.kept_steps(); ++step) {
    StepInputs& inputs = on_chip_.inputs.emplace_back();
    for (const StagedTensor& staged : staged_) {
      auto& rows = inputs.emplace_back(at(staged.tensor.rows));
      for (auto& row : rows)
        for (int c = 0; c < p.per_thread; ++c)
          row.push_back(b.variable("kept_" + staged.tensor.name, b.real(0)));
    }
  }
}

void ShootKernel::keep() {
  if (!on_chip_.fits.valid()) return;
  builder().if_(on_chip_.fits, [&] { builder().assign(on_chip_.fresh, builder().constant(0)); });
}

// The steps of a segment that is one stage. Registers have no index, so every step is written out.
void ShootKernel::run_kept(Value slot, Value steps, const std::function<void(const Staged&)>& body) {
  auto& b = builder();
  const auto each_step = [&](const std::function<void(int)>& action) {
    for (int step = 0; step < parameters_.kept_steps(); ++step)
      b.if_(b.constant(step) < steps, [&] { action(step); });
  };
  const auto from_registers = [&] {
    b.if_(on_chip_.fresh == 1, [&] {
      each_step([&](int step) {
        const StepInputs loaded = load_step(slot + step);
        for (std::size_t tensor = 0; tensor < loaded.size(); ++tensor)
          for (std::size_t row = 0; row < loaded[tensor].size(); ++row)
            for (std::size_t c = 0; c < loaded[tensor][row].size(); ++c)
              b.assign(on_chip_.inputs[at(step)][tensor][row][c], loaded[tensor][row][c]);
      });
    });
    now_.group = b.constant(0);
    now_.ahead = 0;
    each_step([&](int step) { run_step(on_chip_.inputs[at(step)], values_at(b.constant(step)), body); });
  };
  b.if_(on_chip_.fits, from_registers, [&] { run_steps(slot, steps, body); });
}

}  // namespace rondo::schedule
