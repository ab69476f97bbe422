#include "compiler/schedule/host/segments.h"

#include "compiler/support/index.h"

namespace rondo::schedule {

std::int64_t SegmentTransforms::elements() const {
  return (segments_ - 1) * problem_.sizes.heads * entries() * problem_.sizes.dim;
}

kernel::Place SegmentTransforms::place_of(Value segment, int entry, const SweepTensors::Place& place) const {
  kernel::Builder& b = *segment.builder();
  const std::int64_t dim = problem_.sizes.dim;
  const Value part = b.wide(place.batch_row) * (segments_ - 1) + b.wide(segment);
  const Value head = part * problem_.sizes.heads + b.wide(place.head);
  return table_.memory[head * (entries() * dim) + b.wide(place.channel + entry * dim)];
}

void SegmentTransforms::compose(const AffineSweep& affine, const std::vector<Value>& values,
                                const std::vector<TransformColumn>& columns) const {
  kernel::Builder& b = *values.front().builder();
  std::vector<std::pair<Value, Value>> assigned;
  for (const TransformColumn& column : columns)
    for (std::size_t i = 0; i < affine.carries.size(); ++i) {
      const LinearForm& form = affine.carries[i];
      Value sum = column.constant && form.constant >= 0 ? values[at(form.constant)] : Value{};
      for (std::size_t k = 0; k < form.coefficients.size(); ++k) {
        if (form.coefficients[k] < 0) continue;
        const Value factor = values[at(form.coefficients[k])];
        const bool shifted = column.constant && affine.shifts[k] >= 0;
        const Value carried = shifted ? column.rows[k] + values[at(affine.shifts[k])] : column.rows[k];
        sum = sum.valid() ? b.math(scalar::Op::Fma, {factor, carried, sum}) : factor * carried;
      }
      assigned.emplace_back(column.rows[i], b.let("composed", sum.valid() ? sum : b.real(0)));
    }
  for (const auto& [variable, value] : assigned) b.assign(variable, value);
}

void SegmentTransforms::store(Value segment, const SweepTensors::Place& place,
                              const std::vector<TransformColumn>& columns) const {
  const AffineTransform all = flat(columns);
  for (std::size_t entry = 0; entry < all.size(); ++entry)
    segment.builder()->store(place_of(segment, static_cast<int>(entry), place), all[entry]);
}

void SegmentTransforms::store_states(const SweepTensors::Place& place,
                                     const std::vector<Value>& states) const {
  kernel::Builder& b = *place.head.builder();
  for (int i = 0; i < states_; ++i)
    b.store(place_of(b.constant(0), i * (states_ + 1) + states_, place), states[at(i)]);
}

void SegmentTransforms::start_after_first(const SweepTensors::Place& place,
                                          const std::vector<Value>& states) const {
  kernel::Builder& b = *place.head.builder();
  for (int i = 0; i < states_; ++i)
    b.assign(states[at(i)],
             b.load("after_first", place_of(b.constant(0), i * (states_ + 1) + states_, place)));
}

void SegmentTransforms::start(Value segment, const SweepTensors::Place& place,
                              const std::vector<Value>& states) const {
  kernel::Builder& b = *segment.builder();
  start_after_first(place, states);
  b.for_("part", b.constant(1), segment, b.constant(1), 1, [&](Value part) {
    AffineTransform transform;
    for (int entry = 0; entry < entries(); ++entry)
      transform.push_back(b.load("entry", place_of(part, entry, place)));
    advance(b, transform, {states, true});
  });
}

}  // namespace rondo::schedule
