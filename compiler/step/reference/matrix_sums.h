// Gradients of the matrices of a cell: sums of outer products over all steps. Internal to the reference
// executor.
#pragma once

#include <vector>

#include "compiler/step/derive.h"
#include "compiler/step/reference/executor.h"
#include "compiler/step/reference/noise.h"

namespace rondo::step::detail {

// The batch is cut into at most this many parts, each with partial sums of the parameters' gradients that are
// added up in order: the result does not depend on the number of threads, and memory does not grow with the
// batch.
inline constexpr std::int64_t kBatchParts = 16;

// The factors of the products of one part of the batch for one head, as a sweep through time comes to them.
// A sum as large as a matrix fits in no near cache, and reading and writing it takes longer than adding a few
// products to it. So factors wait here until there are many of them.
template <class Real>
class Factors {
 public:
  struct Shape {
    std::size_t rows, columns;
  };
  // `shapes`: of each matrix. `steps`: of all batch rows of the largest part.
  Factors(const std::vector<MatrixGradient>& matrices, std::int64_t dim, const std::vector<Shape>& shapes,
          std::int64_t steps, const RunOptions<Real>& options);

  // Forgets all, but for the memory.
  void begin();
  // Those of a step for matrix k, with the errors of `noise`.
  void add(std::size_t k, const Real* left, const Real* right, Noise& noise);
  // After the last of them; the errors of sums follow those of `noise`.
  void end(const Noise& noise);

  // Rows first, first + 1 .. of the sum for matrix k, to `rows` of them: with its errors in a perturbed run.
  void sum_rows(std::size_t k, std::size_t first, std::size_t rows, Real* result) const;

 private:
  struct OfMatrix {
    bool chosen;                    // MatrixGradient::chosen
    std::size_t rows, columns;      // of the matrix
    std::vector<Real> left, right;  // [count, rows] and [count, columns], in the order of steps
    std::size_t count = 0;
    std::vector<Real> sum;  // [rows, columns], of those that waited before; empty: of none
    // Over all steps, of each channel: sums of squares, and from end() on their roots.
    std::vector<double> left_norms, right_norms;
  };

  void add_waiting(const OfMatrix& one, std::size_t first, std::size_t rows, Real* sum) const;

  std::size_t tallest_, widest_, most_waiting_;  // rows and columns of a matrix, at least D
  const RunOptions<Real>& options_;
  Noise noise_;
  std::vector<OfMatrix> matrices_;
};

// The sums over all parts of the batch.
template <class Real>
class MatrixSums {
 public:
  // `gradients`: of parameters by name, of which this makes those of matrices. In most runs it does so in
  // finish(), so that of runs that are made together only one has them at a time. What is referred to
  // outlives this.
  MatrixSums(const Cell& cell, const BackwardStep& step, const Sizes& sizes, const RunOptions<Real>& options,
             std::int64_t parts, TensorMap<Real>& gradients);

  // Those of a part and head, none as yet. Different ones may be filled at the same time.
  Factors<Real>& begin(std::int64_t part, std::int64_t head);
  // A part of a head is complete.
  void end(std::int64_t part, std::int64_t head);
  // All are.
  void finish();

 private:
  // Adds the parts from `begin` on, in order, to a block of rows of all gradients.
  void add_parts(std::int64_t begin, std::int64_t end, std::int64_t head, std::size_t block,
                 std::vector<Real>& room);
  std::size_t blocks() const;
  void allocate();
  Factors<Real>& factors(std::int64_t part, std::int64_t head);

  const Cell& cell_;
  const std::vector<MatrixGradient>& matrices_;
  const Sizes sizes_;
  std::int64_t parts_;
  TensorMap<Real>& gradients_;
  std::vector<Real*> sums_;  // the gradients of matrices by TensorId
  int threads_;
  // One thread comes to the parts in order, and adds each to the gradients at once: all factors together take
  // more memory than gradients do.
  bool in_turn_;
  std::vector<Factors<Real>> factors_;  // by part and head; in turn: one
  std::vector<Real> room_;              // of some rows, in turn
};

}  // namespace rondo::step::detail
