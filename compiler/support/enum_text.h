// The texts of an enum's values, as a table:
//
//   constexpr EnumText<Colour> kColours[] = {{Colour::Red, "red"}, {Colour::Green, "green"}};
//   static_assert(is_total(kColours));
//   to_text(kColours, colour), from_text(kColours, "red")
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace rondo {

// One row. The enum's values count from 0 without gaps, and rows stand in their order.
template <class E>
struct EnumText {
  E value;
  const char* text;
};

namespace detail {

// Whether the enum has a name for the value. The compiler writes a value without a name as a number behind a
// cast:
// "(rondo::Colour)2".
template <auto value>
constexpr bool has_name() {
  const std::string_view function = __PRETTY_FUNCTION__;
  const std::string_view written = function.substr(function.rfind("value = "));
  const std::size_t cast = written.rfind(')');
  return cast == std::string_view::npos || written[cast + 1] < '0' || written[cast + 1] > '9';
}

}  // namespace detail

// Whether every value has its row, and in order. To be asserted for each table: an enumerator that is added
// later is then a compile error until it has a row.
template <class E, std::size_t n>
constexpr bool is_total(const EnumText<E> (&table)[n]) {
  for (std::size_t i = 0; i < n; ++i)
    if (table[i].value != static_cast<E>(i)) return false;
  return !detail::has_name<static_cast<E>(n)>();
}

// The text of a value; "?" for a number that is no value of the enum. The table is total.
template <class E, std::size_t n>
constexpr const char* to_text(const EnumText<E> (&table)[n], E value) {
  const auto row = static_cast<std::size_t>(value);
  return row < n ? table[row].text : "?";
}

// The first value with this text; none where no row has it.
template <class E, std::size_t n>
constexpr std::optional<E> from_text(const EnumText<E> (&table)[n], std::string_view text) {
  for (const EnumText<E>& row : table)
    if (row.text == text) return row.value;
  return std::nullopt;
}

}  // namespace rondo
