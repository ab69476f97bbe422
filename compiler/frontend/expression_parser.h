// Expressions: precedence climbing over a token stream.
#pragma once

#include "compiler/frontend/ast.h"
#include "compiler/frontend/token_stream.h"

namespace rondo::frontend {

class ExpressionParser {
 public:
  explicit ExpressionParser(TokenStream& tokens) : tokens_(tokens) {}

  // One expression from the stream. Throws SyntaxError (reported).
  ast::ExprPtr parse();

 private:
  ast::ExprPtr binary(int min_precedence);
  ast::ExprPtr prefix(int min_precedence);
  ast::ExprPtr negation();
  ast::ExprPtr application();
  ast::ExprPtr postfix();
  ast::ExprPtr primary();
  ast::ExprPtr name();
  ast::ExprPtr stack();
  std::vector<ast::ExprPtr> list(const Token& opening, TokenKind closing);
  ast::Subscript subscript();

  // Wraps a node; reports a tree that grew too deep.
  template <class Node>
  ast::ExprPtr make(Node node, step::Span span, int deepest_operand);
  [[noreturn]] void too_deep(step::Span span);

  TokenStream& tokens_;
  int nesting_ = 0;
};

}  // namespace rondo::frontend
