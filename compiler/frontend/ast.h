// Syntax tree of a cell file: what was written, before any name or shape is checked.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/step/step_ir.h"

namespace rondo::frontend::ast {

using step::Span;

// Trees are never deeper than this: the parser reports deeper ones, so later passes may recurse.
inline constexpr int kMaxDepth = 128;

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

enum class UnaryOp { Negate, Not };
enum class BinaryOp {
  Add,
  Sub,
  Mul,
  Div,
  Apply,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Equal,
  NotEqual,
  And,
  Or
};

struct Number {
  double value = 0;
};
struct Name {
  std::string name;
};
struct NextValue {  // `next c` inside an expression
  std::string state;
};
struct Unary {
  UnaryOp op = UnaryOp::Negate;
  ExprPtr operand;
};
struct Binary {
  BinaryOp op = BinaryOp::Add;
  ExprPtr left, right;
};
struct Call {
  std::string function;
  std::vector<ExprPtr> arguments;
};
struct Subscript {
  int value = 0;  // never negative
  Span span;
};
struct Index {
  ExprPtr base;
  std::vector<Subscript> subscripts;
};
struct Stack {  // [a, b, c]: rows of a new leading extent
  std::vector<ExprPtr> rows;
};

struct Expr {
  std::variant<Number, Name, NextValue, Unary, Binary, Call, Index, Stack> node;
  Span span;      // the operator, the function's name, the name or number
  int depth = 1;  // 1 + depth of the deepest operand
};

// One extent of a declaration: a number or a name (the head dimension, if it is right).
struct Extent {
  std::variant<double, std::string> value;
  bool integer = false;  // a number written as an integer
  Span span;
};
// A number of a declaration: `-1e30`, `inf`, or the name of a const.
struct Bound {
  std::variant<double, std::string> value;  // of a number with its sign
  bool negated = false;                     // of a name
  Span span;
};
struct Range {  // `in (0, 1]`
  Bound low, high;
  bool low_closed = false, high_closed = false;
  Span span;
};
struct TensorDeclaration {
  std::string name;
  std::vector<Extent> extents;
  Span span;
  std::optional<Range> range = {};
  std::optional<Bound> first = {};  // of a state
};

struct Declare {
  step::TensorKind kind = step::TensorKind::Input;  // Input, Param or State
  std::vector<TensorDeclaration> tensors;
};
struct Const {
  std::string name;
  ExprPtr value;
};
struct Assign {
  std::string name;
  ExprPtr value;
};
struct Next {
  std::string state;
  ExprPtr value;
};
struct OutputItem {
  std::string name;
  ExprPtr value;  // null for `output name`
  Span span;
};
struct Output {
  std::vector<OutputItem> items;
};
struct Parameter {
  std::string name;
  Span span;
};
struct Local {
  std::string name;
  ExprPtr value;
  Span span;
};
struct Function {
  std::string name;
  std::vector<Parameter> parameters;
  std::vector<Local> locals;
  ExprPtr result;
};
// A statement with a syntax error, already reported. The names in it count as used and as defined, so that
// the checker reports no consequences of the first error.
struct Broken {
  std::vector<std::string> names;
  std::string advances;  // the state of a broken `next c = ...`, or ""
  bool output = false;   // a broken `output ...`
};

struct Statement {
  std::variant<Declare, Const, Assign, Next, Output, Function, Broken> node;
  Span span;  // the name it sets, or its first token
};

// An extent of the cell's own: `E = 128` behind the head dimension.
struct OwnExtent {
  std::string name;
  std::optional<double> value;  // none after a report
  Span span, value_span;
};

struct Cell {
  std::string name;
  std::string dimension = "D";
  std::vector<OwnExtent> extents;
  Span span;  // the name
  std::vector<Statement> body;
  bool incomplete = false;  // its end or header is missing: what it lacks is not reported
};

struct File {
  std::vector<std::variant<Cell, Statement>> items;  // a Statement here is a Function, or Broken
};

// The sign or word of an operator, as in the file.
const char* spelling(UnaryOp op);
const char* spelling(BinaryOp op);

// The tree as text: declarations as written, expressions in prefix form.
std::string print(const File& file);

}  // namespace rondo::frontend::ast
