#include "compiler/step/reference/interpreter.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "compiler/scalar/philox.h"
#include "compiler/scalar/roundoff.h"
#include "compiler/scalar/table.h"
#include "compiler/step/extents.h"
#include "compiler/step/folded.h"
#include "compiler/step/reference/binding.h"
#include "compiler/step/reference/vector_loops.h"
#include "compiler/support/index.h"

namespace rondo::step::detail {

namespace {

bool varies_by_itself(const Cell& cell, const Node& node) {
  if (node.kind == NodeKind::Leaf) return cell.tensor(node.tensor).kind != TensorKind::Param;
  return node.kind == NodeKind::Gradient || is_of_place(node);
}

template <class Real>
Real sum(const Real* values, std::size_t count) {
  std::array<Real, kLanes> sums{};
  for (std::size_t i = 0; i < count; ++i) sums[i % kLanes] += values[i];
  return std::accumulate(sums.begin(), sums.end(), Real{0});
}

template <class Real>
Real maximum(const Real* values, std::size_t count) {
  Real result = values[0];
  for (std::size_t i = 1; i < count; ++i) result = scalar::detail::larger(result, values[i]);
  return result;
}

double size_of(double value) { return std::abs(value); }

// What of a node errs: steady errors of its parts differ.
enum class Part : std::uint64_t { Value, Factor, Product, Stored, Count };
std::uint64_t place_of(NodeId id, Part part) {
  return static_cast<std::uint64_t>(id) * static_cast<std::uint64_t>(Part::Count) +
         static_cast<std::uint64_t>(part);
}

std::vector<std::size_t> channels_of(const Cell& cell, const Graph& graph, const Sizes& sizes) {
  std::vector<std::size_t> result;
  result.reserve(graph.nodes.size());
  for (const InnerExtent& inner : inner_extents(cell, graph))
    result.push_back(at(inner ? inner.size : sizes.dim));
  return result;
}

}  // namespace

Program::Program(const Cell& cell_of_graph, const Graph& evaluated, const Sizes& run_sizes,
                 const std::vector<double>& constant_values, const std::vector<NodeId>& roots)
    : cell(cell_of_graph),
      graph(evaluated),
      sizes(run_sizes),
      numbers(folded_numbers(graph, constant_values, static_cast<double>(sizes.dim))),
      channels(channels_of(cell, graph, sizes)),
      widest(at(sizes.dim)),
      inputs(cell.of_kind(TensorKind::Input)),
      params(cell.of_kind(TensorKind::Param)),
      states(cell.of_kind(TensorKind::State)),
      outputs(cell.of_kind(TensorKind::Output)) {
  for (const Tensor& tensor : cell.tensors)
    widest = std::max({widest, at(tensor.inner.size), at(tensor.outer.size)});
  std::vector<bool> needed(graph.nodes.size(), false);
  for (const NodeId root : roots) needed[at(root)] = true;
  for (std::size_t i = graph.nodes.size(); i-- > 0;)
    if (needed[i])
      for (const NodeId operand : graph.nodes[i].operands) needed[at(operand)] = true;
  std::vector<bool> varies(graph.nodes.size(), false);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    varies[i] = varies_by_itself(cell, node);
    for (const NodeId operand : node.operands) varies[i] = varies[i] || varies[at(operand)];
    if (needed[i]) (varies[i] ? each_step : once).push_back(static_cast<NodeId>(i));
  }
}

template <class Real>
Interpreter<Real>::Interpreter(const Program& program, const RunOptions<Real>& options,
                               const Sources<Real>& sources)
    : program_(&program),
      dim_(at(program.sizes.dim)),
      options_(options),
      sources_(sources),
      noise_(options.perturbation),
      factor_(program.widest),
      storage_((program.once.size() + program.each_step.size()) * program.widest),
      buffers_(program.graph.nodes.size(), nullptr),
      values_(program.graph.nodes.size(), nullptr) {
  for (const auto& tensor : program.cell.tensors) matrices_.push_back(options.matrices->find(tensor.name));
  Real* next = storage_.data();
  for (const std::vector<NodeId>* nodes : {&program.once, &program.each_step}) {
    for (const NodeId id : *nodes) {
      values_[at(id)] = buffers_[at(id)] = next;
      next += program.widest;
    }
  }
}

template <class Real>
void Interpreter<Real>::run(NodeId id) {
  const Node& node = program_->graph.at(id);
  if (const std::optional<double>& number = program_->numbers[at(id)])
    return fill(buffers_[at(id)],
                static_cast<Real>(*number));  // as exact as kernels have it: folded, rounded once
  evaluate(id, node);
  if (noise_) perturb(id, node);
}

