#include "compiler/frontend/lower_cell.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <utility>

#include "compiler/frontend/check_function.h"
#include "compiler/frontend/completeness.h"
#include "compiler/frontend/declare.h"
#include "compiler/frontend/graph_tools.h"
#include "compiler/frontend/lower_expression.h"
#include "compiler/step/extents.h"
#include "compiler/step/ranges.h"

namespace rondo::frontend {
namespace {

using step::TensorKind;

SymbolKind symbol_kind(TensorKind kind) {
  switch (kind) {
    case TensorKind::Input: return SymbolKind::Input;
    case TensorKind::Param: return SymbolKind::Param;
    case TensorKind::State: return SymbolKind::State;
    case TensorKind::Output:  // outputs have a name space of their own
    case TensorKind::Reset:
    case TensorKind::Length: break;  // no cell file declares them
  }
  return SymbolKind::Local;
}

class CellLowering {
 public:
  CellLowering(const ast::Cell& tree, Functions& outer, const std::set<std::string>& poisoned,
               Diagnostics& diagnostics)
      : tree_(tree),
        diagnostics_(diagnostics),
        functions_(&outer),
        expressions_(cell_, scope_, functions_, diagnostics_) {
    cell_.name = tree.name;
    cell_.dimension = tree.dimension;
    scope_.poisoned = poisoned;
  }

  step::Cell run() {
    const std::size_t errors = diagnostics_.count();
    for (const ast::Statement& statement : tree_.body)
      std::visit([&](const auto& node) { announce(node, statement.span); }, statement.node);
    head_dimension();
    for (const ast::OwnExtent& extent : tree_.extents) own_extent(extent);
    for (const ast::Statement& statement : tree_.body)
      std::visit([&](const auto& node) { lower(node, statement); }, statement.node);
    if (!tree_.incomplete && !expressions_.exceeded()) finish();
    if (diagnostics_.count() == errors && !tree_.incomplete && all_known() && !broken_) {
      assemble();
      report_unused_rows(cell_, diagnostics_);
    }
    return std::move(cell_);
  }

 private:
  struct PendingOutput {
    std::string name;
    std::string state;  // whose next value it is, or "" for `value`
    Value value;
    step::Span span;
  };

  // First walk: what the cell defines somewhere, so that use before definition is told from a wrong name.
  void announce(const ast::Declare& node, step::Span) {
    for (const ast::TensorDeclaration& tensor : node.tensors) scope_.later.emplace(tensor.name, tensor.span);
  }
  void announce(const ast::Const& node, step::Span span) { scope_.later.emplace(node.name, span); }
  void announce(const ast::Assign& node, step::Span span) { scope_.later.emplace(node.name, span); }
  void announce(const ast::Next&, step::Span) {}
  void announce(const ast::Output& node, step::Span) {
    for (const ast::OutputItem& item : node.items) {
      if (item.value) scope_.later.emplace(item.name, item.span);
    }
  }
  void announce(const ast::Function& node, step::Span span) { functions_.announce(node.name, span); }
  void announce(const ast::Broken& node, step::Span) {
    scope_.poisoned.insert(node.names.begin(), node.names.end());
  }

  void head_dimension() {
    if (find_builtin(tree_.dimension))
      diagnostics_.error(tree_.span, fmt::format("the head dimension cannot be named like the function '{}'",
                                                 tree_.dimension));
    Symbol symbol{SymbolKind::Dimension, Rows{{}, step::Extent::Scalar, {cell_.graph.head_size()}},
                  tree_.span, true};
    scope_.symbols.emplace(tree_.dimension, std::move(symbol));
  }

  // A constant of the cell, whose value is the extent.
  void own_extent(const ast::OwnExtent& extent) {
    const double value = extent.value.value_or(1);
    const bool good = step::is_extent(value);
    if (!good)
      diagnostics_.error(extent.value_span, fmt::format("extent '{}' cannot be {}", extent.name, value),
                         fmt::format("give a whole number from 1 to {}", step::kMostInner));
    Value constant = named_constant(extent.name, value, extent.span);
    if (!define(extent.name, SymbolKind::Extent, std::move(constant), extent.span)) return;
    extents_[extent.name] = {static_cast<int>(cell_.constants.size()) - 1, good ? std::llround(value) : 1};
    scope_.find(extent.name)->used = !extent.value;
  }

