// KernelIR statements as instructions and blocks.
#pragma once

#include <set>
#include <string>

#include "compiler/backend/llvm/nvptx/values.h"
#include "compiler/target/target.h"

namespace rondo::backend::nvptx {

class StatementWriter {
 public:
  StatementWriter(const kernel::Kernel& kernel, const target::Target& target, ValueWriter& values,
                  FunctionText& text, ModuleText& module);

  void write(const kernel::Body& body);
  // What the kernel begins with: mbarriers initialised and published.
  void begin();

 private:
  struct Memory;    // memory.h: loads, stores, copies
  struct Products;  // products.h: tensor cores
  struct Units;     // units.h: barriers, mbarriers, clusters, grid flags
  struct Visit;     // statements.cpp: registers and structured control flow

  // Whether the code is for sm_90a alone, which has products of warpgroups.
  bool has_warpgroups() const { return target_.specific && target_.level == 90; }

  // Whether threads of the body act together: LLVM calls such instructions convergent.
  static bool acts_together(const kernel::Body& body);

  const kernel::Kernel& kernel_;
  const target::Target& target_;
  ValueWriter& values_;
  FunctionText& text_;
  ModuleText& module_;
  std::set<int> awaited_in_two_roles_;                // named barriers
  std::set<kernel::MbarrierId> signalled_by_others_;  // by other blocks of the cluster
  std::set<kernel::ArrayId> accumulators_;            // of products of warpgroups
  std::string in_vain_;                               // a slot, where vain waits are counted
};

}  // namespace rondo::backend::nvptx
