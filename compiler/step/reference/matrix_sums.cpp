#include "compiler/step/reference/matrix_sums.h"

#include <algorithm>
#include <cmath>

#include "compiler/step/reference/vector_loops.h"
#include "compiler/support/index.h"
#include "compiler/support/parallel_for.h"

namespace rondo::step::detail {

namespace {

// Rows of a sum that are worked on at a time: of a large head they fit in the L2.
constexpr std::size_t kBlock = 16;
// Steps whose factors wait, so that they take half the memory of a sum.
constexpr std::size_t kFewestWaiting = 16, kMostWaiting = 128;

// Places of steady errors that are no node's (Noise::add).
constexpr std::uint64_t kLeftFactor = std::uint64_t{1} << 40, kRightFactor = std::uint64_t{2} << 40,
                        kMatrixSums = std::uint64_t{4} << 40;

template <class Real>
void add_squares(const Real* values, std::vector<double>& sums) {
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += static_cast<double>(values[i] * values[i]);
}

template <class Real>
std::vector<typename Factors<Real>::Shape> shapes_of(const Cell& cell,
                                                     const std::vector<MatrixGradient>& matrices,
                                                     const Sizes& sizes) {
  std::vector<typename Factors<Real>::Shape> result;
  result.reserve(matrices.size());
  for (const MatrixGradient& matrix : matrices) {
    const Tensor& tensor = cell.tensor(matrix.tensor);
    result.push_back({at(outputs(tensor, sizes)), at(columns(tensor, sizes))});
  }
  return result;
}

}  // namespace

template <class Real>
Factors<Real>::Factors(const std::vector<MatrixGradient>& matrices, std::int64_t dim,
                       const std::vector<Shape>& shapes, std::int64_t steps, const RunOptions<Real>& options)
    : tallest_(at(dim)),
      widest_(tallest_),
      most_waiting_(std::min(std::clamp(tallest_ / 4, kFewestWaiting, kMostWaiting), at(steps))),
      options_(options),
      noise_(options.perturbation) {
  for (std::size_t k = 0; k < matrices.size(); ++k) {
    matrices_.push_back({matrices[k].chosen, shapes[k].rows, shapes[k].columns, {}, {}, 0, {}, {}, {}});
    tallest_ = std::max(tallest_, shapes[k].rows);
    widest_ = std::max(widest_, shapes[k].columns);
  }
}

template <class Real>
void Factors<Real>::begin() {
  for (OfMatrix& one : matrices_) {
    one.left.resize(most_waiting_ * one.rows);
    one.right.resize(most_waiting_ * one.columns);
    one.count = 0;
    one.sum.clear();
    if (!noise_) continue;
    one.left_norms.assign(one.rows, 0);
    one.right_norms.assign(one.columns, 0);
  }
}

template <class Real>
void Factors<Real>::add(std::size_t k, const Real* left, const Real* right, Noise& noise) {
  OfMatrix& one = matrices_[k];
  if (one.count == most_waiting_) {
    if (one.sum.empty()) one.sum.assign(one.rows * one.columns, Real{0});
    add_waiting(one, 0, one.rows, one.sum.data());
    one.count = 0;
  }
  Real* const own_left = one.left.data() + one.count * one.rows;
  Real* const own_right = one.right.data() + one.count * one.columns;
  ++one.count;
  std::copy_n(left, one.rows, own_left);
  std::copy_n(right, one.columns, own_right);
  if (options_.round_product != nullptr) {
    std::transform(own_left, own_left + one.rows, own_left, options_.round_product);
    if (!one.chosen) std::transform(own_right, own_right + one.columns, own_right, options_.round_product);
  }
  if (!noise) return;
  noise.store(own_left, one.rows, kLeftFactor, noise.perturbation().stored);
  add_squares(own_left, one.left_norms);
  if (one.chosen) {
    for (double& squares : one.right_norms) squares += 1;  // of any column
    return;
  }
  noise.store(own_right, one.columns, kRightFactor, noise.perturbation().stored);
  add_squares(own_right, one.right_norms);
}

// Rows first, first + 1 .. of what waits.
template <class Real>
void Factors<Real>::add_waiting(const OfMatrix& one, std::size_t first, std::size_t rows, Real* sum) const {
  const Real* const left = one.left.data() + first;
  if (one.chosen) return add_at_columns(left, one.right.data() + first, one.count, one.rows, rows, sum);
  add_outer_products(left, one.right.data(), one.count, one.rows, one.columns, rows, sum);
}

template <class Real>
void Factors<Real>::end(const Noise& noise) {
  noise_ = noise;
  for (OfMatrix& one : matrices_)
    for (std::vector<double>* norms : {&one.left_norms, &one.right_norms})
      for (double& norm : *norms) norm = std::sqrt(norm);
}

// The products are added up in fp32 in any order: by Cauchy and Schwarz no partial sum of absolute values is
// larger than the product of the norms over time.
template <class Real>
void Factors<Real>::sum_rows(std::size_t k, std::size_t first, std::size_t rows, Real* result) const {
  const OfMatrix& one = matrices_[k];
  if (one.sum.empty())
    std::fill_n(result, rows * one.columns, Real{0});
  else
    std::copy_n(one.sum.data() + first * one.columns, rows * one.columns, result);
  add_waiting(one, first, rows, result);
  if (!noise_) return;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t place = k * tallest_ + first + row;
    noise_.add_to_products(result + row * one.columns, one.columns, kMatrixSums + place, place * widest_,
                           one.left_norms[first + row], one.right_norms.data());
  }
}