template <class Real>
void Interpreter<Real>::evaluate(NodeId id, const Node& node) {
  Real* result = buffers_[at(id)];
  switch (node.kind) {
    case NodeKind::Constant:
    case NodeKind::NamedConst:
    case NodeKind::HeadSize: return;  // numbers, which run() has filled in
    case NodeKind::Leaf: return load(id, node, sources_.leaf[at(node.tensor)], node.row);
    case NodeKind::Gradient: {
      const GradientRef& ref = node.gradient;
      const auto& blocks =
          ref.of == GradientRef::Of::Output ? sources_.output_gradient : sources_.next_gradient;
      return load(id, node, blocks[at(ref.tensor)], ref.row);
    }
    case NodeKind::Scalar: return apply(id, node, result);
    case NodeKind::MatVec:
    case NodeKind::MatTVec:
    case NodeKind::MaxPlus:
    case NodeKind::ArgMaxPlus: return;  // Together
    case NodeKind::ScatterSum: return scatter(factor(id, node), operand(node, 1), result);
    case NodeKind::ReduceSum: return fill(result, sum(operand(node, 0), dim_));
    case NodeKind::ReduceMax: return fill(result, maximum(operand(node, 0), dim_));
    case NodeKind::ReduceSpread: return fill(result, spread(node));
    case NodeKind::SumRows: throw std::logic_error("the reference of a step whose rows are dealt");
    case NodeKind::Shift:
    case NodeKind::Rotate: return move_along(node, result);
    case NodeKind::PrefixSum: return sum_along(operand(node, 0), 0, 1, result);
    case NodeKind::SuffixSum: return sum_along(operand(node, 0), dim_ - 1, -1, result);
    case NodeKind::Uniform: return draw(node, result);
    case NodeKind::StepIndex: return fill(result, static_cast<Real>(sources_.step));
  }
}

template <class Real>
Real Interpreter<Real>::spread(const Node& node) const {
  const auto count = static_cast<Real>((node.operands.size() - 1) * dim_);
  const Real mean = operand(node, 0)[0] / count;
  Real result{0};
  for (std::size_t vector = 1; vector < node.operands.size(); ++vector)
    for (std::size_t i = 0; i < dim_; ++i) {
      const Real distance = operand(node, vector)[i] - mean;
      result += distance * distance;
    }
  return result;
}

template <class Real>
void Interpreter<Real>::move_along(const Node& node, Real* result) const {
  const auto size = static_cast<std::int64_t>(dim_);
  for (std::int64_t channel = 0; channel < size; ++channel) {
    const std::int64_t from = channel - node.offset, around = ((from % size) + size) % size;
    const bool there = node.kind == NodeKind::Rotate || from == around;
    result[channel] = there ? operand(node, 0)[around] : Real{0};
  }
}

// From channel `first` on, up or down.
template <class Real>
void Interpreter<Real>::sum_along(const Real* values, std::size_t first, std::ptrdiff_t way,
                                  Real* result) const {
  Real total{0};
  for (std::size_t i = 0; i < dim_; ++i) {
    const std::size_t channel = way > 0 ? first + i : first - i;
    result[channel] = total += values[channel];
  }
}

template <class Real>
void Interpreter<Real>::scatter(const Real* values, const Real* chosen, Real* result) const {
  fill(result, Real{0});
  for (std::size_t i = 0; i < dim_; ++i) result[at(static_cast<std::int64_t>(chosen[i]))] += values[i];
}

// A Vector row is read where it lies; a Scalar is spread over the channels.
template <class Real>
void Interpreter<Real>::load(NodeId id, const Node& node, const Real* block, int row) {
  const auto index = at(row);
  if (node.extent == Extent::Scalar)
    fill(buffers_[at(id)], block[index]);
  else
    values_[at(id)] = block + index * channels(id);
}

template <class Real>
void Interpreter<Real>::apply(NodeId id, const Node& node, Real* result) const {
  const std::size_t count = node.extent == Extent::Scalar ? 1 : channels(id);
  const Real* a = operand(node, 0);
  const Real* b = node.operands.size() > 1 ? operand(node, 1) : nullptr;
  const Real* c = node.operands.size() > 2 ? operand(node, 2) : nullptr;
  scalar::visit(node.op, [=]<class Evaluate>(const scalar::Row<Evaluate>& row) {
    for (std::size_t i = 0; i < count; ++i) {
      if constexpr (std::is_invocable_v<Evaluate, Real>)
        result[i] = row.evaluate(a[i]);
      else if constexpr (std::is_invocable_v<Evaluate, Real, Real>)
        result[i] = row.evaluate(a[i], b[i]);
      else
        result[i] = row.evaluate(a[i], b[i], c[i]);
    }
  });
  if (node.extent == Extent::Scalar) fill(result, result[0]);
}

