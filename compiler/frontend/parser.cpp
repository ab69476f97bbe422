#include "compiler/frontend/parser.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "compiler/frontend/expression_parser.h"
#include "compiler/frontend/foreign.h"
#include "compiler/frontend/token_stream.h"

namespace rondo::frontend {
namespace {

using ast::Statement;

const std::vector<std::string> kStatementWords = {"input", "param", "state", "const", "output", "next", "fn"};
constexpr const char* kRowsHelp = "set all rows at once: name = [row0, row1]";

constexpr const char* kExtentHelp =
    "an input of another width than D has an extent with a default, as in 'cell layer(D, E = 128)'; heads, "
    "batch "
    "and time are not named, and other extents are numbers, as in 'input x[4, D]'";

class Parser {
 public:
  Parser(const std::vector<Token>& tokens, Diagnostics& diagnostics)
      : tokens_(tokens, diagnostics), expressions_(tokens_), diagnostics_(diagnostics) {}

  ast::File run() {
    ast::File file;
    for (;;) {
      while (tokens_.accept(TokenKind::Newline) || tokens_.accept(TokenKind::Semicolon)) continue;
      if (tokens_.at(TokenKind::End)) return file;
      if (tokens_.at(TokenKind::KwCell)) {
        cell(file);
      } else if (tokens_.at(TokenKind::KwFn)) {
        file.items.emplace_back(statement());
      } else {
        stray(file);
      }
    }
  }

 private:
  // Text outside any cell. After a cell it is most likely the rest of that cell, cut off by a '}' too many.
  void stray(ast::File& file) {
    const Token& token = tokens_.peek();
    const bool after_cell = !file.items.empty() && std::holds_alternative<ast::Cell>(file.items.back());
    if (after_cell) std::get<ast::Cell>(file.items.back()).incomplete = true;
    if (token.kind != TokenKind::Bad) {
      diagnostics_.error(
          token.span, fmt::format("expected 'cell' or 'fn', found {}", describe(token)),
          after_cell ? "the cell above ended at its '}'" : "a file holds cells: cell name(D) { ... }");
    }
    tokens_.take();
    tokens_.recover_to_item();
  }

  void cell(ast::File& file) {
    ast::Cell cell;
    cell.span = tokens_.take().span;
    try {
      header(cell);
    } catch (const SyntaxError&) {
      cell.incomplete = true;
      if (!tokens_.recover_to_body()) return tokens_.recover_to_item();
    }
    while (tokens_.accept(TokenKind::Newline)) continue;
    if (!tokens_.at(TokenKind::LBrace)) {
      diagnostics_.error(cell.span, fmt::format("cell '{}' has no body", cell.name),
                         "write '{' after its header");
      return tokens_.recover_to_item();
    }
    body(cell);
    file.items.emplace_back(std::move(cell));
  }

  void header(ast::Cell& cell) {
    const Token name = tokens_.expect(TokenKind::Name, "expected the name of the cell");
    cell.name = name.text;
    cell.span = name.span;
    const char* help = "a cell begins like 'cell lstm(D) {'; D is the number of channels a head";
    if (!tokens_.at(TokenKind::LParen)) {
      tokens_.fail(
          tokens_.peek(),
          fmt::format("expected '(' and the name of the head dimension, found {}", describe(tokens_.peek())),
          help);
    }
    const Token opening = tokens_.open();
    cell.dimension = tokens_.expect(TokenKind::Name, "expected the name of the head dimension", help).text;
    while (tokens_.accept(TokenKind::Comma)) cell.extents.push_back(own_extent());
    tokens_.close(TokenKind::RParen, opening);
  }

  // `E = 128`.
  ast::OwnExtent own_extent() {
    const Token name = tokens_.expect(TokenKind::Name, "expected the name of an extent", kExtentHelp);
    if (!tokens_.accept(TokenKind::Assign)) {
      diagnostics_.error(name.span, fmt::format("extent '{}' has no value", name.text), kExtentHelp);
      return {std::string(name.text), std::nullopt, name.span, name.span};
    }
    const bool negative = tokens_.accept(TokenKind::Minus);
    const Token value = tokens_.expect(
        TokenKind::Number, fmt::format("the value of extent '{}' must be a whole number", name.text),
        "a caller may give another one by the extent's name, as for a const");
    return {std::string(name.text), negative ? -value.number : value.number, name.span, value.span};
  }

