#include "compiler/step/reference/matrices.h"

#include <cmath>
#include <type_traits>

#include "compiler/support/index.h"

namespace rondo::step {

namespace {

constexpr std::int64_t kFewSteps = 4;  // of all batch rows: for these a copy takes longer than it saves

// All numbers; none where one of them is no number of fp32.
std::vector<float> exact_in_fp32(const std::vector<double>& numbers) {
  std::vector<float> result(numbers.size());
  bool exact = true;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    result[i] = static_cast<float>(numbers[i]);
    exact = exact && static_cast<double>(result[i]) == numbers[i];
  }
  return exact ? result : std::vector<float>();
}

template <class Real>
typename Matrices<Real>::Norms norms_of(const Real* matrix, std::size_t rows, std::size_t columns) {
  typename Matrices<Real>::Norms norms{std::vector<double>(rows), std::vector<double>(columns)};
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) {
      const auto value = static_cast<double>(matrix[i * columns + j]);
      norms.rows[i] += value * value;
      norms.columns[j] += value * value;
    }
  for (std::vector<double>* some : {&norms.rows, &norms.columns})
    for (double& norm : *some) norm = std::sqrt(norm);
  return norms;
}

}  // namespace

template <class Real>
Matrices<Real>::Matrices(const Cell& cell, const Sizes& sizes,
                         const std::map<std::string, std::vector<Real>>& params, bool norms) {
  for (const auto& declared : cell.tensors) {
    const auto found = params.find(declared.name);
    if (declared.tail != Tail::Matrix || found == params.end()) continue;
    const std::vector<Real>& numbers = found->second;
    Tensor& tensor = tensors_[declared.name];
    tensor.rows_ = declared.rows;
    const std::size_t rows = at(outputs(declared, sizes)), inner = at(columns(declared, sizes));
    tensor.size_ = rows * inner;
    if constexpr (std::is_same_v<Real, double>)
      if (sizes.batch * sizes.time >= kFewSteps) tensor.numbers_ = exact_in_fp32(numbers);
    if (!norms) continue;
    for (std::size_t begin = 0; begin + tensor.size_ <= numbers.size(); begin += tensor.size_)
      tensor.norms_.push_back(norms_of(numbers.data() + begin, rows, inner));
  }
}

template <class Real>
const typename Matrices<Real>::Tensor* Matrices<Real>::find(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

template class Matrices<float>;
template class Matrices<double>;

}  // namespace rondo::step
