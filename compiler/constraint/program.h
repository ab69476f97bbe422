// A constraint as a flat list of instructions, operands first: what propagation runs forwards to bound every
// part of it and backwards to narrow the variables.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/constraint/expression.h"

namespace rondo::constraint {

// Gt and Ge are swapped into Lt and Le, Implies is not-or, Named is gone: fewer cases for propagation.
struct Instruction {
  Op op = Op::Constant;
  std::uint32_t a = 0, b = 0, c = 0;  // indices of the operands in the program; c for When only
  Value constant = 0;                 // Constant
  std::uint32_t variable = 0;         // Variable
};

// A set of variables, a bit each; variables 64 apart share one, so that it may hold more than was put in.
using VariableSet = std::uint64_t;
constexpr VariableSet set_of(std::uint32_t variable) { return VariableSet{1} << (variable % 64); }

struct Program {
  std::vector<Instruction> code;         // the root itself is the last instruction; no two are equal
  std::vector<VariableSet> depends;      // of each instruction: the variables below it
  std::vector<std::uint32_t> variables;  // those that occur, ascending
  bool divisibility = false;             // equality, mod or divides occurs: divisor reasoning can pay
};

Program compile(const Node& root);

}  // namespace rondo::constraint