  void body(ast::Cell& cell) {
    const Token brace = tokens_.take();
    for (;;) {
      while (tokens_.accept(TokenKind::Newline) || tokens_.accept(TokenKind::Semicolon)) continue;
      if (tokens_.accept(TokenKind::RBrace)) return;
      const bool next_cell = tokens_.at(TokenKind::KwCell) && tokens_.peek_second().kind != TokenKind::Assign;
      if (tokens_.at(TokenKind::End) || next_cell) {
        if (!std::exchange(unclosed_, false)) {
          diagnostics_.error(brace.span, fmt::format("the '{{' of cell '{}' is never closed", cell.name));
        }
        cell.incomplete = true;
        return;
      }
      cell.body.push_back(statement());
    }
  }

  Statement statement() {
    const std::size_t start = tokens_.position();
    const step::Span span = tokens_.peek().span;
    try {
      Statement result = one_statement();
      end_of_statement();
      return result;
    } catch (const SyntaxError&) {
      tokens_.recover(start);
      return {broken(start), span};
    }
  }

  // What the tokens from `start` to here mention.
  ast::Broken broken(std::size_t start) const {
    ast::Broken result;
    result.output = tokens_.token(start).kind == TokenKind::KwOutput;
    for (std::size_t i = start; i < tokens_.position(); ++i) {
      if (tokens_.token(i).kind == TokenKind::Name) result.names.emplace_back(tokens_.token(i).text);
    }
    if (tokens_.token(start).kind == TokenKind::KwNext && !result.names.empty())
      result.advances = result.names[0];
    return result;
  }

  void end_of_statement() {
    const Token& token = tokens_.peek();
    if (token.kind == TokenKind::RBrace || token.kind == TokenKind::End) return;
    if (tokens_.accept(TokenKind::Newline) || tokens_.accept(TokenKind::Semicolon)) return;
    tokens_.fail(token, fmt::format("expected the end of the statement, found {}", describe(token)),
                 "statements end with the line or with ';'");
  }

  Statement one_statement() {
    const Token& token = tokens_.peek();
    switch (token.kind) {
      case TokenKind::KwInput: return declare(step::TensorKind::Input);
      case TokenKind::KwParam: return declare(step::TensorKind::Param);
      case TokenKind::KwState: return declare(step::TensorKind::State);
      case TokenKind::KwConst: return constant();
      case TokenKind::KwOutput: return output();
      case TokenKind::KwNext: return next();
      case TokenKind::KwFn: return function();
      case TokenKind::Name: return assign();
      default: break;
    }
    const bool continues =
        token.kind >= TokenKind::Plus || token.kind == TokenKind::KwAnd || token.kind == TokenKind::KwOr;
    const char* help = tokens_.peek_second().kind == TokenKind::Assign && is_keyword(token.kind)
                           ? "words of the language cannot be names"
                       : continues
                           ? "an operator carries a statement to the next line only at the end of a line"
                           : "";
    tokens_.fail(token, fmt::format("expected a statement, found {}", describe(token)), help);
  }

  Statement declare(step::TensorKind kind) {
    const Token word = tokens_.take();
    ast::Declare result{kind, {}};
    do {
      tokens_.skip_line_ends();
      result.tensors.push_back(tensor(word));
      if (at_word("in")) result.tensors.back().range = range();
      if (tokens_.at(TokenKind::Assign)) {
        if (kind != step::TensorKind::State)
          tokens_.fail(tokens_.peek(), "a declaration gives no value",
                       "the caller passes it; a number with a name is written 'const k = 1'");
        tokens_.take();
        result.tensors.back().first = bound("what a state begins with is one number, or a const");
      }
    } while (tokens_.accept(TokenKind::Comma));
    return {std::move(result), word.span};
  }

  ast::TensorDeclaration tensor(const Token& word) {
    const Token name = tokens_.expect(
        TokenKind::Name, fmt::format("expected a name after '{}'", word.text),
        tokens_.peek().kind == word.kind ? fmt::format("one '{}' stands for the whole list", word.text) : "");
    if (tokens_.at(TokenKind::LParen))
      tokens_.fail(tokens_.peek(), "extents stand in '['", fmt::format("write {}[D]", name.text));
    ast::TensorDeclaration result{std::string(name.text), {}, name.span};
    if (!tokens_.at(TokenKind::LBracket)) return result;
    const Token opening = tokens_.open();
    do {
      result.extents.push_back(extent());
    } while (tokens_.accept(TokenKind::Comma));
    tokens_.close(TokenKind::RBracket, opening);
    return result;
  }

