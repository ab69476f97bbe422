#include "tests/step/random_cell.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "compiler/step/derivative_table.h"
#include "tests/step/cell_builder.h"

namespace rondo::step::testing {

namespace {

using scalar::Op;

class RandomCellBuilder {
 public:
  RandomCellBuilder(Random& random, const RandomCellOptions& options)
      : random_(random), options_(options), b_("random") {}

  Cell build() {
    declare();
    const int nodes = pick(6, 16);
    for (int i = 0; i < nodes; ++i) pool_.push_back(grow());
    finish();
    return b_.cell();
  }

 private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool chance(double p) { return std::bernoulli_distribution(p)(random_); }
  double normal() { return std::normal_distribution<double>()(random_); }
  std::vector<int> lead() {
    if (chance(0.5)) return {};
    return chance(0.8) ? std::vector<int>{pick(1, 3)} : std::vector<int>{2, pick(1, 2)};
  }

  void declare() {
    const TensorId x = b_.input("x", lead());
    read_all(x);
    if (chance(0.2)) read_all(b_.tensor(TensorKind::Input, "gain", Tail::Scalar));
    if (chance(0.5)) read_all(b_.param("a", lead()));
    if (chance(0.3)) read_all(b_.tensor(TensorKind::Param, "s", Tail::Scalar, lead()));
    if (options_.draws) {
      const Value seed = b_.read(b_.tensor(TensorKind::Param, "seed", Tail::Scalar));
      for (const char* name : {"drop", "keep"}) pool_.push_back(b_.uniform(name, seed));
    } else if (chance(0.3)) {
      pool_.push_back(b_.step_index());
    }
    if (options_.matrices) matrix_ = b_.matrix("R", lead());
    if (options_.own_extent > 0) multiply_own_extent();
    if (options_.walked_extent > 0) declare_walked_extent();
    const int states = pick(1, 3);
    for (int i = 0; i < states; ++i) {
      states_.push_back(
          b_.state(fmt::format("h{}", i), chance(0.8) ? std::vector<int>{} : std::vector<int>{2}));
      read_all(states_.back());
      read_all(states_.back());  // twice: states are worth using
    }
    if (options_.head_values) {
      read_all(b_.tensor(TensorKind::Input, "u", Tail::Scalar));
      states_.push_back(b_.tensor(TensorKind::State, "n", Tail::Scalar, lead()));
      read_all(states_.back());
      read_all(states_.back());
    }
    if (options_.reductions && chance(0.2)) {
      states_.push_back(b_.tensor(TensorKind::State, "m", Tail::Scalar));
      read_all(states_.back());
    }
    if (chance(0.5)) pool_.push_back(b_.constant("k", 0.5 + normal()));
    pool_.push_back(b_.number(chance(0.5) ? pick(-2, 2) : normal()));
  }

  void multiply_own_extent() {
    const TensorId u = b_.input("u", lead()), w = b_.matrix("W", lead());
    b_.own_extent("E", options_.own_extent, {u, w});
    for (int row = 0; row < b_.cell().tensors[static_cast<std::size_t>(u)].rows; ++row)
      for (int of = 0; of < b_.cell().tensors[static_cast<std::size_t>(w)].rows; ++of)
        pool_.push_back(b_.matvec(w, of, b_.read(u, row)));
  }

  void declare_walked_extent() {
    const std::vector<int> rows = lead();
    narrow_ = b_.state("p", rows);
    const TensorId v = b_.input("v", rows), q = b_.param("q", rows);
    from_narrow_ = b_.matrix("A", lead());
    to_narrow_ = b_.matrix("C");
    within_narrow_ = b_.matrix("G");
    b_.own_extent("P", options_.walked_extent, {narrow_, v, q, from_narrow_, within_narrow_},
                  {to_narrow_, within_narrow_});
    for (int row = 0; row < rows_of(narrow_); ++row) {
      const Value p = b_.read(narrow_, row);
      const Value mixed = b_.read(q, row) * p + tanh(b_.read(v, row)) * sigmoid(p);
      narrow_values_.push_back(chance(0.5) ? mixed : tanh(0.5 * mixed) + p);
      for (int of = 0; of < rows_of(from_narrow_); ++of)
        pool_.push_back(b_.matvec(from_narrow_, of, chance(0.5) ? p : narrow_values_.back()));
    }
  }

  void advance_walked_extent() {
    const TensorId z = b_.tensor(TensorKind::Output, "z");
    b_.share_extent(narrow_, z);
    for (int row = 0; row < rows_of(narrow_); ++row) {
      Value vector = any();
      while (extent(vector) == Extent::Scalar) vector = any();
      const Value joined = b_.matvec(to_narrow_, 0, vector) + narrow_values_[static_cast<std::size_t>(row)];
      const Value next = tanh(b_.matvec(within_narrow_, 0, b_.read(narrow_, row)) + 0.5 * joined);
      b_.next(narrow_, row, next);
      if (row == 0) b_.output(z, 0, chance(0.5) ? next : joined);
    }
  }

