#include "compiler/backend/cuda/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "compiler/backend/cuda/statements.h"
#include "compiler/kernel/passes/codegen.h"

namespace rondo::backend::cuda {

using namespace kernel;

namespace {

// Lines of code with comments on their right, in one column.
struct Annotated {
  std::string code;
  std::string comment;
};
std::string aligned(const std::vector<Annotated>& lines, std::string_view indent) {
  std::size_t width = 0;
  for (const Annotated& line : lines) width = std::max(width, line.code.size());
  std::string text;
  for (const Annotated& line : lines) {
    text += indent;
    text += line.comment.empty()
                ? line.code
                : fmt::format("{:<{}}  {}", line.code, width, comment_lines(line.comment, ""));
    if (line.comment.empty()) text += '\n';
  }
  return text;
}

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

std::string parameter(const Kernel& kernel, const Param& param, const std::string& name, Prelude& prelude) {
  if (!param.buffer) {
    prelude.require(type_name(param.type));
    return fmt::format("{} {}", type_name(param.type), name);
  }
  prelude.require(element_type(param.storage));
  return fmt::format("{}{}* {}{}", param.written ? "" : "const ", element_type(param.storage),
                     exclusive(kernel, param) ? "__restrict__ " : "", name);
}

// Scalars that nothing is said about, such as a tensor's strides, share a line.
bool belongs_to_the_one_before(const Kernel& kernel, std::size_t i) {
  const auto is_plain = [](const Param& param) { return !param.buffer && param.comment.empty(); };
  return i > 0 && is_plain(kernel.params[i - 1]) && is_plain(kernel.params[i]);
}

std::string signature(const Kernel& kernel, const Names& names, Prelude& prelude) {
  const std::string cluster =
      kernel.cluster == 1 ? "" : fmt::format("__cluster_dims__({}, 1, 1) ", kernel.cluster);
  std::string text = fmt::format("extern \"C\" __global__ void {}__launch_bounds__({}, {}) {}(", cluster,
                                 kernel.threads, kernel.min_blocks, kernel.name);
  std::vector<Annotated> lines;
  for (std::size_t i = 0; i < kernel.params.size(); ++i) {
    const bool last = i + 1 == kernel.params.size();
    const std::string declared =
        parameter(kernel, kernel.params[i], names.param(static_cast<ParamId>(i)), prelude) +
        (last ? ")" : ",");
    if (belongs_to_the_one_before(kernel, i))
      lines.back().code += " " + declared;
    else
      lines.push_back({declared, one_line(kernel.params[i].comment)});
  }
  if (lines.empty()) return text + ") {\n";
  return text + "\n" + aligned(lines, "    ") + "{\n";
}

std::string constants(const Kernel& kernel, const Names& names, const Uses& uses, Prelude& prelude) {
  std::vector<Annotated> lines;
  for (int index : uses.named) {
    const NamedInt& constant = kernel.named[static_cast<std::size_t>(index)];
    const bool wide = constant.value != static_cast<std::int32_t>(constant.value);
    if (wide) prelude.require("i64");
    lines.push_back({fmt::format("constexpr {} {} = {};", wide ? "i64" : "int", names.named(index),
                                 integer_literal(constant.value, wide).text),
                     one_line(constant.comment)});
  }
  return aligned(lines, "  ");
}

std::string builtins(const Kernel& kernel, const Uses& uses) {
  std::string list;
  for (Builtin builtin : uses.builtins) {
    if (!list.empty()) list += ", ";
    switch (builtin) {
      case Builtin::ThreadX: list += "thread_x = threadIdx.x"; break;
      case Builtin::BlockX: list += "block_x = blockIdx.x"; break;
      case Builtin::GridX: list += "grid_x = gridDim.x"; break;
      case Builtin::ClusterRank: list += fmt::format("cluster_rank = blockIdx.x % {}", kernel.cluster); break;
    }
  }
  return list.empty() ? "" : fmt::format("  const int {};\n", list);
}

std::string shared_pointer(std::string_view type, const std::string& name, std::int64_t offset) {
  const std::string place = offset == 0 ? "shared_memory" : fmt::format("shared_memory + {}", offset);
  return fmt::format("{0}* const {1} = reinterpret_cast<{0}*>({2});", type, name, place);
}

// PTX ISA, mbarrier.init and fence.mbarrier_init: one thread initialises; nobody may use an mbarrier before
// it knows of that, in the own block by a block barrier, in others of the cluster by the fence and a cluster
// barrier.
std::string mbarrier_setup(const Kernel& kernel, const Names& names, Prelude& prelude) {
  if (kernel.mbarriers.empty()) return "";
  prelude.require("mbarrier_init");
  std::string text = counts_vain_waits(kernel) ? "\n  bool in_vain = false;\n" : "";
  text += "\n  if (threadIdx.x == 0) {\n";
  for (std::size_t i = 0; i < kernel.mbarriers.size(); ++i) {
    const MbarrierArray& array = kernel.mbarriers[i];
    const std::string& name = names.mbarrier(static_cast<MbarrierId>(i));
    text += array.count == 1 ? fmt::format("    mbarrier_init(&{}[0], {});\n", name, array.arrivals)
                             : fmt::format("    for (int i = 0; i < {}; ++i) mbarrier_init(&{}[i], {});\n",
                                           array.count, name, array.arrivals);
  }
  if (kernel.cluster > 1) {
    prelude.require("publish_mbarriers");
    prelude.require("cluster_barrier");
    text += "    publish_mbarriers();\n";
  }
  return text + (kernel.cluster > 1 ? "  }\n  cluster_barrier();\n" : "  }\n  __syncthreads();\n");
}

std::string shared_arrays(const Kernel& kernel, const Names& names, int alignment, Prelude& prelude) {
  if (kernel.shared.empty() && kernel.mbarriers.empty()) return "";
  const std::vector<std::int64_t> offsets = shared_offsets(kernel);
  std::vector<Annotated> lines;
  for (std::size_t i = 0; i < kernel.shared.size(); ++i) {
    const SharedArray& array = kernel.shared[i];
    prelude.require(element_type(array.storage));
    lines.push_back(
        {shared_pointer(element_type(array.storage), names.shared(static_cast<SharedId>(i)), offsets[i]),
         one_line(array.comment)});
  }
  const std::vector<std::int64_t> barrier_offsets = mbarrier_offsets(kernel);
  for (std::size_t i = 0; i < kernel.mbarriers.size(); ++i) {
    prelude.require("mbarrier");
    lines.push_back(
        {shared_pointer("mbarrier", names.mbarrier(static_cast<MbarrierId>(i)), barrier_offsets[i]),
         one_line(kernel.mbarriers[i].comment)});
  }
  return fmt::format("  extern __shared__ __align__({}) unsigned char shared_memory[];\n", alignment) +
         aligned(lines, "  ");
}

// A cold branch as a function: values come as arguments, variables in a struct, and go back so.
std::string cold_function(const Kernel& kernel, const Names& names, const ColdBranch& branch,
                          Prelude& prelude) {
  Uses uses;
  const std::string body = StatementWriter(kernel, names, prelude, uses, true).write(*branch.body, 1);
  const auto declared = [&](RegId reg) {
    const Type type = kernel.registers[static_cast<std::size_t>(reg)].type;
    prelude.require(type_name(type));
    return fmt::format("{} {}", type_name(type), names.reg(reg));
  };
  std::vector<std::string> arguments;
  std::string members, begin, end;
  for (const ParamId param : branch.params)
    arguments.push_back(
        parameter(kernel, kernel.params[static_cast<std::size_t>(param)], names.param(param), prelude));
  for (const RegId reg : branch.reads) arguments.push_back(declared(reg));
  for (const RegId reg : branch.assigns) {
    members += fmt::format("  {};\n", declared(reg));
    begin += fmt::format("  {} = carried.{};\n", declared(reg), names.reg(reg));
    end += (end.empty() ? "" : ", ") + names.reg(reg);
  }
  const std::string carried = branch.function + "_carried";
  std::string text =
      "// Hardly a thread comes here. A function, so that the loops of its kernel do not know of it.\n";
  if (!end.empty()) {
    arguments.push_back(carried + " carried");
    text += fmt::format("struct {} {{\n{}}};\n", carried, members);
  }
  text +=
      wrapped(fmt::format("__device__ __noinline__ {} {}(", end.empty() ? "void" : carried, branch.function),
              arguments, ") {\n", 4);
  text += constants(kernel, names, uses, prelude) + builtins(kernel, uses) + begin + body;
  return text + (end.empty() ? "" : fmt::format("  return {{{}}};\n", end)) + "}\n\n";
}

std::string kernel_text(const Kernel& kernel, int alignment, Prelude& prelude) {
  const Names names(kernel);
  Uses uses;
  // The body first: it tells which constants and built-ins stand above it.
  StatementWriter writer(kernel, names, prelude, uses);
  const std::string body = writer.write(kernel.body, 1);
  std::string text;
  for (const ColdBranch& branch : writer.cold_branches())
    text += cold_function(kernel, names, branch, prelude);
  if (!kernel.comment.empty()) text += comment_lines(kernel.comment, "");
  text += signature(kernel, names, prelude);
  const std::string top = constants(kernel, names, uses, prelude) +
                          shared_arrays(kernel, names, alignment, prelude) + builtins(kernel, uses) +
                          mbarrier_setup(kernel, names, prelude);
  text += top;
  if (!top.empty() && !body.empty()) text += '\n';
  return text + body + "}\n";
}

}  // namespace

Unit emit_unit(const std::vector<const Kernel*>& kernels, const target::Target& target) {
  Prelude prelude(target);
  std::vector<std::string> texts;
  texts.reserve(kernels.size());
  const int alignment = shared_alignment(kernels);  // one for all: they declare one name
  for (const Kernel* kernel : kernels) texts.push_back(kernel_text(*kernel, alignment, prelude));
  Unit unit{prelude.text(), {}};
  for (const std::string& text : texts) {
    if (!unit.text.empty()) unit.text += '\n';
    unit.kernels.push_back(unit.text.size());
    unit.text += text;
  }
  return unit;
}

std::string emit(const std::vector<const Kernel*>& kernels, const target::Target& target) {
  return emit_unit(kernels, target).text;
}

}  // namespace rondo::backend::cuda