  Value named_constant(const std::string& name, double value, step::Span span) {
    const step::NodeId id = cell_.graph.named_constant(static_cast<int>(cell_.constants.size()));
    cell_.graph.nodes.back().span = span;
    cell_.constants.push_back({name, value, span});
    return Rows{{}, step::Extent::Scalar, {id}};
  }

  // False and a report if the name is taken.
  bool define(const std::string& name, SymbolKind kind, Value value, step::Span span) {
    if (find_builtin(name)) {
      diagnostics_.error(span, fmt::format("'{}' is a built-in function; choose another name", name));
      return false;
    }
    if (const Symbol* earlier = scope_.find(name)) {
      diagnostics_.error(
          span,
          fmt::format("'{}' is already {} (line {})", name, describe(earlier->kind), earlier->span.line),
          redefinition_help(name, earlier->kind, kind));
      return false;
    }
    if (const FunctionEntry* function = functions_.find_own(name)) {
      diagnostics_.error(span,
                         fmt::format("'{}' is already a function (line {})", name, function->span.line));
      return false;
    }
    scope_.symbols.emplace(name, Symbol{kind, std::move(value), span});
    return true;
  }

  static std::string redefinition_help(const std::string& name, SymbolKind earlier, SymbolKind now) {
    if (now != SymbolKind::Local) return "";
    if (earlier == SymbolKind::State) return fmt::format("write 'next {} = ...' to advance the state", name);
    if (earlier == SymbolKind::Input) return "inputs are given by the caller and cannot be set";
    return "values are set once: give the new value a new name";
  }

  void lower(const ast::Declare& node, const ast::Statement&) {
    for (const ast::TensorDeclaration& declaration : node.tensors) {
      std::optional<step::Tensor> tensor =
          check_declaration(node.kind, declaration, cell_.dimension, extents_, diagnostics_);
      for (const ast::Extent& extent : declaration.extents)
        if (const auto* name = std::get_if<std::string>(&extent.value); name && extents_.contains(*name))
          scope_.find(*name)->used = true;
      if (tensor) declared_numbers(declaration, *tensor);
      Value value = tensor ? leaves(*tensor) : Unknown{};
      define(declaration.name, symbol_kind(node.kind), std::move(value), declaration.span);
    }
  }

  // The range and the first value, which may be consts.
  void declared_numbers(const ast::TensorDeclaration& declaration, step::Tensor& tensor) {
    const std::size_t known = diagnostics_.count();
    if (declaration.range) {
      const ast::Range& range = *declaration.range;
      tensor.range = {number(range.low), number(range.high), range.low_closed, range.high_closed};
    }
    if (declaration.first) tensor.first = number(*declaration.first);
    if (diagnostics_.count() != known) return;
    if (const auto defect = step::range_defect(cell_, tensor))
      diagnostics_.error(declaration.first ? declaration.first->span : declaration.range->span,
                         defect->message, defect->help);
  }

  step::DeclaredNumber number(const ast::Bound& bound) {
    if (const auto* literal = std::get_if<double>(&bound.value)) return {*literal, -1, false};
    const auto& name = std::get<std::string>(bound.value);
    Symbol* symbol = scope_.find(name);
    if (symbol == nullptr) {
      if (!scope_.poisoned.contains(name)) expressions_.unknown_name(name, bound.span);
      return {};
    }
    symbol->used = true;
    const auto* rows = std::get_if<Rows>(&symbol->value);
    if (symbol->kind != SymbolKind::Const || rows == nullptr) {
      if (!is_unknown(symbol->value))
        diagnostics_.error(bound.span, fmt::format("'{}' is {}; a declaration takes numbers and consts", name,
                                                   describe(symbol->kind)));
      return {};
    }
    const step::Node& node = cell_.graph.at(rows->nodes[0]);
    if (node.kind == step::NodeKind::NamedConst) return {0, node.const_index, bound.negated};
    diagnostics_.error(bound.span,
                       fmt::format("const '{}' is made of others; a declaration takes one that is "
                                   "made of numbers alone",
                                   name));
    return {};
  }

