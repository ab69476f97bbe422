// The text of one function: blocks of instructions, with names that are distinct.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/kernel/ir/ir.h"

namespace rondo::backend::nvptx {

std::string_view type_text(kernel::Type type);  // i1, i32, i64, float, double
// The number of the type nearest to `value`: as decimals where few are exact, else by the bits of a double,
// which is how LLVM writes floats, too.
std::string real_text(double value, kernel::Type type = kernel::Type::F32);

// A comment of one line or several, before a function.
std::string comment_lines(std::string_view text);

// What the variable of a loop takes in turn, where `values` knows that, and the loop is to be written turn by
// turn: wholly unrolled, or with no more turns than its unrolling. Else nothing.
template <class Values>
std::optional<std::vector<std::int64_t>> turns_to_write(const kernel::For& loop, Values& values) {
  const auto begin = values.known(loop.begin), end = values.known(loop.end), step = values.known(loop.step);
  if (!begin || !end || !step || *step <= 0) return std::nullopt;
  if (loop.unroll != kernel::kFullUnroll && *begin + loop.unroll * *step < *end) return std::nullopt;
  std::vector<std::int64_t> turns;
  for (std::int64_t i = *begin; i < *end; i += *step) turns.push_back(i);
  return turns;
}

// Values are operands of the text: "%x", "%.7", "4".
class FunctionText {
 public:
  // A name that no other value or block of the function has; what LLVM does not allow becomes '_'.
  std::string claim(std::string_view wanted);

  void line(std::string_view instruction);
  // An instruction with a result.
  template <class... Arguments>
  std::string value(fmt::format_string<Arguments...> instruction, Arguments&&... arguments) {
    return define(fmt::format(instruction, std::forward<Arguments>(arguments)...));
  }
  std::string define(std::string_view instruction);
  // The value under a name of its own, where it is what the last line defines; else as it is.
  std::string named(const std::string& value, std::string_view wanted);
  // A place on the stack for a variable; it becomes a register.
  std::string slot(std::string_view type, std::string_view wanted);
  // A value that is computed once, at the function's beginning; `key` tells it from others.
  std::string once(const std::string& key, std::string_view wanted, std::string_view instruction);

  std::string label(std::string_view wanted) { return claim(wanted); }
  // Ends the block by a jump to `next`, and begins that one or another.
  void jump(const std::string& next, std::string_view metadata = "");
  void branch(const std::string& condition, const std::string& yes, const std::string& no);
  void begin(const std::string& label);
  // A branch around `then`, or to `otherwise` where there is one. Labels are called `name`, "end" and "else".
  void branch_around(const std::string& condition, std::string_view name, const std::function<void()>& then,
                     const std::function<void()>& otherwise = {});
  void comment(std::string_view text);

  // The blocks, the first of them named "entry".
  std::string text() const { return "entry:\n" + first_ + body_; }

 private:
  std::string first_, body_;
  std::size_t last_line_ = 0;
  int values_ = 0;
  std::map<std::string, int, std::less<>> names_;
  std::map<std::string, std::string> once_;
};

}  // namespace rondo::backend::nvptx
