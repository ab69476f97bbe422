// Expressions -> nodes of the step graph, with all shapes checked. Functions are expanded where they are
// called.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontend/ast.h"
#include "compiler/frontend/diagnostics.h"
#include "compiler/frontend/scope.h"
#include "compiler/frontend/value.h"

namespace rondo::frontend {

inline constexpr const char* kMatrixHelp =
    "a matrix can only stand on the left of '@', or be the first argument of maxplus or transpose";

inline constexpr const char* kExtentHelp =
    "vectors meet elementwise where their channels have the same extent; a matrix goes from one to another";

class ExpressionLowering {
 public:
  // Appends to cell.graph. All references outlive this object.
  ExpressionLowering(step::Cell& cell, Scope& scope, Functions& functions, Diagnostics& diagnostics)
      : cell_(cell), scope_(scope), functions_(functions), diagnostics_(diagnostics) {}

  // Unknown if anything in it was reported.
  Value lower(const ast::Expr& expr);

  // Gives the value's nodes the name the file gives it, for readable output; nodes that have one keep it.
  void label(const Value& value, const std::string& name);

  // Names of the states that were read since the last call: before the step, and after it (`next h`).
  struct StatesRead {
    std::set<std::string> before, after;
  };
  StatesRead take_states_read() { return std::exchange(states_read_, {}); }

  // The step outgrew the limits (reported); values are Unknown from there on.
  bool exceeded() const { return exceeded_; }

  // Whether its rows are made of numbers and consts alone.
  bool is_free_of_tensors(const Rows& rows) const;

  // Reports a name that stands for nothing here: defined below, a function, or unknown.
  Value unknown_name(const std::string& name, step::Span span);

 private:
  // A function being expanded.
  struct Frame {
    std::string function;
    step::Span call;
    std::map<std::string, Value> values;
    bool library = false;  // a function of function_library.h, whose text is not the user's
  };

  Value lower(const ast::Number& node, step::Span span);
  Value lower(const ast::Name& node, step::Span span);
  Value lower(const ast::NextValue& node, step::Span span);
  Value lower(const ast::Unary& node, step::Span span);
  Value lower(const ast::Binary& node, step::Span span);
  Value lower(const ast::Call& node, step::Span span);
  Value lower(const ast::Index& node, step::Span span);
  Value lower(const ast::Stack& node, step::Span span);

  Value unknown_function(const std::string& name, step::Span span);
  Value call(const Builtin& builtin, const std::vector<Value>& arguments, step::Span span);
  Value expand(FunctionEntry& entry, std::vector<Value> arguments, step::Span span);
  // R @ v, or the product of another semiring with that kind of node.
  Value apply(const Value& left, const Value& right, step::Span span,
              step::NodeKind kind = step::NodeKind::MatVec);
  Value transpose(const Value& argument, step::Span span);
  Value elementwise(scalar::Op op, const std::vector<Value>& arguments, const std::string& what,
                    step::Span span);
  // f(f(a, b), c) of an op of two operands.
  Value in_turn(scalar::Op op, const std::vector<Value>& arguments, const std::string& what, step::Span span);
  // Functions of several ops: lower_composed.cpp.
  Value composed(const Builtin& builtin, const std::vector<Value>& arguments, step::Span span);
  // uniform(NAME): lower_draw.cpp.
  Value draw(const ast::Call& node, step::Span span);
  std::optional<step::NodeId> seed(step::Span span);
  bool is_taken(const std::string& name);
  Value reduce(BuiltinKind kind, const Value& argument, const std::string& what, step::Span span);
  // Sums and means over the outermost leading extent: lower_rows.cpp.
  Value over_rows(const Builtin& builtin, const Value& argument, step::Span span);
  // Shifts and running sums along the channels: lower_along_head.cpp.
  Value along_head(const Builtin& builtin, const std::vector<Value>& arguments, step::Span span);
  std::optional<int> distance(const Builtin& builtin, const Value& argument, step::Span span);
  // False, with a report, where a vector does not have the channels that the others have. `inner`: the
  // extent of those before it, if there are any, and then of all.
  bool joins(const Rows& rows, std::optional<std::string>& inner, const std::string& what, step::Span span);
  // False, with a report, where a value of the head would be spread over an extent of the cell's own.
  bool spreads(const std::vector<Value>& arguments, const std::string& what, step::Span span);
  // False, with a report, where the channels of a value are not those of the head.
  bool has_channels_of_head(const Value& value, const std::string& what, step::Span span);
  // False, with a report, where a value has more rows or leading extents than one may have.
  bool fits(const Rows& rows, step::Span span);
  bool subscripts_fit(const Lead& lead, const ast::Index& node, const Value& base);

  // Reports, with the call that led here if a function is being expanded.
  Unknown report(step::Span span, const std::string& message, std::string help = "");
  // False, with a report, once the cell has grown beyond any reasonable step: functions can grow it
  // exponentially.
  bool within_limits(step::Span span);
  // The place in the user's text: of what stands in a function of the library that of the call.
  step::Span in_file(step::Span span) const;
  // False, with a report: the argument of a function of the library is no complex number where it takes one.
  bool takes(const ast::Function& function, std::size_t place, const Value& argument, step::Span span);
  step::NodeId placed(step::NodeId id, step::Span span);
  std::string shape(const Value& value) const { return shape_text(value, cell_.dimension); }

  step::Cell& cell_;
  Scope& scope_;
  Functions& functions_;
  Diagnostics& diagnostics_;
  std::vector<Frame> frames_;
  StatesRead states_read_;
  int depth_ = 0;
  int evaluations_ = 0;
  bool exceeded_ = false;
};

}  // namespace rondo::frontend
