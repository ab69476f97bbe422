#include "compiler/backend/llvm/host/emit.h"

#include "compiler/backend/llvm/host/statements.h"
#include "compiler/kernel/ir/visit.h"
#include "compiler/kernel/passes/codegen.h"
#include "compiler/kernel/passes/features.h"

namespace rondo::backend::host {

using namespace kernel;

namespace {

// Vectors as wide as the machine has them, and no calls of a C library that the code would need. A reciprocal
// that may be one (host_rcp_near) is an estimate and a Newton step, and two steps where the estimate has 12
// bits only (x86-64 without AVX-512): 1 / 1 is then 1, on which the ends of sigmoid and tanh depend.
std::string attributes(const target::Target& target) {
  const bool coarse = target.kind == target::Target::Kind::X86_64 && target.level < 4;
  return fmt::format(
      "nounwind \"no-builtins\" \"prefer-vector-width\"=\"512\" \"min-legal-vector-width\"=\"512\" "
      "\"reciprocal-estimates\"=\"vec-divf{}\"",
      coarse ? ":2" : "");
}

std::string type_of(const Param& param) {
  return param.buffer ? "ptr" : std::string(nvptx::type_text(param.type));
}

// The function that is called: it fetches the arguments. What it calls is inlined, and knows which buffers
// lie apart.
std::string entry_text(const Kernel& kernel, const std::string& attributes) {
  std::string text, list = "i32 %block, i32 %grid, ptr %shared";
  for (std::size_t i = 0; i < kernel.params.size(); ++i) {
    const std::string type = type_of(kernel.params[i]);
    text += fmt::format("  %place.{0} = getelementptr inbounds ptr, ptr %arguments, i64 {0}\n", i);
    text += fmt::format("  %pointer.{0} = load ptr, ptr %place.{0}\n", i);
    text += fmt::format("  %argument.{0} = load {1}, ptr %pointer.{0}\n", i, type);
    list += fmt::format(", {} %argument.{}", type, i);
  }
  return fmt::format(
      "define void @{0}(ptr %arguments, i32 %block, i32 %grid, ptr %shared) {1} {{\n{2}  call void "
      "@{0}.block({3})\n  ret void\n}}\n",
      kernel.name, attributes, text, list);
}

std::string parameter(const Kernel& kernel, const Param& param) {
  if (!param.buffer) return type_of(param);
  return fmt::format("ptr {}{}align {}", exclusive(kernel, param) ? "noalias " : "",
                     param.written ? "" : "readonly ", storage_bytes(param.storage));
}

// Whether it has stores that other threads may see later than those after them.
bool streams(const Kernel& kernel) {
  bool any = false;
  for_each_statement(kernel.body, [&](const Stmt& stmt) {
    if (const auto* store = std::get_if<Store>(&stmt.node))
      any |= streaming(kernel, store->to, store->hint, false);
  });
  return any;
}

std::string kernel_text(const Kernel& kernel, const std::string& attributes, VectorHelpers& helpers,
                        nvptx::ModuleText& module) {
  FunctionText text;
  for (const char* taken : {"block", "grid", "shared"}) text.claim(taken);
  LaneValues values(kernel, text, helpers);
  std::string parameters = "i32 %block, i32 %grid, ptr noalias align 64 %shared";
  for (std::size_t i = 0; i < kernel.params.size(); ++i) {
    const std::string name = "%" + text.claim(kernel.params[i].name);
    values.set_param(static_cast<ParamId>(i), name);
    parameters += fmt::format(", {} {}", parameter(kernel, kernel.params[i]), name);
  }
  StatementWriter(kernel, values, text, module).write(kernel.body, nullptr);
  // What went past the caches comes before what is said afterwards to other threads.
  if (streams(kernel)) text.line("fence seq_cst");
  if (features_of(kernel).contains(Feature::MatrixTiles)) text.line("call void @llvm.x86.tilerelease()");
  text.line("ret void");
  return fmt::format("{}define internal void @{}.block({}) alwaysinline {} {{\n{}}}\n\n{}",
                     nvptx::comment_lines(kernel.comment), kernel.name, parameters, attributes, text.text(),
                     entry_text(kernel, attributes));
}

}  // namespace

std::string emit(const std::vector<const Kernel*>& kernels, const target::Target& target) {
  VectorHelpers helpers(target);
  nvptx::ModuleText module(target);
  std::string texts;
  for (const Kernel* kernel : kernels)
    texts += "\n" + kernel_text(*kernel, attributes(target), helpers, module);
  std::string unit = helpers.text() + texts;
  if (!module.metadata().empty()) unit += "\n" + module.metadata();
  return unit;
}

}  // namespace rondo::backend::host
