#include "compiler/constraint/program.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "compiler/constraint/interval.h"

namespace rondo::constraint {

namespace {

class Compiler {
 public:
  Program run(const Node& root) {
    emit(root);
    std::ranges::sort(program_.variables);
    return std::move(program_);
  }

 private:
  // A shared node is compiled once, so that a chain of derived quantities stays linear in size.
  std::uint32_t emit(const Node& node) {
    if (const auto known = done_.find(&node); known != done_.end()) return known->second;
    const std::uint32_t index = emit_new(node);
    done_.emplace(&node, index);
    return index;
  }

  std::uint32_t emit_new(const Node& node) {
    const auto child = [&](std::size_t i) { return emit(*node.children[i]); };
    switch (node.op) {
      case Op::Named: return child(0);
      case Op::Variable: return emit_variable(static_cast<std::uint32_t>(node.variable));
      case Op::Constant: return push({.op = Op::Constant, .constant = node.constant});
      case Op::When: {
        const std::uint32_t a = child(0), b = child(1);
        return push({.op = Op::When, .a = a, .b = b, .c = child(2)});
      }
      case Op::Not: return push({.op = Op::Not, .a = child(0)});
      case Op::Implies: {
        const std::uint32_t failed = push({.op = Op::Not, .a = child(0)});
        return push({.op = Op::Or, .a = failed, .b = child(1)});
      }
      default: break;
    }
    std::uint32_t a = child(0), b = child(1);
    Op op = node.op;
    if (op == Op::Gt || op == Op::Ge) {
      std::swap(a, b);
      op = op == Op::Gt ? Op::Lt : Op::Le;
    }
    program_.divisibility |= op == Op::Eq || op == Op::Mod || op == Op::Divides;
    return push({.op = op, .a = a, .b = b});
  }

  std::uint32_t emit_variable(std::uint32_t variable) {
    const auto known = variables_.find(variable);
    if (known != variables_.end()) return known->second;
    program_.variables.push_back(variable);
    const std::uint32_t index = push({.op = Op::Variable, .variable = variable});
    variables_.emplace(variable, index);
    return index;
  }

  // Parts that are written several times are computed once.
  std::uint32_t push(const Instruction& wanted) {
    const Instruction at = folded(wanted);
    const auto [place, made] =
        places_.try_emplace({at.op, at.a, at.b, at.c, at.constant, at.variable}, program_.code.size());
    if (!made) return place->second;
    VariableSet below = 0;
    if (at.op == Op::Variable) below = set_of(at.variable);
    if (at.op != Op::Variable && at.op != Op::Constant)
      below = program_.depends[at.a] | program_.depends[at.b] | program_.depends[at.c];
    program_.code.push_back(at);
    program_.depends.push_back(below);
    return place->second;
  }

  // An operator of two constants that has a value is a constant.
  Instruction folded(const Instruction& at) const {
    if (at.op == Op::Variable || at.op == Op::Constant || at.op == Op::When || at.op == Op::Not) return at;
    const Instruction &a = program_.code[at.a], &b = program_.code[at.b];
    if (a.op != Op::Constant || b.op != Op::Constant) return at;
    const Bounds value = forward(at.op, {{a.constant, a.constant}, false}, {{b.constant, b.constant}, false});
    if (value.may_lack_value || !value.range.fixed()) return at;
    return {.op = Op::Constant, .constant = value.range.lo};
  }

  Program program_;
  std::unordered_map<const Node*, std::uint32_t> done_;
  std::map<std::tuple<Op, std::uint32_t, std::uint32_t, std::uint32_t, Value, std::uint32_t>, std::uint32_t>
      places_;
  std::map<std::uint32_t, std::uint32_t> variables_;
};

}  // namespace

Program compile(const Node& root) { return Compiler().run(root); }

}  // namespace rondo::constraint