  int rows_of(TensorId id) { return b_.cell().tensors[static_cast<std::size_t>(id)].rows; }

  void read_all(TensorId id) {
    for (int row = 0; row < b_.cell().tensors[static_cast<std::size_t>(id)].rows; ++row)
      pool_.push_back(b_.read(id, row));
  }

  // Later values more often, so that graphs get deep.
  Value any() {
    const auto size = static_cast<int>(pool_.size());
    return pool_[static_cast<std::size_t>(std::max(pick(0, size - 1), pick(0, size - 1)))];
  }
  // One value a head that follows no channel.
  Value of_head() {
    std::vector<Value> values;
    for (const Value v : pool_)
      if (extent(v) == Extent::Scalar) values.push_back(v);
    return values[static_cast<std::size_t>(pick(0, static_cast<int>(values.size()) - 1))];
  }
  Extent extent(Value v) { return b_.graph().at(v.id).extent; }

  Value grow() {
    const double kind = std::uniform_real_distribution<double>(0, 1)(random_);
    const Value v = any();
    if (options_.max_plus && kind > 0.86 && extent(v) == Extent::Vector) return max_plus(v);
    if (options_.matrices && kind < 0.08 && extent(v) == Extent::Vector)
      return b_.matvec(matrix_, pick(0, b_.cell().tensors[static_cast<std::size_t>(matrix_)].rows - 1), v);
    if (options_.reductions && kind < 0.12 && extent(v) == Extent::Vector) return b_.sum(v) / b_.head_size();
    if (options_.reductions && kind < 0.16 && extent(v) == Extent::Vector) return b_.maximum(v);
    if (options_.transposes && kind > 0.92 && extent(v) == Extent::Vector) return transposed(v);
    if (options_.along && kind > 0.8 && extent(v) == Extent::Vector) return along(v);
    // Ops without a derivative would soon leave nothing to differentiate: they come less often.
    Op op = static_cast<Op>(pick(0, scalar::kOpCount - 1));
    if (!differentiable(op, scalar::info(op).arity - 1) && chance(0.6))
      op = static_cast<Op>(pick(0, static_cast<int>(Op::Max)));
    std::vector<NodeId> operands;
    for (int i = 0; i < scalar::info(op).arity; ++i)
      operands.push_back(i == 0 ? guarded(op, v).id : any().id);
    if (op == Op::Pow) operands[1] = tanh(any()).id;
    if (op == Op::WithGradient) operands[1] = same_by_another_way(v).id;
    if (op == Op::Div) operands[1] = (2.0 + Value{&b_.graph(), operands[1]}.of(Op::Square)).id;
    return v.make(op, operands);
  }

  Value max_plus(Value v) {
    const int rows = b_.cell().tensors[static_cast<std::size_t>(matrix_)].rows;
    return b_.max_plus(matrix_, pick(0, rows - 1), v);
  }

  Value transposed(Value v) {
    const int rows = b_.cell().tensors[static_cast<std::size_t>(matrix_)].rows;
    return {&b_.graph(), b_.graph().mat_t_vec(matrix_, pick(0, rows - 1), v.id)};
  }

  Value along(Value v) {
    constexpr NodeKind kKinds[] = {NodeKind::Shift, NodeKind::Rotate, NodeKind::PrefixSum,
                                   NodeKind::SuffixSum};
    const NodeKind kind = kKinds[pick(0, 3)];
    const bool moves = kind == NodeKind::Shift || kind == NodeKind::Rotate;
    const Value result{&b_.graph(), b_.graph().along_head(kind, v.id, moves ? pick(-4, 4) : 0)};
    return moves ? result : result / b_.head_size();
  }

  // The declared derivative is that of the value, so that central differences give it. The simplifier does
  // not see that they are the same.
  Value same_by_another_way(Value v) {
    const Value other = any();
    return (v + other) - other;
  }

  // Keeps the argument in the op's domain, and exponentials from growing step by step.
  Value guarded(Op op, Value v) {
    switch (op) {
      case Op::Log:
      case Op::Sqrt:
      case Op::Rsqrt:
      case Op::Recip:
      case Op::Pow: return 0.1 + v.of(Op::Softplus);
      case Op::Log1p: return v.of(Op::Square);
      case Op::Exp:
      case Op::Exp2:
      case Op::Expm1:
      case Op::Square: return tanh(v);
      default: return v;
    }
  }

  // Several values together, so that most of the graph is used; one value a head if the tensor is.
  Value mixed(Tail tail) {
    if (tail == Tail::Scalar && options_.head_values) return of_head() + of_head() * of_head();
    Value v = chance(0.5) ? any() + any() * any() : any() + any();
    if (tail == Tail::Scalar && extent(v) == Extent::Vector) v = chance(0.5) ? b_.sum(v) : b_.maximum(v);
    return v;
  }

