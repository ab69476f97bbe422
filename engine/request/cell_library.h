// The cells shipped with Rondo, compiled into the program so that one binary is enough.
#pragma once

#include <vector>

#include "compiler/support/embedded_text.h"

namespace rondo::engine {

using EmbeddedCell = EmbeddedText;

// Every cells/*.cell of the source tree at build time, in alphabetical order.
const std::vector<EmbeddedCell>& embedded_cells();

}  // namespace rondo::engine
