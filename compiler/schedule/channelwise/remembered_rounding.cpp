#include "compiler/schedule/channelwise/remembered_rounding.h"

#include "compiler/support/index.h"

namespace rondo::schedule {

RememberedRounding::RememberedRounding(kernel::Builder& builder, int states) : b_(&builder), states_(states) {
  for (int i = 0; i < entries(states); ++i) entries_.push_back(b_->variable("remembered", b_->real(0)));
}

Value RememberedRounding::entry(int i, int j) const {
  return i >= j ? entries_[at(i * (i + 1) / 2 + j)] : entry(j, i);
}

// With J the map and V the variance: V' = J (V + D) J^T, where D has the roundings of all steps. A step in
// the middle is carried by the rest of the segment alone, and that is no less than by all of it, unless the
// steps before it grow: so a map that grows adds no more than one that keeps. Of a state at both ends the
// smaller counts.
void RememberedRounding::pass(const AffineTransform& map, Value steps, const std::vector<Value>& from,
                              const std::vector<Value>& to) const {
  auto& b = *b_;
  const auto slope = [&](int i, int j) { return map[at(i * (states_ + 1) + j)]; };
  Value most = b.real(1);
  for (int i = 0; i < states_; ++i)
    for (int j = 0; j < states_; ++j)
      most = b.math(scalar::Op::Max, {most, b.math(scalar::Op::Abs, {slope(i, j)})});
  const Value added = b.let("added", steps / (most * most));
  // J (V + D), then times J^T.
  std::vector<Value> half;
  for (int i = 0; i < states_; ++i)
    for (int j = 0; j < states_; ++j) {
      Value sum;
      for (int k = 0; k < states_; ++k) {
        Value variance = entry(k, j);
        if (k == j) {
          const Value least = b.math(scalar::Op::Min, {b.math(scalar::Op::Abs, {from[at(j)]}),
                                                       b.math(scalar::Op::Abs, {to[at(j)]})});
          variance = b.math(scalar::Op::Fma, {added * least, least, variance});
        }
        const Value term = slope(i, k) * variance;
        sum = sum.valid() ? sum + term : term;
      }
      half.push_back(b.let("carried", sum));
    }
  std::vector<Value> next;
  for (int i = 0; i < states_; ++i)
    for (int j = 0; j <= i; ++j) {
      Value sum;
      for (int k = 0; k < states_; ++k) {
        const Value term = half[at(i * states_ + k)] * slope(j, k);
        sum = sum.valid() ? sum + term : term;
      }
      next.push_back(b.let("carried", sum));
    }
  for (std::size_t i = 0; i < next.size(); ++i) b.assign(entries_[i], next[i]);
}

void RememberedRounding::take_if(Value condition, const RememberedRounding& other) const {
  for (std::size_t i = 0; i < entries_.size(); ++i)
    b_->assign(entries_[i], b_->select(condition, other.entries_[i], entries_[i]));
}

void RememberedRounding::clear() const {
  for (const Value& entry : entries_) b_->assign(entry, b_->real(0));
}

void RememberedRounding::take(const RememberedRounding& other) const {
  for (std::size_t i = 0; i < entries_.size(); ++i) b_->assign(entries_[i], other.entries_[i]);
}

}  // namespace rondo::schedule
