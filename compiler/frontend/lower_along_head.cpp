// The part of ExpressionLowering for functions along the channels of a head.
#include <fmt/format.h>

#include <cmath>

#include "compiler/frontend/graph_tools.h"
#include "compiler/frontend/lower_expression.h"

namespace rondo::frontend {
namespace {

using step::Extent;
using step::NodeId;
using step::NodeKind;

constexpr int kMostChannels = 1'000'000;  // that a shift goes

}  // namespace

Value ExpressionLowering::along_head(const Builtin& builtin, const std::vector<Value>& arguments,
                                     step::Span span) {
  const std::string what = fmt::format("'{}'", builtin.name);
  const Value& argument = arguments[0];
  for (const Value& one : arguments)
    if (is_unknown(one)) return Unknown{};
  const auto* rows = std::get_if<Rows>(&argument);
  if (!rows)
    return report(span, fmt::format("{} cannot take the matrix {}", what, shape(argument)), kMatrixHelp);
  if (rows->extent != Extent::Vector)
    return report(span,
                  fmt::format("{} goes along the channels of a head, but {} has none", what, shape(argument)),
                  "give it a value with channels, such as an input x[D] or a state h[D]");
  if (!has_channels_of_head(argument, what, span)) return Unknown{};
  std::optional<int> offset = 0;
  if (builtin.kind == BuiltinKind::Move) offset = distance(builtin, arguments[1], span);
  if (!offset) return Unknown{};
  const NodeKind kind = builtin.kind == BuiltinKind::Cumsum     ? NodeKind::PrefixSum
                        : std::string(builtin.name) == "rotate" ? NodeKind::Rotate
                                                                : NodeKind::Shift;
  Rows result{rows->lead, Extent::Vector, {}};
  for (const NodeId node : rows->nodes)
    result.nodes.push_back(placed(cell_.graph.along_head(kind, node, *offset), span));
  return result;
}

// How many channels a shift goes: what the text says, as kernels are made for it.
std::optional<int> ExpressionLowering::distance(const Builtin& builtin, const Value& argument,
                                                step::Span span) {
  const auto* rows = std::get_if<Rows>(&argument);
  const bool one = rows && rows->lead.empty() && rows->extent == Extent::Scalar;
  const std::string example =
      fmt::format("write a number such as {}(v, 1) or {}(v, -1)", builtin.name, builtin.name);
  if (!one || origin_of(cell_.graph, rows->nodes[0]) != Origin::Literals) {
    report(span, fmt::format("'{}' needs a number of channels that the text gives", builtin.name), example);
    return std::nullopt;
  }
  const double value = evaluate(cell_.graph, rows->nodes[0]);
  if (value == std::floor(value) && std::abs(value) <= kMostChannels) return static_cast<int>(value);
  report(span,
         fmt::format("'{}' goes by a whole number of at most {} channels, not {}", builtin.name,
                     kMostChannels, value),
         example);
  return std::nullopt;
}

}  // namespace rondo::frontend
