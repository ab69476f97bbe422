// A cell's syntax tree -> checked StepIR.
#pragma once

#include <set>
#include <string>

#include "compiler/frontend/ast.h"
#include "compiler/frontend/diagnostics.h"
#include "compiler/frontend/scope.h"
#include "compiler/step/step_ir.h"

namespace rondo::frontend {

// The cell, without source and path. It is meaningful only if nothing was reported. `functions`: those of the
// file above the cell; marked as used where it calls them. `poisoned`: names in broken text outside the cell,
// not to be reported.
step::Cell lower_cell(const ast::Cell& tree, Functions& functions, const std::set<std::string>& poisoned,
                      Diagnostics& diagnostics);

// Registers a function after checking its body. `scope`: of the cell it stands in, nullptr at file level.
void define_function(const ast::Statement& statement, Scope* scope, Functions& functions,
                     Diagnostics& diagnostics);

}  // namespace rondo::frontend