template <class Real>
MatrixSums<Real>::MatrixSums(const Cell& cell, const BackwardStep& step, const Sizes& sizes,
                             const RunOptions<Real>& options, std::int64_t parts, TensorMap<Real>& gradients)
    : cell_(cell),
      matrices_(step.matrices),
      sizes_(sizes),
      parts_(parts),
      gradients_(gradients),
      sums_(cell.tensors.size(), nullptr),
      threads_(options.threads),
      in_turn_(threads_ == 1 && sizes.batch * sizes.time > sizes.dim),
      factors_(in_turn_ ? 1 : at(parts * sizes.heads),
               Factors<Real>(step.matrices, sizes.dim, shapes_of<Real>(cell, step.matrices, sizes),
                             (sizes.batch + parts - 1) / parts * sizes.time, options)) {
  if (in_turn_) allocate();
}

template <class Real>
void MatrixSums<Real>::allocate() {
  for (const TensorId id : cell_.of_kind(TensorKind::Param)) {
    const Tensor& tensor = cell_.tensor(id);
    if (tensor.tail != Tail::Matrix) continue;
    std::vector<Real>& values = gradients_[tensor.name];
    values.assign(at(element_count(tensor, sizes_)), Real{0});
    sums_[at(id)] = values.data();
  }
}

template <class Real>
Factors<Real>& MatrixSums<Real>::factors(std::int64_t part, std::int64_t head) {
  return factors_[in_turn_ ? 0 : at(part * sizes_.heads + head)];
}

template <class Real>
Factors<Real>& MatrixSums<Real>::begin(std::int64_t part, std::int64_t head) {
  Factors<Real>& result = factors(part, head);
  result.begin();
  return result;
}

template <class Real>
void MatrixSums<Real>::end(std::int64_t part, std::int64_t head) {
  if (!in_turn_) return;
  for (std::size_t block = 0; block < blocks(); ++block) add_parts(part, part + 1, head, block, room_);
}

template <class Real>
void MatrixSums<Real>::finish() {
  if (in_turn_) return;
  allocate();
  const auto all = static_cast<std::int64_t>(blocks());
  parallel_for(sizes_.heads * all, threads_, [&]() -> Worker {
    return [this, all, room = std::vector<Real>()](std::int64_t item) mutable {
      add_parts(0, parts_, item / all, at(item % all), room);
    };
  });
}

template <class Real>
std::size_t MatrixSums<Real>::blocks() const {
  std::size_t rows = 0;
  for (const MatrixGradient& matrix : matrices_)
    rows = std::max(rows, at(outputs(cell_.tensor(matrix.tensor), sizes_)));
  return (rows + kBlock - 1) / kBlock;
}

template <class Real>
void MatrixSums<Real>::add_parts(std::int64_t begin, std::int64_t end, std::int64_t head, std::size_t block,
                                 std::vector<Real>& room) {
  const std::size_t first = block * kBlock;
  for (std::size_t k = 0; k < matrices_.size(); ++k) {
    const MatrixGradient& matrix = matrices_[k];
    const Tensor& tensor = cell_.tensor(matrix.tensor);
    const std::size_t width = at(columns(tensor, sizes_)), height = at(outputs(tensor, sizes_));
    if (first >= height) continue;
    const std::size_t rows = std::min(kBlock, height - first);
    room.resize(std::max(room.size(), kBlock * width));
    Real* const to = sums_[at(matrix.tensor)] + at(head * step::block(tensor, sizes_)) +
                     (at(matrix.row) * height + first) * width;
    for (std::int64_t part = begin; part < end; ++part) {
      factors(part, head).sum_rows(k, first, rows, room.data());
      for (std::size_t i = 0; i < rows * width; ++i) to[i] += room[i];
    }
  }
}

template class Factors<float>;
template class Factors<double>;
template class MatrixSums<float>;
template class MatrixSums<double>;

}  // namespace rondo::step::detail
