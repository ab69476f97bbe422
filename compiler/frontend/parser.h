// Tokens -> syntax tree.
#pragma once

#include <vector>

#include "compiler/frontend/ast.h"
#include "compiler/frontend/diagnostics.h"
#include "compiler/frontend/token.h"

namespace rondo::frontend {

// The tree of all that could be read; syntax errors go to `diagnostics`, and the statements they are in
// become Broken.
ast::File parse_file(const std::vector<Token>& tokens, Diagnostics& diagnostics);

}  // namespace rondo::frontend