  // A word that means something in its place alone, and is a name elsewhere.
  bool at_word(const char* word) { return tokens_.at(TokenKind::Name) && tokens_.peek().text == word; }

  // in (low, high): a round bracket leaves out the number beside it, a square one takes it in.
  ast::Range range() {
    const char* help = "a range is like (0, 1), [0, 1) or (0, inf)";
    ast::Range result;
    result.span = tokens_.take().span;
    if (!tokens_.at(TokenKind::LParen) && !tokens_.at(TokenKind::LBracket))
      tokens_.fail(tokens_.peek(),
                   fmt::format("expected '(' or '[' after 'in', found {}", describe(tokens_.peek())), help);
    const Token opening = tokens_.open();
    result.low_closed = opening.kind == TokenKind::LBracket;
    result.low = bound(help);
    if (!tokens_.accept(TokenKind::Comma))
      tokens_.fail(
          tokens_.peek(),
          fmt::format("expected ',' and the upper end of the range, found {}", describe(tokens_.peek())),
          help);
    result.high = bound(help);
    result.high_closed = tokens_.at(TokenKind::RBracket);
    tokens_.close(result.high_closed ? TokenKind::RBracket : TokenKind::RParen, opening, "']' or ");
    return result;
  }

  ast::Bound bound(const char* help) {
    const Token first = tokens_.peek();
    const bool negative = tokens_.accept(TokenKind::Minus);
    if (!negative) (void)tokens_.accept(TokenKind::Plus);
    const Token token = tokens_.peek();
    if (token.kind != TokenKind::Number && token.kind != TokenKind::Name)
      tokens_.fail(token, fmt::format("expected a number, found {}", describe(token)), help);
    tokens_.take();
    const TokenKind after = tokens_.peek().kind;
    if (after >= TokenKind::Plus || after == TokenKind::LParen || after == TokenKind::LBracket)
      tokens_.fail(tokens_.peek(), "a declaration takes numbers without arithmetic",
                   "give the value a name: const k = 1 / 3");
    const double infinity = std::numeric_limits<double>::infinity();
    if (token.kind == TokenKind::Number || token.text == "inf") {
      const double value = token.kind == TokenKind::Number ? token.number : infinity;
      return {negative ? -value : value, false, first.span};
    }
    return {std::string(token.text), negative, token.span};
  }

  ast::Extent extent() {
    const ast::Extent result = one_extent();
    const TokenKind after = tokens_.peek().kind;
    if (after == TokenKind::Star || after == TokenKind::Slash || after == TokenKind::Plus ||
        after == TokenKind::Minus) {
      tokens_.fail(tokens_.peek(), "an extent is one integer or the head dimension, without arithmetic",
                   "what has several values for each channel has rows: x[2, D]");
    }
    return result;
  }

  ast::Extent one_extent() {
    if (tokens_.at(TokenKind::Name)) {
      const Token name = tokens_.take();
      return {std::string(name.text), false, name.span};
    }
    const Token first = tokens_.peek();
    const bool negative = tokens_.accept(TokenKind::Minus);
    const Token number =
        tokens_.expect(TokenKind::Number, "expected an extent: a number or the head dimension");
    return {negative ? -number.number : number.number, number.integer, first.span};
  }

  Statement constant() {
    tokens_.take();
    const Token name = tokens_.expect(TokenKind::Name, "expected a name after 'const'");
    return {ast::Const{std::string(name.text), value_after(name)}, name.span};
  }

  Statement next() {
    tokens_.take();
    const Token name = tokens_.expect(TokenKind::Name, "expected the name of a state after 'next'");
    if (tokens_.at(TokenKind::LBracket))
      tokens_.fail(tokens_.peek(), "rows cannot be set one by one",
                   fmt::format("set all rows at once: next {} = [row0, row1]", name.text));
    return {ast::Next{std::string(name.text), value_after(name)}, name.span};
  }

  Statement assign() {
    const Token name = tokens_.take();
    if (tokens_.at(TokenKind::LBracket))
      tokens_.fail(tokens_.peek(), "rows cannot be set one by one", kRowsHelp);
    if (tokens_.at(TokenKind::Name)) {
      const std::string instead = instead_of_statement(std::string(name.text));
      tokens_.fail(name, fmt::format("'{}' begins no statement", name.text),
                   instead.empty() ? did_you_mean(std::string(name.text), kStatementWords) : instead);
    }
    return {ast::Assign{std::string(name.text), value_after(name)}, name.span};
  }

