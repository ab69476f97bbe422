#include "compiler/frontend/lower_expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "compiler/frontend/foreign.h"
#include "compiler/frontend/function_library.h"
#include "compiler/frontend/graph_tools.h"

namespace rondo::frontend {
namespace {

using scalar::Op;
using step::Extent;
using step::NodeId;

constexpr std::size_t kMaxNodes = 20'000;  // the largest shipped cell has about 100
constexpr int kMaxEvaluations = 200'000;   // expressions visited, functions expanded
constexpr int kMaxExpansionDepth = 512;    // nesting, functions expanded

Op op_of(ast::BinaryOp op) {
  switch (op) {
    case ast::BinaryOp::Add: return Op::Add;
    case ast::BinaryOp::Sub: return Op::Sub;
    case ast::BinaryOp::Mul: return Op::Mul;
    case ast::BinaryOp::Div: return Op::Div;
    case ast::BinaryOp::Less: return Op::Less;
    case ast::BinaryOp::LessEqual: return Op::LessEqual;
    case ast::BinaryOp::Greater: return Op::Greater;
    case ast::BinaryOp::GreaterEqual: return Op::GreaterEqual;
    case ast::BinaryOp::Equal: return Op::Equal;
    case ast::BinaryOp::NotEqual: return Op::NotEqual;
    case ast::BinaryOp::And: return Op::And;
    case ast::BinaryOp::Or: return Op::Or;
    case ast::BinaryOp::Apply: break;  // no elementwise operation; lowered by apply()
  }
  return Op::Add;
}

}  // namespace

Unknown ExpressionLowering::report(step::Span span, const std::string& message, std::string help) {
  const auto library = std::ranges::find(frames_, true, &Frame::library);
  const step::Span place = in_file(span);
  if (!frames_.empty()) {
    // Every further call would find the same fault, perhaps with other shapes.
    if (diagnostics_.any_at(place)) return {};
    const std::string joined = help.empty() ? "" : "; ";
    if (library != frames_.begin()) {
      const Frame& frame = *std::prev(library);
      help += fmt::format("{}in '{}' as called on line {}", joined, frame.function, frame.call.line);
    }
  }
  diagnostics_.error(place,
                     library == frames_.end() ? message : fmt::format("'{}': {}", library->function, message),
                     std::move(help));
  return {};
}

step::Span ExpressionLowering::in_file(step::Span span) const {
  const auto library = std::ranges::find(frames_, true, &Frame::library);
  return library == frames_.end() ? span : library->call;
}

NodeId ExpressionLowering::placed(NodeId id, step::Span span) {
  cell_.graph.nodes[static_cast<std::size_t>(id)].span = in_file(span);
  return id;
}

bool ExpressionLowering::within_limits(step::Span span) {
  if (exceeded_) return false;
  exceeded_ =
      ++evaluations_ > kMaxEvaluations || cell_.graph.nodes.size() > kMaxNodes || depth_ > kMaxExpansionDepth;
  if (exceeded_) {
    const step::Span where = frames_.empty() ? span : frames_.front().call;
    diagnostics_.error(
        where, "the step grows too large when its functions are expanded",
        fmt::format("the limits are {} operations and {} levels", kMaxNodes, kMaxExpansionDepth));
  }
  return !exceeded_;
}

void ExpressionLowering::label(const Value& value, const std::string& name) {
  const auto* rows = std::get_if<Rows>(&value);
  if (!rows) return;
  for (std::size_t i = 0; i < rows->nodes.size(); ++i) {
    step::Node& node = cell_.graph.nodes[static_cast<std::size_t>(rows->nodes[i])];
    const bool computed = !node.operands.empty();
    if (computed && node.label.empty())
      node.label = rows->nodes.size() == 1 ? name : fmt::format("{}_{}", name, i);
  }
}

Value ExpressionLowering::lower(const ast::Expr& expr) {
  ++depth_;
  Value value = Unknown{};
  if (within_limits(expr.span)) {
    value = std::visit([&](const auto& node) { return lower(node, expr.span); }, expr.node);
  }
  --depth_;
  return value;
}

Value ExpressionLowering::lower(const ast::Number& node, step::Span span) {
  return Rows{{}, Extent::Scalar, {placed(cell_.graph.constant(node.value), span)}};
}

Value ExpressionLowering::lower(const ast::Name& node, step::Span span) {
  if (!frames_.empty()) {
    const auto own = frames_.back().values.find(node.name);
    if (own != frames_.back().values.end()) return own->second;
  }
  if (Symbol* symbol = scope_.find(node.name)) {
    symbol->used = true;
    if (symbol->kind == SymbolKind::State) states_read_.before.insert(node.name);
    return symbol->value;
  }
  return scope_.poisoned.contains(node.name) ? Value(Unknown{}) : unknown_name(node.name, span);
}

Value ExpressionLowering::unknown_name(const std::string& name, step::Span span) {
  const auto later = scope_.later.find(name);
  // It stands above, so it was no definition; that has been said.
  if (later != scope_.later.end() && later->second.line < span.line) return {};
  if (later != scope_.later.end()) {
    const Unknown unknown = report(span, fmt::format("'{}' is used before it is defined", name),
                                   fmt::format("it is defined on line {}", later->second.line));
    scope_.excused.insert(name);
    return unknown;
  }
  if (find_builtin(name) || functions_.find(name)) {
    return report(span, fmt::format("'{}' is a function and needs arguments", name));
  }
  if (diagnostics_.full()) return {};
  const std::vector<std::string> known = scope_.names();
  if (Symbol* meant = scope_.find(closest(name, known))) meant->used = true;
  const std::string instead = instead_of_name(name);
  return report(span, fmt::format("unknown name '{}'", name),
                instead.empty() ? did_you_mean(name, known) : instead);
}

Value ExpressionLowering::lower(const ast::NextValue& node, step::Span span) {
  const auto found = scope_.next.find(node.state);
  states_read_.after.insert(node.state);
  if (found != scope_.next.end()) return found->second;
  const Symbol* symbol = scope_.find(node.state);
  if (symbol && symbol->kind == SymbolKind::State) {
    return report(
        span, fmt::format("'next {}' is read before it is set", node.state),
        fmt::format("set it above with 'next {0} = ...', or read the previous value '{0}'", node.state));
  }
  if (symbol) {
    return report(span, fmt::format("'{}' is {}, not a state: it has no next value", node.state,
                                    describe(symbol->kind)));
  }
  if (scope_.poisoned.contains(node.state)) return Unknown{};
  return report(span, fmt::format("unknown state '{}'", node.state),
                did_you_mean(node.state, scope_.names(SymbolKind::State)));
}

Value ExpressionLowering::lower(const ast::Unary& node, step::Span span) {
  const Op op = node.op == ast::UnaryOp::Negate ? Op::Neg : Op::Not;
  return elementwise(op, {lower(*node.operand)}, fmt::format("'{}'", ast::spelling(node.op)), span);
}

Value ExpressionLowering::lower(const ast::Binary& node, step::Span span) {
  Value left = lower(*node.left);
  Value right = lower(*node.right);
  if (node.op == ast::BinaryOp::Apply) return apply(left, right, span);
  return elementwise(op_of(node.op), {std::move(left), std::move(right)},
                     fmt::format("'{}'", ast::spelling(node.op)), span);
}

Value ExpressionLowering::lower(const ast::Call& node, step::Span span) {
  const Builtin* builtin = find_builtin(node.function);
  if (builtin && builtin->kind == BuiltinKind::Uniform) return draw(node, span);
  if (builtin && is_over_rows(*builtin, node)) return over_rows(*builtin, lower(*node.arguments[0]), span);
  std::vector<Value> arguments;
  for (const ast::ExprPtr& argument : node.arguments) arguments.push_back(lower(*argument));
  if (builtin) {
    if (!check_argument_count(node, span, builtin->min_arguments, builtin->max_arguments, diagnostics_))
      return Unknown{};
    return call(*builtin, arguments, span);
  }
  FunctionEntry* entry = functions_.find(node.function);
  if (!entry) return unknown_function(node.function, span);
  entry->used = true;
  const auto count = static_cast<int>(entry->function->parameters.size());
  if (!check_argument_count(node, span, count, count, diagnostics_) || !entry->valid) return Unknown{};
  return expand(*entry, std::move(arguments), span);
}

Value ExpressionLowering::unknown_function(const std::string& name, step::Span span) {
  if (scope_.poisoned.contains(name)) return Unknown{};
  if (Symbol* symbol = scope_.find(name)) {
    symbol->used = true;
    return report(span, fmt::format("'{}' is {}, not a function", name, describe(symbol->kind)),
                  "a product is written with '*'");
  }
  if (const step::Span* later = functions_.defined_later(name)) {
    scope_.excused.insert(name);
    return report(span, fmt::format("function '{}' is called above its definition", name),
                  fmt::format("it is defined on line {}: move it up", later->line));
  }
  if (diagnostics_.full()) return {};
  return report(span, fmt::format("unknown function '{}'", name), help_for_unknown(name, functions_));
}

bool ExpressionLowering::takes(const ast::Function& function, std::size_t place, const Value& argument,
                               step::Span span) {
  if (is_unknown(argument)) return false;
  if (!is_complex(function.parameters[place])) return true;
  const Rows* const rows = std::get_if<Rows>(&argument);
  if (rows != nullptr && !rows->lead.empty() && rows->lead[0] == 2) return true;
  const std::string which =
      function.parameters.size() == 1 ? "its argument" : fmt::format("argument {}", place + 1);
  report(span,
         fmt::format("'{}' takes a complex number, but {} is {}", function.name, which, shape(argument)),
         "a complex number has two rows, the real and the imaginary part: [re, im]");
  return false;
}

Value ExpressionLowering::expand(FunctionEntry& entry, std::vector<Value> arguments, step::Span span) {
  const ast::Function& function = *entry.function;
  Frame frame{function.name, span, {}, entry.library};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (entry.library && !takes(function, i, arguments[i], span)) return Unknown{};
    frame.values.emplace(function.parameters[i].name, std::move(arguments[i]));
  }
  frames_.push_back(std::move(frame));
  for (const ast::Local& local : function.locals) {
    Value value = lower(*local.value);
    label(value, local.name);
    frames_.back().values.emplace(local.name, std::move(value));
  }
  Value result = lower(*function.result);
  frames_.pop_back();
  return result;
}

