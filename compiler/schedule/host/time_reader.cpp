#include "compiler/schedule/host/time_reader.h"

namespace rondo::schedule {

namespace {

constexpr std::int64_t kAhead = 8;  // steps: each is a few lines far from those before

}  // namespace

HostTimeReader::HostTimeReader(KernelTensors& tensors, const Problem& problem, const TimeOperand& operand)
    : problem_(problem), operand_(operand), tensor_(tensors.reads(operand.row.tensor)) {
  if (operand.shifted && operand.first) first_ = tensors.reads(*operand.first);
}

// The channels of a step, or zeros if there is no tensor. `ahead`: elements to the step that is asked for.
void HostTimeReader::copy(kernel::Memory to, const Span& span, Value place, kernel::Memory from,
                          Value from_place, Value ahead) const {
  kernel::Builder& b = *span.row.builder();
  if (span.pairs && from.valid() && from.id() == tensor_.memory.id())
    return copy_as_they_are(to, span, place, from_place, ahead);
  b.for_("column", b.constant(0), b.constant(span.width), b.constant(span.lanes), 4, [&](Value column) {
    const Value i = b.let("i", column + b.thread());
    const auto put = [&](Value value) { b.store(to[place + i], value); };
    if (!from.valid()) return put(b.real(0));
    if (ahead.valid()) b.prefetch(from[from_place + ahead + b.wide(i)]);
    const auto fetch = [&] { return b.load("v", from[from_place + b.wide(i)]); };
    if (span.whole) return put(fetch());
    const Value value = b.variable("value", b.real(0));
    b.if_(span.first + i < tensor_.columns, [&] { b.assign(value, fetch()); });
    put(value);
  });
}

// The same of pairs of bf16, two channels a lane.
void HostTimeReader::copy_as_they_are(kernel::Memory to, const Span& span, Value place, Value from_place,
                                      Value ahead) const {
  kernel::Builder& b = *span.row.builder();
  const kernel::Memory from = tensor_.memory;
  b.for_("column", b.constant(0), b.constant(span.width), b.constant(2 * span.lanes), 4, [&](Value column) {
    const Value i = b.let("i", column + b.thread() * 2);
    if (ahead.valid()) b.prefetch(from[from_place + ahead + b.wide(i)]);
    const auto fetch = [&] { return b.load_packed("v", from[from_place + b.wide(i)], 1).front(); };
    if (span.whole) return b.store_packed(to[place + i], {fetch()});
    const Value value = b.variable("value", b.constant(0));
    b.if_(span.first + i < tensor_.columns, [&] { b.assign(value, fetch()); });
    b.store_packed(to[place + i], {value});
  });
}

void HostTimeReader::bring(kernel::Memory to, const Span& span) const {
  kernel::Builder& b = *span.row.builder();
  const std::int64_t dim = tensor_.columns;
  b.for_("step", b.constant(0), span.steps, b.constant(1), 1, [&](Value step) {
    const Value t = b.let("t", span.t + step), place = b.let("place", span.place + step * span.pitch);
    const auto copy_step = [&](Value of) {
      Value in_step = span.head * (tensor_.head_rows() * dim) + operand_.row.row * dim + span.first;
      if (span.below.valid()) in_step = in_step + span.below * dim;
      const Value from =
          b.let("from", tensor_.row_begin(span.row) + b.wide(of) * tensor_.stride_t + b.wide(in_step));
      copy(to, span, place, tensor_.memory, from, tensor_.stride_t * kAhead);
    };
    if (!operand_.shifted) return copy_step(t);
    b.if_(
        t == 0,
        [&] {
          if (!first_) return copy(to, span, place, {}, {});
          const Value from = b.let(
              "from", (b.wide(span.row) * problem_.sizes.heads + b.wide(span.head)) * (dim * first_->rows) +
                          b.wide(span.first + dim * operand_.first_row));
          copy(to, span, place, first_->memory, from);
        },
        [&] { copy_step(t - 1); });
  });
}

}  // namespace rondo::schedule