  Value leaves(const step::Tensor& tensor) {
    const auto id = static_cast<step::TensorId>(cell_.tensors.size());
    cell_.tensors.push_back(tensor);
    std::vector<int> rows(static_cast<std::size_t>(tensor.rows));
    std::iota(rows.begin(), rows.end(), 0);
    const auto name = [&](const step::InnerExtent& extent) {
      return extent ? cell_.constants[static_cast<std::size_t>(extent.const_index)].name : std::string();
    };
    const std::string inner = name(tensor.inner);
    if (tensor.tail == step::Tail::Matrix)
      return Matrix{tensor.lead, id, std::move(rows), inner, name(tensor.outer)};
    const step::Extent extent =
        tensor.tail == step::Tail::Vector ? step::Extent::Vector : step::Extent::Scalar;
    Rows value{tensor.lead, extent, {}, inner};
    for (const int row : rows) {
      value.nodes.push_back(cell_.graph.leaf(id, row, extent));
      cell_.graph.nodes.back().span = tensor.span;
    }
    return value;
  }

  // A const of literals alone is one a caller may override. One made of other consts is a value that follows
  // them.
  void lower(const ast::Const& node, const ast::Statement& statement) {
    Value value = expressions_.lower(*node.value);
    if (!is_unknown(value)) value = constant(node.name, value, statement.span);
    define(node.name, SymbolKind::Const, std::move(value), statement.span);
  }

  Value constant(const std::string& name, const Value& value, step::Span span) {
    const auto* rows = std::get_if<Rows>(&value);
    if (!rows || !rows->lead.empty() || rows->extent != step::Extent::Scalar) {
      diagnostics_.error(span, fmt::format("a const is a single number, but '{}' is {}", name, shape(value)));
      return Unknown{};
    }
    const Origin origin = origin_of(cell_.graph, rows->nodes[0]);
    if (origin == Origin::Tensors) {
      diagnostics_.error(span, fmt::format("const '{}' depends on a tensor", name),
                         "a plain assignment needs no 'const'");
      return Unknown{};
    }
    if (origin == Origin::Consts) {
      expressions_.label(value, name);
      return value;
    }
    const double number = evaluate(cell_.graph, rows->nodes[0]);
    if (!std::isfinite(number)) {
      diagnostics_.error(span, fmt::format("const '{}' is not a finite number", name));
      return Unknown{};
    }
    return named_constant(name, number, span);
  }

  void lower(const ast::Assign& node, const ast::Statement& statement) {
    Value value = expressions_.lower(*node.value);
    expressions_.label(value, node.name);
    define(node.name, SymbolKind::Local, std::move(value), statement.span);
  }

  void lower(const ast::Next& node, const ast::Statement& statement) {
    Value value = expressions_.lower(*node.value);
    const Symbol* symbol = scope_.find(node.state);
    if (!symbol || symbol->kind != SymbolKind::State) return not_a_state(node.state, symbol, statement.span);
    const auto earlier = scope_.next_spans.find(node.state);
    if (earlier != scope_.next_spans.end()) {
      diagnostics_.error(statement.span, fmt::format("'next {}' is already set on line {}", node.state,
                                                     earlier->second.line));
      return;
    }
    if (!fits(value, symbol->value)) {
      diagnostics_.error(
          statement.span,
          fmt::format("'next {}' must be {}, but this is {}", node.state, shape(symbol->value), shape(value)),
          misfit_help(node.state, value, symbol->value));
      value = Unknown{};
    }
    expressions_.label(value, "next_" + node.state);
    scope_.next_spans.emplace(node.state, statement.span);
    scope_.next.emplace(node.state, std::move(value));
  }

  void not_a_state(const std::string& name, const Symbol* symbol, step::Span span) {
    if (symbol) {
      diagnostics_.error(span, fmt::format("'{}' is {}, not a state", name, describe(symbol->kind)),
                         "only states have a next value");
    } else if (!scope_.poisoned.contains(name)) {
      const std::vector<std::string> states = scope_.names(SymbolKind::State);
      diagnostics_.error(span, fmt::format("unknown state '{}'", name), did_you_mean(name, states));
      // The state that was meant is not to be reported as never advanced.
      const std::string meant = closest(name, states);
      if (!meant.empty()) scope_.next.emplace(meant, Unknown{});
    }
  }