template <class Real>
void Interpreter<Real>::draw(const Node& node, Real* result) const {
  const auto word = [](std::int64_t place) { return static_cast<std::uint32_t>(place); };
  const auto seed = static_cast<float>(operand(node, 0)[0]);
  const std::uint32_t stream = draw_stream(node);
  for (std::size_t channel = 0; channel < dim_; ++channel)
    result[channel] =
        static_cast<Real>(scalar::philox_uniform(seed, stream, word(sources_.row), word(sources_.step),
                                                 word(sources_.head), static_cast<std::uint32_t>(channel)));
}

template <class Real>
void Interpreter<Real>::round(Real* numbers, std::size_t count, Real (*rounding)(Real)) const {
  if (rounding != nullptr) std::transform(numbers, numbers + count, numbers, rounding);
}

// A number stands for as many as the matrix takes.
template <class Real>
std::size_t Interpreter<Real>::factor_channels(const Node& node) const {
  if (node.kind == NodeKind::MatVec) return at(columns(program_->cell.tensor(node.tensor), program_->sizes));
  if (node.kind == NodeKind::MatTVec) return at(outputs(program_->cell.tensor(node.tensor), program_->sizes));
  return dim_;
}

template <class Real>
const Real* Interpreter<Real>::factor(NodeId id, const Node& node) {
  if (options_.round_product == nullptr && options_.round_vector == nullptr && !noise_)
    return operand(node, 0);
  const std::size_t count = factor_channels(node);
  std::copy_n(operand(node, 0), count, factor_.data());
  round(factor_.data(), count, options_.round_product);
  round(factor_.data(), count, options_.round_vector);
  if (noise_) {
    const Perturbation& given = noise_.perturbation();
    noise_.store(factor_.data(), count, place_of(id, Part::Factor), given.stored);
    if (given.product > 0)
      noise_.add(factor_.data(), count, place_of(id, Part::Product),
                 [&](std::size_t i) { return given.product * size_of(factor_[i]); });
  }
  return factor_.data();
}

template <class Real>
void Interpreter<Real>::perturb(NodeId id, const Node& node) {
  switch (node.kind) {
    case NodeKind::Scalar: return perturb_scalar(id, node);
    case NodeKind::MatVec:
    case NodeKind::MatTVec: return perturb_product(id, node);
    case NodeKind::MaxPlus: return perturb_max_plus(id);
    case NodeKind::ScatterSum: return perturb_scatter(id, node);
    case NodeKind::ReduceSum: {
      double sizes = 0;
      for (std::size_t i = 0; i < dim_; ++i) sizes += size_of(operand(node, 0)[i]);
      noise_.add(buffers_[at(id)], 1, place_of(id, Part::Value),
                 [=](std::size_t) { return kFp32Unit * sizes; });
      return fill(buffers_[at(id)], buffers_[at(id)][0]);
    }
    case NodeKind::PrefixSum:
    case NodeKind::SuffixSum: {
      largest_.resize(dim_);
      double sizes = 0;
      for (std::size_t i = 0; i < dim_; ++i) {
        const std::size_t channel = node.kind == NodeKind::PrefixSum ? i : dim_ - 1 - i;
        largest_[channel] = sizes += size_of(operand(node, 0)[channel]);
      }
      return noise_.add(buffers_[at(id)], dim_, place_of(id, Part::Value),
                        [&](std::size_t i) { return kFp32Unit * largest_[i]; });
    }
    default: return;
  }
}

template <class Real>
void Interpreter<Real>::perturb_scalar(NodeId id, const Node& node) {
  const scalar::Roundoff roundoff = scalar::roundoff(node.op, noise_.perturbation().fast_math);
  if (roundoff.exact()) return;
  const std::size_t count = node.extent == Extent::Scalar ? 1 : channels(id);
  Real* result = buffers_[at(id)];
  const bool fma = node.op == scalar::Op::Fma;  // its product is at most the result and a term
  largest_.assign(count, 0);
  if (fma)
    for (std::size_t i = 0; i < count; ++i) largest_[i] = size_of(result[i]);
  if (roundoff.operand > 0)
    for (const NodeId one : node.operands)
      if (const Real* values = this->value(one); !fma || one == node.operands.back())
        for (std::size_t i = 0; i < count; ++i) largest_[i] = std::max(largest_[i], size_of(values[i]));
  const Real* first = operand(node, 0);
  noise_.add(result, count, place_of(id, Part::Value), [&](std::size_t i) {
    const double value = size_of(result[i]);
    return roundoff.value * value + roundoff.operand * largest_[i] +
           roundoff.scaled * size_of(first[i]) * value + roundoff.absolute;
  });
  if (node.extent == Extent::Scalar) fill(result, result[0]);
}

