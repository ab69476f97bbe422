#include "compiler/schedule/channelwise/threads.h"

#include "compiler/support/integers.h"

namespace rondo::schedule {

ChannelThreads::ChannelThreads(const std::string& name, int threads, const std::string& comment,
                               const Task& task, const Team& team)
    : task_(task),
      builder_(name, threads, task.problem.math, comment),
      signature_(builder_, task),
      flags_(signature_, task.cell),
      team_parameters_(team) {
  signature_.narrow_strides();
  if (team.through_global())
    builder_.set_cooperative();
  else if (team.among_blocks())
    builder_.set_cluster(team.time_split);
}

std::int64_t ChannelThreads::tiles() const {
  return ceil_div(task_.problem.sizes.dim, team_parameters_.channels);
}

std::int64_t ChannelThreads::blocks_of_batch_row() const {
  return tiles() * task_.problem.sizes.heads * team_parameters_.time_split;
}

// Neighbouring blocks take neighbouring channels of the same rows: their reads meet in the same DRAM pages.
void ChannelThreads::place_channels() {
  auto& b = builder_;
  const Team& p = team_parameters_;
  batch_ = signature_.batch();
  walked_.begin(signature_, flags_);
  b.named("kDim", task_.problem.sizes.dim, "channels a head");
  const Value channels = b.named("kChannels", p.channels, "channels a block");
  b.comment("this block's batch row, head and channels; this thread's first channel");
  const bool in_cluster = p.among_blocks() && !p.through_global();
  here_.rank = p.time_split == 1 ? b.constant(0)
               : in_cluster      ? b.let("rank", b.cluster_rank())
                                 : b.let("rank", b.block() % p.time_split);
  here_.team = p.time_split == 1 ? b.block() : b.block() / p.time_split;
  if (p.through_global())
    here_.team = signature_.among_all_parts(here_.team, tiles() * task_.problem.sizes.heads);
  if (p.time_split > 1) here_.team = b.let("team", here_.team);
  const Value tile = b.let("tile", here_.team % tiles());
  here_.head = b.let("head", here_.team / tiles() % task_.problem.sizes.heads);
  here_.batch_row = b.let("row", here_.team / (tiles() * task_.problem.sizes.heads));
  signature_.set_head(here_.head);
  limit_time();
  here_.tile_channel = b.let("first_channel", tile * channels);
  const bool parts = p.segments > 1;
  const bool dealt = p.row_lanes > 1;
  here_.row_lane = dealt ? b.let("row_lane", b.thread() % p.row_lanes) : b.constant(0);
  const Value lane = parts ? b.thread() % p.lanes() : dealt ? b.thread() / p.row_lanes : b.thread();
  here_.lane_channel = b.let("lane_channel", lane * p.per_thread);
  if (dealt && !channels_divide()) {
    here_.owns = b.let("owns", here_.tile_channel + here_.lane_channel < b.named("kDim", dim()));
    here_.lane_channel = b.let("lane_channel", b.select(here_.owns, here_.lane_channel, b.constant(0)));
  }
  here_.segment = parts ? b.let("segment", b.thread() / p.lanes()) : b.constant(0);
  here_.channel = b.let("channel", here_.tile_channel + here_.lane_channel);
}

void ChannelThreads::limit_time() {
  if (stops_early_) walked_.limit(flags_, here_.batch_row, here_.batch_row + 1);
}

Value ChannelThreads::row_base(const KernelTensor& tensor) {
  return walked_.row_begin(tensor, here_.batch_row);
}

Value ChannelThreads::base(const KernelTensor& tensor, Value first, const std::string& suffix) {
  auto& b = builder_;
  const Value dim = b.named("kDim", task_.problem.sizes.dim);
  return b.let(tensor.name + suffix, row_base(tensor) + b.wide(here_.head * tensor.rows * dim + first));
}

Value ChannelThreads::own_base(const KernelTensor& tensor) {
  auto& b = builder_;
  if (tensor.per_head) {
    const Value of_head = here_.head * tensor.rows;
    const Value own = tensor.row_lanes == 1 ? of_head : of_head + own_row(tensor, 0);
    return b.let(tensor.name + "_own", row_base(tensor) + b.wide(own));
  }
  if (tensor.row_lanes == 1) return base(tensor, here_.channel, "_own");
  return base(tensor, own_row(tensor, 0) * b.named("kDim", dim()) + here_.channel, "_own");
}

Value ChannelThreads::own_row(int rows, int row, bool dealt, int first) {
  if (!dealt) return builder_.constant(first + row);
  return here_.row_lane * (rows / team_parameters_.row_lanes) + (first + row);
}

Value ChannelThreads::own_row(const KernelTensor& tensor, int row) {
  return own_row(tensor.rows, row, tensor.row_lanes > 1);
}

Value ChannelThreads::first_of_rows() {
  return team_parameters_.row_lanes == 1 ? Value{} : here_.row_lane == 0;
}

Value ChannelThreads::index_of(Value batch_row, int rows, Value row, Value channel) {
  auto& b = builder_;
  const Value dim = b.named("kDim", task_.problem.sizes.dim);
  return (batch_row * task_.problem.sizes.heads + b.wide(here_.head)) * (rows * task_.problem.sizes.dim) +
         b.wide(dim * row + channel);
}

Value ChannelThreads::state_index(int rows, Value row, int channel) {
  return state_index(rows, row, channel_index(channel));
}

Value ChannelThreads::state_index(int rows, int row, int channel) {
  return state_index(rows, builder_.constant(row), channel);
}

Value ChannelThreads::state_index(int rows, Value row, Value channel) {
  return index_of(builder_.wide(here_.batch_row), rows, row, channel);
}

Value ChannelThreads::param_index(const KernelTensor& tensor, int row, int channel) {
  auto& b = builder_;
  const Value own = own_row(tensor, row);
  if (tensor.per_head) return here_.head * tensor.rows + own;
  const Value dim = b.named("kDim", task_.problem.sizes.dim);
  return here_.head * (tensor.rows * task_.problem.sizes.dim) + dim * own + channel_index(channel);
}

Value ChannelThreads::head_value_index(int rows, Value row) {
  auto& b = builder_;
  return (b.wide(here_.batch_row) * task_.problem.sizes.heads + b.wide(here_.head)) * rows + row;
}

Value ChannelThreads::first_carry(const KernelTensor& first, const step::Row& row, Value channel) {
  auto& b = builder_;
  const Value own = own_row(first, row.row);
  const Value place =
      first.per_head ? head_value_index(first.rows, own) : state_index(first.rows, own, channel);
  const Value value = b.load("first", first.memory[place]);
  return first.per_head && task_.problem.pass == Pass::Backward ? b.select(channel == 0, value, b.real(0))
                                                                : value;
}

Value ChannelThreads::leads() {
  const Value first = here_.channel == 0;
  return here_.owns.valid() ? here_.owns && first : first;
}

Value ChannelThreads::channel_exists() {
  if (channels_divide() || here_.owns.valid()) return here_.owns;
  return here_.channel < builder_.named("kDim", task_.problem.sizes.dim);
}

void ChannelThreads::if_all(const std::vector<Value>& conditions, const std::function<void()>& body) {
  Value all;
  for (const Value condition : conditions)
    if (condition.valid()) all = all.valid() ? all && condition : condition;
  all.valid() ? builder_.if_(all, body) : body();
}

Launch ChannelThreads::finish() {
  Launch launch = signature_.finish(blocks_of_batch_row());
  if (team_parameters_.through_global()) launch.tiles_together = task_.problem.sizes.batch;
  return launch;
}

void ChannelThreads::each_past_end(const std::function<void(Value)>& body) {
  const Team& p = team_parameters_;
  walked_.each_past_end("t", time() + here_.rank * p.segments + here_.segment,
                        builder_.constant(std::int64_t{p.segments} * p.time_split), body);
}

void ChannelThreads::if_channel_exists(Value place, const std::function<void(Value)>& body) {
  const Value channel = here_.tile_channel + place;
  if (channels_divide()) return body(channel);
  builder_.if_(channel < builder_.named("kDim", task_.problem.sizes.dim), [&] { body(channel); });
}

}  // namespace rondo::schedule
