// Division of whole numbers that rounds up. Neither operand is negative.
#pragma once

#include <concepts>
#include <type_traits>

namespace rondo {

template <std::integral A, std::integral B>
constexpr std::common_type_t<A, B> ceil_div(A value, B by) {
  using Common = std::common_type_t<A, B>;
  return (static_cast<Common>(value) + static_cast<Common>(by) - 1) / static_cast<Common>(by);
}

// The smallest multiple of `unit` that is at least `value`.
template <std::integral A, std::integral B>
constexpr std::common_type_t<A, B> round_up(A value, B unit) {
  return ceil_div(value, unit) * static_cast<std::common_type_t<A, B>>(unit);
}

}  // namespace rondo