  std::string misfit_help(const std::string& state, const Value& value, const Value& declared) const {
    if (std::holds_alternative<Matrix>(value)) return kMatrixHelp;
    const auto& wanted = std::get<Rows>(declared);
    if (std::get<Rows>(value).inner != wanted.inner) return kExtentHelp;
    if (wanted.lead.empty() && !std::get<Rows>(value).lead.empty())
      return "choose a row with v[0], or add rows as v[0] + v[1]: sum, mean and max reduce the channels of "
             "each";
    if (wanted.extent == step::Extent::Vector || wanted.lead != std::get<Rows>(value).lead) return "";
    return fmt::format("declare {} for one value a channel, or reduce by sum, mean or max",
                       state + shape_text(wanted.lead, step::Tail::Vector, cell_.dimension));
  }

  // A single number may stand for a vector: it is spread over the head, and, if no tensor has a part in it,
  // over another extent. Leading extents must be equal.
  bool fits(const Value& value, const Value& declared) const {
    if (is_unknown(value) || is_unknown(declared)) return true;
    const auto* rows = std::get_if<Rows>(&value);
    const auto& wanted = std::get<Rows>(declared);
    if (!rows || rows->lead != wanted.lead) return false;
    if (rows->extent == step::Extent::Vector)
      return wanted.extent == rows->extent && rows->inner == wanted.inner;
    return wanted.inner.empty() || expressions_.is_free_of_tensors(*rows);
  }

  void lower(const ast::Output& node, const ast::Statement&) {
    for (const ast::OutputItem& item : node.items) {
      PendingOutput output{item.name, "", Unknown{}, item.span};
      if (item.value) {
        (void)expressions_.take_states_read();
        output.value = expressions_.lower(*item.value);
        remark_on_old_states(item);
        expressions_.label(output.value, item.name);
        define(item.name, SymbolKind::Local, output.value, item.span);
        if (Symbol* symbol = scope_.find(item.name)) symbol->used = true;
      } else {
        existing_output(output);
      }
      for (const PendingOutput& earlier : outputs_) {
        if (earlier.name != output.name || item.value) continue;
        diagnostics_.error(item.span,
                           fmt::format("'{}' is already an output (line {})", item.name, earlier.span.line));
      }
      if (std::holds_alternative<Matrix>(output.value)) {
        diagnostics_.error(
            item.span, fmt::format("output '{}' cannot be the matrix {}", item.name, shape(output.value)));
      }
      outputs_.push_back(std::move(output));
    }
  }

  // `output h` is the state after the step, and in `output y = tanh(h)` it is the one before: where the new
  // one could have been named and was not, the old one may not be what was meant.
  void remark_on_old_states(const ast::OutputItem& item) {
    const ExpressionLowering::StatesRead read = expressions_.take_states_read();
    for (const std::string& state : read.before)
      if (scope_.next_spans.contains(state) && !read.after.contains(state))
        diagnostics_.remark(item.span,
                            fmt::format("output '{}' reads '{}' as it was before the step", item.name, state),
                            fmt::format("if its new value is meant, write 'next {}'", state));
  }

  // `output name`: a state's next value, or a value of the cell.
  void existing_output(PendingOutput& output) {
    Symbol* symbol = scope_.find(output.name);
    if (!symbol) {
      if (!scope_.poisoned.contains(output.name)) expressions_.unknown_name(output.name, output.span);
      return;
    }
    symbol->used = true;
    if (symbol->kind == SymbolKind::State) {
      output.state = output.name;
    } else if (symbol->kind == SymbolKind::Local) {
      output.value = symbol->value;
    } else {
      diagnostics_.error(output.span, fmt::format("'{}' is {}; an output is a state or a value of the step",
                                                  output.name, describe(symbol->kind)));
    }
  }

  void lower(const ast::Function&, const ast::Statement& statement) {
    define_function(statement, &scope_, functions_, diagnostics_);
  }

