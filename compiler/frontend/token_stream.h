// The parser's view of the tokens: where line ends count, how errors leave a statement, where parsing
// resumes.
#pragma once

#include <string>
#include <vector>

#include "compiler/frontend/diagnostics.h"
#include "compiler/frontend/token.h"

namespace rondo::frontend {

// Thrown within the parser once an error is reported, caught by the statement it is in.
struct SyntaxError {};

class TokenStream {
 public:
  // `tokens` ends with End and outlives the stream.
  TokenStream(const std::vector<Token>& tokens, Diagnostics& diagnostics)
      : tokens_(tokens), diagnostics_(diagnostics) {}

  // The next token. Between open() and close() line ends are skipped, unless a new statement begins on the
  // next line: then a bracket was forgotten, and the line end is what the parser trips over.
  const Token& peek();
  const Token& peek_second() const;  // the token after peek(), line ends counting
  Token take();
  bool at(TokenKind kind) { return peek().kind == kind; }
  bool accept(TokenKind kind);
  Token expect(TokenKind kind, const std::string& message, const std::string& help = "");

  // Takes line ends, for the places where a statement continues: after an operator, '=' or ','.
  void skip_line_ends();

  // Takes an opening bracket; takes the closing one or reports what stands there, or `opening` as never
  // closed. `separator`: what else could have come.
  Token open();
  void close(TokenKind closing, const Token& opening, const char* separator = "',' or ");

  // Reports (silently if the token is Bad: the lexer has) and throws SyntaxError.
  [[noreturn]] void fail(const Token& token, const std::string& message, const std::string& help = "");
  [[noreturn]] void fail(step::Span span, const std::string& message, const std::string& help = "");

  Diagnostics& diagnostics() { return diagnostics_; }
  std::size_t position() const { return at_; }
  const Token& token(std::size_t position) const { return tokens_[position]; }

  // After an error in the statement that began at token `start`: goes to where the next one begins.
  void recover(std::size_t start);
  // Goes to the next line that begins with `cell` or `fn`, or to the end.
  void recover_to_item();
  // Goes to the first '{' of this line; false if there is none.
  bool recover_to_body();

 private:
  bool statement_begins(std::size_t position) const;

  const std::vector<Token>& tokens_;
  Diagnostics& diagnostics_;
  std::size_t at_ = 0;
  int brackets_ = 0;
};

}  // namespace rondo::frontend
