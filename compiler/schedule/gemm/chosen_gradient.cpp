// A block owns kRows x kColumns of the gradient of a row of the matrix. A thread has a row of them in
// registers and walks every kParts-th step; the parts meet in shared memory and are added in their order.
#include "compiler/schedule/gemm/chosen_gradient.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule/lower/product_terms.h"
#include "compiler/schedule/plan/signature.h"
#include "compiler/support/integers.h"

namespace rondo::schedule {

namespace {

constexpr int kRows = 32, kColumns = 32, kParts = 8;
constexpr int kThreads = kRows * kParts;
constexpr int kPitch = kColumns + 1;  // neighbouring rows begin in neighbouring banks
constexpr int kAhead = 4;             // steps whose values are on the way together

class ChosenGradient {
 public:
  ChosenGradient(const Task& task, step::TensorId matrix, int row, const std::vector<int>& scratch_rows)
      : task_(task),
        matrix_(matrix),
        row_(row),
        b_(fmt::format("{}_chosen_gradient_{}_{}", task.cell.name, task.cell.tensor(matrix).name, row),
           kThreads, task.problem.math,
           "Gradient of a matrix: of each step, what the channels it has chosen add."),
        signature_(b_, task) {
    signature_.set_scratch(scratch_rows);
  }

  Launch build(const std::vector<MatrixTerm>& terms) {
    KernelTensors tensors(signature_);
    for (const MatrixTerm& term : terms)
      operands_.push_back({tensors.reads(term.left.row.tensor), tensors.reads(term.right.row.tensor),
                           term.left.row.row, term.right.row.row});
    result_ = tensors.writes({Role::ParamGradient, matrix_});
    sums_ = b_.shared("sums", kernel::Storage::F32, kParts * kRows * kPitch,
                      fmt::format("[parts {}, rows {}, columns {} + 1]", kParts, kRows, kColumns));
    const Value batch = signature_.batch(), time = signature_.time();
    place_block();
    acc_ = b_.array("acc", kernel::Type::F32, kColumns);
    for (int c = 0; c < kColumns; ++c) b_.write(acc_, b_.constant(c), b_.real(0));
    b_.if_(channel_ < task_.problem.sizes.dim, [&] {
      b_.for_("row", b_.constant(0), batch, b_.constant(1), 1, [&](Value row) {
        for (const Operands& of : operands_) walk(of, row, time);
      });
    });
    hand_over();
    add_parts();
    return {b_.kernel(), signature_.arguments(), task_.problem.sizes.heads * row_tiles() * column_tiles(), 0};
  }

 private:
  struct Operands {
    KernelTensor left, chosen;
    int left_row, chosen_row;
  };

  std::int64_t row_tiles() const { return ceil_div(task_.problem.sizes.dim, kRows); }
  std::int64_t columns() const { return step::columns(task_.cell.tensor(matrix_), task_.problem.sizes); }
  std::int64_t column_tiles() const { return ceil_div(columns(), kColumns); }

  void place_block() {
    b_.comment("this block's rows, columns and head; this thread's channel and part of the steps");
    first_column_ = b_.let("first_column", b_.block() % column_tiles() * kColumns);
    first_row_ = b_.let("first_row", b_.block() / column_tiles() % row_tiles() * kRows);
    head_ = b_.let("head", b_.block() / (column_tiles() * row_tiles()));
    signature_.set_head(head_);
    part_ = b_.let("part", b_.thread() / kRows);
    channel_ = b_.let("channel", first_row_ + b_.thread() % kRows);
    first_real_ = b_.let("first", b_.to_real(first_column_));
  }

  Value place(const KernelTensor& tensor, int tensor_row, Value row) {
    const Value in_step = head_ * (tensor.head_rows() * task_.problem.sizes.dim) + channel_ +
                          tensor_row * task_.problem.sizes.dim;
    return b_.let("at", tensor.row_begin(row) + b_.wide(part_) * tensor.stride_t + b_.wide(in_step));
  }

  void walk(const Operands& of, Value row, Value time) {
    const Value left = place(of.left, of.left_row, row), chosen = place(of.chosen, of.chosen_row, row);
    const Value count = b_.let("count", (time - part_ + (kParts - 1)) / kParts);
    b_.for_("turn", b_.constant(0), count, b_.constant(1), kAhead, [&](Value turn) {
      const Value steps = b_.wide(turn * kParts);
      const Value value = b_.load("left", of.left.memory[left + steps * of.left.stride_t]);
      const Value number = b_.load("chosen", of.chosen.memory[chosen + steps * of.chosen.stride_t]);
      const Value column = b_.let("column", number - first_real_);
      for (int c = 0; c < kColumns; ++c) {
        const Value at = b_.constant(c);
        b_.write(acc_, at, with_chosen(b_, b_.read(acc_, at), column, b_.real(c), value));
      }
    });
  }

  void hand_over() {
    const Value own = b_.let("own", b_.thread() * kPitch);
    for (int c = 0; c < kColumns; ++c) b_.store(sums_[own + c], b_.read(acc_, b_.constant(c)));
    b_.barrier();
  }

  void add_parts() {
    const std::int64_t dim = task_.problem.sizes.dim, across = columns();
    const std::int64_t rows = task_.cell.tensor(matrix_).rows;
    b_.for_("i", b_.thread(), b_.constant(kRows * kColumns), b_.constant(kThreads), 1, [&](Value i) {
      const Value own_row = b_.let("own_row", i / kColumns), own_column = b_.let("own_column", i % kColumns);
      const Value m = b_.let("m", first_row_ + own_row), n = b_.let("n", first_column_ + own_column);
      b_.if_(m < dim && n < across, [&] {
        const Value to =
            b_.let("to", (b_.wide(head_) * rows + row_) * (dim * across) + b_.wide(m) * across + b_.wide(n));
        Value sum = b_.load("gradient", result_.memory[to]);
        for (int part = 0; part < kParts; ++part)
          sum = sum + b_.load("part", sums_[own_row * kPitch + own_column + part * (kRows * kPitch)]);
        b_.store(result_.memory[to], sum);
      });
    });
  }

  const Task& task_;
  step::TensorId matrix_;
  int row_;
  kernel::Builder b_;
  Signature signature_;
  std::vector<Operands> operands_;
  KernelTensor result_;
  kernel::Memory sums_;
  kernel::Array acc_;
  Value first_column_, first_row_, head_, part_, channel_, first_real_;
};

}  // namespace

std::vector<Launch> chosen_gradients(const Task& task, const std::vector<MatrixTerm>& terms,
                                     const std::vector<int>& scratch_rows, step::TensorId matrix) {
  std::vector<Launch> launches;
  for (int row = 0; row < task.cell.tensor(matrix).rows; ++row) {
    std::vector<MatrixTerm> own;
    for (const MatrixTerm& term : terms)
      if (term.chosen && term.matrix == matrix && term.row == row) own.push_back(term);
    if (!own.empty()) launches.push_back(ChosenGradient(task, matrix, row, scratch_rows).build(own));
  }
  return launches;
}

}  // namespace rondo::schedule
