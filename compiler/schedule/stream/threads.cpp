#include "compiler/schedule/stream/threads.h"

#include "compiler/support/integers.h"

namespace rondo::schedule {

StreamThreads::StreamThreads(const std::string& name, const std::string& comment, const Task& task,
                             const StreamParameters& parameters, TimeOrder order)
    : ChannelThreads(name, parameters.threads(), comment, task, parameters),
      parameters_(parameters),
      order_(order) {
  if (parameters.head_split > 1) builder_.set_cluster(parameters.head_split);
}

void StreamThreads::place() {
  auto& b = builder_;
  parameters_.whole_head ? place_heads() : place_channels();
  const std::int64_t split = parameters_.time_split;
  part_ = forward() ? here_.rank : b.constant(split - 1) - here_.rank;
  const Value steps = b.named("kSteps", parameters_.steps, "time steps a stage");
  const Value span = split == 1 ? steps : steps * split;
  const auto rounds_of = [&](Value time) { return (time + (split * parameters_.steps - 1)) / span; };
  rounds_ = b.let("blocks", rounds_of(time()));
  if (stops_early() && parameters_.through_global())
    most_rounds_ = b.let("most_blocks", rounds_of(walked_.all()));
}

std::int64_t StreamThreads::head_groups() const {
  return ceil_div(task_.problem.sizes.heads, parameters_.heads);
}

void StreamThreads::place_heads() {
  auto& b = builder_;
  const StreamParameters& p = parameters_;
  const std::int64_t heads = task_.problem.sizes.heads, groups = head_groups();
  batch_ = signature_.batch();
  walked_.begin(signature_, flags_);
  const Value dim = b.named("kDim", task_.problem.sizes.dim, "channels a head");
  const bool split = p.head_split > 1;
  b.named("kChannels", p.channels,
          split ? "channels that the threads of a block take" : "channels that the threads of a head take");
  b.comment("this block's batch row and heads; this thread's head and first channel");
  here_.rank = here_.segment = here_.row_lane = here_.tile_channel = b.constant(0);
  here_.team = b.block();
  if (split) {
    heads_.rank = b.let("rank", b.cluster_rank());
    here_.tile_channel = b.let("first_channel", heads_.rank * p.channels);
    here_.team = b.let("cluster", b.block() / p.head_split);
  }
  here_.batch_row = b.let("row", here_.team / groups);
  heads_.first = b.let("first_head", here_.team % groups * p.heads);
  signature_.set_head(heads_.first);
  Value exists;
  heads_.of_block = heads_.read = b.constant(0);
  here_.head = heads_.first;
  heads_.lane = b.thread();
  if (p.heads > 1) {
    heads_.of_block = b.let("head_of_block", b.thread() / p.lanes());
    heads_.lane = b.let("lane", b.thread() % p.lanes());
    const Value own = heads_.first + heads_.of_block;
    if (heads % p.heads != 0) exists = b.let("head_exists", own < heads);
    here_.head = b.let("head", exists.valid() ? min(own, b.constant(heads - 1)) : own);
    heads_.read = exists.valid() ? b.let("head_read", here_.head - heads_.first) : heads_.of_block;
  }
  limit_time();
  const Value first = b.let("own_channel", heads_.lane * p.per_thread);
  heads_.owns = exists;
  here_.lane_channel = first;
  if (!channels_divide()) {
    const Value within = (split ? here_.tile_channel + first : first) < dim;
    heads_.owns = b.let("owns", exists.valid() ? exists && within : within);
    here_.lane_channel = b.let("lane_channel", b.select(within, first, b.constant(0)));
  }
  Value leads = heads_.lane == 0;
  if (split) leads = leads && heads_.rank == 0;
  heads_.leads = b.let("leads", exists.valid() ? exists && leads : leads);
  here_.channel = split ? b.let("channel", here_.tile_channel + here_.lane_channel) : here_.lane_channel;
}

std::int64_t StreamThreads::blocks_of_batch_row() const {
  return parameters_.whole_head ? head_groups() * parameters_.head_split
                                : ChannelThreads::blocks_of_batch_row();
}

Value StreamThreads::workspace_index(int rows, Value row, int channel) {
  const Value batch = builder_.wide(here_.batch_row);
  return index_of(
      parameters_.time_split == 1 ? batch : batch * parameters_.time_split + builder_.wide(here_.rank), rows,
      row, channel_index(channel));
}

Value StreamThreads::computing() {
  if (only_computing_ || parameters_.threads() == parameters_.computing()) return {};
  return builder_.thread() < parameters_.computing();
}

void StreamThreads::if_active(const std::function<void()>& body) {
  if_all({computing(), parameters_.whole_head ? heads_.owns : channel_exists()}, body);
}

void StreamThreads::if_reading(const std::function<void()>& body) {
  parameters_.whole_head || parameters_.row_lanes > 1 ? body() : if_active(body);
}

void StreamThreads::if_owner(const std::function<void()>& body) {
  if (parameters_.segments == 1) return if_active(body);
  if_active([&] { builder_.if_(here_.segment == 0, body); });
}

Value StreamThreads::first_step_of(Value block) {
  const Value steps = builder_.named("kSteps", parameters_.steps);
  const Value turn = forward() ? block : blocks() - 1 - block;
  return (parameters_.time_split == 1 ? turn : turn * parameters_.time_split + part_) * steps;
}

void StreamThreads::on_computing(const std::function<void()>& body) {
  only_computing_ = parameters_.producer_warps == 0;
  body();
  only_computing_ = false;
}

}  // namespace rondo::schedule
