// The cells shipped with Rondo, compiled into the program so that one binary is enough.
#pragma once

#include <string>
#include <vector>

namespace rondo::runtime {

struct EmbeddedCell {
  std::string name;  // file name without ".cell"
  std::string text;  // the whole file
};

// Every cells/*.cell of the source tree at build time, in alphabetical order.
const std::vector<EmbeddedCell>& embedded_cells();

}  // namespace rondo::runtime
