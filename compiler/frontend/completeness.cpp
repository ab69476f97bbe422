#include "compiler/frontend/completeness.h"

#include <fmt/format.h>

namespace rondo::frontend {

void report_unfinished_names(const Scope& scope, const Functions& functions, Diagnostics& diagnostics) {
  std::set<std::string> excused = scope.poisoned;
  excused.insert(scope.excused.begin(), scope.excused.end());
  for (const auto& [name, symbol] : scope.symbols) {
    if (symbol.kind == SymbolKind::State && !scope.next.contains(name)) {
      diagnostics.error(symbol.span, fmt::format("state '{}' is never advanced", name),
                        fmt::format("add 'next {} = ...'", name));
    } else if (!symbol.used && !excused.contains(name)) {
      diagnostics.error(symbol.span, fmt::format("'{}' is never used", name), "use it or remove it");
    }
  }
  functions.report_unused(excused, diagnostics);
}

void report_unused_rows(const step::Cell& cell, Diagnostics& diagnostics) {
  std::vector<std::set<int>> read(cell.tensors.size());
  for (const step::Node& node : cell.graph.nodes) {
    if (node.tensor >= 0) read[static_cast<std::size_t>(node.tensor)].insert(node.row);
  }
  for (std::size_t i = 0; i < cell.tensors.size(); ++i) {
    const step::Tensor& tensor = cell.tensors[i];
    if (tensor.kind != step::TensorKind::Input && tensor.kind != step::TensorKind::Param) continue;
    int row = 0;
    while (row < tensor.rows && read[i].contains(row)) ++row;
    if (row == tensor.rows) continue;
    const std::string what = tensor.lead.empty() ? "" : fmt::format("row {} of ", row);
    diagnostics.error(tensor.span, fmt::format("{}'{}' reaches no state and no output", what, tensor.name),
                      "use it, or do not declare it");
  }
}

}  // namespace rondo::frontend
