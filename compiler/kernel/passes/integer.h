// Integer arithmetic of KernelIR at compile time: what the simplifier folds, the verifier evaluates array
// indices with, and the tests compare the simulator against.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "compiler/kernel/ir/ir.h"

namespace rondo::kernel {

// `value` as the integer type holds it: I32 wraps to 32 bits, Pred is 0 or 1, I64 is itself.
std::int64_t wrap(Type type, std::int64_t value);

// a op b in `type`, wrapping. Nothing where the language leaves the result open: division by zero or of
// negative values, shifts by less than 0 or at least the width.
std::optional<std::int64_t> fold(IntOp op, Type type, std::int64_t a, std::int64_t b);
bool fold(Compare op, std::int64_t a, std::int64_t b);

// Value of a register where it is known at compile time.
using KnownRegister = std::function<std::optional<std::int64_t>(RegId)>;

// Value of an integer or predicate expression (predicates: 0 or 1) if constants and known registers determine
// it.
std::optional<std::int64_t> constant_value(const Kernel& kernel, ExprId id, const KnownRegister& known = {});

}  // namespace rondo::kernel
