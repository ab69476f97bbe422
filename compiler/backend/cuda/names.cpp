#include "compiler/backend/cuda/names.h"

#include "compiler/backend/cuda/prelude.h"

namespace rondo::backend::cuda {

namespace {

// Keywords of C++20 with their alternative tokens, what the text itself calls, and macros a compiler or its
// implicit headers may define.
constexpr std::string_view kReserved[] = {
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char8_t",
    "char16_t",
    "char32_t",
    "class",
    "compl",
    "concept",
    "const",
    "consteval",
    "constexpr",
    "constinit",
    "const_cast",
    "continue",
    "co_await",
    "co_return",
    "co_yield",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "typeof",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
    // built-ins of the emitted text
    "threadIdx",
    "blockIdx",
    "blockDim",
    "gridDim",
    "warpSize",
    "thread_x",
    "block_x",
    "grid_x",
    "cluster_rank",
    "shared_memory",
    "min",
    "max",
    "fmaf",
    "fminf",
    "fmaxf",
    "fabsf",
    "copysignf",
    "expf",
    "expm1f",
    "logf",
    "log1pf",
    "sqrtf",
    "rsqrtf",
    "erff",
    "erfcf",
    "sinf",
    "cosf",
    "float2",
    "float4",
    "int2",
    "int4",
    "uint2",
    "uint4",
    "make_float2",
    "make_float4",
    "make_int2",
    "make_int4",
    "make_uint2",
    "make_uint4",
    // macros
    "linux",
    "unix",
    "errno",
    "assert",
    "signgam",
    "stdin",
    "stdout",
    "stderr",
    "EOF",
    "NULL",
    "NAN",
    "INFINITY",
    "HUGE_VAL",
    "HUGE_VALF",
    "CHAR_BIT",
    "RAND_MAX",
    "BUFSIZ",
};

std::string sanitised(std::string_view wanted) {
  std::string name;
  for (char c : wanted) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool digit = c >= '0' && c <= '9';
    if (digit && name.empty()) name += 'v';
    // Names with two underscores belong to the compiler.
    const char kept = letter || digit ? c : '_';
    if (!(kept == '_' && !name.empty() && name.back() == '_')) name += kept;
  }
  if (name.empty() || name[0] == '_') name.insert(0, "v");
  return name;
}

}  // namespace

Names::Names(const kernel::Kernel& kernel) {
  for (std::string_view name : kReserved) taken_.emplace(name);
  for (std::string& name : helper_names()) taken_.insert(std::move(name));
  taken_.insert(kernel.name);
  for (const auto& constant : kernel.named) named_.push_back(claim(constant.name));
  for (const auto& param : kernel.params) params_.push_back(claim(param.name));
  for (const auto& array : kernel.shared) shared_.push_back(claim(array.name));
  for (const auto& array : kernel.mbarriers) mbarriers_.push_back(claim(array.name));
  for (const auto& reg : kernel.registers) registers_.push_back(claim(reg.name));
  for (const auto& array : kernel.arrays) arrays_.push_back(claim(array.name));
}

std::string Names::claim(std::string_view wanted) {
  const std::string name = sanitised(wanted);
  std::string candidate = name;
  for (int n = 1; !taken_.insert(candidate).second; ++n)
    candidate = name + (n == 1 ? "_" : "_" + std::to_string(n));
  return candidate;
}

}  // namespace rondo::backend::cuda
