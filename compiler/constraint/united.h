// Two search spaces as one: a strategy that has two kinds of kernels has a space of each.
#pragma once

#include <string>

#include "compiler/constraint/system.h"

namespace rondo::constraint {

// What tells to which of two spaces a point belongs: a variable that both have, whose values in the second
// space are above those in the first. A quantity of the second space whose name the first has too has the
// suffix behind it.
struct Selector {
  std::string variable, suffix;
};

// The points of `first` and those of `second`. A variable that only one of them has stands at its least value
// in the points of the other. Rules have no words of their own (Shortage) any more: those speak of the points
// of one. std::logic_error where the selector does not tell the two apart.
System united(const System& first, const System& second, const Selector& selector);

}  // namespace rondo::constraint
