// Steps past the end of the longest of a block's rows, which its walk leaves out: in reversed time they come
// first. What they have is written all the same.
#include "compiler/schedule/persistent/kernel.h"

namespace rondo::schedule {

using kernel::Value;

void PersistentKernel::limit_time() {
  // Saved products of steps past the end are those of the last states, which nobody has multiplied.
  const bool saves_products = task_.problem.save_products && task_.problem.pass == Pass::ForwardSave;
  if ((flags_.stops_early() || flags_.starts_late()) && !saves_products) {
    whole_time_ = time_;
    time_ = flags_.longest(first_row_, min(first_row_ + geometry_.batch, batch_));
    if (flags_.starts_late()) flags_.count_from(left_out_ = builder_.let("left_out", whole_time_ - time_));
  }
}

void PersistentKernel::each_step_past_end(const std::function<void(Value)>& body) {
  if (!whole_time_.valid()) return;
  builder_.comment("steps past the end of the longest row");
  builder_.for_("past", time_, whole_time_, builder_.constant(1), 1,
                [&](Value past) { body(left_out_.valid() ? past - whole_time_ : past); });
}

// All threads of the block, a channel of a batch row each, neighbours side by side.
void PersistentKernel::clear_past_end() {
  auto& b = builder_;
  const PersistentGeometry& g = geometry_;
  each_step_past_end([&](Value t) {
    for (const WrittenTensor& written : written_) {
      if (written.kept) continue;
      if (!written.of_channels()) {
        clear_head_values(written, t);
        continue;
      }
      const KernelTensor& to = written.tensor;
      const std::int64_t places = std::int64_t{to.rows} * g.batch * g.units;
      b.for_("place", b.thread(), b.constant(places), b.constant(g.threads()), 1, [&](Value index) {
        const Value unit = b.let("unit", index % g.units);
        const Value row = b.let("batch_row", first_row_ + index / g.units % g.batch);
        Value exists = row < batch_;
        if (!g.exact()) exists = exists && first_unit_ + unit < task_.problem.sizes.dim;
        b.if_(exists, [&] {
          const Value of_row = b.wide(index / (g.units * g.batch) * task_.problem.sizes.dim + unit);
          b.store(to.memory[base(to, row) + b.wide(t) * to.stride_t + of_row], b.real(0));
        });
      });
    }
  });
}

}  // namespace rondo::schedule
