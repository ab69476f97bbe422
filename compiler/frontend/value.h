// What an expression is worth while a cell is lowered: rows of nodes, a matrix parameter, or unknown after an
// error.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "compiler/frontend/ast.h"
#include "compiler/step/step_ir.h"

namespace rondo::frontend {

using step::kMaxRows;                       // of a value too: the step is unrolled over them
inline constexpr std::size_t kMaxLead = 4;  // leading extents

using Lead = std::vector<int>;  // leading constant extents, outermost first

// The value of something erroneous that has been reported; whatever is computed from it is unknown too.
struct Unknown {};
// One node for every index of the leading extents, row-major.
// `inner`: the name of the extent that its channels have in the place of the head's; "" for D.
struct Rows {
  Lead lead;
  step::Extent extent = step::Extent::Vector;
  std::vector<step::NodeId> nodes;
  std::string inner = {};
};
// Rows of a matrix parameter: good for '@' only. `inner`, `outer`: the same of its input and output channels.
struct Matrix {
  Lead lead;
  step::TensorId tensor = -1;
  std::vector<int> rows;
  std::string inner = {}, outer = {};
  bool transposed = false;  // of what the parameter is
};
using Value = std::variant<Unknown, Rows, Matrix>;

inline bool is_unknown(const Value& value) { return std::holds_alternative<Unknown>(value); }

// Product of the extents; 1 for none.
int row_count(const Lead& lead);

// "[4, D]", "[D, D]", "[4]"; "a per-head value" for a scalar without leading extents. `dimension`: the cell's
// name of D; `inner`, `outer`: those of the last extent and of the one before it, if they are others.
std::string shape_text(const Lead& lead, step::Tail tail, const std::string& dimension,
                       const std::string& inner = "", const std::string& outer = "");
std::string shape_text(const Value& value, const std::string& dimension);

// The shape of an elementwise result: leading extents must agree counted from the right, one operand may have
// fewer. False if they do not agree.
bool broadcast(Lead& lead, const Lead& other);

// Position and number of the rows that `subscripts` choose; subscripts are within `lead`.
struct RowRange {
  int first = 0, count = 1;
};
RowRange row_range(const Lead& lead, const std::vector<ast::Subscript>& subscripts);

}  // namespace rondo::frontend
