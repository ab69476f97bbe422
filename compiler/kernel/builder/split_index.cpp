#include "compiler/kernel/builder/split_index.h"

#include <utility>
#include <variant>
#include <vector>

#include "compiler/kernel/passes/integer.h"

namespace rondo::kernel {

namespace {

// A sum of expressions, each times a number.
class Terms {
 public:
  void add(ExprId expression, std::int64_t times) { terms_.emplace_back(expression, times); }
  void add(std::int64_t constant) { constant_ += constant; }

  Value sum(Builder& builder) const {
    Value sum;
    for (const auto& [expression, times] : terms_) {
      const Value one(&builder, expression);
      const Value term = times == 1 ? one : one * times;
      sum = sum.valid() ? sum + term : term;
    }
    if (!sum.valid()) return builder.constant(constant_);
    return constant_ == 0 ? sum : sum + constant_;
  }

 private:
  std::vector<std::pair<ExprId, std::int64_t>> terms_;
  std::int64_t constant_ = 0;
};

class Split {
 public:
  explicit Split(Builder& builder) : builder_(builder) {}

  void add(ExprId id, std::int64_t times) {
    const Kernel& kernel = builder_.kernel();
    if (const auto value = constant_value(kernel, id)) return step_.add(times * *value);
    const Expr expression = kernel.expr(id);
    if (const auto* read = std::get_if<RegRead>(&expression.node);
        read != nullptr && builder_.is_unrolled(read->reg))
      return step_.add(id, times);
    if (const auto* whole = std::get_if<IntExpr>(&expression.node)) {
      if (whole->op == IntOp::Add || whole->op == IntOp::Sub) {
        add(whole->a, times);
        return add(whole->b, whole->op == IntOp::Add ? times : -times);
      }
      if (whole->op == IntOp::Mul) {
        if (const auto by = constant_value(kernel, whole->b)) return add(whole->a, times * *by);
        if (const auto by = constant_value(kernel, whole->a)) return add(whole->b, times * *by);
      }
    }
    base_.add(id, times);
  }

  SplitIndex parts() const { return {base_.sum(builder_), step_.sum(builder_)}; }

 private:
  Builder& builder_;
  Terms base_, step_;
};

}  // namespace

SplitIndex split_index(Value index) {
  Split split(*index.builder());
  split.add(index.id(), 1);
  return split.parts();
}

}  // namespace rondo::kernel
