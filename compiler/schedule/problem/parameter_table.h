// The tuning parameters of a strategy, one row each. All that is known of a parameter stands in its row: the
// strategy's space, reading and writing, names and gaps of older records, and the table in the strategy's
// page (docs/strategies) follow from it.
//
//   struct Own { int steps = 16; bool eager = false; };
//   template <>
//   inline constexpr auto kParameters<Own> = parameter_table<Own>(
//       "mine", {row<Own, &Own::steps>("steps", {8, 16, 32}, "time steps a stage"),
//                row<Own, &Own::eager>("eager", "1: results are stored at once", {.added = true})});
//
// A member's initialiser is the parameter's default. Two rows of one name or of one member, and a default
// that is none of the row's values, do not compile.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "compiler/schedule/problem/parameters.h"

namespace rondo::schedule {

struct PowersOfTwo {
  int least, most;
};
struct Between {
  int least, most;  // both included
};

// The values that a parameter has for some task; the space of one task may have fewer.
class ParameterValues {
 public:
  constexpr ParameterValues() = default;
  constexpr ParameterValues(std::initializer_list<int> listed) {
    for (const int value : listed) add(value);
  }
  constexpr ParameterValues(PowersOfTwo of) {
    for (int value = of.least; value <= of.most; value *= 2) add(value);
  }
  constexpr ParameterValues(Between range) : values_{range.least, range.most}, count_(2), range_(true) {}

  constexpr int least() const { return values_[0]; }
  constexpr int most() const { return values_[count_ - 1]; }
  constexpr bool contains(std::int64_t value) const {
    if (range_) return value >= least() && value <= most();
    for (const int each : listed())
      if (each == value) return true;
    return false;
  }
  constexpr bool is_range() const { return range_; }
  constexpr std::span<const int> listed() const { return {values_.data(), count_}; }

 private:
  constexpr void add(int value) {
    if (count_ > 0 && value <= values_[count_ - 1]) throw "values stand in ascending order";
    values_.at(count_++) = value;
  }
  std::array<int, 16> values_{};
  std::size_t count_ = 0;
  bool range_ = false;
};

// How records may lack a parameter, or name it otherwise.
struct ParameterPast {
  bool added = false;         // after the first version: the default is what earlier versions did
  bool optional = false;      // some tasks' spaces do not have it: they do as the default says
  std::string_view was = {};  // the name in earlier versions; the value now is the recorded one plus `shift`
  int shift = 0;
};

struct ParameterRow {
  std::string_view name;
  ParameterValues values;
  std::string_view label;                   // what it is, in the user's terms, with the unit
  const WordedParameter* worded = nullptr;  // where the values have words
  ParameterPast past;
  std::int64_t initial = 0;  // the default
};

// A row with its member of P.
template <class P>
struct TypedRow {
  ParameterRow row;
  std::int64_t (*get)(const P&);
  void (*set)(P&, std::int64_t);
};

namespace detail {

template <class P, auto Member>
struct Access {
  using Type = std::remove_cvref_t<decltype(std::declval<P&>().*Member)>;
  static constexpr std::int64_t get(const P& of) { return static_cast<std::int64_t>(of.*Member); }
  static constexpr void set(P& of, std::int64_t value) { of.*Member = static_cast<Type>(value); }
  static constexpr TypedRow<P> row(std::string_view name, const ParameterValues& values,
                                   std::string_view label, const ParameterPast& past) {
    return {{name, values, label, nullptr, past, get(P{})}, get, set};
  }
};

}  // namespace detail

// Whole numbers.
template <class P, auto Member>
requires std::is_same_v < typename detail::Access<P, Member>::Type,
int > constexpr TypedRow<P> row(std::string_view name, const ParameterValues& values, std::string_view label,
                                const ParameterPast& past = {}) {
  return detail::Access<P, Member>::row(name, values, label, past);
}
// Yes or no: 1 or 0.
template <class P, auto Member>
requires std::is_same_v < typename detail::Access<P, Member>::Type,
bool >
    constexpr TypedRow<P> row(std::string_view name, std::string_view label, const ParameterPast& past = {}) {
  return detail::Access<P, Member>::row(name, Between{0, 1}, label, past);
}
// One of several ways, up to `last`; its name and its words are those of the enumeration.
template <class P, auto Member, class Enum = typename detail::Access<P, Member>::Type>
requires std::is_enum_v<Enum>
constexpr TypedRow<P> row(Enum last, std::string_view label, const ParameterPast& past = {}) {
  static_assert(!kWorded<Enum>.name.empty(), "values without words");
  TypedRow<P> made =
      detail::Access<P, Member>::row(kWorded<Enum>.name, Between{0, static_cast<int>(last)}, label, past);
  made.row.worded = &kWorded<Enum>;
  return made;
}

template <class P, std::size_t N>
class ParameterTable {
 public:
  constexpr ParameterTable(std::string_view strategy, const TypedRow<P> (&rows)[N]) : strategy_(strategy) {
    for (std::size_t i = 0; i < N; ++i) {
      rows_[i] = rows[i].row;
      get_[i] = rows[i].get;
      set_[i] = rows[i].set;
      if (!rows_[i].values.contains(rows_[i].initial)) throw "a default that is none of the values";
      for (std::size_t before = 0; before < i; ++before)
        if (rows_[before].name == rows_[i].name || tells(before, get_[i], set_[i]))
          throw "two rows of one parameter";
    }
  }

