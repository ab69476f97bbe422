// The graph of a cell's step as a file.
#pragma once

#include <string>

#include "compiler/step/step_ir.h"
#include "compiler/support/result.h"

namespace rondo::figures {

// The step, or its backward step, as an SVG document that stands alone (alone.h). `cell` is simplified, as a
// schedule::Task has it. Error: Unsupported, of a graph that is too large for a picture.
Result<std::string> cell_picture(const step::Cell& cell, bool backward);

}  // namespace rondo::figures
