// Shares of gradients of inputs with one value a head, where rows are dealt (rewrite/deal_rows.h): what the
// channels of a warp give is added up by its lanes, and one of them stores it. A share for every channel
// would be more than all other tensors together where the head has many values.
#pragma once

#include <vector>

#include "compiler/schedule/stream/kernel.h"

namespace rondo::schedule {

// Warps that hold a head: shares of a row of Scratch tensor kShares (KernelPlan::shares). 0 where rows are
// not dealt: every channel has a share.
int warps_of_head(const Problem& problem, const StreamParameters& parameters);

class WarpShares {
 public:
  // Declares the tensor; Signature::set_scratch comes before.
  WarpShares(StreamKernel& stream, const StreamParameters& parameters);
  // After the threads are placed.
  void place();
  // What the thread's channels give row `row` of the shares at the current step, by channel; `dealt`: each of
  // the lanes of a channel has another row.
  void add(kernel::Value row, bool dealt, const std::vector<kernel::Value>& values);
  // Stores what was added since the last call.
  void store();
  // Zeros for the steps that the walk leaves out: all rows.
  void write_past_end(int rows);

 private:
  struct Share {
    kernel::Value row;
    bool dealt = false;
    kernel::Value value;
  };

  StreamKernel& stream_;
  const StreamParameters& parameters_;
  KernelTensor shares_;
  std::int64_t warps_ = 1;  // of a head
  kernel::Value base_;      // element of the warp's share of row 0 at the walk's first step
  kernel::Value leads_;     // Pred: the thread has the warp's first channel
  std::vector<Share> step_;
};

}  // namespace rondo::schedule
