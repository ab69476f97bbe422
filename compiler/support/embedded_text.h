// A text file of the source tree that the build compiles into the program, so that one binary is enough
// (rondo_embed_text() in cmake/targets.cmake makes the tables).
#pragma once

#include <string>

namespace rondo {

struct EmbeddedText {
  std::string name;  // the file's name without its ending
  std::string text;  // the whole file
};

}  // namespace rondo
