// Interval arithmetic of the constraint language, in both directions. Everything here may only widen what is
// possible, never lose a point: that is what makes propagation sound.
#pragma once

#include "compiler/constraint/checked.h"
#include "compiler/constraint/expression.h"

namespace rondo::constraint {

struct Interval {
  Value lo = kLeast;
  Value hi = kMost;

  bool empty() const { return lo > hi; }
  bool fixed() const { return lo == hi; }
  bool contains(Value value) const { return lo <= value && value <= hi; }
};
inline constexpr Interval kNothing{kMost, kLeast};

// What an expression can come to: a value in range, or (if may_lack_value) none. Conditions use 0 and 1. An
// empty range means that it never has a value.
struct Bounds {
  Interval range;
  bool may_lack_value = false;

  bool certainly(Value value) const { return !may_lack_value && range.lo == value && range.hi == value; }
};

Interval intersect(Interval a, Interval b);
Interval hull(Interval a, Interval b);  // the smallest interval that holds both; an empty one adds nothing

// Bounds of a binary operator from those of its operands; exact if both are fixed. Not for When and Not.
Bounds forward(Op op, const Bounds& a, const Bounds& b);

struct Operands {
  Interval a, b;
};

// The operands within a and b for which the operator has a value within result. Integer operators only.
Operands backward(Op op, Interval result, Interval a, Interval b);

// The operands within a and b for which the comparison holds (holds = true) or has a value and fails (false).
Operands backward_compare(Op op, bool holds, Interval a, Interval b);

}  // namespace rondo::constraint
