// The parameters of a cell that are matrices, made ready to be multiplied.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/step/sizes.h"

namespace rondo::step {

// Immutable: any number of runs, on any threads, may share what is made of their parameters once.
template <class Real>
class Matrices {
 public:
  // Euclidean ones, of one of its matrices.
  struct Norms {
    std::vector<double> rows, columns;
  };

  // A parameter [H, rows, D, D], or with extents of its own in the place of either D.
  class Tensor {
   public:
    // A matrix of it in fp32; null where that is not kept.
    const float* in_fp32(std::int64_t head, int row) const {
      return numbers_.empty() ? nullptr : numbers_.data() + index(head, row) * size_;
    }
    // Of a matrix of it; only of matrices that were made with them.
    const Norms& norms(std::int64_t head, int row) const { return norms_[index(head, row)]; }

   private:
    friend class Matrices;
    std::size_t index(std::int64_t head, int row) const {
      return static_cast<std::size_t>(head * rows_ + row);
    }
    std::vector<float> numbers_;
    std::vector<Norms> norms_;
    std::int64_t rows_ = 0;
    std::size_t size_ = 0;
  };

  // `params` are those of the runs, by name. A product with one vector takes as long as its matrix takes to
  // read, so doubles that fp32 holds exactly are kept in fp32 too, unless the sizes have hardly a step to
  // read them. `norms`: for perturbed runs, which need them.
  Matrices(const Cell& cell, const Sizes& sizes, const std::map<std::string, std::vector<Real>>& params,
           bool norms);

  const Tensor* find(const std::string& name) const;  // null for what is no matrix

 private:
  std::map<std::string, Tensor> tensors_;
};

}  // namespace rondo::step
