// The part of ExpressionLowering for draws of random numbers.
#include <fmt/format.h>

#include "compiler/frontend/lower_expression.h"

namespace rondo::frontend {
namespace {

constexpr const char* kSeed = "seed";  // the parameter that all draws of a cell read

}  // namespace

Value ExpressionLowering::draw(const ast::Call& node, step::Span span) {
  if (!check_argument_count(node, span, 1, 1, diagnostics_)) return Unknown{};
  const ast::Expr& argument = *node.arguments[0];
  const auto* name = std::get_if<ast::Name>(&argument.node);
  if (!name)
    return report(argument.span, "'uniform' takes the name of a draw, not a value",
                  "choose a word, as in uniform(drop): equal names give equal numbers");
  if (is_taken(name->name))
    return report(argument.span, fmt::format("'{}' is no name of a draw: it has a meaning here", name->name),
                  fmt::format("choose a word that stands for nothing else, such as {}_draw", name->name));
  const std::optional<step::NodeId> given = seed(span);
  if (!given) return Unknown{};
  return Rows{{}, step::Extent::Vector, {placed(cell_.graph.uniform(name->name, *given), span)}};
}

bool ExpressionLowering::is_taken(const std::string& name) {
  if (!frames_.empty() && frames_.back().values.contains(name)) return true;
  return scope_.find(name) || scope_.later.contains(name) || functions_.find(name) || find_builtin(name);
}

// The leaf of the parameter `seed`, one value a head. A cell that does not declare it gets it with its first
// draw.
std::optional<step::NodeId> ExpressionLowering::seed(step::Span span) {
  if (Symbol* known = scope_.find(kSeed)) {
    known->used = true;
    const auto* rows = std::get_if<Rows>(&known->value);
    if (known->kind == SymbolKind::Param && rows && rows->lead.empty() &&
        rows->extent == step::Extent::Scalar)
      return rows->nodes[0];
    if (known->kind != SymbolKind::Param)
      report(span,
             fmt::format("'uniform' reads the parameter '{}', but here that is {}", kSeed,
                         describe(known->kind)),
             fmt::format("give it another name, or declare 'param {}'", kSeed));
    else if (!is_unknown(known->value))
      report(span,
             fmt::format("'uniform' reads the parameter '{}', which is one number, but here it has extents",
                         kSeed),
             fmt::format("declare 'param {}'", kSeed));
    return std::nullopt;
  }
  const auto id = static_cast<step::TensorId>(cell_.tensors.size());
  cell_.tensors.push_back({step::TensorKind::Param, kSeed, step::Tail::Scalar, {}, 1, span});
  const step::NodeId leaf = placed(cell_.graph.leaf(id, 0, step::Extent::Scalar), span);
  scope_.symbols.emplace(kSeed,
                         Symbol{SymbolKind::Param, Rows{{}, step::Extent::Scalar, {leaf}}, span, true});
  return leaf;
}

}  // namespace rondo::frontend
