// Checks a function's names where it is defined, so that a function is right or wrong whether it is called or
// not. Shapes are checked where it is called: functions are expanded, and work for every shape their body
// works for.
#pragma once

#include "compiler/frontend/ast.h"
#include "compiler/frontend/scope.h"

namespace rondo::frontend {

// False if anything was reported. `scope`: the cell's names so far, nullptr for a function at file level;
// tensors and consts in it are marked as used. Functions it calls are marked as used.
bool check_function(const ast::Function& function, Scope* scope, Functions& functions,
                    Diagnostics& diagnostics);

}  // namespace rondo::frontend
