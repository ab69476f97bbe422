#include "compiler/kernel/simulator/lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <type_traits>

#include "compiler/kernel/ir/visit.h"
#include "compiler/kernel/simulator/simulate.h"
#include "compiler/scalar/philox.h"
#include "compiler/scalar/table.h"

namespace rondo::kernel::simulator {

namespace {

// Of an expression, in the order of for_each_operand.
using Operands = std::array<const Lanes*, std::tuple_size_v<decltype(Compute::in)>>;

std::int64_t narrow(std::int64_t value) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
}

// into = f(a, b) in every lane, wrapped to the type; inactive lanes compute on what they hold, so f must
// accept anything.
template <class F>
void each(Type type, Lanes& into, const Lanes& a, const Lanes& b, F&& f) {
  if (type == Type::I32)
    for (int l = 0; l < kLanes; ++l) into.i[l] = narrow(f(a.i[l], b.i[l]));
  else
    for (int l = 0; l < kLanes; ++l) into.i[l] = f(a.i[l], b.i[l]);
}

// The same for operations that some operands leave undefined.
template <class Legal, class F>
void each_legal(Type type, Lanes& into, const Lanes& a, const Lanes& b, Legal&& legal, F&& f) {
  for (int l = 0; l < kLanes; ++l) {
    const bool defined = legal(a.i[l], b.i[l]);
    into.i[l] = defined ? f(a.i[l], b.i[l]) : 0;
    if (type == Type::I32) into.i[l] = narrow(into.i[l]);
    if (!defined) into.undefined |= bit(l);
  }
}

std::int64_t as_signed(std::uint64_t v) { return static_cast<std::int64_t>(v); }
std::uint64_t as_unsigned(std::int64_t v) { return static_cast<std::uint64_t>(v); }

void integer(IntOp op, Type type, Lanes& into, const Lanes& a, const Lanes& b) {
  using I = std::int64_t;
  const I width = type == Type::I32 ? 32 : 64;
  const auto divisible = [](I x, I y) { return x >= 0 && y > 0; };
  const auto shiftable = [width](I, I y) { return y >= 0 && y < width; };
  switch (op) {
    case IntOp::Add:
      return each(type, into, a, b, [](I x, I y) { return as_signed(as_unsigned(x) + as_unsigned(y)); });
    case IntOp::Sub:
      return each(type, into, a, b, [](I x, I y) { return as_signed(as_unsigned(x) - as_unsigned(y)); });
    case IntOp::Mul:
      return each(type, into, a, b, [](I x, I y) { return as_signed(as_unsigned(x) * as_unsigned(y)); });
    case IntOp::Div: return each_legal(type, into, a, b, divisible, [](I x, I y) { return x / y; });
    case IntOp::Mod: return each_legal(type, into, a, b, divisible, [](I x, I y) { return x % y; });
    case IntOp::Min: return each(type, into, a, b, [](I x, I y) { return std::min(x, y); });
    case IntOp::Max: return each(type, into, a, b, [](I x, I y) { return std::max(x, y); });
    case IntOp::Shl:
      return each_legal(type, into, a, b, shiftable, [](I x, I y) { return as_signed(as_unsigned(x) << y); });
    case IntOp::Shr: return each_legal(type, into, a, b, shiftable, [](I x, I y) { return x >> y; });
    case IntOp::And: return each(type, into, a, b, [](I x, I y) { return x & y; });
    case IntOp::Or: return each(type, into, a, b, [](I x, I y) { return x | y; });
    case IntOp::Xor: return each(type, into, a, b, [](I x, I y) { return x ^ y; });
  }
}

template <class T>
void compare(Compare op, std::int64_t* into, const T* a, const T* b) {
  const auto each_lane = [&](auto f) {
    for (int l = 0; l < kLanes; ++l) into[l] = f(a[l], b[l]) ? 1 : 0;
  };
  switch (op) {
    case Compare::Less: return each_lane([](T x, T y) { return x < y; });
    case Compare::LessEqual: return each_lane([](T x, T y) { return x <= y; });
    case Compare::Greater: return each_lane([](T x, T y) { return x > y; });
    case Compare::GreaterEqual: return each_lane([](T x, T y) { return x >= y; });
    case Compare::Equal: return each_lane([](T x, T y) { return x == y; });
    case Compare::NotEqual: return each_lane([](T x, T y) { return x != y; });
  }
}

// && and || as the compiled code evaluates them: a decisive left side hides an undefined right one.
void logic(Logic op, Lanes& into, const Lanes& a, const Lanes& b) {
  const std::int64_t decisive = op == Logic::Or ? 1 : 0;
  Mask settled = 0;
  for (int l = 0; l < kLanes; ++l) {
    into.i[l] = op == Logic::Or ? a.i[l] | b.i[l] : a.i[l] & b.i[l];
    if (a.i[l] == decisive && !has(a.undefined, l)) settled |= bit(l), into.i[l] = decisive;
  }
  into.undefined = a.undefined | (b.undefined & ~settled);
}

// All lanes at once where all are active, so that the loop vectorises; else only the active ones, as
// functions are slow.
template <class F>
void active_lanes(Mask active, F&& f) {
  if (active == kAllLanes) {
    for (int l = 0; l < kLanes; ++l) f(l);
    return;
  }
  for (Mask rest = active; rest != 0; rest &= rest - 1) f(__builtin_ctz(rest));
}

template <class Real>
Real* reals(Lanes& lanes) {
  if constexpr (std::is_same_v<Real, float>)
    return lanes.f;
  else
    return lanes.d;
}
template <class Real>
const Real* reals(const Lanes& lanes) {
  return reals<Real>(const_cast<Lanes&>(lanes));
}

template <class Real>
void math(scalar::Op op, Mask active, Lanes& result, const Operands& in) {
  Real* into = reals<Real>(result);
  const auto of = [&](std::size_t operand, int l) { return reals<Real>(*in[operand])[l]; };
  scalar::visit(op, [&]<class Evaluate>(const scalar::Row<Evaluate>& row) {
    if constexpr (std::is_invocable_v<Evaluate, Real>)
      active_lanes(active, [&](int l) { into[l] = row.evaluate(of(0, l)); });
    else if constexpr (std::is_invocable_v<Evaluate, Real, Real>)
      active_lanes(active, [&](int l) { into[l] = row.evaluate(of(0, l), of(1, l)); });
    else
      active_lanes(active, [&](int l) { into[l] = row.evaluate(of(0, l), of(1, l), of(2, l)); });
  });
}

template <class Real>
void draw(const UniformExpr& n, Mask active, Lanes& into, const Operands& in) {
  const auto word = [&](std::size_t operand, int l) { return static_cast<std::uint32_t>(in[operand]->i[l]); };
  active_lanes(active, [&](int l) {
    const float seed = static_cast<float>(reals<Real>(*in[0])[l]);
    reals<Real>(into)[l] =
        scalar::philox_uniform(seed, n.stream, word(1, l), word(2, l), word(3, l), word(4, l));
  });
}

template <class T>
Mask choose(T* into, const std::int64_t* condition, const T* a, const T* b) {
  Mask second = 0;
  for (int l = 0; l < kLanes; ++l) {
    into[l] = condition[l] != 0 ? a[l] : b[l];
    second |= condition[l] != 0 ? 0 : bit(l);
  }
  return second;
}

void cast(Type type, Type from, bool fp64, Lanes& into, const Lanes& a) {
  if (is_real(type) && fp64)
    for (int l = 0; l < kLanes; ++l) into.d[l] = static_cast<double>(a.i[l]);
  else if (is_real(type))
    for (int l = 0; l < kLanes; ++l) into.f[l] = static_cast<float>(a.i[l]);
  else if (type == Type::I32 && from == Type::I64)
    for (int l = 0; l < kLanes; ++l) into.i[l] = narrow(a.i[l]);
  else
    for (int l = 0; l < kLanes; ++l) into.i[l] = a.i[l];
}

void pack(Storage storage, Mask active, Lanes& into, const Lanes& low, const Lanes& high) {
  active_lanes(active, [&](int l) { into.i[l] = pack_pair(storage, low.f[l], high.f[l]); });
}

void unpack(const UnpackExpr& n, Mask active, Lanes& into, const Lanes& pair) {
  active_lanes(active, [&](int l) {
    into.f[l] = unpack_pair(n.storage, static_cast<std::int32_t>(pair.i[l]), n.high);
  });
}

}  // namespace