Value ExpressionLowering::call(const Builtin& builtin, const std::vector<Value>& arguments, step::Span span) {
  const std::string what = fmt::format("'{}'", builtin.name);
  switch (builtin.kind) {
    case BuiltinKind::Elementwise: return in_turn(builtin.op, arguments, what, span);
    case BuiltinKind::Composed: return composed(builtin, arguments, span);
    case BuiltinKind::Max:
      if (arguments.size() > 1) return in_turn(Op::Max, arguments, what, span);
      return reduce(builtin.kind, arguments[0], what, span);
    case BuiltinKind::Sum:
    case BuiltinKind::Mean:
      if (arguments.size() == 1) return reduce(builtin.kind, arguments[0], what, span);
      return report(
          span, fmt::format("{} of two arguments goes over rows, and the second is the word 'rows'", what),
          fmt::format("{0}(v) goes over the channels of a head, {0}(v, rows) over the rows of v",
                      builtin.name));
    case BuiltinKind::Cumsum:
    case BuiltinKind::Move: return along_head(builtin, arguments, span);
    case BuiltinKind::MaxPlus: return apply(arguments[0], arguments[1], span, step::NodeKind::MaxPlus);
    case BuiltinKind::Transpose: return transpose(arguments[0], span);
    case BuiltinKind::Step: return Rows{{}, Extent::Scalar, {placed(cell_.graph.step_index(), span)}};
    case BuiltinKind::Uniform: break;  // lowered by draw(), as its argument is no value
  }
  return Unknown{};
}

