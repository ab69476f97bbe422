#include "compiler/frontend/check_function.h"

#include <fmt/format.h>

#include "compiler/frontend/foreign.h"

namespace rondo::frontend {
namespace {

class FunctionCheck {
 public:
  FunctionCheck(const ast::Function& function, Scope* scope, Functions& functions, Diagnostics& diagnostics)
      : function_(function), scope_(scope), functions_(functions), diagnostics_(diagnostics) {}

  bool run() {
    for (const ast::Parameter& parameter : function_.parameters) {
      define(parameter.name, parameter.span, fmt::format("parameter '{}'", parameter.name));
    }
    for (const ast::Local& local : function_.locals) {
      check(*local.value);
      define(local.name, local.span, fmt::format("'{}'", local.name));
    }
    check(*function_.result);
    for (const auto& [name, own] : names_) {
      if (!own.used)
        report(own.span, fmt::format("{} of function '{}' is never used", own.what, function_.name));
    }
    return good_;
  }

 private:
  struct Own {
    step::Span span;
    std::string what;
    bool used = false;
  };

  void define(const std::string& name, step::Span span, const std::string& what) {
    if (find_builtin(name)) {
      report(span, fmt::format("'{}' is a built-in function; choose another name", name));
    } else if (!names_.emplace(name, Own{span, what}).second) {
      report(span, fmt::format("'{}' is already defined in function '{}'", name, function_.name));
    }
  }

  void check(const ast::Expr& expr) {
    std::visit([&](const auto& node) { check(node, expr.span); }, expr.node);
  }
  void check(const ast::Number&, step::Span) {}
  void check(const ast::Unary& node, step::Span) { check(*node.operand); }
  void check(const ast::Index& node, step::Span) { check(*node.base); }
  void check(const ast::Binary& node, step::Span) {
    check(*node.left);
    check(*node.right);
  }
  void check(const ast::Stack& node, step::Span) {
    for (const ast::ExprPtr& row : node.rows) check(*row);
  }
  void check(const ast::NextValue& node, step::Span span) {
    report(span, fmt::format("'next {}' cannot stand in a function", node.state),
           "pass the value as an argument");
  }

  void check(const ast::Name& node, step::Span span) {
    const auto own = names_.find(node.name);
    if (own != names_.end()) {
      own->second.used = true;
      return;
    }
    Symbol* symbol = scope_ ? scope_->find(node.name) : nullptr;
    if (symbol && symbol->kind != SymbolKind::Local) {
      symbol->used = true;
    } else if (symbol) {
      symbol->used = true;
      report(span,
             fmt::format("'{}' is a local value of the cell, out of reach of function '{}'", node.name,
                         function_.name),
             "pass it as an argument");
    } else if (!scope_ || !scope_->poisoned.contains(node.name)) {
      unknown(node.name, span);
    } else {
      good_ = false;
    }
  }

  void unknown(const std::string& name, step::Span span) {
    good_ = false;
    if (diagnostics_.full()) return;
    std::vector<std::string> known = scope_ ? scope_->names() : std::vector<std::string>();
    for (const auto& [own, info] : names_) known.push_back(own);
    const std::string best = closest(name, known);
    const auto own = names_.find(best);
    if (own != names_.end()) own->second.used = true;
    const std::string instead = instead_of_name(name);
    report(span, fmt::format("unknown name '{}'", name),
           instead.empty()
               ? did_you_mean(name, known,
                              "a function sees its parameters, and in a cell its tensors and consts")
               : instead);
  }

  void check(const ast::Call& node, step::Span span) {
    const Builtin* builtin = find_builtin(node.function);
    // The name of a draw is no value, nor is the word `rows`; the lowering of a call looks at them.
    if (!builtin || builtin->kind != BuiltinKind::Uniform)
      for (const ast::ExprPtr& argument : node.arguments)
        if (!builtin || argument == node.arguments.front() || !is_over_rows(*builtin, node)) check(*argument);
    if (builtin) {
      good_ &= check_argument_count(node, span, builtin->min_arguments, builtin->max_arguments, diagnostics_);
    } else if (FunctionEntry* entry = functions_.find(node.function)) {
      entry->used = true;
      const auto count = static_cast<int>(entry->function->parameters.size());
      good_ &= entry->valid;
      good_ &= check_argument_count(node, span, count, count, diagnostics_);
    } else if (node.function == function_.name) {
      report(span, fmt::format("function '{}' calls itself", node.function),
             "functions are expanded where they are called, so they cannot be recursive");
    } else if (scope_ && scope_->poisoned.contains(node.function)) {
      good_ = false;
    } else if (const step::Span* later = functions_.defined_later(node.function)) {
      report(span, fmt::format("function '{}' is called above its definition", node.function),
             fmt::format("it is defined on line {}; a function may call those above it", later->line));
    } else {
      report(span, fmt::format("unknown function '{}'", node.function),
             diagnostics_.full() ? "" : help_for_unknown(node.function, functions_));
    }
  }

  void report(step::Span span, std::string message, std::string help = "") {
    diagnostics_.error(span, std::move(message), std::move(help));
    good_ = false;
  }

  const ast::Function& function_;
  Scope* scope_;
  Functions& functions_;
  Diagnostics& diagnostics_;
  std::map<std::string, Own> names_;
  bool good_ = true;
};

}  // namespace

bool check_function(const ast::Function& function, Scope* scope, Functions& functions,
                    Diagnostics& diagnostics) {
  return FunctionCheck(function, scope, functions, diagnostics).run();
}

}  // namespace rondo::frontend
