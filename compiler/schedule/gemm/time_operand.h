// A vector of each step as operand of a product over all steps.
#pragma once

#include <optional>
#include <vector>

#include "compiler/schedule/analysis/history.h"
#include "compiler/schedule/gemm/tile.h"
#include "compiler/schedule/plan/signature.h"

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

// Elements of a row that lie side by side, by their name in the kernel: D, or an extent of a cell's own.
kernel::Value named_columns(kernel::Builder& b, const Problem& problem, std::int64_t columns);

// Stages an operand, or one of several neighbouring rows (channels are counted from the first of them on):
// rows of the tile are steps, columns are channels. The thread keeps the place of its first vector and moves
// it from stage to stage, which costs less than to work it out anew.
class TimeReader {
 public:
  TimeReader(KernelTensors& tensors, const Problem& problem, const TimeOperand& operand);

  // The tile begins at channel `channel` of head `head`.
  void place(const GemmTile& tile, GemmTile::Side side, kernel::Value head, kernel::Value channel);
  void move_to(kernel::Value row, kernel::Value t);  // and at step `t` of batch row `row`
  void next_steps(int steps);
  void next_channels(int channels);

  // Whether steps t to t + steps - 1 need no guard: all are there, and none is the first of a shifted
  // operand.
  kernel::Value whole(kernel::Value t, int steps, kernel::Value time) const;
  std::int64_t columns() const { return tensor_.columns; }
  // What a guarded copy knows of its stage: batch row, step, where the steps end, and where they begin, if
  // that is not at 0.
  struct Guard {
    kernel::Value row, t, time, begin = {};
  };
  // Stages the tile; of channels only those below `end`, if that is given. Without a guard every step is
  // there.
  void stage(GemmTile& tile, const std::optional<Guard>& guard, kernel::Value end) const;

 private:
  void copy_first(GemmTile& tile, kernel::Place to, kernel::Value row) const;

  const Problem& problem_;
  TimeOperand operand_;
  KernelTensor tensor_;
  std::optional<KernelTensor> first_;
  GemmTile::Side side_ = GemmTile::Side::A;
  kernel::Value head_, channel_, own_, hop_, at_;
};

}  // namespace rondo::schedule