  constexpr std::string_view strategy() const { return strategy_; }
  constexpr std::span<const ParameterRow> rows() const { return rows_; }
  constexpr std::int64_t get(std::size_t i, const P& of) const { return get_[i](of); }
  constexpr void set(std::size_t i, P& of, std::int64_t value) const { set_[i](of, value); }
  template <auto Member>
  consteval std::size_t place() const {
    using Access = detail::Access<P, Member>;
    for (std::size_t i = 0; i < N; ++i)
      if (tells(i, Access::get, Access::set)) return i;
    throw "a member without a row";
  }

 private:
  using Get = std::int64_t (*)(const P&);
  using Set = void (*)(P&, std::int64_t);

  // Whether a row is of the member that these read and write. With sanitizers GCC takes no comparison of
  // functions' addresses for constant.
  constexpr bool tells(std::size_t row, Get read, Set write) const {
    P changed{};
    const std::int64_t before = get_[row](changed);
    write(changed, 1 - read(changed));
    return get_[row](changed) != before;
  }

  std::string_view strategy_;
  std::array<ParameterRow, N> rows_ = {};
  std::array<Get, N> get_ = {};
  std::array<Set, N> set_ = {};
};

template <class P, std::size_t N>
consteval ParameterTable<P, N> parameter_table(std::string_view strategy, const TypedRow<P> (&rows)[N]) {
  return {strategy, rows};
}

// The table of a strategy's parameters: specialised beside P.
template <class P>
inline constexpr auto kParameters = nullptr;

// The row of a member.
template <class P, auto Member>
constexpr const ParameterRow& row_of() {
  return kParameters<P>.rows()[kParameters<P>.template place<Member>()];
}

// One parameter with a value, for maps of some.
template <class P, auto Member>
Parameters::value_type named(typename detail::Access<P, Member>::Type value) {
  return {std::string(row_of<P, Member>().name), static_cast<std::int64_t>(value)};
}

// Puts the value of each row into `values`, which has the defaults. std::logic_error that names all faults:
// what is missing, unknown, below the least of its row's values, or outside of a row's range. A search tries
// the values that a row lists; kernels are built for greater ones too.
void read_values(std::string_view strategy, std::span<const ParameterRow> rows, const Parameters& given,
                 std::span<std::int64_t> values);

// All parameters of one point, under the names of this version. What was added later and what is optional may
// be missing. Throws as read_values().
template <class P>
P read_parameters(const Parameters& given) {
  constexpr const auto& table = kParameters<P>;
  std::array<std::int64_t, table.rows().size()> values;
  P result;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = table.get(i, result);
  read_values(table.strategy(), table.rows(), given, values);
  for (std::size_t i = 0; i < values.size(); ++i) table.set(i, result, values[i]);
  return result;
}

template <class P>
Parameters write_parameters(const P& of) {
  constexpr const auto& table = kParameters<P>;
  Parameters result;
  for (std::size_t i = 0; i < table.rows().size(); ++i)
    result.emplace(table.rows()[i].name, table.get(i, of));
  return result;
}

// With every old name replaced. A name that stands beside its new one is left as it is: such a record
// contradicts itself, and no tuning space accepts it.
Parameters renamed(Parameters recorded, std::span<const ParameterRow> rows);
// The same, and what was added since at its default.
Parameters completed(Parameters recorded, std::span<const ParameterRow> rows);

}  // namespace rondo::schedule
