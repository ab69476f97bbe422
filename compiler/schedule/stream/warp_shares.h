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
// Numbers of a share of so many rows: whole vectors, so that those of a lane can be stored as vectors.
int rows_of_share(int rows, const StreamParameters& parameters);

class WarpShares {
 public:
  // Declares the tensor; Signature::set_scratch comes before.
  WarpShares(StreamKernel& stream, const StreamParameters& parameters);
  // After the threads are placed.
  void place();
  // Where a number has its place in the share: `row` of an input's rows that begin at `first`.
  struct Place {
    kernel::Value in_share;
    int first = 0, row = 0;
    int dealt_rows = 0;  // of a lane, where each lane of a channel has other rows; else 0
  };
  // What the thread's channels give there at the current step, by channel.
  void add(const Place& place, const std::vector<kernel::Value>& values);
  // Stores what was added since the last call.
  void store();
  // Zeros for the steps that the walk leaves out: all rows.
  void write_past_end(int rows);

 private:
  struct Share {
    Place place;
    kernel::Value value;
  };
  // How many numbers from step_[i] on lie side by side from a whole vector on.
  std::size_t together(std::size_t i) const;

  StreamKernel& stream_;
  const StreamParameters& parameters_;
  KernelTensor shares_;
  std::int64_t warps_ = 1;  // of a head
  kernel::Value base_;      // element of the warp's share of row 0 at the walk's first step
  kernel::Value leads_;     // Pred: the thread has the warp's first channel
  std::vector<Share> step_;
};

}  // namespace rondo::schedule
