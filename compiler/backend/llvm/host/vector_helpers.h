// The scalar functions of compiler/backend/llvm/nvptx/prelude for all lanes of a block: the same steps, and
// so the same bounds. The text of a function is branch-free and in fp32, so it becomes one of vectors by its
// types; what is an instruction of a GPU is a function of prelude/host.ll. What branches is called lane by
// lane.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace rondo::backend::host {

class VectorHelpers {
 public:
  // Asks for the form for so many lanes; returns its name in the text. Throws std::logic_error for an unknown
  // one.
  std::string require(std::string_view name, int lanes);
  std::string text() const { return text_; }

 private:
  void add_scalar(std::string_view name);

  std::set<std::string> known_;
  std::string text_;
};

// One line of such a function for so many lanes.
std::string vector_line(std::string_view line, int lanes);

}  // namespace rondo::backend::host
