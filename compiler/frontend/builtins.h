// The functions every cell may call.
#pragma once

#include <string>
#include <vector>

#include "compiler/frontend/ast.h"
#include "compiler/scalar/ops.h"

namespace rondo::frontend {

enum class BuiltinKind {
  Elementwise,  // `op`; of more arguments than it has operands, it takes them in turn
  Composed,     // of several ops: lower_composed.cpp
  Sum,
  Mean,       // over the channels of a head, or with the word `rows` behind the value over its rows
  Max,        // elementwise with two arguments or more, over the channels of a head with one
  Uniform,    // a draw; its argument is a name and no value
  Step,       // the index of the step
  Move,       // shift and rotate: along the channels of a head, by a whole number
  Cumsum,     // along the channels of a head
  MaxPlus,    // of a matrix and a vector
  Transpose,  // of a matrix
};

inline constexpr int kManyArguments = 64;  // the most that a function takes which takes any number

struct Builtin {
  const char* name;
  BuiltinKind kind;
  int min_arguments, max_arguments;
  scalar::Op op = scalar::Op::Add;  // Elementwise
};

// Whether a call of Sum or Mean has that word as its second argument, which is no value then.
bool is_over_rows(const Builtin& builtin, const ast::Call& call);

// The function of a name, or nullptr.
const Builtin* find_builtin(const std::string& name);
std::vector<std::string> builtin_names();

}  // namespace rondo::frontend
