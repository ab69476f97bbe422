// The part of ExpressionLowering for what goes over the rows of a value: products with a matrix, and sums.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/graph_tools.h"
#include "compiler/frontend/lower_expression.h"

namespace rondo::frontend {

using scalar::Op;
using step::Extent;
using step::NodeId;

Value ExpressionLowering::apply(const Value& left, const Value& right, step::Span span, step::NodeKind kind) {
  if (is_unknown(left) || is_unknown(right)) return Unknown{};
  const auto* matrix = std::get_if<Matrix>(&left);
  const auto* vectors = std::get_if<Rows>(&right);
  const std::string& d = cell_.dimension;
  const bool sums = kind == step::NodeKind::MatVec;
  if (!matrix) {
    const std::string declare = fmt::format("declare it like 'param R[{0}, {0}]'", d);
    const char* swapped =
        sums ? "write 'R @ h', which sums over the last extent of R, or 'transpose(R) @ h'"
             : "write 'maxplus(R, h)', the maximum over the last extent of R; for the other one pass R "
               "transposed";
    return report(span,
                  fmt::format("the {} must be a matrix, not {}",
                              sums ? "left of '@'" : "first argument of 'maxplus'", shape(left)),
                  std::holds_alternative<Matrix>(right) ? swapped
                  : sums ? declare + "; elementwise products are written with '*'"
                         : declare + "; the larger of two values is max(a, b)");
  }
  if (!vectors || vectors->extent != Extent::Vector)
    return report(span, fmt::format("the {0} must be a vector [{1}] or rows of them [K, {1}], not {2}",
                                    sums ? "right of '@'" : "second argument of 'maxplus'", d, shape(right)));
  if (!sums && matrix->transposed)
    return report(span, "'maxplus' cannot take a transposed matrix", "declare a parameter for the transpose");
  if (!sums && !(matrix->inner.empty() && matrix->outer.empty() && vectors->inner.empty()))
    return report(
        span, fmt::format("'maxplus' cannot take {} and {}", shape(left), shape(right)),
        fmt::format("its matrix has the shape [.., {0}, {0}]; extents of a cell's own are for '@'", d));
  if (matrix->inner != vectors->inner)
    return report(span,
                  fmt::format("'@' cannot multiply {} by {}: the last extent of the matrix must be that of "
                              "the vector",
                              shape(left), shape(right)),
                  fmt::format("declare the matrix as [.., {}, {}]", matrix->outer.empty() ? d : matrix->outer,
                              vectors->inner.empty() ? d : vectors->inner));
  Rows result{matrix->lead, Extent::Vector, {}, matrix->outer};
  result.lead.insert(result.lead.end(), vectors->lead.begin(), vectors->lead.end());
  if (!fits(result, span)) return Unknown{};
  for (const int row : matrix->rows)
    for (const NodeId vector : vectors->nodes)
      result.nodes.push_back(placed(!sums                ? cell_.graph.max_plus(matrix->tensor, row, vector)
                                    : matrix->transposed ? cell_.graph.mat_t_vec(matrix->tensor, row, vector)
                                                         : cell_.graph.matvec(matrix->tensor, row, vector),
                                    span));
  return result;
}

Value ExpressionLowering::transpose(const Value& argument, step::Span span) {
  if (is_unknown(argument)) return Unknown{};
  const auto* matrix = std::get_if<Matrix>(&argument);
  if (!matrix)
    return report(span, fmt::format("'transpose' takes a matrix, not {}", shape(argument)),
                  "as in 'transpose(R) @ h', for 'param R[D, D]'");
  Matrix result = *matrix;
  std::swap(result.inner, result.outer);
  result.transposed = !result.transposed;
  return result;
}

bool ExpressionLowering::is_free_of_tensors(const Rows& rows) const {
  return std::ranges::all_of(rows.nodes,
                             [&](NodeId node) { return origin_of(cell_.graph, node) != Origin::Tensors; });
}

bool ExpressionLowering::joins(const Rows& rows, std::optional<std::string>& inner, const std::string& what,
                               step::Span span) {
  if (rows.extent != Extent::Vector) return true;
  const std::string& d = cell_.dimension;
  if (inner && *inner != rows.inner) {
    report(span,
           fmt::format("{} cannot combine channels of {} with channels of {}", what,
                       inner->empty() ? d : *inner, rows.inner.empty() ? d : rows.inner),
           kExtentHelp);
    return false;
  }
  inner = rows.inner;
  return true;
}

bool ExpressionLowering::spreads(const std::vector<Value>& arguments, const std::string& what,
                                 step::Span span) {
  for (const Value& argument : arguments) {
    const auto& rows = std::get<Rows>(argument);
    if (rows.extent == Extent::Vector || is_free_of_tensors(rows)) continue;
    report(span, fmt::format("{} cannot spread a per-head value over an extent of the cell's own", what),
           fmt::format("that is not possible yet: apply it to {} channels, before or behind the product with "
                       "a matrix",
                       cell_.dimension));
    return false;
  }
  return true;
}

bool ExpressionLowering::has_channels_of_head(const Value& value, const std::string& what, step::Span span) {
  const auto* rows = std::get_if<Rows>(&value);
  if (!rows || rows->inner.empty()) return true;
  report(span, fmt::format("{} cannot take {}", what, shape(value)),
         fmt::format("that is not possible yet of an extent of the cell's own: a matrix [.., {0}, {1}] makes "
                     "{0} channels of it",
                     cell_.dimension, rows->inner));
  return false;
}

Value ExpressionLowering::over_rows(const Builtin& builtin, const Value& argument, step::Span span) {
  if (is_unknown(argument)) return Unknown{};
  const auto* rows = std::get_if<Rows>(&argument);
  if (!rows || rows->lead.empty())
    return report(span,
                  fmt::format("'{}' over rows cannot take {}, which has none", builtin.name, shape(argument)),
                  rows ? fmt::format("{}(v) goes over the channels of a head", builtin.name) : kMatrixHelp);
  const int count = rows->lead.front();
  Rows result{Lead(rows->lead.begin() + 1, rows->lead.end()), rows->extent, {}, rows->inner};
  const auto inner = rows->nodes.size() / static_cast<std::size_t>(count);
  for (std::size_t at = 0; at < inner; ++at) {
    NodeId sum = rows->nodes[at];
    for (std::size_t row = 1; row < static_cast<std::size_t>(count); ++row)
      sum = placed(cell_.graph.scalar(Op::Add, {sum, rows->nodes[row * inner + at]}), span);
    if (builtin.kind == BuiltinKind::Mean)
      sum = placed(cell_.graph.scalar(Op::Div, {sum, placed(cell_.graph.constant(count), span)}), span);
    result.nodes.push_back(sum);
  }
  return result;
}

}  // namespace rondo::frontend
