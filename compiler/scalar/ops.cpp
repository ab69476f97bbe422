#include "compiler/scalar/ops.h"

#include <algorithm>
#include <type_traits>

#include "compiler/scalar/table.h"

namespace rondo::scalar {

namespace {

constexpr std::array<OpInfo, kOpCount> kInfos = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::array<OpInfo, kOpCount>{std::get<I>(kTable).info...};
}
(std::make_index_sequence<kOpCount>{});

template <class Real>
Real evaluate_as(Op op, std::span<const Real> args) {
  Real result{};
  visit(op, [&]<class Evaluate>(const Row<Evaluate>& row) {
    if constexpr (std::is_invocable_v<Evaluate, Real>)
      result = row.evaluate(args[0]);
    else if constexpr (std::is_invocable_v<Evaluate, Real, Real>)
      result = row.evaluate(args[0], args[1]);
    else
      result = row.evaluate(args[0], args[1], args[2]);
  });
  return result;
}

}  // namespace

const OpInfo& info(Op op) { return kInfos[static_cast<std::size_t>(op)]; }

const OpInfo* find(std::string_view name) {
  const auto* found = std::ranges::find_if(kInfos, [&](const OpInfo& row) { return row.name == name; });
  return found == kInfos.end() ? nullptr : found;
}

double evaluate(Op op, std::span<const double> args) { return evaluate_as(op, args); }
float evaluate(Op op, std::span<const float> args) { return evaluate_as(op, args); }

}  // namespace rondo::scalar