Value ExpressionLowering::in_turn(Op op, const std::vector<Value>& arguments, const std::string& what,
                                  step::Span span) {
  if (scalar::info(op).arity != 2) return elementwise(op, arguments, what, span);
  Value result = arguments[0];
  for (std::size_t i = 1; i < arguments.size(); ++i)
    result = elementwise(op, {result, arguments[i]}, what, span);
  return result;
}

Value ExpressionLowering::elementwise(Op op, const std::vector<Value>& arguments, const std::string& what,
                                      step::Span span) {
  Rows result{{}, Extent::Scalar, {}};
  std::optional<std::string> inner;
  for (const Value& argument : arguments) {
    if (is_unknown(argument)) return Unknown{};
  }
  for (const Value& argument : arguments) {
    const auto* rows = std::get_if<Rows>(&argument);
    if (!rows)
      return report(span, fmt::format("{} cannot take the matrix {}", what, shape(argument)), kMatrixHelp);
    if (!joins(*rows, inner, what, span)) return Unknown{};
    if (!broadcast(result.lead, rows->lead)) {
      return report(span,
                    fmt::format("{} cannot combine {} with {}", what, shape(arguments[0]), shape(argument)),
                    "leading extents must be equal, or missing in one of the two; choose a row with v[0]");
    }
    if (rows->extent == Extent::Vector) result.extent = Extent::Vector;
  }
  result.inner = inner.value_or("");
  if (!result.inner.empty() && !spreads(arguments, what, span)) return Unknown{};
  const auto count = static_cast<std::size_t>(row_count(result.lead));
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<NodeId> operands;
    for (const Value& argument : arguments) {
      const std::vector<NodeId>& nodes = std::get<Rows>(argument).nodes;
      operands.push_back(nodes[i % nodes.size()]);  // missing leading extents repeat
    }
    result.nodes.push_back(placed(cell_.graph.scalar(op, std::move(operands)), span));
  }
  return result;
}

