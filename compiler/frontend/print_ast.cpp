#include <fmt/format.h>

#include "compiler/frontend/ast.h"
#include "compiler/frontend/lexer.h"
#include "compiler/frontend/parser.h"
#include "compiler/support/enum_text.h"

namespace rondo::frontend {
namespace ast {
namespace {

constexpr EnumText<UnaryOp> kUnaryOps[] = {{UnaryOp::Negate, "-"}, {UnaryOp::Not, "not"}};
static_assert(is_total(kUnaryOps));

constexpr EnumText<BinaryOp> kBinaryOps[] = {
    {BinaryOp::Add, "+"},        {BinaryOp::Sub, "-"},       {BinaryOp::Mul, "*"},
    {BinaryOp::Div, "/"},        {BinaryOp::Apply, "@"},     {BinaryOp::Less, "<"},
    {BinaryOp::LessEqual, "<="}, {BinaryOp::Greater, ">"},   {BinaryOp::GreaterEqual, ">="},
    {BinaryOp::Equal, "=="},     {BinaryOp::NotEqual, "!="}, {BinaryOp::And, "and"},
    {BinaryOp::Or, "or"}};
static_assert(is_total(kBinaryOps));

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <class... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;  // clang before 17 needs it said

std::string text(const Expr& expr);

std::string join(const std::vector<ExprPtr>& list) {
  std::string result;
  for (const ExprPtr& expr : list) result += " " + text(*expr);
  return result;
}

std::string text(const Expr& expr) {
  return std::visit(
      Overloaded{
          [](const Number& n) { return fmt::format("{}", n.value); },
          [](const Name& n) { return n.name; },
          [](const NextValue& n) { return fmt::format("(next {})", n.state); },
          [](const Unary& n) { return fmt::format("({} {})", spelling(n.op), text(*n.operand)); },
          [](const Binary& n) {
            return fmt::format("({} {} {})", spelling(n.op), text(*n.left), text(*n.right));
          },
          [](const Call& n) { return fmt::format("({}{})", n.function, join(n.arguments)); },
          [](const Index& n) {
            std::string result = fmt::format("(row {}", text(*n.base));
            for (const Subscript& subscript : n.subscripts) result += fmt::format(" {}", subscript.value);
            return result + ")";
          },
          [](const Stack& n) { return fmt::format("(rows{})", join(n.rows)); },
      },
      expr.node);
}

std::string text(const std::vector<OwnExtent>& extents) {
  std::string result;
  for (const OwnExtent& extent : extents)
    result += fmt::format(", {} = {}", extent.name, extent.value.value_or(0));
  return result;
}

std::string text(const Bound& bound) {
  return std::visit([&](const auto& value) { return fmt::format("{}{}", bound.negated ? "-" : "", value); },
                    bound.value);
}

// " in (0, inf) = 1"
std::string declared(const TensorDeclaration& tensor) {
  std::string result;
  if (tensor.range)
    result = fmt::format(" in {}{}, {}{}", tensor.range->low_closed ? '[' : '(', text(tensor.range->low),
                         text(tensor.range->high), tensor.range->high_closed ? ']' : ')');
  return tensor.first ? result + " = " + text(*tensor.first) : result;
}

std::string text(const TensorDeclaration& tensor) {
  std::string result = tensor.name;
  for (std::size_t i = 0; i < tensor.extents.size(); ++i) {
    result += i == 0 ? "[" : ", ";
    result += std::visit([](const auto& value) { return fmt::format("{}", value); }, tensor.extents[i].value);
  }
  return (tensor.extents.empty() ? result : result + "]") + declared(tensor);
}

std::string text(const Function& function, const std::string& indent) {
  std::string result = "fn " + function.name;
  for (std::size_t i = 0; i < function.parameters.size(); ++i) {
    result += (i == 0 ? "(" : ", ") + function.parameters[i].name;
  }
  result += ")\n";
  for (const Local& local : function.locals) {
    result += fmt::format("{}  {} = {}\n", indent, local.name, text(*local.value));
  }
  return result + fmt::format("{}  {}\n", indent, text(*function.result));
}

std::string text(const Statement& statement, const std::string& indent) {
  const std::string line = std::visit(
      Overloaded{
          [](const Declare& n) {
            std::string result;
            for (const TensorDeclaration& tensor : n.tensors) {
              result +=
                  (result.empty() ? step::tensor_kind_name(n.kind) + std::string(" ") : ", ") + text(tensor);
            }
            return result + "\n";
          },
          [](const Const& n) { return fmt::format("const {} = {}\n", n.name, text(*n.value)); },
          [](const Assign& n) { return fmt::format("{} = {}\n", n.name, text(*n.value)); },
          [](const Next& n) { return fmt::format("next {} = {}\n", n.state, text(*n.value)); },
          [](const Output& n) {
            std::string result;
            for (const OutputItem& item : n.items) {
              result += (result.empty() ? "output " : ", ") + item.name;
              if (item.value) result += " = " + text(*item.value);
            }
            return result + "\n";
          },
          [&](const Function& n) { return text(n, indent); },
          [](const Broken&) { return std::string("error\n"); },
      },
      statement.node);
  return indent + line;
}

std::string text(const Cell& cell) {
  std::string result = fmt::format("cell {}({}{})\n", cell.name, cell.dimension, text(cell.extents));
  for (const Statement& statement : cell.body) result += text(statement, "  ");
  return result;
}

}  // namespace

const char* spelling(UnaryOp op) { return to_text(kUnaryOps, op); }
const char* spelling(BinaryOp op) { return to_text(kBinaryOps, op); }

std::string print(const File& file) {
  std::string result;
  for (const auto& item : file.items) {
    if (!result.empty()) result += "\n";
    result += std::visit(Overloaded{[](const Cell& cell) { return text(cell); },
                                    [](const Statement& statement) { return text(statement, ""); }},
                         item);
  }
  return result;
}

}  // namespace ast

std::string print_ast(std::string_view text, std::string_view /*path*/) {
  Diagnostics diagnostics;
  const std::vector<Token> tokens = tokenize(text, diagnostics);
  const ast::File file = parse_file(tokens, diagnostics);
  return diagnostics.count() == 0 ? ast::print(file) : "";
}

}  // namespace rondo::frontend
