#include "compiler/backend/cuda/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "compiler/backend/cuda/statements.h"

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
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string parameter(const Param& param, const std::string& name, Prelude& prelude) {
  if (!param.buffer) {
    prelude.require(type_name(param.type));
    return fmt::format("{} {}", type_name(param.type), name);
  }
  prelude.require(element_type(param.storage));
  return fmt::format("{}{}* __restrict__ {}", param.written ? "" : "const ", element_type(param.storage),
                     name);
}

std::string signature(const Kernel& kernel, const Names& names, Prelude& prelude) {
  std::string text = fmt::format("extern \"C\" __global__ void __launch_bounds__({}, {}) {}(", kernel.threads,
                                 kernel.min_blocks, kernel.name);
  std::vector<Annotated> lines;
  for (std::size_t i = 0; i < kernel.params.size(); ++i) {
    const bool last = i + 1 == kernel.params.size();
    lines.push_back(
        {parameter(kernel.params[i], names.param(static_cast<ParamId>(i)), prelude) + (last ? ")" : ","),
         one_line(kernel.params[i].comment)});
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

std::string builtins(const Uses& uses) {
  std::string text;
  for (Builtin builtin : uses.builtins) switch (builtin) {
      case Builtin::ThreadX: text += "  const int thread_x = threadIdx.x;\n"; break;
      case Builtin::BlockX: text += "  const int block_x = blockIdx.x;\n"; break;
      case Builtin::GridX: text += "  const int grid_x = gridDim.x;\n"; break;
    }
  return text;
}

std::string shared_arrays(const Kernel& kernel, const Names& names, Prelude& prelude) {
  if (kernel.shared.empty()) return "";
  const std::vector<std::int64_t> offsets = shared_offsets(kernel);
  std::vector<Annotated> lines;
  for (std::size_t i = 0; i < kernel.shared.size(); ++i) {
    const SharedArray& array = kernel.shared[i];
    prelude.require(element_type(array.storage));
    const std::string place =
        offsets[i] == 0 ? "shared_memory" : fmt::format("shared_memory + {}", offsets[i]);
    lines.push_back({fmt::format("{0}* const {1} = reinterpret_cast<{0}*>({2});", element_type(array.storage),
                                 names.shared(static_cast<SharedId>(i)), place),
                     one_line(array.comment)});
  }
  return "  extern __shared__ __align__(16) unsigned char shared_memory[];\n" + aligned(lines, "  ");
}

std::string kernel_text(const Kernel& kernel, Prelude& prelude) {
  const Names names(kernel);
  Uses uses;
  // The body first: it tells which constants and built-ins stand above it.
  const std::string body = StatementWriter(kernel, names, prelude, uses).write(kernel.body, 1);
  std::string text = kernel.comment.empty() ? "" : comment_lines(kernel.comment, "");
  text += signature(kernel, names, prelude);
  const std::string top =
      constants(kernel, names, uses, prelude) + shared_arrays(kernel, names, prelude) + builtins(uses);
  text += top;
  if (!top.empty() && !body.empty()) text += '\n';
  return text + body + "}\n";
}

}  // namespace

std::string emit(const std::vector<const Kernel*>& kernels) {
  Prelude prelude;
  std::vector<std::string> texts;
  texts.reserve(kernels.size());
  for (const Kernel* kernel : kernels) texts.push_back(kernel_text(*kernel, prelude));
  std::string unit = prelude.text();
  for (const std::string& text : texts) {
    if (!unit.empty()) unit += '\n';
    unit += text;
  }
  return unit;
}

}  // namespace rondo::backend::cuda
