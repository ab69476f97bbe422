#include "compiler/frontend/expression_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace rondo::frontend {
namespace {

using ast::BinaryOp;
using ast::ExprPtr;

// How tightly operators bind; `not` sits between `and` and the comparisons, unary minus and '@' bind tighter
// than all.
constexpr int kOr = 1, kAnd = 2, kNot = 3, kComparison = 4, kSum = 5, kProduct = 6;
constexpr int kMaxSubscript = 1'000'000;  // any larger index is as far out of range as this one

struct Operator {
  BinaryOp op;
  int precedence;
};

std::optional<Operator> binary_operator(TokenKind kind) {
  switch (kind) {
    case TokenKind::KwOr: return Operator{BinaryOp::Or, kOr};
    case TokenKind::KwAnd: return Operator{BinaryOp::And, kAnd};
    case TokenKind::Less: return Operator{BinaryOp::Less, kComparison};
    case TokenKind::LessEqual: return Operator{BinaryOp::LessEqual, kComparison};
    case TokenKind::Greater: return Operator{BinaryOp::Greater, kComparison};
    case TokenKind::GreaterEqual: return Operator{BinaryOp::GreaterEqual, kComparison};
    case TokenKind::Equal: return Operator{BinaryOp::Equal, kComparison};
    case TokenKind::NotEqual: return Operator{BinaryOp::NotEqual, kComparison};
    case TokenKind::Plus: return Operator{BinaryOp::Add, kSum};
    case TokenKind::Minus: return Operator{BinaryOp::Sub, kSum};
    case TokenKind::Star: return Operator{BinaryOp::Mul, kProduct};
    case TokenKind::Slash: return Operator{BinaryOp::Div, kProduct};
    default: return std::nullopt;
  }
}

// Counts recursion while it lives.
class Nesting {
 public:
  explicit Nesting(int& level) : level_(level) { ++level_; }
  ~Nesting() { --level_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  int& level_;
};

int deepest(const std::vector<ExprPtr>& list) {
  int depth = 0;
  for (const ExprPtr& expr : list) depth = std::max(depth, expr->depth);
  return depth;
}

}  // namespace

template <class Node>
ExprPtr ExpressionParser::make(Node node, step::Span span, int deepest_operand) {
  if (deepest_operand >= ast::kMaxDepth) too_deep(span);
  auto expr = std::make_unique<ast::Expr>();
  expr->node = std::move(node);
  expr->span = span;
  expr->depth = deepest_operand + 1;
  return expr;
}

void ExpressionParser::too_deep(step::Span span) {
  tokens_.fail(span, fmt::format("this expression is nested more than {} levels deep", ast::kMaxDepth),
               "give parts of it names of their own");
}

ExprPtr ExpressionParser::parse() {
  const Nesting guard(nesting_);
  if (nesting_ > ast::kMaxDepth) too_deep(tokens_.peek().span);
  return binary(kOr);
}

ExprPtr ExpressionParser::binary(int min_precedence) {
  ExprPtr left = prefix(min_precedence);
  bool compared = false;
  for (;;) {
    const std::optional<Operator> found = binary_operator(tokens_.peek().kind);
    if (!found || found->precedence < min_precedence) return left;
    const Token sign = tokens_.take();
    if (found->precedence == kComparison && std::exchange(compared, true)) {
      tokens_.fail(sign, "comparisons do not chain", "write 'a < b and b < c'");
    }
    if (found->precedence < kComparison) compared = false;
    tokens_.skip_line_ends();
    ExprPtr right = binary(found->precedence + 1);
    const int depth = std::max(left->depth, right->depth);
    left = make(ast::Binary{found->op, std::move(left), std::move(right)}, sign.span, depth);
  }
}

ExprPtr ExpressionParser::prefix(int min_precedence) {
  if (!tokens_.at(TokenKind::KwNot)) return negation();
  const Nesting guard(nesting_);
  const Token sign = tokens_.take();
  if (nesting_ > ast::kMaxDepth) too_deep(sign.span);
  if (min_precedence > kNot) tokens_.fail(sign, "'not' inside arithmetic needs parentheses", "write (not a)");
  ExprPtr operand = binary(kNot);
  const int depth = operand->depth;
  return make(ast::Unary{ast::UnaryOp::Not, std::move(operand)}, sign.span, depth);
}

ExprPtr ExpressionParser::negation() {
  if (!tokens_.at(TokenKind::Minus)) return application();
  const Nesting guard(nesting_);
  const Token sign = tokens_.take();
  if (nesting_ > ast::kMaxDepth) too_deep(sign.span);
  tokens_.skip_line_ends();
  ExprPtr operand = negation();
  const int depth = operand->depth;
  return make(ast::Unary{ast::UnaryOp::Negate, std::move(operand)}, sign.span, depth);
}

ExprPtr ExpressionParser::application() {
  ExprPtr left = postfix();
  if (!tokens_.at(TokenKind::At)) return left;
  const Nesting guard(nesting_);
  const Token sign = tokens_.take();
  if (nesting_ > ast::kMaxDepth) too_deep(sign.span);
  tokens_.skip_line_ends();
  ExprPtr right = negation();
  const int depth = std::max(left->depth, right->depth);
  return make(ast::Binary{BinaryOp::Apply, std::move(left), std::move(right)}, sign.span, depth);
}

ExprPtr ExpressionParser::postfix() {
  ExprPtr base = primary();
  while (tokens_.at(TokenKind::LBracket)) {
    const Token opening = tokens_.open();
    std::vector<ast::Subscript> subscripts{subscript()};
    while (tokens_.accept(TokenKind::Comma)) subscripts.push_back(subscript());
    tokens_.close(TokenKind::RBracket, opening);
    const int depth = base->depth;
    const step::Span span = base->span;
    base = make(ast::Index{std::move(base), std::move(subscripts)}, span, depth);
  }
  return base;
}

ast::Subscript ExpressionParser::subscript() {
  const Token token = tokens_.peek();
  if (token.kind == TokenKind::Minus)
    tokens_.fail(token, "an index cannot be negative", "rows are counted from 0");
  if (token.kind != TokenKind::Number || !token.integer) {
    tokens_.fail(
        token, fmt::format("an index is an integer literal, found {}", describe(token)),
        "rows are chosen in the text, over which the step is unrolled; the name of a state is already its "
        "value from the step before");
  }
  tokens_.take();
  return {static_cast<int>(std::min<double>(token.number, kMaxSubscript)), token.span};
}

ExprPtr ExpressionParser::primary() {
  const Token& token = tokens_.peek();
  switch (token.kind) {
    case TokenKind::Number: {
      const Token number = tokens_.take();
      return make(ast::Number{number.number}, number.span, 0);
    }
    case TokenKind::Name: return name();
    case TokenKind::KwNext: {
      tokens_.take();
      const Token state = tokens_.expect(TokenKind::Name, "expected the name of a state after 'next'");
      return make(ast::NextValue{std::string(state.text)}, state.span, 0);
    }
    case TokenKind::LParen: {
      const Token opening = tokens_.open();
      ExprPtr inner = parse();
      tokens_.close(TokenKind::RParen, opening, "");
      return inner;
    }
    case TokenKind::LBracket: return stack();
    default: tokens_.fail(token, fmt::format("expected a value, found {}", describe(token)));
  }
}

ExprPtr ExpressionParser::name() {
  const Token word = tokens_.take();
  if (!tokens_.at(TokenKind::LParen)) return make(ast::Name{std::string(word.text)}, word.span, 0);
  const Token opening = tokens_.open();
  std::vector<ExprPtr> arguments = list(opening, TokenKind::RParen);
  const int depth = deepest(arguments);
  return make(ast::Call{std::string(word.text), std::move(arguments)}, word.span, depth);
}

ExprPtr ExpressionParser::stack() {
  const Token opening = tokens_.open();
  std::vector<ExprPtr> rows = list(opening, TokenKind::RBracket);
  if (rows.empty()) tokens_.fail(opening.span, "a list of rows cannot be empty");
  const int depth = deepest(rows);
  return make(ast::Stack{std::move(rows)}, opening.span, depth);
}

std::vector<ExprPtr> ExpressionParser::list(const Token& opening, TokenKind closing) {
  std::vector<ExprPtr> items;
  if (!tokens_.at(closing)) {
    do {
      items.push_back(parse());
      if (tokens_.at(TokenKind::Assign))
        tokens_.fail(tokens_.peek(), "an argument has no name",
                     "give the values in their order; axes are not named, since a step has one");
    } while (tokens_.accept(TokenKind::Comma));
  }
  tokens_.close(closing, opening);
  return items;
}

}  // namespace rondo::frontend
