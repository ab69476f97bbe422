// scalar::Op -> CUDA text, in both accuracies: the backend's column of the op table.
#pragma once

#include <string_view>

#include "compiler/backend/cuda/precedence.h"
#include "compiler/scalar/ops.h"

namespace rondo::backend::cuda {

struct Form {
  enum class Kind {
    Call,    // text(a, b, c); text is a helper of the prelude or a CUDA built-in
    Infix,   // a text b
    Prefix,  // text a
    Relu,    // text(a, 0.0f)
    Recip,   // 1.0f / a
    Truth,   // a condition, as number 1.0f or 0.0f: a text b on numbers (comparisons)
    Logic,   // a text b on the operands' truth
    Not,     // !a on the operand's truth
    Select,  // a ? b : c
  };
  Kind kind;
  std::string_view text;
  Precedence precedence;
};

struct MathText {
  scalar::Op op;
  Form fast;
  Form accurate;
};

// The row of `op`. Total: every Op has one.
const MathText& math_text(scalar::Op op);

}  // namespace rondo::backend::cuda
