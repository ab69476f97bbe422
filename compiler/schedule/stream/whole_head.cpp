// Where a block holds whole heads, or a cluster of blocks one head: which of its threads have which channels
// of which head. All threads walk, so that all of them come to every reduction. Those without channels, or
// whose head does not exist, read what the block's first channel of a head has; they give nothing to sums and
// store nothing.
#include "compiler/schedule/stream/kernel.h"
#include "compiler/support/integers.h"

namespace rondo::schedule {

using kernel::Value;

std::int64_t StreamKernel::head_groups() const {
  return ceil_div(task_.problem.sizes.heads, parameters_.heads);
}

void StreamKernel::place_heads() {
  auto& b = builder_;
  const StreamParameters& p = parameters_;
  const std::int64_t heads = task_.problem.sizes.heads, groups = head_groups();
  batch_ = signature_.batch();
  time_ = signature_.time();
  flags_.set_time(time_);
  const Value dim = b.named("kDim", task_.problem.sizes.dim, "channels a head");
  const bool split = p.head_split > 1;
  b.named("kChannels", p.channels,
          split ? "channels that the threads of a block take" : "channels that the threads of a head take");
  b.comment("this block's batch row and heads; this thread's head and first channel");
  rank_ = segment_ = tile_channel_ = b.constant(0);
  team_ = b.block();
  if (split) {
    rank_of_head_ = b.let("rank", b.cluster_rank());
    tile_channel_ = b.let("first_channel", rank_of_head_ * p.channels);
    team_ = b.let("cluster", b.block() / p.head_split);
  }
  batch_index_ = b.let("row", team_ / groups);
  first_head_ = b.let("first_head", team_ % groups * p.heads);
  Value exists;
  head_of_block_ = head_read_ = b.constant(0);
  head_ = first_head_;
  lane_of_head_ = b.thread();
  if (p.heads > 1) {
    head_of_block_ = b.let("head_of_block", b.thread() / p.lanes());
    lane_of_head_ = b.let("lane", b.thread() % p.lanes());
    const Value own = first_head_ + head_of_block_;
    if (heads % p.heads != 0) exists = b.let("head_exists", own < heads);
    head_ = b.let("head", exists.valid() ? min(own, b.constant(heads - 1)) : own);
    head_read_ = exists.valid() ? b.let("head_read", head_ - first_head_) : head_of_block_;
  }
  limit_time();
  const Value first = b.let("own_channel", lane_of_head_ * p.per_thread);
  owns_ = exists;
  lane_ = first;
  if (!channels_divide()) {
    const Value within = (split ? tile_channel_ + first : first) < dim;
    owns_ = b.let("owns", exists.valid() ? exists && within : within);
    lane_ = b.let("lane_channel", b.select(within, first, b.constant(0)));
  }
  Value leads = lane_of_head_ == 0;
  if (split) leads = leads && rank_of_head_ == 0;
  leads_ = b.let("leads", exists.valid() ? exists && leads : leads);
  channel_ = split ? b.let("channel", tile_channel_ + lane_) : lane_;
}

void StreamKernel::place_tensors() {
  auto& b = builder_;
  for (StagedTensor& staged : staged_)
    staged.base = parameters_.heads == 1
                      ? base(staged.tensor, tile_channel_, "_base")
                      : b.let(staged.tensor.name + "_base",
                              row_base(staged.tensor) +
                                  b.wide(first_head_ * (staged.tensor.rows * task_.problem.sizes.dim)));
  for (Written& written : written_)
    written.base = written.per_head ? b.let(written.tensor.name + "_own",
                                            row_base(written.tensor) + b.wide(head_ * written.tensor.rows))
                                    : base(written.tensor, channel_, "_own");
}

// Elsewhere all of a step stands where channels exist.
void StreamKernel::if_writing(const Written& written, const std::function<void()>& body) {
  if_all({written.per_head ? leads_ : parameters_.whole_head ? owns_ : Value{}}, body);
}

Value StreamKernel::head_value_index(int rows, int row) {
  auto& b = builder_;
  return (b.wide(batch_index_) * task_.problem.sizes.heads + b.wide(head_)) * rows + row;
}

}  // namespace rondo::schedule