void require_fp32(bool fp64, const char* what) {
  if (fp64) throw std::logic_error(fmt::format("simulate: a kernel that {} has no run in fp64", what));
}

LaneFile::LaneFile(const Program& program, bool fp64)
    : program_(program), fp64_(fp64), slots_(static_cast<std::size_t>(program.slots)) {}

void LaneFile::start(const Launch& launch, std::int64_t block, int warp) {
  const std::size_t values =
      program_.leaves.empty() ? slots_.size() : static_cast<std::size_t>(program_.leaves.front().first);
  for (std::size_t slot = 0; slot < values; ++slot) slots_[slot].undefined = kAllLanes;
  for (const auto& [slot, id] : program_.leaves) {
    const Expr& expr = program_.kernel->expr(id);
    if (!filled_ || std::holds_alternative<BuiltinRead>(expr.node))
      fill((*this)[slot], expr, launch, block, warp);
  }
  filled_ = true;
}

void LaneFile::fill(Lanes& into, const Expr& expr, const Launch& launch, std::int64_t block, int warp) {
  into.undefined = 0;
  const auto integers = [&](std::int64_t first, std::int64_t step) {
    for (int l = 0; l < kLanes; ++l) into.i[l] = first + step * l;
  };
  const auto reals = [&](double value) {
    if (fp64_) return std::fill(std::begin(into.d), std::end(into.d), value);
    std::fill(std::begin(into.f), std::end(into.f), static_cast<float>(value));
  };
  std::visit(Overloaded{[&](const IntConst& n) { integers(n.value, 0); },
                        [&](const FloatConst& n) { reals(n.value); },
                        [&](const ParamRead& n) {
                          const auto at = static_cast<std::size_t>(n.param);
                          if (is_real(expr.type))
                            reals(launch.reals[at]);
                          else
                            integers(launch.integers[at], 0);
                        },
                        [&](const BuiltinRead& n) {
                          switch (n.builtin) {
                            case Builtin::ThreadX: return integers(std::int64_t{warp} * kLanes, 1);
                            case Builtin::BlockX: return integers(block, 0);
                            case Builtin::GridX: return integers(launch.blocks, 0);
                            case Builtin::ClusterRank: return integers(block % program_.kernel->cluster, 0);
                          }
                        },
                        [](const auto&) {}},
             expr.node);
}

