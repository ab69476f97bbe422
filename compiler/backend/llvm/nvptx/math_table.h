// scalar::Op -> LLVM IR, in both accuracies: the backend's column of the op table.
#pragma once

#include <string_view>

#include "compiler/kernel/ir/ir.h"
#include "compiler/scalar/ops.h"

namespace rondo::backend::nvptx {

struct Form {
  enum class Kind {
    Helper,       // a function of the prelude
    Intrinsic,    // a function that LLVM knows
    Instruction,  // text float a, b
    Negate,       // fneg a
    Square,       // a * a
    Relu,         // the larger of a and 0
    Recip,        // 1 / a
    Truth,        // a condition, as number 1 or 0: fcmp text a, b
    And,          // of the operands' truth
    Or,
    Not,
    Select,  // a's truth ? b : c
  };
  Kind kind;
  std::string_view text;
};

struct MathText {
  scalar::Op op;
  Form fast;
  Form accurate;
};

// The row of `op`. Total: every Op has one.
const MathText& math_text(scalar::Op op);

// The instruction of an operation on integers; of the smaller and the larger of two, the name of the
// intrinsic function. Sums and products do not overflow, as those of the CUDA text, which are int. Div and
// Mod are of non-negative values only.
std::string_view instruction_of(kernel::IntOp op);
// What icmp compares by, or fcmp where the operands are `real`.
std::string_view predicate_of(kernel::Compare op, bool real);

}  // namespace rondo::backend::nvptx