// A product's terms are added up in fp32 in any order: by Cauchy and Schwarz no partial sum of absolute
// values is larger than the product of the norms.
template <class Real>
void Interpreter<Real>::perturb_product(NodeId id, const Node& node) {
  const auto& all = matrices_[at(node.tensor)]->norms(sources_.head, node.row);
  const std::vector<double>& norms = node.kind == NodeKind::MatVec ? all.rows : all.columns;
  double squares = 0;
  const std::size_t summed = factor_channels(node);
  for (std::size_t i = 0; i < summed; ++i) squares += size_of(factor_[i]) * size_of(factor_[i]);
  const double norm = std::sqrt(squares);
  const Perturbation& given = noise_.perturbation();
  // Of a matrix that is rounded itself, each element errs by itself.
  const double elements = given.product * norm / std::sqrt(static_cast<double>(summed));
  Real* result = buffers_[at(id)];
  noise_.add(result, channels(id), place_of(id, Part::Value),
             [&](std::size_t i) { return norms[i] * (kFp32Unit * norm + elements); });
  if (node.kind == NodeKind::MatVec) store_product(id);
}

// A backward pass reads the products of the forward step as they were stored (docs/numerics.md).
template <class Real>
void Interpreter<Real>::store_product(NodeId id) {
  const bool backward = &program_->graph != &program_->cell.graph;
  if (backward)
    noise_.store(buffers_[at(id)], channels(id), place_of(id, Part::Stored), noise_.perturbation().stored);
}

// One sum of two numbers is the largest, and no other enters.
template <class Real>
void Interpreter<Real>::perturb_max_plus(NodeId id) {
  Real* result = buffers_[at(id)];
  noise_.add(result, dim_, place_of(id, Part::Value),
             [&](std::size_t i) { return kFp32Unit * size_of(result[i]); });
  store_product(id);
}

template <class Real>
void Interpreter<Real>::perturb_scatter(NodeId id, const Node& node) {
  largest_.assign(dim_, 0);
  for (std::size_t i = 0; i < dim_; ++i)
    largest_[at(static_cast<std::int64_t>(operand(node, 1)[i]))] += size_of(operand(node, 0)[i]);
  noise_.add(buffers_[at(id)], dim_, place_of(id, Part::Value),
             [&](std::size_t i) { return kFp32Unit * largest_[i]; });
}

template <class Real>
void Interpreter<Real>::fill(Real* result, Real number) const {
  std::fill_n(result, program_->widest, number);
}

template <class Real>
void Together<Real>::run(const std::vector<NodeId>& nodes) {
  for (const NodeId id : nodes) {
    const Node& node = program().graph.at(id);
    if (reads_matrix(node))
      multiply_matrix(id, node);
    else
      for (Interpreter<Real>* const one : all_) one->run(id);
  }
}

template <class Real>
void Together<Real>::multiply_matrix(NodeId id, const Node& node) {
  for (std::size_t i = 0; i < all_.size(); ++i) {
    vectors_[i] = all_[i]->factor(id, node);
    results_[i] = all_[i]->buffers_[at(id)];
  }
  const Interpreter<Real>& first = *all_.front();
  const Tensor& tensor = program().cell.tensor(node.tensor);
  const std::size_t rows = at(outputs(tensor, program().sizes)),
                    columns = at(step::columns(tensor, program().sizes));
  const auto by = [&](const auto* matrix) {
    const std::span<const Real* const> vectors(vectors_);
    const std::span<Real* const> results(results_);
    if (node.kind == NodeKind::MatVec) return multiply<>(matrix, vectors, rows, columns, results);
    if (node.kind == NodeKind::MatTVec) return multiply_transposed<>(matrix, vectors, rows, columns, results);
    const bool value = node.kind == NodeKind::MaxPlus;
    multiply_max_plus<>(matrix, vectors, first.dim_, results,
                        value ? MaxPlusResult::Value : MaxPlusResult::Channel);
  };
  if (const float* matrix = first.matrices_[at(node.tensor)]->in_fp32(first.sources_.head, node.row))
    by(matrix);
  else
    by(first.sources_.leaf[at(node.tensor)] + at(node.row) * rows * columns);
  for (Interpreter<Real>* const one : all_) {
    if (node.kind != NodeKind::ArgMaxPlus)
      one->round(one->buffers_[at(id)], one->channels(id), one->options_.round_product);
    if (one->noise_) one->perturb(id, node);
  }
}

template class Interpreter<float>;
template class Interpreter<double>;
template class Together<float>;
template class Together<double>;

}  // namespace rondo::step::detail
