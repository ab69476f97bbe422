// Functions that every cell may call and that are written in the language itself: compiler/frontend/library.
#pragma once

#include "compiler/frontend/scope.h"

namespace rondo::frontend {

// Those functions, to stand behind a file's own. A name of theirs is not taken: a file may have a function or
// a value that is called so.
Functions library_functions();

// Whether a parameter of theirs is a complex number, which has two rows.
bool is_complex(const ast::Parameter& parameter);

}  // namespace rondo::frontend