  // Most often bounded, as a recurrence must be: through tanh, or as a gate on the state itself.
  Value closing(TensorId state, int row, Tail tail) {
    // Of these, always: they are walked for many steps.
    if (options_.head_values && chance(0.5))
      return sigmoid(mixed(tail)) * b_.read(state, row) + tanh(mixed(tail));
    if (options_.head_values) return tanh(mixed(tail));
    if (chance(0.3)) return sigmoid(mixed(tail)) * b_.read(state, row) + mixed(tail);
    return chance(0.8) ? tanh(mixed(tail)) : mixed(tail);
  }

  void finish() {
    // The rows of next states and outputs are in the order of their tensors.
    if (options_.walked_extent > 0) advance_walked_extent();
    std::vector<Value> nexts;
    for (const TensorId state : states_) {
      const Tensor tensor = b_.cell().tensors[static_cast<std::size_t>(state)];
      for (int row = 0; row < tensor.rows; ++row) {
        nexts.push_back(closing(state, row, tensor.tail));
        b_.next(state, row, nexts.back());
      }
    }
    const TensorId y = b_.tensor(TensorKind::Output, "y", Tail::Vector, {2});
    b_.output(y, 0, mixed(Tail::Vector));
    b_.output(y, 1, nexts[0]);
    if ((options_.reductions || options_.head_values) && chance(0.3)) {
      const TensorId total = b_.tensor(TensorKind::Output, "total", Tail::Scalar);
      b_.output(total, 0, mixed(Tail::Scalar));
    }
  }

  Random& random_;
  RandomCellOptions options_;
  CellBuilder b_;
  std::vector<Value> pool_;
  std::vector<TensorId> states_;
  TensorId matrix_ = -1;
  // What has an extent of its own that the walk has as well, and its values.
  TensorId narrow_ = -1, from_narrow_ = -1, to_narrow_ = -1, within_narrow_ = -1;
  std::vector<Value> narrow_values_;
};

std::vector<double> normals(std::int64_t count, double scale, Random& random) {
  std::normal_distribution<double> normal(0, scale);
  std::vector<double> values(static_cast<std::size_t>(count));
  std::generate(values.begin(), values.end(), [&] { return normal(random); });
  return values;
}

}  // namespace

Cell random_cell(Random& random, const RandomCellOptions& options) {
  return RandomCellBuilder(random, options).build();
}

Cell random_cell_of_seed(std::uint64_t seed) {
  Random random(seed);
  const bool dense = seed % 2 == 0;
  return random_cell(random, {dense, dense, seed % 3 == 0});
}

ForwardArguments<double> random_arguments(const Cell& cell, const Sizes& sizes, Random& random) {
  ForwardArguments<double> arguments;
  for (const Tensor& tensor : cell.tensors) {
    if (tensor.kind == TensorKind::Output || is_flag(tensor.kind)) continue;
    auto& map = tensor.kind == TensorKind::Input   ? arguments.inputs
                : tensor.kind == TensorKind::Param ? arguments.params
                                                   : arguments.initial_states;
    const double scale = tensor.tail == Tail::Matrix ? 1 / std::sqrt(static_cast<double>(sizes.dim)) : 1;
    map[tensor.name] = normals(element_count(tensor, sizes), scale, random);
  }
  for (const Tensor& tensor : cell.tensors) {
    if (!is_flag(tensor.kind)) continue;
    std::uniform_int_distribution<std::int64_t> drawn(0, tensor.kind == TensorKind::Reset ? 2 : sizes.time);
    std::vector<double>& values = arguments.flags[tensor.name];
    for (std::int64_t left = element_count(tensor, sizes); left > 0; --left) {
      const auto number = static_cast<double>(drawn(random));
      values.push_back(tensor.kind == TensorKind::Reset && number != 2 ? 0 : number);
    }
  }
  return arguments;
}

LossGradients<double> random_loss(const Cell& cell, const Sizes& sizes, Random& random) {
  LossGradients<double> loss;
  for (const Tensor& tensor : cell.tensors) {
    if (tensor.kind == TensorKind::Output)
      loss.outputs[tensor.name] = normals(element_count(tensor, sizes), 1, random);
    if (tensor.kind == TensorKind::State)
      loss.last_states[tensor.name] = normals(element_count(tensor, sizes), 1, random);
  }
  return loss;
}

int random_cell_count() {
  const char* wanted = std::getenv("RONDO_RANDOM_CELLS");
  return std::max(1000, wanted == nullptr ? 0 : std::atoi(wanted));
}

std::string provenance(std::uint64_t seed, const Cell& cell) {
  return fmt::format("random_cell_of_seed({})\n{}\n{}", seed, canonical_text(cell), print(cell));
}

}  // namespace rondo::step::testing
