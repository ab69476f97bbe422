// fp16 to fp32 and back by integer operations, for CPUs that have no instruction for it: there LLVM calls
// functions of a library that the code has not.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "compiler/backend/llvm/nvptx/function_text.h"

namespace rondo::backend::host {

class HalfBits {
 public:
  // `lanes`: of the vectors that are converted; "" for single numbers.
  HalfBits(nvptx::FunctionText& text, std::string lanes) : text_(text), lanes_(std::move(lanes)) {}

  // The exponent of fp32 is larger by 112: a product with 2^112 moves it, and makes small numbers normal
  // ones.
  std::string widened(const std::string& half) {
    const std::string bits = text_.value("bitcast {} {} to {}", type("half"), half, type("i16"));
    const std::string word = text_.value("zext {} {} to {}", type("i16"), bits, type("i32"));
    const std::string size = integer("and", word, 0x7FFF);
    const std::string moved = integer("shl", size, 13);
    const std::string scaled = text_.value("fmul {} {}, {}", type("float"), as_float(moved),
                                           constant("float", "0x46F0000000000000"));
    const std::string infinite = integer("or", moved, 0x7F800000);
    const std::string is_number = text_.value("icmp ult {} {}, {}", type("i32"), size, number(0x7C00));
    const std::string magnitude = choice(is_number, as_bits(scaled), infinite);
    const std::string sign = integer("shl", integer("and", word, 0x8000), 16);
    return as_float(text_.value("or {} {}, {}", type("i32"), magnitude, sign));
  }

  // To nearest even. Normal numbers round by their bits; small ones where 0.5 is added, whose last place is
  // theirs.
  std::string rounded(const std::string& value) {
    const std::string bits = as_bits(value);
    const std::string size = integer("and", bits, 0x7FFFFFFF);
    const std::string odd = integer("and", integer("lshr", size, 13), 1);
    const std::string up = text_.value("add {} {}, {}", type("i32"), integer("add", size, 0xFFF), odd);
    const std::string normal = integer("lshr", integer("sub", up, 0x38000000), 13);
    const std::string sum =
        text_.value("fadd {} {}, {}", type("float"), as_float(size), constant("float", "0.5"));
    const std::string small = integer("sub", as_bits(sum), 0x3F000000);
    const std::string quiet = integer("or", integer("and", integer("lshr", size, 13), 0x3FF), 0x7E00);
    std::string result = choice(less(size, 0x38800000), small, normal);
    result = choice(less(up, 0x47800000), result, number(0x7C00));
    result = choice(less(size, 0x7F800001), result, quiet);
    const std::string sign = integer("and", integer("lshr", bits, 16), 0x8000);
    const std::string all = text_.value("or {} {}, {}", type("i32"), result, sign);
    const std::string half = text_.value("trunc {} {} to {}", type("i32"), all, type("i16"));
    return text_.value("bitcast {} {} to {}", type("i16"), half, type("half"));
  }

 private:
  std::string type(std::string_view element) const {
    return lanes_.empty() ? std::string(element) : fmt::format("<{} x {}>", lanes_, element);
  }
  std::string constant(std::string_view element, std::string_view value) const {
    return lanes_.empty() ? std::string(value) : fmt::format("splat ({} {})", element, value);
  }
  std::string number(std::int64_t value) const { return constant("i32", fmt::format("{}", value)); }
  std::string integer(std::string_view op, const std::string& a, std::int64_t b) {
    return text_.value("{} {} {}, {}", op, type("i32"), a, number(b));
  }
  std::string less(const std::string& a, std::int64_t b) {
    return text_.value("icmp ult {} {}, {}", type("i32"), a, number(b));
  }
  std::string choice(const std::string& condition, const std::string& yes, const std::string& no) {
    return text_.value("select {0} {1}, {2} {3}, {2} {4}", type("i1"), condition, type("i32"), yes, no);
  }
  std::string as_float(const std::string& bits) {
    return text_.value("bitcast {} {} to {}", type("i32"), bits, type("float"));
  }
  std::string as_bits(const std::string& value) {
    return text_.value("bitcast {} {} to {}", type("float"), value, type("i32"));
  }

  nvptx::FunctionText& text_;
  std::string lanes_;
};

}  // namespace rondo::backend::host
