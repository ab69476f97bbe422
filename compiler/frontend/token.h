// Tokens of the cell language.
#pragma once

#include <string>
#include <string_view>

#include "compiler/step/step_ir.h"

namespace rondo::frontend {

// The order counts: keywords stand together, and operators come last.
enum class TokenKind {
  End,
  Newline,
  Semicolon,
  Bad,  // text that is no token; the lexer has reported it, so the parser stays silent
  Name,
  Number,
  KwCell,
  KwFn,
  KwInput,
  KwParam,
  KwState,
  KwConst,
  KwOutput,
  KwNext,
  KwAnd,
  KwOr,
  KwNot,
  LParen,
  RParen,
  LBracket,
  RBracket,
  LBrace,
  RBrace,
  Comma,
  Assign,
  Plus,
  Minus,
  Star,
  Slash,
  At,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Equal,
  NotEqual,
};

constexpr bool is_keyword(TokenKind kind) { return kind >= TokenKind::KwCell && kind <= TokenKind::KwNot; }

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text;  // views the file's text
  step::Span span;
  double number = 0;     // Number
  bool integer = false;  // Number: written without point and exponent
};

// A token's text for a message: 'x', "the end of the line", "the end of the file".
std::string describe(const Token& token);

}  // namespace rondo::frontend
