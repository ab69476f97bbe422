#include "compiler/frontend/value.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace rondo::frontend {

int row_count(const Lead& lead) {
  int rows = 1;
  for (const int extent : lead) rows *= extent;
  return rows;
}

std::string shape_text(const Lead& lead, step::Tail tail, const std::string& dimension,
                       const std::string& inner, const std::string& outer) {
  std::vector<std::string> extents;
  for (const int extent : lead) extents.push_back(std::to_string(extent));
  if (tail == step::Tail::Matrix) extents.push_back(outer.empty() ? dimension : outer);
  if (tail != step::Tail::Scalar) extents.push_back(inner.empty() ? dimension : inner);
  return extents.empty() ? "a per-head value" : fmt::format("[{}]", fmt::join(extents, ", "));
}

std::string shape_text(const Value& value, const std::string& dimension) {
  if (const auto* rows = std::get_if<Rows>(&value)) {
    const bool vector = rows->extent == step::Extent::Vector;
    return shape_text(rows->lead, vector ? step::Tail::Vector : step::Tail::Scalar, dimension, rows->inner);
  }
  if (const auto* matrix = std::get_if<Matrix>(&value))
    return shape_text(matrix->lead, step::Tail::Matrix, dimension, matrix->inner, matrix->outer);
  return "unknown";
}

bool broadcast(Lead& lead, const Lead& other) {
  const std::size_t common = std::min(lead.size(), other.size());
  if (!std::equal(lead.end() - static_cast<std::ptrdiff_t>(common), lead.end(),
                  other.end() - static_cast<std::ptrdiff_t>(common))) {
    return false;
  }
  if (other.size() > lead.size()) lead = other;
  return true;
}

RowRange row_range(const Lead& lead, const std::vector<ast::Subscript>& subscripts) {
  RowRange range{0, row_count(lead)};
  for (std::size_t i = 0; i < subscripts.size(); ++i) {
    range.count /= lead[i];
    range.first += subscripts[i].value * range.count;
  }
  return range;
}

}  // namespace rondo::frontend
