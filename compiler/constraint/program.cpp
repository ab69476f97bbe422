#include "compiler/constraint/program.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace rondo::constraint {

namespace {

class Compiler {
 public:
  Program run(const Node& root) {
    emit(root);
    std::sort(program_.variables.begin(), program_.variables.end());
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

  std::uint32_t push(const Instruction& instruction) {
    program_.code.push_back(instruction);
    return static_cast<std::uint32_t>(program_.code.size() - 1);
  }

  Program program_;
  std::unordered_map<const Node*, std::uint32_t> done_;
  std::map<std::uint32_t, std::uint32_t> variables_;
};

}  // namespace

Program compile(const Node& root) { return Compiler().run(root); }

}  // namespace rondo::constraint
