#include "compiler/backend/llvm/nvptx/function_text.h"

#include <algorithm>

#include <bit>
#include <cmath>

#include "compiler/support/enum_text.h"

namespace rondo::backend::nvptx {

namespace {

constexpr EnumText<kernel::Type> kTypes[] = {{kernel::Type::Pred, "i1"},
                                             {kernel::Type::I32, "i32"},
                                             {kernel::Type::I64, "i64"},
                                             {kernel::Type::F32, "float"},
                                             {kernel::Type::F64, "double"}};
static_assert(is_total(kTypes));

// What may stand in a name that needs no quotes. A dot is left to the numbers that tell names apart.
bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

std::string_view type_text(kernel::Type type) { return to_text(kTypes, type); }

std::string real_text(double value, kernel::Type type) {
  const double rounded = type == kernel::Type::F64 ? value : static_cast<double>(static_cast<float>(value));
  // LLVM takes decimals only where they are exactly a number of the type.
  if (std::isfinite(rounded) && std::abs(rounded) < 1e6 && rounded * 1024 == std::floor(rounded * 1024)) {
    std::string digits = fmt::format("{}", rounded);
    if (digits.find('e') == std::string::npos) {
      if (digits.find('.') == std::string::npos) digits += ".0";
      return digits;
    }
  }
  return fmt::format("0x{:016X}", std::bit_cast<std::uint64_t>(rounded));
}

std::string FunctionText::claim(std::string_view wanted) {
  std::string name;
  for (const char c : wanted) name += is_plain(c) ? c : '_';
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) name = "_" + name;
  const int before = names_[name]++;
  return before == 0 && name != "entry" ? name : fmt::format("{}.{}", name, before);
}

void FunctionText::line(std::string_view instruction) {
  last_line_ = body_.size();
  body_ += fmt::format("  {}\n", instruction);
}

std::string FunctionText::define(std::string_view instruction) {
  std::string name = fmt::format("%.{}", values_++);
  line(fmt::format("{} = {}", name, instruction));
  return name;
}

std::string FunctionText::named(const std::string& value, std::string_view wanted) {
  const std::string defined = fmt::format("  {} = ", value);
  // What has a name keeps it: it may be used elsewhere.
  if (!value.starts_with("%.") || body_.compare(last_line_, defined.size(), defined) != 0) return value;
  std::string name = "%" + claim(wanted);
  body_.replace(last_line_, defined.size(), fmt::format("  {} = ", name));
  return name;
}

std::string FunctionText::slot(std::string_view type, std::string_view wanted) {
  std::string name = "%" + claim(wanted);
  first_ += fmt::format("  {} = alloca {}\n", name, type);
  return name;
}

std::string FunctionText::once(const std::string& key, std::string_view wanted,
                               std::string_view instruction) {
  const auto known = once_.find(key);
  if (known != once_.end()) return known->second;
  std::string name = "%" + claim(wanted);
  first_ += fmt::format("  {} = {}\n", name, instruction);
  return once_[key] = name;
}

void FunctionText::jump(const std::string& next, std::string_view metadata) {
  line(fmt::format("br label %{}{}", next, metadata));
}

void FunctionText::branch(const std::string& condition, const std::string& yes, const std::string& no) {
  line(fmt::format("br i1 {}, label %{}, label %{}", condition, yes, no));
}

void FunctionText::branch_around(const std::string& condition, std::string_view name,
                                 const std::function<void()>& then, const std::function<void()>& otherwise) {
  const std::string yes = label(name), end = label("end");
  const std::string no = otherwise ? label("else") : end;
  branch(condition, yes, no);
  begin(yes);
  then();
  jump(end);
  if (otherwise) {
    begin(no);
    otherwise();
    jump(end);
  }
  begin(end);
}

void FunctionText::begin(const std::string& label) {
  body_ += label + ":\n";
  last_line_ = body_.size();
}

void FunctionText::comment(std::string_view text) {
  while (true) {
    const std::size_t end = text.find('\n');
    body_ += fmt::format("  ; {}\n", text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  last_line_ = body_.size();
}

std::string comment_lines(std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines += fmt::format("; {}\n", text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace rondo::backend::nvptx
