// The expressions of KernelIR (ir.h): pure, typed, stored once in a kernel's table, operands before users.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "compiler/scalar/ops.h"
#include "compiler/scalar/storage.h"

namespace rondo::kernel {

// Types of registers and expressions. 16-bit values exist only in memory; loads widen them to F32, stores
// round them (to nearest even). Real numbers are F32, or in a kernel in double (passes/in_double.h) all F64,
// and so is memory of real numbers: Storage::F64 holds F64, every other one of reals F32.
enum class Type { Pred, I32, I64, F32, F64 };
inline bool is_real(Type type) { return type == Type::F32 || type == Type::F64; }
using scalar::Storage;
using scalar::storage_bytes;
using scalar::storage_name;
// The type of an element in registers.
inline Type element_type(Storage storage) {
  if (scalar::is_integer(storage)) return Type::I32;
  return storage == Storage::F64 ? Type::F64 : Type::F32;
}

// Accuracy of scalar functions: `Fast` uses hardware approximations (tanh.approx, ex2.approx), `Accurate` is
// within a few ulp. Tf32: functions as in Accurate; what multiplies fp32 matrices may round both operands to
// tf32 (schedule/problem/problem.h).
enum class Math { Fast, Accurate, Tf32 };
const char* math_name(Math math);  // "fast", "accurate", "tf32"

// ---- expressions: pure, stored once in Kernel::expressions, operands before users ----
using ExprId = std::int32_t;
using RegId = std::int32_t;       // index into Kernel::registers
using ArrayId = std::int32_t;     // index into Kernel::arrays
using ParamId = std::int32_t;     // index into Kernel::params
using SharedId = std::int32_t;    // index into Kernel::shared
using MbarrierId = std::int32_t;  // index into Kernel::mbarriers

// ClusterRank: the block's place in its cluster, BlockX % Kernel::cluster.
enum class Builtin { ThreadX, BlockX, GridX, ClusterRank };
// Div and Mod of non-negative values only.
enum class IntOp { Add, Sub, Mul, Div, Mod, Min, Max, Shl, Shr, And, Or, Xor };
enum class Compare { Less, LessEqual, Greater, GreaterEqual, Equal, NotEqual };
enum class Logic { And, Or, Not };

// Types of the nodes: IntConst, IntExpr I32 or I64; FloatConst, MathExpr F32 or F64; BuiltinRead I32;
// CompareExpr, LogicExpr Pred.
struct IntConst {
  std::int64_t value;
};
struct FloatConst {
  double value;
};
struct RegRead {
  RegId reg;
};
// The index is made of constants and variables of unrolled loops only.
struct ArrayRead {
  ArrayId array;
  ExprId index;
};
// A scalar kernel argument.
struct ParamRead {
  ParamId param;
};
struct BuiltinRead {
  Builtin builtin;
};
// Both operands are of the node's type.
struct IntExpr {
  IntOp op;
  ExprId a, b;
};
// a and b of one type.
struct CompareExpr {
  Compare op;
  ExprId a, b;
};
// b is unused (-1) for Not.
struct LogicExpr {
  Logic op;
  ExprId a;
  ExprId b;
};
// Operands are of the node's type. Comparisons and logic yield 1 or 0.
struct MathExpr {
  scalar::Op op;
  std::vector<ExprId> args;
};
// I32 <-> I64, I32 or Pred -> F32 or F64.
struct CastExpr {
  ExprId a;
};
// The condition is a Pred.
struct SelectExpr {
  ExprId condition, a, b;
};
// A packed pair: an I32 register that holds two 16-bit values of `storage` (BF16 or F16), `low` in its low
// half. Two F32 -> I32, each rounded to nearest even.
struct PackExpr {
  Storage storage;
  ExprId low, high;
};
// One half of a packed pair, I32 -> F32.
struct UnpackExpr {
  Storage storage;
  ExprId pair;
  bool high;
};
// F32 rounded to tf32, a float whose fraction has 10 bits: to nearest, ties away from zero (PTX ISA,
// cvt.rna.tf32.f32).
struct RoundExpr {
  ExprId a;
};
// A draw in [0, 1): scalar::philox_uniform of the stream. The seed is of the node's type, F32 or F64 (which
// is rounded to fp32 first), the place of the draw I32.
struct UniformExpr {
  std::uint32_t stream;
  ExprId seed, row, step, head, channel;
};
struct Expr {
  Type type;
  std::variant<IntConst, FloatConst, RegRead, ArrayRead, ParamRead, BuiltinRead, IntExpr, CompareExpr,
               LogicExpr, MathExpr, CastExpr, SelectExpr, PackExpr, UnpackExpr, RoundExpr, UniformExpr>
      node;
};

}  // namespace rondo::kernel
