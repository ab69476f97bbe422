// The arithmetic of the constraint language at single points. A result outside int64 and a division by zero
// have no value (nullopt): nothing wraps around, so no rule can hold because a number overflowed.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace rondo::constraint {

using Value = std::int64_t;
inline constexpr Value kLeast = std::numeric_limits<Value>::min();
inline constexpr Value kMost = std::numeric_limits<Value>::max();

// Wide enough for the sum, difference and product of any two values.
__extension__ typedef __int128 Wide;

// Precondition: b != 0. Rounds towards minus infinity.
constexpr Wide floor_div_wide(Value a, Value b) {
  if (b == -1) return -Wide{a};
  const Value quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? Wide{quotient} - 1 : Wide{quotient};
}

// Precondition: b != 0. Rounds towards plus infinity.
constexpr Wide ceil_div_wide(Value a, Value b) {
  if (b == -1) return -Wide{a};
  const Value quotient = a / b;
  return a % b != 0 && (a < 0) == (b < 0) ? Wide{quotient} + 1 : Wide{quotient};
}

// Precondition: b != 0. What floor division leaves: it has the sign of b.
constexpr Value mod_value(Value a, Value b) {
  if (b == -1) return 0;
  const Value rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

constexpr std::optional<Value> narrow(Wide value) {
  if (value < kLeast || value > kMost) return std::nullopt;
  return static_cast<Value>(value);
}

}  // namespace rondo::constraint
