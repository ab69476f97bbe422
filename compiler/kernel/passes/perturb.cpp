#include "compiler/kernel/passes/perturb.h"

#include "compiler/kernel/ir/visit.h"
#include "compiler/scalar/roundoff.h"
#include "compiler/scalar/table.h"

namespace rondo::kernel {

namespace {

// From the argument to the phase of its error: neighbouring numbers of size 1 are two radians apart.
constexpr double kPhase = 0x1p24;
// Of a kernel in fp64: how much closer its numbers, and its errors, lie together.
constexpr double kInDouble = 0x1p-29;
// The size that an argument is taken to have where the bound of an error grows with it.
constexpr double kArgument = 4;

class Perturber {
 public:
  Perturber(const Kernel& kernel, bool fast)
      : result_(kernel),
        fast_(fast),
        real_(is_in_double(kernel) ? Type::F64 : Type::F32),
        scale_(real_ == Type::F64 ? kInDouble : 1) {
    result_.expressions.clear();
  }

  Kernel run(const Kernel& kernel) {
    for (const Expr& expr : kernel.expressions) {
      Expr moved = expr;
      for_each_operand(moved, [&](ExprId& id) { id = instead_[static_cast<std::size_t>(id)]; });
      const ExprId own = add(std::move(moved));
      instead_.push_back(erring(own));
    }
    for_each_statement(result_.body, [&](Stmt& stmt) {
      for_each_expression(stmt, [&](ExprId& id) { id = instead_[static_cast<std::size_t>(id)]; });
    });
    for (auto& [use, name] : result_.named_uses) use = instead_[static_cast<std::size_t>(use)];
    return std::move(result_);
  }

 private:
  ExprId add(Expr expr) {
    result_.expressions.push_back(std::move(expr));
    return static_cast<ExprId>(result_.expressions.size() - 1);
  }
  ExprId number(double value) { return add({real_, FloatConst{value}}); }
  ExprId math(scalar::Op op, std::vector<ExprId> args) { return add({real_, MathExpr{op, std::move(args)}}); }

  // The value with its error; itself where it has none.
  ExprId erring(ExprId value) {
    const auto* function = std::get_if<MathExpr>(&result_.expr(value).node);
    if (function == nullptr || scalar::info(function->op).fast.special == 0) return value;
    const scalar::Roundoff off = scalar::roundoff(function->op, fast_);
    if (off.exact()) return value;
    const ExprId argument = function->args.back();  // of a quotient what divides
    const ExprId sign = math(scalar::Op::Cos, {math(scalar::Op::Mul, {argument, number(kPhase / scale_)})});
    const double relative = scale_ * (off.value + kArgument * off.scaled);
    const double absolute = scale_ * (off.absolute + kArgument * off.operand);
    if (relative >= absolute)
      return math(scalar::Op::Fma, {value, math(scalar::Op::Mul, {sign, number(relative)}), value});
    return math(scalar::Op::Fma, {sign, number(absolute), value});
  }

  Kernel result_;
  bool fast_;
  Type real_;
  double scale_;
  std::vector<ExprId> instead_;  // by expression of the kernel
};

}  // namespace

Kernel with_erring_functions(const Kernel& kernel, bool fast) { return Perturber(kernel, fast).run(kernel); }

}  // namespace rondo::kernel
