#include "compiler/schedule/persistent/kernel.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/support/index.h"

namespace rondo::schedule {

using kernel::Value;

namespace {

// Steps whose addresses the compiler works out together. It pays where nothing is waited for but a barrier.
// Steps that read per-head values of a launch before the sweep are long, so it gains little there, and ptxas
// (13.0) would move what is computed ahead across products and steps: up to 80 registers more.
constexpr int kUnroll = 4;

}  // namespace

PersistentKernel::PersistentKernel(std::string name, std::string comment, const Task& task,
                                   const PersistentParameters& parameters, TimeOrder order)
    : task_(task),
      geometry_(task.problem.sizes.dim, task.problem.storage, parameters),
      order_(order),
      builder_(std::move(name), geometry_.threads(), task.problem.math, std::move(comment)),
      signature_(builder_, task),
      flags_(signature_, task.cell),
      elements_(chip_elements(*this, task.problem)) {
  if (geometry_.in_cluster()) builder_.set_cluster(parameters.blocks);
  if (geometry_.in_grid()) builder_.set_cooperative();
  if (parameters.cluster_k_split > 1) builder_.set_cluster(parameters.cluster_k_split);
}

int PersistentKernel::stage(TensorRef ref, bool shifted) {
  const PersistentGeometry& g = geometry_;
  StagedTensor staged;
  staged.tensor = signature_.reads(ref);
  staged.shifted = shifted;
  const int rows = staged.tensor.rows;
  if (staged.tensor.per_head)
    declare_head_values(staged);
  else
    staged.shared =
        builder_.shared(staged.tensor.name + (shifted ? "_before" : "_staged"), task_.problem.storage,
                        std::int64_t{g.p.stages} * g.p.steps * rows * g.batch * g.staged_pitch(),
                        fmt::format("[stages {}, steps {}, rows {}, batch {}, units {} + {}]", g.p.stages,
                                    g.p.steps, rows, g.batch, g.units, g.staged_pitch() - g.units));
  staged_.push_back(staged);
  return static_cast<int>(staged_.size()) - 1;
}

int PersistentKernel::write_each_step(TensorRef ref) {
  const PersistentGeometry& g = geometry_;
  WrittenTensor written;
  written.tensor = signature_.writes(ref);
  if (written.tensor.per_head)
    declare_head_values(written);
  else
    written.shared = builder_.shared(
        written.tensor.name + "_ring", task_.problem.storage,
        2 * g.p.steps * written.tensor.rows * elements_->result_elements(),
        fmt::format("[2, steps {}, rows {}, {}]", g.p.steps, written.tensor.rows, elements_->result_shape()));
  written_.push_back(written);
  return static_cast<int>(written_.size()) - 1;
}

void PersistentKernel::place_threads() {
  auto& b = builder_;
  const PersistentGeometry& g = geometry_;
  batch_ = signature_.batch();
  time_ = signature_.time();
  flags_.set_time(time_);
  full_ = b.mbarrier("full", g.p.stages, 32 * g.p.producer_warps, "a stage of inputs has landed");
  empty_ = b.mbarrier("empty", g.p.stages, 32 * g.warps, "it has been read");
  if (!written_.empty()) {
    filled_ = b.mbarrier("filled", 2, 32 * g.warps, "a stage of results is complete");
    drained_ = b.mbarrier("drained", 2, 32 * g.p.store_warps, "it has been stored");
  }
  b.comment("this block's head, batch rows and units; this thread's unit and batch rows");
  rank_ = g.p.blocks == 1  ? b.constant(0)
          : g.in_cluster() ? b.let("rank", b.cluster_rank())
                           : b.let("rank", b.block() % g.p.blocks);
  team_ = b.block() / g.p.blocks;
  if (g.in_grid()) team_ = signature_.among_all_parts(team_, task_.problem.sizes.heads);
  if (g.p.blocks > 1) team_ = b.let("team", team_);
  head_ = b.let("head", team_ % task_.problem.sizes.heads);
  first_row_ = b.let("first_row", team_ / task_.problem.sizes.heads * g.batch);
  limit_time();
  first_unit_ = b.let("first_unit", rank_ * b.named("kUnits", g.units, "channels a block"));
  warp_ = b.let("warp", g.parts() == 1 ? b.thread() / 32 : b.thread() / 32 % g.warps);
  part_ = g.parts() == 1 ? b.constant(0) : b.let("part", b.thread() / (32 * g.warps));
  lane_ = b.let("lane", b.thread() % 32);
  group_ = b.let("group", lane_ / 4);
  quarter_ = b.let("quarter", lane_ % 4);
  for (int i = 0; i < g.p.unit_blocks; ++i)
    units_.push_back(b.let("unit", warp_ * (8 * g.p.unit_blocks) + 8 * i + group_));
  groups_ = b.let("groups", (time_ + (g.p.steps - 1)) / b.named("kSteps", g.p.steps, "time steps a stage"));
  if (flags_.any())
    flag_window_ = std::make_unique<FlagWindow>(
        b, flags_,
        FlagWindow::Places{g.p.batch_tiles, g.p.stages, g.p.steps,
                           [this](Value place) { return min(first_row_ + place, batch_ - 1); },
                           [this](Value count) { return time_of(count); }, time_});
}

Value PersistentKernel::matrix_warp() const {
  return (geometry_.reduces() ? part_ - 1 : part_) * geometry_.warps + warp_;
}

Value PersistentKernel::block_unit(int unit_block) { return units_[at(unit_block)]; }

Value PersistentKernel::unit_index(int unit_block) { return first_unit_ + block_unit(unit_block); }

Value PersistentKernel::unit_exists(int unit_block) {
  if (geometry_.exact()) return {};
  return unit_index(unit_block) < builder_.named("kDim", task_.problem.sizes.dim, "channels a head");
}

Value PersistentKernel::batch_row(int tile, Value row_of_tile) { return first_row_ + 8 * tile + row_of_tile; }

Value PersistentKernel::flag(step::TensorId tensor, int channel, Value t, bool ahead) {
  return flag_window_->value(tensor, 2 * geometry_.tile_of(channel) + channel % 2, t, ahead);
}

Value PersistentKernel::batch_row(int channel) {
  return batch_row(geometry_.tile_of(channel), quarter_ * 2 + channel % 2);
}

void PersistentKernel::if_exists(int channel, const std::function<void()>& body) {
  Value exists = batch_row(channel) < batch_;
  if (const Value unit = unit_exists(geometry_.unit_of(channel)); unit.valid()) exists = unit && exists;
  builder_.if_(exists, body);
}

Value PersistentKernel::state_index(int rows, int row, int channel) {
  auto& b = builder_;
  const std::int64_t dim = task_.problem.sizes.dim;
  const Value batch = batch_row(channel);
  return (b.wide(batch) * task_.problem.sizes.heads + b.wide(head_)) * (rows * dim) +
         b.wide(unit_index(geometry_.unit_of(channel)) + row * dim);
}

Value PersistentKernel::param_index(const step::Tensor& tensor, int row, int channel) {
  if (tensor.tail == step::Tail::Scalar) return head_ * tensor.rows + row;
  const std::int64_t dim = task_.problem.sizes.dim;
  return head_ * (tensor.rows * dim) + unit_index(geometry_.unit_of(channel)) + row * dim;
}

Value PersistentKernel::time_of(Value count) {
  return order_ == TimeOrder::Forward ? count : time_ - 1 - count;
}

Value PersistentKernel::base(const KernelTensor& tensor, Value row) {
  auto& b = builder_;
  const Value begin = row_begin(tensor, row);
  if (tensor.per_head) return begin + b.wide(head_ * tensor.rows);
  return begin + b.wide(head_ * (tensor.rows * task_.problem.sizes.dim) + first_unit_);
}

// A batch row at the first step of the walk.
Value PersistentKernel::row_begin(const KernelTensor& tensor, Value row) {
  const Value begin = builder_.wide(row) * tensor.stride_b;
  return left_out_.valid() ? begin + builder_.wide(left_out_) * tensor.stride_t : begin;
}

void PersistentKernel::emit_roles(const Roles& roles) {
  auto& b = builder_;
  const PersistentGeometry& g = geometry_;
  clear_staging();
  const auto computing = [&] {
    if (g.parts() == 1) return compute_role(roles);
    b.if_(
        b.thread() < b.named("kComputing", 32 * g.warps, "threads that compute"),
        [&] { compute_role(roles); },
        [&] {
          emitting_ = Warps::Multiplying;
          roles.multiply();
          emitting_ = Warps::Computing;
        });
  };
  const Value multiplying = b.named("kMultiplying", g.multiplying(), "threads that compute or multiply");
  b.if_(
      b.thread() < multiplying,
      [&] {
        if (g.p.setmaxnreg)
          b.set_max_nreg(PersistentGeometry::compute_registers(g.multiplying(), has_head_values()), true);
        computing();
      },
      [&] {
        if (g.p.setmaxnreg) b.set_max_nreg(PersistentGeometry::helper_registers(has_head_values()), false);
        helper_roles();
      });
  clear_past_end();
  if (g.in_cluster() || g.p.cluster_k_split > 1) {
    b.comment("no block leaves while others may still send to it");
    b.cluster_barrier();
  }
}

// Nobody passes before all have arrived: the second role arrives at X and waits at X + 1; the first role
// waits at X, then arrives at X + 1. No phase counts a thread twice: a thread that comes to X again has
// passed X + 1, so all of the first role have passed X; a thread that comes to X + 1 again has passed X, so
// all of the second role have passed X + 1. (If the first role arrived before it waits, both phases would be
// under way at once, and X might complete without a slow thread of it.)
//
// The numbers are neighbours because a block takes all barriers up to its highest number (ptxas -v, "used N
// barriers"), and the blocks of an SM share a store of them (Nsight Compute, Block Limit Barriers).
void PersistentKernel::sync_roles(int barrier, Warps first, const std::function<void()>& at_once) {
  const bool two_roles = geometry_.parts() > 1, is_first = emitting_ == first;
  builder_.named_barrier(barrier, geometry_.multiplying(), !two_roles || is_first);
  if (is_first && at_once) at_once();
  if (two_roles) builder_.named_barrier(barrier + 1, geometry_.multiplying(), !is_first);
}

void PersistentKernel::sync_roles(int barrier) { builder_.named_barrier(barrier, geometry_.multiplying()); }

void PersistentKernel::helper_roles() {
  auto& b = builder_;
  const PersistentGeometry& g = geometry_;
  const auto until = [&](int thread, const std::function<void()>& role, const std::function<void()>& rest) {
    if (thread == g.threads()) return role();
    b.if_(b.thread() < thread, role, rest);
  };
  until(
      g.first_store_thread(), [&] { producer_role(); },
      [&] {
        if (!written_.empty())
          until(g.first_store_thread() + 32 * g.p.store_warps, [&] { store_role(); }, {});
      });
}

// Places that no copy ever fills, past the end of the batch or of the head, hold zeros.
void PersistentKernel::clear_staging() {
  auto& b = builder_;
  b.comment("zeros where no input lies");
  for (const StagedTensor& staged : staged_) {
    const bool wide = is_wide(staged);
    const int of_vector = wide ? 4 : 4 * elements_->per_word();
    const std::int64_t vectors = b.kernel().shared[at(staged.shared.id())].elements / of_vector;
    b.for_("i", b.thread(), b.constant(vectors), b.constant(geometry_.threads()), 1, [&](Value i) {
      const kernel::Place to = staged.shared[i * of_vector];
      wide ? b.store_vector(to, std::vector<Value>(4, b.real(0)))
           : elements_->store(to, std::vector<Value>(4, elements_->zero()));
    });
  }
  b.barrier();
}

void PersistentKernel::compute_role(const Roles& roles) {
  auto& b = builder_;
  const PersistentGeometry& g = geometry_;
  for (StagedTensor& staged : staged_)
    staged.fragments =
        b.array(staged.tensor.name + (staged.shifted ? "_before_now" : "_now"),
                is_wide(staged) ? kernel::Type::F32 : elements_->type(),
                staged.tensor.rows * g.p.batch_tiles * (staged.tensor.per_head ? 1 : g.p.unit_blocks) *
                    (is_wide(staged) ? 2 : elements_->pair_words()));
  if (flag_window_) flag_window_->begin(b, quarter_);
  roles.prepare();
  if (roles.begin) {
    b.wait(full_, b.constant(0), b.constant(0));
    load_fragments(b.constant(0));
    roles.begin(step_at(b.constant(0), true));
  }
  const Value steps = b.named("kSteps", g.p.steps);
  b.for_("stage", b.constant(0), groups_, b.constant(1), 1, [&](Value stage) {
    const Value slot = b.let("slot", stage % g.p.stages);
    const Value turn = b.let("turn", stage % 2);
    if (!roles.begin) b.wait(full_, slot, stage / g.p.stages % 2);
    if (flag_window_) flag_window_->begin_stage(slot);
    if (!written_.empty()) b.if_(stage >= 2, [&] { b.wait(drained_, turn, (stage / 2 + 1) % 2); });
    const Value count = b.let("count", min(steps, time_ - stage * steps));
    b.for_("s", b.constant(0), count, b.constant(1),
           g.p.blocks == 1 && !reads_scratch_head_values() ? kUnroll : 1,
           [&](Value s) { compute_step(roles, stage, s); });
    if (!roles.begin) b.arrive(empty_, slot);
    if (!written_.empty()) b.arrive(filled_, turn);
  });
  roles.finish();
}

void PersistentKernel::compute_step(const Roles& roles, Value stage, Value s) {
  auto& b = builder_;
  const Value done = b.let("done", stage * geometry_.p.steps + s);
  Value row = stage % 2 * geometry_.p.steps + s;
  if (written_.size() > 1 || geometry_.channels() > 2) row = b.let("ring_line", row);  // used more than once
  if (!roles.begin) load_fragments(b.let("line", stage % geometry_.p.stages * geometry_.p.steps + s));
  if (flag_window_) flag_window_->advance(b);
  Step now = step_at(done, false);
  now.store = [&](int written, int r, const std::vector<Value>& values) {
    store_row(written_[at(written)], row, r, values);
  };
  now.next = [&](const std::function<void(const Step&)>& body) { look_ahead(stage, s, done, body); };
  roles.step(now);
}

PersistentKernel::Step PersistentKernel::step_at(Value count, bool ahead) {
  Step step;
  step.count = count;
  step.time = order_ == TimeOrder::Forward ? count : builder_.let("t", time_of(count));
  step.flag = [this, ahead, t = step.time](step::TensorId tensor, int channel) {
    return flag(tensor, channel, t, ahead);
  };
  step.load = [this](int staged, int row, int channel) {
    const PersistentGeometry& g = geometry_;
    const StagedTensor& from = staged_[at(staged)];
    const int pair_of_head_values = row * g.p.batch_tiles + g.tile_of(channel);
    if (is_wide(from))
      return builder_.read(from.fragments, builder_.constant(2 * pair_of_head_values + channel % 2));
    if (from.tensor.per_head)
      return elements_->element(from.fragments, pair_of_head_values, channel % 2 == 1);
    const int pair = (row * g.p.batch_tiles + g.tile_of(channel)) * g.p.unit_blocks + g.unit_of(channel);
    return elements_->element(from.fragments, pair, channel % 2 == 1);
  };
  return step;
}

void PersistentKernel::store_row(const WrittenTensor& written, Value line, int row,
                                 const std::vector<Value>& values) {
  if (written.sums) return store_sums(written, line, row, values);
  if (written.tensor.per_head) return store_head_values(written, line, row, values);
  for (int c = 0; c < geometry_.channels(); c += 2)
    elements_->store_result(written.shared, line * written.tensor.rows + row, c, values[at(c)],
                            values[at(c + 1)]);
}

// The last step of a stage finds its successor in the next stage; its own has been read by then.
void PersistentKernel::look_ahead(Value stage, Value s, Value done,
                                  const std::function<void(const Step&)>& body) {
  auto& b = builder_;
  const PersistentParameters& p = geometry_.p;
  b.if_(done + 1 < time_, [&] {
    const Value line = b.variable("next_line", stage % p.stages * p.steps + s + 1);
    b.if_(s + 1 == p.steps, [&] {
      b.arrive(empty_, stage % p.stages);
      const Value slot = b.let("next_slot", (stage + 1) % p.stages);
      b.wait(full_, slot, (stage + 1) / p.stages % 2);
      b.assign(line, slot * p.steps);
    });
    load_fragments(line);
    body(step_at(b.let("next_done", done + 1), true));
  });
}

void PersistentKernel::load_fragments(Value line) {
  for (const StagedTensor& staged : staged_)
    if (staged.tensor.per_head)
      load_head_values(staged, line);
    else
      elements_->load_staged(staged.fragments, staged.tensor.name, staged.shared, staged.tensor.rows, line);
}

Value PersistentKernel::place(const KernelTensor& tensor, int row, int channel, Value t) {
  auto& b = builder_;
  const std::int64_t dim = task_.problem.sizes.dim;
  const Value batch = batch_row(geometry_.tile_of(channel), quarter_ * 2 + channel % 2);
  if (tensor.per_head) return base(tensor, batch) + b.wide(t) * tensor.stride_t + b.wide(b.constant(row));
  return row_begin(tensor, batch) + b.wide(t) * tensor.stride_t +
         b.wide(head_ * (tensor.rows * dim) + unit_index(geometry_.unit_of(channel)) + row * dim);
}

Launch PersistentKernel::finish() {
  Launch launch;
  signature_.watch_waits();
  launch.arguments = signature_.arguments();
  launch.blocks_fixed = 0;
  launch.blocks_per_batch = std::int64_t{geometry_.p.blocks} * task_.problem.sizes.heads;
  launch.batch_tile = geometry_.batch;
  launch.tiles_together = geometry_.in_grid() ? geometry_.p.batch_tiles_in_flight : 0;
  launch.kernel = builder_.kernel();
  return launch;
}

}  // namespace rondo::schedule
