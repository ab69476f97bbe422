// The scalar functions of compiler/backend/llvm/nvptx/prelude for all lanes of a block: the same steps, and
// so the same bounds. The text of a function is branch-free, so it becomes one of vectors by its types; what
// is an instruction of a GPU is a function of prelude/host.ll. What branches is called lane by lane. In fp64,
// which GPUs' kernels have not, functions are those of prelude/double.ll.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "compiler/kernel/ir/ir.h"
#include "compiler/target/target.h"

namespace rondo::backend::host {

class VectorHelpers {
 public:
  explicit VectorHelpers(const target::Target& target) : target_(target) {}
  const target::Target& target() const { return target_; }
  // Asks for the form for so many lanes, in fp32 or fp64 (F64; `name` is that of fp32 all the same); returns
  // its name in the text. Throws std::logic_error for an unknown one.
  std::string require(std::string_view name, int lanes, kernel::Type type = kernel::Type::F32);
  std::string text() const { return text_; }

 private:
  std::string function_name(std::string_view name, int lanes) const;
  std::string_view stand_in(std::string_view name) const;
  std::string vector_line(std::string_view line, int lanes) const;
  void add_scalar(std::string_view name);
  std::string require_named(std::string_view name, int lanes);

  target::Target target_;
  std::set<std::string> known_;
  std::string text_;
};

}  // namespace rondo::backend::host
