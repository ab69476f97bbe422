#include "compiler/schedule/channelwise/threads.h"

#include <algorithm>
#include <utility>

#include "compiler/support/integers.h"

namespace rondo::schedule {

using kernel::Value;

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

// Neighbouring blocks take neighbouring channels of the same rows: their reads meet in the same DRAM pages.
void ChannelThreads::place_channels() {
  auto& b = builder_;
  const Team& p = team_parameters_;
  batch_ = signature_.batch();
  time_ = signature_.time();
  flags_.set_time(time_);
  b.named("kDim", task_.problem.sizes.dim, "channels a head");
  const Value channels = b.named("kChannels", p.channels, "channels a block");
  b.comment("this block's batch row, head and channels; this thread's first channel");
  const bool in_cluster = p.among_blocks() && !p.through_global();
  rank_ = p.time_split == 1 ? b.constant(0)
          : in_cluster      ? b.let("rank", b.cluster_rank())
                            : b.let("rank", b.block() % p.time_split);
  team_ = p.time_split == 1 ? b.block() : b.block() / p.time_split;
  if (p.through_global()) team_ = signature_.among_all_parts(team_, tiles() * task_.problem.sizes.heads);
  if (p.time_split > 1) team_ = b.let("team", team_);
  const Value tile = b.let("tile", team_ % tiles());
  head_ = b.let("head", team_ / tiles() % task_.problem.sizes.heads);
  batch_index_ = b.let("row", team_ / (tiles() * task_.problem.sizes.heads));
  limit_time();
  tile_channel_ = b.let("first_channel", tile * channels);
  const bool parts = p.segments > 1;
  lane_ = b.let("lane_channel", (parts ? b.thread() % p.lanes() : b.thread()) * p.per_thread);
  segment_ = parts ? b.let("segment", b.thread() / p.lanes()) : b.constant(0);
  channel_ = b.let("channel", tile_channel_ + lane_);
}

void ChannelThreads::limit_time() {
  if (!stops_early_) return;
  whole_time_ = time_;
  time_ = flags_.longest(batch_index_, batch_index_ + 1);
  if (!flags_.starts_late()) return;
  left_out_ = builder_.let("left_out", whole_time_ - time_);
  flags_.count_from(left_out_);
}

Value ChannelThreads::row_base(const KernelTensor& tensor) {
  const Value row = builder_.wide(batch_index_) * tensor.stride_b;
  return left_out_.valid() ? row + builder_.wide(left_out_) * tensor.stride_t : row;
}

Value ChannelThreads::base(const KernelTensor& tensor, Value first, const std::string& suffix) {
  auto& b = builder_;
  const Value dim = b.named("kDim", task_.problem.sizes.dim);
  return b.let(tensor.name + suffix, row_base(tensor) + b.wide(head_ * tensor.rows * dim + first));
}

Value ChannelThreads::index_of(Value batch_row, int rows, int row, Value channel) {
  auto& b = builder_;
  const Value dim = b.named("kDim", task_.problem.sizes.dim);
  return (batch_row * task_.problem.sizes.heads + b.wide(head_)) * (rows * task_.problem.sizes.dim) +
         b.wide(dim * row + channel);
}

Value ChannelThreads::state_index(int rows, int row, int channel) {
  return state_index(rows, row, channel_index(channel));
}

Value ChannelThreads::state_index(int rows, int row, Value channel) {
  return index_of(builder_.wide(batch_index_), rows, row, channel);
}

Value ChannelThreads::param_index(const step::Tensor& tensor, int row, int channel) {
  auto& b = builder_;
  if (tensor.tail == step::Tail::Scalar) return head_ * tensor.rows + row;
  const Value dim = b.named("kDim", task_.problem.sizes.dim);
  return head_ * (tensor.rows * task_.problem.sizes.dim) + dim * row + channel_index(channel);
}

Value ChannelThreads::channel_exists() {
  return channels_divide() ? Value{} : channel_ < builder_.named("kDim", task_.problem.sizes.dim);
}

void ChannelThreads::if_all(const std::vector<Value>& conditions, const std::function<void()>& body) {
  Value all;
  for (const Value condition : conditions)
    if (condition.valid()) all = all.valid() ? all && condition : condition;
  all.valid() ? builder_.if_(all, body) : body();
}

int ChannelThreads::widest(const KernelTensor& tensor) const {
  return 16 / kernel::storage_bytes(storage_of(tensor.ref, task_));
}

void ChannelThreads::store_channels(const KernelTensor& to, Value place, const std::vector<Value>& values,
                                    kernel::CacheHint hint) {
  const std::size_t count = std::min<std::size_t>(values.size(), static_cast<std::size_t>(widest(to)));
  for (std::size_t first = 0; first < values.size(); first += count) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
    builder_.store_vector(to.memory[place + static_cast<std::int64_t>(first)],
                          {begin, begin + static_cast<std::ptrdiff_t>(count)}, hint);
  }
}

void ChannelThreads::write_past_end(const std::vector<PastEnd>& written, int channels, kernel::CacheHint hint,
                                    const Kept& kept) {
  if (!stops_early_) return;
  auto& b = builder_;
  const Team& p = team_parameters_;
  b.comment("steps past the end of this row");
  const Value first = time_ + rank_ * p.segments + segment_;
  // Where they come first, the walk's steps are counted from their end.
  const auto of_walk = [&](Value t) { return left_out_.valid() ? t - whole_time_ : t; };
  b.for_("t", first, whole_time_, b.constant(std::int64_t{p.segments} * p.time_split), 1, [&](Value t) {
    for (std::size_t w = 0; w < written.size(); ++w) {
      const KernelTensor& to = *written[w].tensor;
      const Value at = b.let("past_at", written[w].base + b.wide(of_walk(t)) * to.stride_t);
      for (int row = 0; row < to.rows; ++row) {
        std::vector<Value> values = kept ? kept(w, row) : std::vector<Value>();
        if (values.empty()) values.assign(static_cast<std::size_t>(channels), b.real(0));
        if (written[w].leads.valid())
          b.if_(written[w].leads, [&] { b.store(to.memory[at + row], values.front(), hint); });
        else
          store_channels(to, at + std::int64_t{row} * task_.problem.sizes.dim, values, hint);
      }
    }
  });
}

void ChannelThreads::if_channel_exists(Value place, const std::function<void(Value)>& body) {
  const Value channel = tile_channel_ + place;
  if (channels_divide()) return body(channel);
  builder_.if_(channel < builder_.named("kDim", task_.problem.sizes.dim), [&] { body(channel); });
}

}  // namespace rondo::schedule
