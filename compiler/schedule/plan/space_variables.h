// The variables of a strategy's space, from the rows of its parameters.
#pragma once

#include <optional>
#include <type_traits>

#include "compiler/constraint/system.h"
#include "compiler/schedule/problem/parameter_table.h"

namespace rondo::schedule {

// A variable whose values are those of an enumeration: it is compared with these, and with no number.
template <class Enum>
class ChoiceVar {
 public:
  explicit ChoiceVar(constraint::Var var) : var_(std::move(var)) {}
  constraint::Condition operator==(Enum value) const { return var_ == static_cast<int>(value); }
  constraint::Condition operator!=(Enum value) const { return var_ != static_cast<int>(value); }

 private:
  constraint::Var var_;
};

// All values of a row.
constraint::Domain domain_of(const ParameterValues& values);
// Those of an enumeration up to `last`; no, or also yes.
template <class Enum>
requires std::is_enum_v<Enum> constraint::Domain up_to(Enum last) {
  return constraint::range(0, static_cast<int>(last));
}
inline constraint::Domain if_so(bool may) { return constraint::range(0, may ? 1 : 0); }

// The variable of a member of P, with all values of its row or with some. Its label is the row's.
template <class P, auto Member>
auto variable(constraint::System& system, const std::optional<constraint::Domain>& some = {}) {
  using Kind = typename detail::Access<P, Member>::Type;
  const ParameterRow& row = row_of<P, Member>();
  constraint::Var made =
      system.var(std::string(row.name), some ? *some : domain_of(row.values), std::string(row.label));
  if constexpr (std::is_enum_v<Kind>)
    return ChoiceVar<Kind>(std::move(made));
  else
    return made;
}

}  // namespace rondo::schedule
