#include "compiler/schedule/persistent/threads.h"

#include <utility>

#include "compiler/support/index.h"

namespace rondo::schedule {

PersistentThreads::PersistentThreads(std::string name, std::string comment, const Task& task,
                                     const PersistentParameters& parameters, TimeOrder order)
    : task_(task),
      geometry_(task.problem.sizes.dim, task.problem.storage, parameters),
      order_(order),
      builder_(std::move(name), geometry_.threads(), task.problem.math, std::move(comment)),
      signature_(builder_, task),
      flags_(signature_, task.cell) {
  if (geometry_.in_cluster()) builder_.set_cluster(parameters.blocks);
  if (geometry_.in_grid()) builder_.set_cooperative();
  if (parameters.cluster_k_split > 1) builder_.set_cluster(parameters.cluster_k_split);
}

void PersistentThreads::place() {
  auto& b = builder_;
  const PersistentGeometry& g = geometry_;
  const std::int64_t heads = task_.problem.sizes.heads;
  Places& p = here_;
  p.batch = signature_.batch();
  walked_.begin(signature_, flags_);
  b.comment("this block's head, batch rows and units; this thread's unit and batch rows");
  p.rank = g.p.blocks == 1  ? b.constant(0)
           : g.in_cluster() ? b.let("rank", b.cluster_rank())
                            : b.let("rank", b.block() % g.p.blocks);
  p.team = b.block() / g.p.blocks;
  if (g.in_grid()) p.team = signature_.among_all_parts(p.team, heads);
  if (g.p.blocks > 1) p.team = b.let("team", p.team);
  p.head = b.let("head", p.team % heads);
  signature_.set_head(p.head);
  p.first_row = b.let("first_row", p.team / heads * g.batch);
  limit_time();
  p.first_unit = b.let("first_unit", p.rank * b.named("kUnits", g.units, "channels a block"));
  p.warp = b.let("warp", g.parts() == 1 ? b.thread() / 32 : b.thread() / 32 % g.warps);
  p.part = g.parts() == 1 ? b.constant(0) : b.let("part", b.thread() / (32 * g.warps));
  p.lane = b.let("lane", b.thread() % 32);
  p.group = b.let("group", p.lane / 4);
  p.quarter = b.let("quarter", p.lane % 4);
  for (int i = 0; i < g.p.unit_blocks; ++i)
    p.units.push_back(b.let("unit", p.warp * (8 * g.p.unit_blocks) + 8 * i + p.group));
}

void PersistentThreads::limit_time() {
  // Saved products of steps past the end are those of the last states, which nobody has multiplied.
  const bool saves_products = task_.problem.save_products && task_.problem.pass == Pass::ForwardSave;
  if ((flags_.stops_early() || flags_.starts_late()) && !saves_products)
    walked_.limit(flags_, here_.first_row, min(here_.first_row + geometry_.batch, here_.batch));
}

void PersistentThreads::each_step_past_end(const std::function<void(Value)>& body) {
  if (!walked_.is_limited()) return;
  builder_.comment("steps past the end of the longest row");
  walked_.each_past_end("past", walked_.steps(), builder_.constant(1), body);
}

Value PersistentThreads::matrix_warp() const {
  return (geometry_.reduces() ? here_.part - 1 : here_.part) * geometry_.warps + here_.warp;
}

Value PersistentThreads::block_unit(int unit_block) const { return here_.units[at(unit_block)]; }

Value PersistentThreads::unit_index(int unit_block) const {
  return here_.first_unit + block_unit(unit_block);
}

Value PersistentThreads::unit_exists(int unit_block) {
  if (geometry_.exact()) return {};
  return unit_index(unit_block) < builder_.named("kDim", dim(), "channels a head");
}

Value PersistentThreads::batch_row(int channel) const {
  const int first = turn_ * geometry_.turn_batch + 8 * geometry_.tile_of(channel);
  return here_.first_row + first + (here_.quarter * 2 + channel % 2);
}

PersistentThreads::RowOfBlock PersistentThreads::row_of_block(Value line_row, Value batch_of_tile,
                                                              int rows) const {
  if (geometry_.p.tiles_in_turn == 1) return {batch_of_tile, line_row};
  return {line_row / rows * geometry_.turn_batch + batch_of_tile, line_row % rows};
}

void PersistentThreads::in_turn(int turn, const std::function<void()>& body) {
  const int before = std::exchange(turn_, turn);
  body();
  turn_ = before;
}

void PersistentThreads::each_turn(const std::function<void()>& body) {
  for (int turn = 0; turn < geometry_.p.tiles_in_turn; ++turn) in_turn(turn, body);
}

void PersistentThreads::if_exists(int channel, const std::function<void()>& body) {
  Value exists = batch_row(channel) < here_.batch;
  if (const Value unit = unit_exists(geometry_.unit_of(channel)); unit.valid()) exists = unit && exists;
  builder_.if_(exists, body);
}

void PersistentThreads::each_head_value(const std::function<void(int)>& body) {
  for (int channel = 0; channel < geometry_.head_values(); ++channel)
    builder_.if_(batch_row(channel) < here_.batch, [&] { body(channel); });
}

void PersistentThreads::each_stored_head_value(const std::function<void(int)>& body) {
  Value stores = here_.warp == 0 && here_.group == 0;
  if (geometry_.p.blocks > 1) stores = here_.rank == 0 && stores;
  builder_.if_(stores, [&] { each_head_value(body); });
}

Value PersistentThreads::state_index(int rows, int row, int channel) {
  auto& b = builder_;
  const Value batch = batch_row(channel);
  return (b.wide(batch) * task_.problem.sizes.heads + b.wide(here_.head)) * (rows * dim()) +
         b.wide(unit_index(geometry_.unit_of(channel)) + row * dim());
}

Value PersistentThreads::param_index(const step::Tensor& tensor, int row, int channel) {
  if (tensor.tail == step::Tail::Scalar) return here_.head * tensor.rows + row;
  return here_.head * (tensor.rows * dim()) + unit_index(geometry_.unit_of(channel)) + row * dim();
}

Value PersistentThreads::head_value_index(int rows, int row, int channel) {
  auto& b = builder_;
  return (b.wide(batch_row(channel)) * task_.problem.sizes.heads + b.wide(here_.head)) * rows +
         b.wide(b.constant(row));
}

Value PersistentThreads::base(const KernelTensor& tensor, Value row) {
  auto& b = builder_;
  const Value begin = row_begin(tensor, row);
  if (tensor.per_head) return begin + b.wide(here_.head * tensor.head_rows());
  return begin + b.wide(here_.head * (tensor.head_rows() * dim()) + here_.first_unit);
}

Value PersistentThreads::place(const KernelTensor& tensor, int row, int channel, Value t) {
  auto& b = builder_;
  const Value batch = batch_row(channel);
  if (tensor.per_head) return base(tensor, batch) + b.wide(t) * tensor.stride_t + b.wide(b.constant(row));
  return row_begin(tensor, batch) + b.wide(t) * tensor.stride_t +
         b.wide(here_.head * (tensor.head_rows() * dim()) + unit_index(geometry_.unit_of(channel)) +
                row * dim());
}

Value PersistentThreads::time_of(Value count) { return forward() ? count : walked_.steps() - 1 - count; }

}  // namespace rondo::schedule
