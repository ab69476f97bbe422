#include "compiler/schedule/lower/product_terms.h"

#include <limits>
#include <stdexcept>

namespace rondo::schedule {

double neutral(ProductKind kind) {
  const bool largest = kind == ProductKind::Max || kind == ProductKind::Channel;
  return largest ? -std::numeric_limits<double>::infinity() : 0;
}

Value with_term(kernel::Builder& b, ProductKind kind, Value before, Value left, Value right) {
  switch (kind) {
    case ProductKind::Sum: return b.math(scalar::Op::Fma, {left, right, before});
    case ProductKind::Max: return b.math(scalar::Op::Max, {before, left + right});
    case ProductKind::Channel:
    case ProductKind::Scatter: break;
  }
  throw std::logic_error("a kind of product whose terms are no two values");
}

Value joined(kernel::Builder& b, ProductKind kind, Value a, Value other) {
  return kind == ProductKind::Max ? b.math(scalar::Op::Max, {a, other}) : a + other;
}

void choose(kernel::Builder& b, kernel::Array largest, kernel::Array channels, Value place, Value sum,
            Value k) {
  const Value before = b.read(largest, place);
  const Value term = b.let("sum", sum), larger = b.let("larger", before < term);
  b.write(channels, place, b.select(larger, k, b.read(channels, place)));
  b.write(largest, place, b.select(larger, term, before));
}

Value with_chosen(kernel::Builder& b, Value before, Value chosen, Value own, Value value) {
  return before + b.select(chosen == own, value, b.real(0));
}

}  // namespace rondo::schedule
