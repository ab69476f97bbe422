// What a declaration says of the numbers of its tensor: a range in which they lie, and what a state begins
// with.
//
// A range of an input or a parameter is a promise of the caller: whoever passes other numbers may get other
// results. A range of a state promises nothing, since it is the step that makes states: it tells people, and
// whoever draws data, which numbers have a meaning.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "compiler/step/step_ir.h"
#include "compiler/support/result.h"

namespace rondo::step {

using Overrides = std::map<std::string, double>;  // of constants, by name

// Numbers from `low` to `high`, each of which belongs to it or not.
struct Interval {
  double low = 0, high = 0;
  bool low_closed = false, high_closed = false;
  bool contains(double value) const;
  bool empty() const;
  bool bounded() const;      // neither end is infinite
  std::string text() const;  // "(0, inf)"
};

double number_of(const Cell& cell, const DeclaredNumber& number, const Overrides& overrides = {});
std::optional<Interval> range_of(const Cell& cell, const Tensor& tensor, const Overrides& overrides = {});
// What every element of a state is before the first step, and after a reset, where the caller gives nothing.
double first_of(const Cell& cell, const Tensor& tensor, const Overrides& overrides = {});

// As it stands behind the extents: " in (0, inf) = 1"; "" for a tensor without either. Numbers that are
// constants by their names.
std::string declared_text(const Cell& cell, const Tensor& tensor);

// What is wrong with a tensor's range and first value, and what to do; nothing for most.
struct RangeDefect {
  std::string message, help;
};
std::optional<RangeDefect> range_defect(const Cell& cell, const Tensor& tensor,
                                        const Overrides& overrides = {});
// The first defect of a cell, with these constants. Error Input.
Status check_ranges(const Cell& cell, const Overrides& overrides);

}  // namespace rondo::step
