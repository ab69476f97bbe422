#include "compiler/constraint/interval.h"

#include <algorithm>

namespace rondo::constraint {

Interval intersect(Interval a, Interval b) { return {std::max(a.lo, b.lo), std::min(a.hi, b.hi)}; }

Interval hull(Interval a, Interval b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}

namespace {

struct WideInterval {
  Wide lo, hi;
};

Interval clip(WideInterval wide) {
  if (wide.lo > wide.hi || wide.lo > kMost || wide.hi < kLeast) return kNothing;
  return {static_cast<Value>(std::max<Wide>(wide.lo, kLeast)),
          static_cast<Value>(std::min<Wide>(wide.hi, kMost))};
}

bool leaves_int64(WideInterval wide) { return wide.lo < kLeast || wide.hi > kMost; }

WideInterval corners(Wide a, Wide b, Wide c, Wide d) {
  return {std::min(std::min(a, b), std::min(c, d)), std::max(std::max(a, b), std::max(c, d))};
}

WideInterval product(Interval a, Interval b) {
  if (a.lo >= 0 && b.lo >= 0) return {Wide{a.lo} * b.lo, Wide{a.hi} * b.hi};
  return corners(Wide{a.lo} * b.lo, Wide{a.lo} * b.hi, Wide{a.hi} * b.lo, Wide{a.hi} * b.hi);
}

// The parts of an interval on either side of zero: a divisor's possible values.
Interval positive_part(Interval a) { return {std::max<Value>(a.lo, 1), a.hi}; }
Interval negative_part(Interval a) { return {a.lo, std::min<Value>(a.hi, -1)}; }

// Quotients over a divisor of one sign: monotone in each operand, so the extremes lie at the corners.
template <class Divide>
WideInterval quotient(Interval a, Interval b, Divide divide) {
  return corners(divide(a.lo, b.lo), divide(a.lo, b.hi), divide(a.hi, b.lo), divide(a.hi, b.hi));
}

template <class Divide>
Bounds forward_divide(Interval a, Interval b, Divide divide) {
  Bounds result{kNothing, b.contains(0)};
  for (const Interval part : {positive_part(b), negative_part(b)}) {
    if (part.empty()) continue;
    const WideInterval wide = quotient(a, part, divide);
    result.may_lack_value |= leaves_int64(wide);
    result.range = hull(result.range, clip(wide));
  }
  return result;
}

Bounds forward_mod(Interval a, Interval b) {
  Bounds result{kNothing, b.contains(0)};
  if (const Interval part = positive_part(b); !part.empty()) {
    Interval rest{0, part.hi - 1};
    if (a.lo >= 0) rest.hi = std::min(rest.hi, a.hi);
    if (a.lo >= 0 && a.hi < part.lo) rest.lo = a.lo;
    if (part.fixed() && floor_div_wide(a.lo, part.lo) == floor_div_wide(a.hi, part.lo)) {
      rest = {mod_value(a.lo, part.lo), mod_value(a.hi, part.lo)};
    }
    result.range = hull(result.range, rest);
  }
  if (const Interval part = negative_part(b); !part.empty()) {
    Interval rest{part.lo + 1, 0};
    if (part.fixed() && a.fixed()) rest = {mod_value(a.lo, part.lo), mod_value(a.lo, part.lo)};
    result.range = hull(result.range, rest);
  }
  return result;
}

Interval truth(bool may_hold, bool may_fail) { return {may_fail ? 0 : 1, may_hold ? 1 : 0}; }

Bounds forward_divides(Interval divisor, Interval number) {
  Bounds result{{0, 1}, divisor.contains(0)};
  if (divisor.fixed() && divisor.lo == 0) return {kNothing, true};
  const bool unit = divisor.fixed() && (divisor.lo == 1 || divisor.lo == -1);
  if (divisor.fixed() && number.fixed()) {
    const Value holds = mod_value(number.lo, divisor.lo) == 0 ? 1 : 0;
    result.range = {holds, holds};
  } else if (unit || (number.fixed() && number.lo == 0)) {
    result.range = {1, 1};
  } else if (number.lo > 0 && divisor.lo > number.hi) {
    result.range = {0, 0};
  }
  return result;
}

Interval forward_order(Op op, Interval a, Interval b) {
  switch (op) {
    case Op::Eq: return truth(a.lo <= b.hi && b.lo <= a.hi, !(a.fixed() && b.fixed() && a.lo == b.lo));
    case Op::Ne: return truth(!(a.fixed() && b.fixed() && a.lo == b.lo), a.lo <= b.hi && b.lo <= a.hi);
    case Op::Lt: return truth(a.lo < b.hi, a.hi >= b.lo);
    default: return truth(a.lo <= b.hi, a.hi > b.lo);  // Le
  }
}

// One side that certainly is the deciding value decides, whatever the other is.
Bounds forward_connective(Value deciding, const Bounds& a, const Bounds& b) {
  if (a.certainly(deciding) || b.certainly(deciding)) return {{deciding, deciding}, false};
  const bool may_decide = a.range.contains(deciding) || b.range.contains(deciding);
  const bool may_not = a.range.contains(1 - deciding) && b.range.contains(1 - deciding);
  const bool may_lack = a.may_lack_value || b.may_lack_value;
  if (!may_decide && !may_not) return {kNothing, true};
  return {deciding == 0 ? truth(may_not, may_decide) : truth(may_decide, may_not), may_lack};
}

Bounds from_wide(WideInterval wide) { return {clip(wide), leaves_int64(wide)}; }

Bounds forward_defined(Op op, Interval a, Interval b) {
  switch (op) {
    case Op::Add: return from_wide({Wide{a.lo} + b.lo, Wide{a.hi} + b.hi});
    case Op::Sub: return from_wide({Wide{a.lo} - b.hi, Wide{a.hi} - b.lo});
    case Op::Mul: return from_wide(product(a, b));
    case Op::FloorDiv: return forward_divide(a, b, floor_div_wide);
    case Op::CeilDiv: return forward_divide(a, b, ceil_div_wide);
    case Op::Mod: return forward_mod(a, b);
    case Op::Min: return {{std::min(a.lo, b.lo), std::min(a.hi, b.hi)}, false};
    case Op::Max: return {{std::max(a.lo, b.lo), std::max(a.hi, b.hi)}, false};
    case Op::Divides: return forward_divides(a, b);
    default: return {forward_order(op, a, b), false};
  }
}

}  // namespace

Bounds forward(Op op, const Bounds& a, const Bounds& b) {
  if (op == Op::And) return forward_connective(0, a, b);
  if (op == Op::Or) return forward_connective(1, a, b);
  if (a.range.empty() || b.range.empty()) return {kNothing, true};
  Bounds result = forward_defined(op, a.range, b.range);
  result.may_lack_value |= a.may_lack_value || b.may_lack_value || result.range.empty();
  return result;
}

namespace {

// The factors x with x * y in result for some y in other.
Interval other_factor(Interval result, Interval other) {
  if (result.contains(0) && other.contains(0)) return {};
  Interval found = kNothing;
  for (const Interval part : {positive_part(other), negative_part(other)}) {
    if (part.empty()) continue;
    const Wide lo = quotient(result, part, ceil_div_wide).lo;
    const Wide hi = quotient(result, part, floor_div_wide).hi;
    found = hull(found, clip({lo, hi}));
  }
  return found;
}

// Only divisors that are certainly positive narrow anything: tile counts and sizes always are.
Operands backward_floor_div(Interval q, Interval a, Interval b) {
  if (b.lo < 0) return {a, b};
  b.lo = std::max<Value>(b.lo, 1);
  if (b.empty()) return {kNothing, b};
  const Wide next = Wide{q.hi} + 1;  // a < (q + 1) * b
  a = intersect(
      a, clip({std::min(Wide{q.lo} * b.lo, Wide{q.lo} * b.hi), std::max(next * b.lo, next * b.hi) - 1}));
  if (a.empty()) return {a, b};
  if (q.lo >= 1) b = intersect(b, clip({kLeast, floor_div_wide(a.hi, q.lo)}));
  if (q.hi >= 0 && q.hi < kMost) b = intersect(b, clip({floor_div_wide(a.lo, q.hi + 1) + 1, kMost}));
  return {a, b};
}

Operands backward_ceil_div(Interval q, Interval a, Interval b) {
  if (b.lo < 0) return {a, b};
  b.lo = std::max<Value>(b.lo, 1);
  if (b.empty()) return {kNothing, b};
  const Wide below = Wide{q.lo} - 1;  // (q - 1) * b < a
  a = intersect(
      a, clip({std::min(below * b.lo, below * b.hi) + 1, std::max(Wide{q.hi} * b.lo, Wide{q.hi} * b.hi)}));
  if (a.empty()) return {a, b};
  if (q.hi >= 1) b = intersect(b, clip({ceil_div_wide(a.lo, q.hi), kMost}));
  if (q.lo >= 2) {
    // (q.lo - 1) * b <= a.hi - 1; no positive b does that for a.hi <= 0, and the clipped bound then says so.
    b = intersect(b, clip({kLeast, floor_div_wide(a.hi == kLeast ? kLeast : a.hi - 1, q.lo - 1)}));
  }
  return {a, b};
}

Operands backward_mod(Interval rest, Interval a, Interval b) {
  if (b.lo >= 0) {
    b.lo = std::max<Value>(b.lo, 1);
    if (rest.lo > 0) b.lo = std::max(b.lo, rest.lo == kMost ? kMost : rest.lo + 1);
    // Below its divisor a number is its own rest.
    if (a.lo >= 0 && a.hi < b.lo) a = intersect(a, rest);
    if (a.lo >= 0) a.lo = std::max(a.lo, rest.lo);
  }
  return {a, b};
}

Operands backward_min(Interval r, Interval a, Interval b) {
  Operands found{intersect(a, {r.lo, kMost}), intersect(b, {r.lo, kMost})};
  if (b.lo > r.hi) found.a.hi = std::min(found.a.hi, r.hi);
  if (a.lo > r.hi) found.b.hi = std::min(found.b.hi, r.hi);
  return found;
}

Operands backward_max(Interval r, Interval a, Interval b) {
  Operands found{intersect(a, {kLeast, r.hi}), intersect(b, {kLeast, r.hi})};
  if (b.hi < r.lo) found.a.lo = std::max(found.a.lo, r.lo);
  if (a.hi < r.lo) found.b.lo = std::max(found.b.lo, r.lo);
  return found;
}

Interval without(Interval a, Interval removed) {
  if (!removed.fixed() || a.empty()) return a;
  if (a.fixed()) return a.lo == removed.lo ? kNothing : a;
  if (a.lo == removed.lo) ++a.lo;
  if (a.hi == removed.lo) --a.hi;
  return a;
}

Operands strictly_below(Interval a, Interval b) {
  if (b.hi == kLeast || a.lo == kMost) return {kNothing, kNothing};
  return {intersect(a, {kLeast, b.hi - 1}), intersect(b, {a.lo + 1, kMost})};
}

Operands not_above(Interval a, Interval b) {
  return {intersect(a, {kLeast, b.hi}), intersect(b, {a.lo, kMost})};
}

Operands swapped(Operands found) { return {found.b, found.a}; }

Operands backward_divides(bool holds, Interval divisor, Interval number) {
  if (divisor.lo == 0) ++divisor.lo;
  if (divisor.hi == 0) --divisor.hi;
  if (!holds || divisor.empty()) return {divisor, number};
  // A divisor is no larger than a number that is not 0.
  if (number.lo > 0) {
    divisor = intersect(divisor, {-number.hi, number.hi});
    if (divisor.lo > 0) number.lo = std::max(number.lo, divisor.lo);
  }
  return {divisor, number};
}

}  // namespace

Operands backward(Op op, Interval result, Interval a, Interval b) {
  switch (op) {
    case Op::Add:
      return {intersect(a, clip({Wide{result.lo} - b.hi, Wide{result.hi} - b.lo})),
              intersect(b, clip({Wide{result.lo} - a.hi, Wide{result.hi} - a.lo}))};
    case Op::Sub:
      return {intersect(a, clip({Wide{result.lo} + b.lo, Wide{result.hi} + b.hi})),
              intersect(b, clip({Wide{a.lo} - result.hi, Wide{a.hi} - result.lo}))};
    case Op::Mul: return {intersect(a, other_factor(result, b)), intersect(b, other_factor(result, a))};
    case Op::FloorDiv: return backward_floor_div(result, a, b);
    case Op::CeilDiv: return backward_ceil_div(result, a, b);
    case Op::Mod: return backward_mod(result, a, b);
    case Op::Min: return backward_min(result, a, b);
    case Op::Max: return backward_max(result, a, b);
    default: return {a, b};
  }
}

Operands backward_compare(Op op, bool holds, Interval a, Interval b) {
  switch (op) {
    case Op::Eq:
      if (holds) return {intersect(a, b), intersect(a, b)};
      return {without(a, b), without(b, a)};
    case Op::Ne: return backward_compare(Op::Eq, !holds, a, b);
    case Op::Lt: return holds ? strictly_below(a, b) : swapped(not_above(b, a));
    case Op::Le: return holds ? not_above(a, b) : swapped(strictly_below(b, a));
    case Op::Divides: return backward_divides(holds, a, b);
    default: return {a, b};
  }
}

}  // namespace rondo::constraint
