#include "compiler/backend/llvm/nvptx/emit.h"

#include <algorithm>

#include "compiler/backend/llvm/nvptx/statements.h"
#include "compiler/kernel/passes/codegen.h"

namespace rondo::backend::nvptx {

using namespace kernel;

namespace {

// Pointers are global ones from the start. What is not written is read-only during the launch, so its loads
// may go by the read-only path.
std::string parameter(const Kernel& kernel, const Param& param) {
  if (!param.buffer) return std::string(type_text(param.type));
  return fmt::format("ptr addrspace(1) {}{}align {}", exclusive(kernel, param) ? "noalias " : "",
                     param.written ? "" : "readonly ", storage_bytes(param.storage));
}

std::string attributes(const Kernel& kernel) {
  std::string text = fmt::format("convergent nounwind \"nvvm.maxntid\"=\"{}\" \"nvvm.minctasm\"=\"{}\"",
                                 kernel.threads, kernel.min_blocks);
  if (kernel.cluster > 1) text += fmt::format(" \"nvvm.cluster_dim\"=\"{},1,1\"", kernel.cluster);
  return text;
}

std::string kernel_text(const Kernel& kernel, const target::Target& target, ModuleText& module) {
  FunctionText text;
  ValueWriter values(kernel, text, module);
  std::string parameters;
  for (std::size_t i = 0; i < kernel.params.size(); ++i) {
    const Param& param = kernel.params[i];
    const std::string name = "%" + text.claim(param.name);
    values.set_param(static_cast<ParamId>(i), name);
    parameters += fmt::format("{}{} {}", i > 0 ? ", " : "", parameter(kernel, param), name);
  }
  StatementWriter statements(kernel, target, values, text, module);
  statements.begin();
  statements.write(kernel.body);
  text.line("ret void");
  return fmt::format("{}define ptx_kernel void @{}({}) {} {{\n{}}}\n", comment_lines(kernel.comment),
                     kernel.name, parameters, attributes(kernel), text.text());
}

bool has_shared(const Kernel* kernel) { return !kernel->shared.empty() || !kernel->mbarriers.empty(); }

}  // namespace

std::string emit(const std::vector<const Kernel*>& kernels, const target::Target& target) {
  ModuleText module(target);
  std::string texts;
  for (const Kernel* kernel : kernels) texts += "\n" + kernel_text(*kernel, target, module);
  std::string unit = "target triple = \"nvptx64-nvidia-cuda\"\n";
  // One for all: they declare one name.
  if (std::ranges::any_of(kernels, has_shared))
    unit += fmt::format("\n@shared_memory = external addrspace(3) global [0 x i8], align {}\n",
                        shared_alignment(kernels));
  const std::string helpers = module.helpers_text();
  if (!helpers.empty()) unit += "\n" + helpers;
  unit += texts;
  if (!module.metadata().empty()) unit += "\n" + module.metadata();
  return unit;
}

}  // namespace rondo::backend::nvptx