Value ExpressionLowering::reduce(BuiltinKind kind, const Value& argument, const std::string& what,
                                 step::Span span) {
  if (is_unknown(argument)) return Unknown{};
  const auto* rows = std::get_if<Rows>(&argument);
  if (!rows)
    return report(span, fmt::format("{} cannot take the matrix {}", what, shape(argument)), kMatrixHelp);
  if (rows->extent != Extent::Vector) {
    return report(
        span, fmt::format("{} reduces over the channels of a head, but {} has none", what, shape(argument)),
        kind == BuiltinKind::Max ? "the larger of two values is max(a, b)" : "");
  }
  if (!has_channels_of_head(argument, what, span)) return Unknown{};
  step::Graph& graph = cell_.graph;
  Rows result{rows->lead, Extent::Scalar, {}};
  for (const NodeId node : rows->nodes) {
    NodeId reduced = placed(kind == BuiltinKind::Max ? graph.reduce_max(node) : graph.reduce_sum(node), span);
    if (kind == BuiltinKind::Mean) {
      const NodeId size = placed(graph.head_size(), span);
      reduced = placed(graph.scalar(Op::Div, {reduced, size}), span);
    }
    result.nodes.push_back(reduced);
  }
  return result;
}

bool ExpressionLowering::subscripts_fit(const Lead& lead, const ast::Index& node, const Value& base) {
  if (node.subscripts.size() > lead.size()) {
    report(node.subscripts[lead.size()].span,
           lead.empty() ? fmt::format("{} has no rows to choose from", shape(base))
                        : fmt::format("{} takes at most {} ind{}", shape(base), lead.size(),
                                      lead.size() == 1 ? "ex" : "ices"),
           "only leading extents can be indexed; all channels of a head take the same step");
    return false;
  }
  for (std::size_t i = 0; i < node.subscripts.size(); ++i) {
    if (node.subscripts[i].value < lead[i]) continue;
    report(node.subscripts[i].span,
           fmt::format("row {} of {} does not exist", node.subscripts[i].value, shape(base)),
           fmt::format("rows are counted from 0 to {}", lead[i] - 1));
    return false;
  }
  return true;
}

Value ExpressionLowering::lower(const ast::Index& node, step::Span /*span*/) {
  const Value base = lower(*node.base);
  // The same for rows of nodes and rows of a matrix: a contiguous range of them stays.
  const auto choose = [&](auto part, auto member) -> Value {
    if (!subscripts_fit(part.lead, node, base)) return Unknown{};
    const RowRange range = row_range(part.lead, node.subscripts);
    part.lead.erase(part.lead.begin(),
                    part.lead.begin() + static_cast<std::ptrdiff_t>(node.subscripts.size()));
    const auto first = (part.*member).begin() + range.first;
    part.*member = {first, first + range.count};
    return part;
  };
  if (const auto* rows = std::get_if<Rows>(&base)) return choose(*rows, &Rows::nodes);
  if (const auto* matrix = std::get_if<Matrix>(&base)) return choose(*matrix, &Matrix::rows);
  return Unknown{};
}

Value ExpressionLowering::lower(const ast::Stack& node, step::Span span) {
  std::vector<Value> parts;
  for (const ast::ExprPtr& row : node.rows) parts.push_back(lower(*row));
  Rows result{{static_cast<int>(parts.size())}, Extent::Vector, {}};
  for (const Value& part : parts) {
    if (is_unknown(part)) return Unknown{};
    const auto* rows = std::get_if<Rows>(&part);
    if (!rows)
      return report(span, fmt::format("a list of rows cannot hold the matrix {}", shape(part)), kMatrixHelp);
    if (shape(part) != shape(parts[0])) {
      return report(span, fmt::format("the rows of a list differ: {} and {}", shape(parts[0]), shape(part)));
    }
    result.nodes.insert(result.nodes.end(), rows->nodes.begin(), rows->nodes.end());
  }
  const auto& first = std::get<Rows>(parts[0]);
  result.extent = first.extent;
  result.inner = first.inner;
  result.lead.insert(result.lead.end(), first.lead.begin(), first.lead.end());
  if (!fits(result, span)) return Unknown{};
  return result;
}

bool ExpressionLowering::fits(const Rows& rows, step::Span span) {
  if (row_count(rows.lead) <= kMaxRows && rows.lead.size() <= kMaxLead) return true;
  report(span, fmt::format("{} has too many rows", shape(rows)), fmt::format("the limit is {}", kMaxRows));
  return false;
}

}  // namespace rondo::frontend
