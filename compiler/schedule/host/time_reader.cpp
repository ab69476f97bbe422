#include "compiler/schedule/host/time_reader.h"

namespace rondo::schedule {

using kernel::Value;

HostTimeReader::HostTimeReader(KernelTensors& tensors, const Problem& problem, const TimeOperand& operand)
    : problem_(problem), operand_(operand), tensor_(tensors.reads(operand.row.tensor)) {
  if (operand.shifted && operand.first) first_ = tensors.reads(*operand.first);
}

Value HostTimeReader::value(const Span& span, Value t, Value channel) const {
  kernel::Builder& b = *t.builder();
  const std::int64_t dim = problem_.sizes.dim;
  const Value value = b.variable("value", b.real(0));
  const auto at_step = [&](Value step) {
    const Value place = b.wide(span.row) * tensor_.stride_b + b.wide(step) * tensor_.stride_t +
                        b.wide(span.head * (tensor_.rows * dim) + operand_.row.row * dim + channel);
    b.assign(value, b.load("v", tensor_.memory[place]));
  };
  b.if_(t < span.time, [&] {
    b.if_(channel < dim, [&] {
      if (!operand_.shifted) return at_step(t);
      b.if_(
          t == 0,
          [&] {
            if (!first_) return;
            const Value place =
                (b.wide(span.row) * problem_.sizes.heads + b.wide(span.head)) * (dim * first_->rows) +
                b.wide(channel + dim * operand_.first_row);
            b.assign(value, b.load("first", first_->memory[place]));
          },
          [&] { at_step(t - 1); });
    });
  });
  return value;
}

void HostTimeReader::bring(kernel::Memory to, const Span& span) const {
  kernel::Builder& b = *span.row.builder();
  b.for_("step", b.constant(0), b.constant(span.steps), b.constant(1), 1, [&](Value step) {
    const Value t = b.let("t", span.t + step);
    b.for_("column", b.constant(0), b.constant(span.width), b.constant(span.lanes), 1, [&](Value column) {
      const Value i = b.let("i", column + b.thread());
      const Value brought = value(span, t, b.let("channel", span.first + i));
      b.store(to[step * span.pitch + i], brought);
    });
  });
}

}  // namespace rondo::schedule