  void lower(const ast::Broken& node, const ast::Statement&) {
    if (!node.advances.empty()) scope_.next.emplace(node.advances, Unknown{});
    broken_ = true;
    broken_output_ = broken_output_ || node.output;
  }

  // What a complete cell must have.
  void finish() {
    const std::size_t known = diagnostics_.count();
    const bool has_state = !scope_.names(SymbolKind::State).empty();
    report_unfinished_names(scope_, functions_, diagnostics_);
    if (!has_state && !broken_ && diagnostics_.count() == known) {
      diagnostics_.error(tree_.span, fmt::format("cell '{}' has no state", tree_.name),
                         "declare one with 'state h[D]'");
    }
    if (outputs_.empty() && !broken_output_) {
      diagnostics_.error(tree_.span, fmt::format("cell '{}' has no output", tree_.name),
                         "add 'output h', h being a state");
    }
  }

  // Values are unknown behind broken statements too.
  bool all_known() {
    for (const std::string& state : scope_.names(SymbolKind::State)) {
      if (!is_next_known(state)) return false;
    }
    for (const PendingOutput& output : outputs_) {
      if (output.state.empty() ? !std::holds_alternative<Rows>(output.value) : !is_next_known(output.state))
        return false;
    }
    return true;
  }

  bool is_next_known(const std::string& state) const {
    const auto found = scope_.next.find(state);
    return found != scope_.next.end() && std::holds_alternative<Rows>(found->second);
  }

  // Fills in the rows of the cell; every value is known.
  void assemble() {
    for (const step::TensorId id : cell_.of_kind(TensorKind::State)) {
      const std::string& name = cell_.tensor(id).name;
      append(cell_.next, id, std::get<Rows>(scope_.next.at(name)));
    }
    for (const PendingOutput& output : outputs_) {
      const auto& value = std::get<Rows>(output.state.empty() ? output.value : scope_.next.at(output.state));
      const auto id = static_cast<step::TensorId>(cell_.tensors.size());
      cell_.tensors.push_back({TensorKind::Output, output.name, step::Tail::Vector, value.lead,
                               row_count(value.lead), output.span});
      if (!value.inner.empty()) cell_.tensors.back().inner = extents_.at(value.inner);
      append(cell_.outputs, id, value);
    }
    drop_unused_nodes(cell_);
  }

  static void append(std::vector<step::Row>& rows, step::TensorId id, const Rows& value) {
    for (std::size_t i = 0; i < value.nodes.size(); ++i)
      rows.push_back({id, static_cast<int>(i), value.nodes[i]});
  }

  std::string shape(const Value& value) const { return shape_text(value, cell_.dimension); }

  const ast::Cell& tree_;
  Diagnostics& diagnostics_;
  step::Cell cell_;
  Scope scope_;
  Functions functions_;
  ExpressionLowering expressions_;
  std::vector<PendingOutput> outputs_;
  OwnExtents extents_;
  bool broken_ = false;         // some statement has a syntax error
  bool broken_output_ = false;  // an output has
};

}  // namespace

void define_function(const ast::Statement& statement, Scope* scope, Functions& functions,
                     Diagnostics& diagnostics) {
  const auto& function = std::get<ast::Function>(statement.node);
  const bool good = check_function(function, scope, functions, diagnostics);
  if (find_builtin(function.name)) {
    diagnostics.error(statement.span,
                      fmt::format("'{}' is a built-in function; choose another name", function.name));
  } else if (const FunctionEntry* earlier = functions.find_own(function.name)) {
    diagnostics.error(statement.span,
                      fmt::format("'{}' is already a function (line {})", function.name, earlier->span.line));
  } else if (const Symbol* symbol = scope ? scope->find(function.name) : nullptr) {
    diagnostics.error(statement.span, fmt::format("'{}' is already {} (line {})", function.name,
                                                  describe(symbol->kind), symbol->span.line));
  } else {
    functions.add(function, statement.span).valid = good;
  }
}

step::Cell lower_cell(const ast::Cell& tree, Functions& functions, const std::set<std::string>& poisoned,
                      Diagnostics& diagnostics) {
  return CellLowering(tree, functions, poisoned, diagnostics).run();
}

}  // namespace rondo::frontend