void LaneFile::move(Slot into_slot, Slot from_slot, Mask active, Type type) {
  Lanes& into = (*this)[into_slot];
  const Lanes& from = (*this)[from_slot];
  if (as_floats(type))
    active_lanes(active, [&](int l) { into.f[l] = from.f[l]; });
  else
    active_lanes(active, [&](int l) { into.i[l] = from.i[l]; });
  into.undefined &= ~active;
}

void LaneFile::read_array(const ArrayRead& n, Lanes& into, const Lanes& index) {
  const auto at = static_cast<std::size_t>(n.array);
  const RegisterArray& array = program_.kernel->arrays[at];
  into.undefined = index.undefined;
  for (int l = 0; l < kLanes; ++l) {
    if (index.i[l] < 0 || index.i[l] >= array.size) {
      into.undefined |= bit(l);
      continue;
    }
    const Lanes& element = (*this)[program_.arrays[at] + static_cast<Slot>(index.i[l])];
    if (as_floats(array.type))
      into.f[l] = element.f[l];
    else
      into.i[l] = element.i[l];
    into.undefined |= element.undefined & bit(l);
  }
}

void LaneFile::evaluate(const Compute& compute, Mask active) {
  const Expr& expr = program_.kernel->expr(compute.expr);
  Lanes& into = (*this)[compute.into];
  Operands in{};
  into.undefined = 0;
  for (std::size_t k = 0; k < in.size() && compute.in[k] >= 0; ++k) {
    in[k] = &(*this)[compute.in[k]];
    into.undefined |= in[k]->undefined;
  }
  const auto type_of = [&](ExprId id) { return program_.kernel->expr(id).type; };
  std::visit(Overloaded{[&](const IntExpr& n) { integer(n.op, expr.type, into, *in[0], *in[1]); },
                        [&](const CompareExpr& n) {
                          if (is_real(type_of(n.a)) && fp64_)
                            compare(n.op, into.i, in[0]->d, in[1]->d);
                          else if (is_real(type_of(n.a)))
                            compare(n.op, into.i, in[0]->f, in[1]->f);
                          else
                            compare(n.op, into.i, in[0]->i, in[1]->i);
                        },
                        [&](const LogicExpr& n) {
                          if (n.op != Logic::Not) return logic(n.op, into, *in[0], *in[1]);
                          for (int l = 0; l < kLanes; ++l) into.i[l] = 1 - in[0]->i[l];
                        },
                        [&](const MathExpr& n) {
                          fp64_ ? math<double>(n.op, active, into, in) : math<float>(n.op, active, into, in);
                        },
                        [&](const CastExpr& n) { cast(expr.type, type_of(n.a), fp64_, into, *in[0]); },
                        [&](const SelectExpr&) {
                          const Mask second = as_floats(expr.type)
                                                  ? choose(into.f, in[0]->i, in[1]->f, in[2]->f)
                                                  : choose(into.i, in[0]->i, in[1]->i, in[2]->i);
                          into.undefined =
                              in[0]->undefined | (in[1]->undefined & ~second) | (in[2]->undefined & second);
                        },
                        [&](const ArrayRead& n) { read_array(n, into, *in[0]); },
                        [&](const PackExpr& n) {
                          require_fp32(fp64_, "packs pairs");
                          pack(n.storage, active, into, *in[0], *in[1]);
                        },
                        [&](const UnpackExpr& n) {
                          require_fp32(fp64_, "packs pairs");
                          unpack(n, active, into, *in[0]);
                        },
                        [&](const RoundExpr&) {
                          require_fp32(fp64_, "rounds to tf32");
                          active_lanes(active, [&](int l) { into.f[l] = scalar::round_tf32(in[0]->f[l]); });
                        },
                        [&](const UniformExpr& n) {
                          fp64_ ? draw<double>(n, active, into, in) : draw<float>(n, active, into, in);
                        },
                        // Leaves have slots of their own and are never computed.
                        [](const IntConst&) {}, [](const FloatConst&) {}, [](const RegRead&) {},
                        [](const ParamRead&) {}, [](const BuiltinRead&) {}},
             expr.node);
}

}  // namespace rondo::kernel::simulator
