#include "compiler/frontend/token_stream.h"

#include <fmt/format.h>

namespace rondo::frontend {

bool TokenStream::statement_begins(std::size_t position) const {
  while (tokens_[position].kind == TokenKind::Newline) ++position;
  const auto kind_at = [&](std::size_t offset) {
    const std::size_t i = position + offset;
    return i < tokens_.size() ? tokens_[i].kind : TokenKind::End;
  };
  switch (kind_at(0)) {
    case TokenKind::KwCell:
    case TokenKind::KwFn:
    case TokenKind::KwInput:
    case TokenKind::KwParam:
    case TokenKind::KwState:
    case TokenKind::KwConst:
    case TokenKind::KwOutput:
    case TokenKind::RBrace:
    case TokenKind::End: return true;
    case TokenKind::Name: return kind_at(1) == TokenKind::Assign;
    case TokenKind::KwNext: return kind_at(1) == TokenKind::Name && kind_at(2) == TokenKind::Assign;
    default: return false;
  }
}

void TokenStream::skip_line_ends() {
  if (tokens_[at_].kind != TokenKind::Newline || statement_begins(at_)) return;
  while (tokens_[at_].kind == TokenKind::Newline) ++at_;
}

const Token& TokenStream::peek() {
  if (brackets_ > 0) skip_line_ends();
  return tokens_[at_];
}

const Token& TokenStream::peek_second() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }

Token TokenStream::take() {
  const Token token = peek();
  if (token.kind != TokenKind::End) ++at_;
  return token;
}

bool TokenStream::accept(TokenKind kind) {
  if (!at(kind)) return false;
  take();
  return true;
}

Token TokenStream::expect(TokenKind kind, const std::string& message, const std::string& help) {
  if (at(kind)) return take();
  const bool taken = kind == TokenKind::Name && help.empty() && is_keyword(peek().kind);
  fail(peek(), fmt::format("{}, found {}", message, describe(peek())),
       taken ? "words of the language cannot be names" : help);
}

Token TokenStream::open() {
  const Token token = take();
  ++brackets_;
  return token;
}

void TokenStream::close(TokenKind closing, const Token& opening, const char* separator) {
  const Token& token = peek();
  if (token.kind == closing) {
    take();
    --brackets_;
    return;
  }
  const bool ended = token.kind == TokenKind::Newline || token.kind == TokenKind::Semicolon ||
                     token.kind == TokenKind::End || token.kind == TokenKind::RBrace;
  if (ended) fail(opening.span, fmt::format("this '{}' is never closed", opening.text));
  const char* sign = closing == TokenKind::RParen ? ")" : "]";
  fail(token, fmt::format("expected {}'{}', found {}", separator, sign, describe(token)));
}

void TokenStream::fail(const Token& token, const std::string& message, const std::string& help) {
  if (token.kind != TokenKind::Bad) diagnostics_.error(token.span, message, help);
  throw SyntaxError{};
}

void TokenStream::fail(step::Span span, const std::string& message, const std::string& help) {
  diagnostics_.error(span, message, help);
  throw SyntaxError{};
}

void TokenStream::recover(std::size_t start) {
  brackets_ = 0;
  // A forgotten bracket may have drawn the next statement in: go back to it.
  int brackets = 0, braces = 0;
  for (std::size_t i = start; i < at_; ++i) {
    const TokenKind kind = tokens_[i].kind;
    if (kind == TokenKind::Newline && statement_begins(i)) {
      at_ = i + 1;
      return;
    }
    if (kind == TokenKind::LParen || kind == TokenKind::LBracket) ++brackets;
    if (kind == TokenKind::RParen || kind == TokenKind::RBracket) --brackets;
  }
  for (;; ++at_) {
    switch (tokens_[at_].kind) {
      case TokenKind::End: return;
      case TokenKind::LParen:
      case TokenKind::LBracket: ++brackets; break;
      case TokenKind::RParen:
      case TokenKind::RBracket: --brackets; break;
      case TokenKind::LBrace: ++braces; break;
      case TokenKind::RBrace:
        if (braces == 0) return;
        --braces;
        break;
      case TokenKind::KwCell:
        if (at_ > start && tokens_[at_ - 1].kind == TokenKind::Newline) return;
        break;
      case TokenKind::Semicolon:
      case TokenKind::Newline:
        // Inside brackets only a line that clearly begins a statement ends this one.
        if (braces > 0 || (brackets > 0 && !statement_begins(at_ + 1))) break;
        ++at_;
        return;
      default: break;
    }
  }
}

void TokenStream::recover_to_item() {
  brackets_ = 0;
  for (; tokens_[at_].kind != TokenKind::End; ++at_) {
    const bool item = tokens_[at_].kind == TokenKind::KwCell || tokens_[at_].kind == TokenKind::KwFn;
    if (item && at_ > 0 && tokens_[at_ - 1].kind == TokenKind::Newline) return;
  }
}

bool TokenStream::recover_to_body() {
  brackets_ = 0;
  for (std::size_t i = at_;; ++i) {
    const TokenKind kind = tokens_[i].kind;
    if (kind == TokenKind::Newline || kind == TokenKind::End) return false;
    if (kind == TokenKind::LBrace) {
      at_ = i;
      return true;
    }
  }
}

}  // namespace rondo::frontend
