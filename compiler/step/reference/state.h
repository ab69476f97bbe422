// State-shaped numbers of one batch element and head, all states one after the other. Internal to the
// reference executor.
#pragma once

#include <algorithm>
#include <vector>

#include "compiler/step/reference/binding.h"

namespace rondo::step::detail {

template <class Real>
class StateBlock {
 public:
  StateBlock(const Cell& cell, const Sizes& sizes)
      : offsets_(cell.tensors.size(), 0), sizes_(cell.tensors.size(), 0) {
    std::size_t total = 0;
    for (const TensorId id : cell.of_kind(TensorKind::State)) {
      const auto index = static_cast<std::size_t>(id);
      offsets_[index] = total;
      sizes_[index] = static_cast<std::size_t>(block(cell.tensors[index], sizes));
      total += sizes_[index];
    }
    values_.assign(total, Real{0});
  }

  Real* of(TensorId state) { return values_.data() + offsets_[static_cast<std::size_t>(state)]; }
  std::size_t size(TensorId state) const { return sizes_[static_cast<std::size_t>(state)]; }
  // Copies from a tensor's block; zero if there is none.
  void assign(TensorId state, const Real* from) {
    if (from == nullptr)
      std::fill_n(of(state), size(state), Real{0});
    else
      std::copy_n(from, size(state), of(state));
  }
  void swap(StateBlock& other) { values_.swap(other.values_); }

 private:
  std::vector<std::size_t> offsets_, sizes_;
  std::vector<Real> values_;
};

}  // namespace rondo::step::detail
