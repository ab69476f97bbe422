// A piece of C++ text with how tightly its outermost operator binds, so that parentheses appear only where
// C++ needs them.
#pragma once

#include <string>
#include <utility>

namespace rondo::backend::cuda {

// Loosest first (C++20, [expr]).
enum class Precedence {
  Conditional,
  LogicalOr,
  LogicalAnd,
  BitOr,
  BitXor,
  BitAnd,
  Equality,
  Relational,
  Shift,
  Additive,
  Multiplicative,
  Unary,
  Primary,
};

inline Precedence tighter(Precedence precedence) {
  return static_cast<Precedence>(static_cast<int>(precedence) + (precedence != Precedence::Primary));
}

struct Text {
  std::string text;
  Precedence precedence = Precedence::Primary;
};

// The text as an operand of something that binds as tightly as `at_least`.
inline std::string operand(Text text, Precedence at_least) {
  return text.precedence < at_least ? "(" + text.text + ")" : std::move(text.text);
}

}  // namespace rondo::backend::cuda
