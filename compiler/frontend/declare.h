// Declarations of inputs, params and states.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "compiler/frontend/ast.h"
#include "compiler/frontend/diagnostics.h"
#include "compiler/step/step_ir.h"

namespace rondo::frontend {

// The extents of a cell's own, by name.
using OwnExtents = std::map<std::string, step::InnerExtent>;

// The tensor that is declared, or nothing after a report. `dimension`: the cell's name of D.
std::optional<step::Tensor> check_declaration(step::TensorKind kind,
                                              const ast::TensorDeclaration& declaration,
                                              const std::string& dimension, const OwnExtents& extents,
                                              Diagnostics& diagnostics);

}  // namespace rondo::frontend
