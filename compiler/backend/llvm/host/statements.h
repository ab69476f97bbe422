// KernelIR statements as blocks of instructions for all lanes at once.
#pragma once

#include "compiler/backend/llvm/host/lanes.h"
#include "compiler/backend/llvm/nvptx/module_text.h"

namespace rondo::backend::host {

class StatementWriter {
 public:
  StatementWriter(const kernel::Kernel& kernel, LaneValues& values, FunctionText& text,
                  nvptx::ModuleText& module)
      : kernel_(kernel), values_(values), text_(text), module_(module) {}

  void write(const kernel::Body& body, Spreads::Region region);

 private:
  struct Visit;
  struct Access;
  struct Tiles;

  // The body for the lanes of the mask, passed over where it has none.
  void masked(const kernel::Body& body, const std::string& mask);

  const kernel::Kernel& kernel_;
  LaneValues& values_;
  FunctionText& text_;
  nvptx::ModuleText& module_;
};

}  // namespace rondo::backend::host
