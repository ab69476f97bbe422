// A vector of each step as operand of a product over all steps.
#pragma once

#include <optional>
#include <vector>

#include "compiler/schedule/gemm_tile.h"
#include "compiler/schedule/history.h"
#include "compiler/schedule/signature.h"

namespace rondo::schedule {

// A row of a tensor with a time axis, [B, T, H, rows, D]. `shifted`: the value at step t is the row at t - 1,
// and at t = 0 row `first_row` of the initial state `first` (fp32 [B, H, rows, D], rounded to storage), or
// zero if there is none.
struct TimeOperand {
  RowRef row;
  bool shifted = false;
  std::optional<TensorRef> first;
  int first_row = 0;
};

// The tensors of a kernel, each declared once.
class KernelTensors {
 public:
  explicit KernelTensors(Signature& signature) : signature_(signature) {}
  KernelTensor reads(TensorRef ref) { return declare(ref, false); }
  KernelTensor writes(TensorRef ref) { return declare(ref, true); }

 private:
  KernelTensor declare(TensorRef ref, bool written);

  Signature& signature_;
  std::vector<std::pair<KernelTensor, bool>> known_;
};

// Stages an operand, or one of several neighbouring rows: channels are counted from the operand's first row
// on.
class TimeReader {
 public:
  TimeReader(KernelTensors& tensors, const Problem& problem, const TimeOperand& operand);

  // One vector: channels `channel` ... of head `head` at step `t` of batch row `row`; zeros unless `exists`.
  void copy(GemmTile& tile, kernel::Place to, kernel::Value row, kernel::Value t, kernel::Value head,
            kernel::Value channel, kernel::Value exists) const;

 private:
  void copy_first(GemmTile& tile, kernel::Place to, kernel::Value row, kernel::Value head,
                  kernel::Value channel) const;

  const Problem& problem_;
  TimeOperand operand_;
  KernelTensor tensor_;
  std::optional<KernelTensor> first_;
};

}  // namespace rondo::schedule