  ast::ExprPtr value_after(const Token& name) {
    if (tokens_.at(TokenKind::Comma))
      tokens_.fail(tokens_.peek(), "a statement sets one name", "rows are chosen one by one: z = x[0]");
    tokens_.expect(TokenKind::Assign, fmt::format("expected '=' after '{}'", name.text));
    tokens_.skip_line_ends();
    return expressions_.parse();
  }

  Statement output() {
    const Token word = tokens_.take();
    ast::Output result;
    do {
      tokens_.skip_line_ends();
      const Token name = tokens_.expect(
          TokenKind::Name, "expected a name after 'output'",
          tokens_.at(TokenKind::KwNext) ? "an output that is a state is its value after the step: 'output h'"
                                        : "an expression gets one first: 'output y = 2 * next h'");
      ast::OutputItem item{std::string(name.text), nullptr, name.span};
      if (tokens_.at(TokenKind::Assign)) item.value = value_after(name);
      result.items.push_back(std::move(item));
    } while (tokens_.accept(TokenKind::Comma));
    return {std::move(result), word.span};
  }

  Statement function() {
    const std::size_t start = tokens_.position();
    tokens_.take();
    const Token name = tokens_.expect(TokenKind::Name, "expected the name of the function");
    ast::Function result;
    result.name = name.text;
    if (!tokens_.at(TokenKind::LParen)) {
      tokens_.fail(tokens_.peek(),
                   fmt::format("expected '(' and parameters, found {}", describe(tokens_.peek())));
    }
    const Token opening = tokens_.open();
    do {
      const Token parameter = tokens_.expect(TokenKind::Name, "expected the name of a parameter");
      result.parameters.push_back({std::string(parameter.text), parameter.span});
      if (tokens_.at(TokenKind::Assign))
        tokens_.fail(tokens_.peek(), "a parameter has no value of its own", "every call gives all arguments");
    } while (tokens_.accept(TokenKind::Comma));
    tokens_.close(TokenKind::RParen, opening);
    if (tokens_.at(TokenKind::LBrace)) {
      if (!block(result)) return {broken(start), name.span};
    } else {
      tokens_.expect(TokenKind::Assign, "expected '=' or '{' and the function's body");
      tokens_.skip_line_ends();
      result.result = expressions_.parse();
    }
    return {std::move(result), name.span};
  }

  // { name = expr ... expr }. Each line recovers by itself, so that an error does not cost the rest of the
  // cell. False if there was one.
  bool block(ast::Function& function) {
    const Token brace = tokens_.take();
    bool good = true;
    for (;;) {
      while (tokens_.accept(TokenKind::Newline) || tokens_.accept(TokenKind::Semicolon)) continue;
      if (tokens_.at(TokenKind::RBrace)) break;
      if (tokens_.at(TokenKind::End) || tokens_.at(TokenKind::KwCell)) {
        diagnostics_.error(brace.span,
                           fmt::format("the '{{' of function '{}' is never closed", function.name));
        unclosed_ = true;
        return false;
      }
      const std::size_t start = tokens_.position();
      try {
        line_of_block(function);
        end_of_statement();
      } catch (const SyntaxError&) {
        tokens_.recover(start);
        good = false;
      }
    }
    if (good && !function.result) {
      good = false;
      diagnostics_.error(brace.span, fmt::format("function '{}' has no result", function.name),
                         "end its body with an expression");
    }
    tokens_.take();
    return good;
  }

  void line_of_block(ast::Function& function) {
    const Token first = tokens_.peek();
    if (function.result) tokens_.fail(first, "the result must be the last line of a function");
    switch (first.kind) {
      case TokenKind::KwInput:
      case TokenKind::KwParam:
      case TokenKind::KwState:
      case TokenKind::KwConst:
      case TokenKind::KwOutput:
      case TokenKind::KwFn: tokens_.fail(first, fmt::format("'{}' cannot stand in a function", first.text));
      default: break;
    }
    if (first.kind == TokenKind::Name && tokens_.peek_second().kind == TokenKind::Assign) {
      tokens_.take();
      function.locals.push_back({std::string(first.text), value_after(first), first.span});
    } else {
      function.result = expressions_.parse();
    }
  }

  TokenStream tokens_;
  ExpressionParser expressions_;
  Diagnostics& diagnostics_;
  bool unclosed_ = false;  // a function took the end of its cell
};

}  // namespace

ast::File parse_file(const std::vector<Token>& tokens, Diagnostics& diagnostics) {
  return Parser(tokens, diagnostics).run();
}

}  // namespace rondo::frontend
