#include "compiler/schedule/persistent/kernel.h"

#include <algorithm>
#include <utility>

namespace rondo::schedule {

namespace {

// Steps whose addresses the compiler works out together. It pays where nothing is waited for but a barrier.
// Steps that read per-head values of a launch before the sweep are long, so it gains little there, and ptxas
// (13.0) would move what is computed ahead across products and steps: up to 80 registers more.
constexpr int kUnroll = 4;

}  // namespace

PersistentKernel::PersistentKernel(std::string name, std::string comment, const Task& task,
                                   const PersistentParameters& parameters, TimeOrder order)
    : threads_(std::move(name), std::move(comment), task, parameters, order),
      elements_(threads_, task.problem),
      staged_(threads_, elements_),
      results_(threads_, elements_) {}

void PersistentKernel::place() {
  auto& b = builder();
  const PersistentGeometry& g = geometry();
  full_ = b.mbarrier("full", g.p.stages, 32 * g.p.producer_warps, "a stage of inputs has landed");
  empty_ = b.mbarrier("empty", g.p.stages, 32 * g.warps, "it has been read");
  if (results_.count() > 0) {
    filled_ = b.mbarrier("filled", 2, 32 * g.warps, "a stage of results is complete");
    drained_ = b.mbarrier("drained", 2, 32 * g.p.store_warps, "it has been stored");
  }
  threads_.place();
  const Value time = threads_.walked().steps();
  groups_ = b.let("groups", (time + (g.p.steps - 1)) / b.named("kSteps", g.p.steps, "time steps a stage"));
  if (!threads_.flags().any()) return;
  const auto row = [this](Value place) { return min(here().first_row + place, here().batch - 1); };
  flag_window_ = std::make_unique<FlagWindow>(
      b, threads_.flags(),
      FlagWindow::Places{g.p.batch_tiles * g.p.tiles_in_turn, g.p.stages, g.p.steps, row,
                         [this](Value count) { return threads_.time_of(count); }, time});
}

void PersistentKernel::emit_roles(const Roles& roles) {
  auto& b = builder();
  const PersistentGeometry& g = geometry();
  staged_.clear();
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
  results_.clear_past_end();
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
  const bool two_roles = geometry().parts() > 1, is_first = emitting_ == first;
  builder().named_barrier(barrier, geometry().multiplying(), !two_roles || is_first);
  if (is_first && at_once) at_once();
  if (two_roles) builder().named_barrier(barrier + 1, geometry().multiplying(), !is_first);
}

void PersistentKernel::sync_roles(int barrier) { builder().named_barrier(barrier, geometry().multiplying()); }

void PersistentKernel::helper_roles() {
  auto& b = builder();
  const PersistentGeometry& g = geometry();
  const auto until = [&](int thread, const std::function<void()>& role, const std::function<void()>& rest) {
    if (thread == g.threads()) return role();
    b.if_(b.thread() < thread, role, rest);
  };
  until(
      g.first_store_thread(), [&] { producer_role(); },
      [&] {
        if (results_.count() > 0)
          until(g.first_store_thread() + 32 * g.p.store_warps, [&] { store_role(); }, {});
      });
}

// Copies of `behind` stages are in flight when the warp waits: it announces stage i once stage i + behind is
// issued. (cp.async groups complete in order; PTX ISA, cp.async.wait_group.)
void PersistentKernel::producer_role() {
  auto& b = builder();
  const PersistentGeometry& g = geometry();
  const int behind = std::max(1, g.p.stages - 2);
  const Value steps = b.named("kSteps", g.p.steps);
  b.for_("stage", b.constant(0), groups_ + behind, b.constant(1), 1, [&](Value stage) {
    b.if_(stage < groups_, [&] {
      const Value slot = b.let("slot", stage % g.p.stages);
      b.if_(stage >= g.p.stages, [&] { b.wait(empty_, slot, (stage / g.p.stages + 1) % 2); });
      const Value first = b.let("first", stage * steps);
      const Value count = b.let("count", min(steps, threads_.walked().steps() - first));
      staged_.stage(first, count, slot);
      if (flag_window_) flag_window_->stage(b.thread() - g.first_producer_thread(), first, slot);
    });
    b.commit_copies();
    b.if_(stage >= behind, [&] {
      b.wait_copies(behind);
      b.arrive(full_, (stage - behind) % g.p.stages);
    });
  });
}

void PersistentKernel::store_role() {
  auto& b = builder();
  const PersistentGeometry& g = geometry();
  const Value steps = b.named("kSteps", g.p.steps);
  b.for_("stage", b.constant(0), groups_, b.constant(1), 1, [&](Value stage) {
    const Value turn = b.let("turn", stage % 2);
    b.wait(filled_, turn, stage / 2 % 2);
    const Value first = b.let("first", stage * steps);
    const Value count = b.let("count", min(steps, threads_.walked().steps() - first));
    results_.write(turn, first, count);
    b.arrive(drained_, turn);
  });
}

void PersistentKernel::compute_role(const Roles& roles) {
  auto& b = builder();
  const PersistentGeometry& g = geometry();
  staged_.declare_registers();
  if (flag_window_) flag_window_->begin(b, here().quarter);
  roles.prepare();
  if (roles.begin) {
    b.wait(full_, b.constant(0), b.constant(0));
    staged_.load(b.constant(0));
    roles.begin(step_at(b.constant(0), true));
  }
  const Value steps = b.named("kSteps", g.p.steps);
  b.for_("stage", b.constant(0), groups_, b.constant(1), 1, [&](Value stage) {
    const Value slot = b.let("slot", stage % g.p.stages);
    const Value turn = b.let("turn", stage % 2);
    if (!roles.begin) b.wait(full_, slot, stage / g.p.stages % 2);
    if (flag_window_) flag_window_->begin_stage(slot);
    if (results_.count() > 0) b.if_(stage >= 2, [&] { b.wait(drained_, turn, (stage / 2 + 1) % 2); });
    const Value count = b.let("count", min(steps, threads_.walked().steps() - stage * steps));
    b.for_("s", b.constant(0), count, b.constant(1),
           g.p.blocks == 1 && !staged_.has_scratch_head_values() ? kUnroll : 1,
           [&](Value s) { compute_step(roles, stage, s); });
    if (!roles.begin) b.arrive(empty_, slot);
    if (results_.count() > 0) b.arrive(filled_, turn);
  });
  roles.finish();
}

void PersistentKernel::compute_step(const Roles& roles, Value stage, Value s) {
  auto& b = builder();
  const Value done = b.let("done", stage * geometry().p.steps + s);
  Value row = stage % 2 * geometry().p.steps + s;
  if (results_.count() > 1 || geometry().channels() > 2 || geometry().p.tiles_in_turn > 1)
    row = b.let("ring_line", row);  // used more than once
  threads_.each_turn([&] {
    if (!roles.begin)
      staged_.load(b.let("line", threads_.of_turn(stage % geometry().p.stages * geometry().p.steps + s)));
    if (flag_window_ && threads_.turn() == 0) flag_window_->advance(b);
    Step now = step_at(done, false);
    now.store = [&](int written, int r, const std::vector<Value>& values) {
      results_.store(written, threads_.of_turn(row), r, values);
    };
    now.next = [&](const std::function<void(const Step&)>& body) { look_ahead(stage, s, done, body); };
    roles.step(now);
  });
}

PersistentKernel::Step PersistentKernel::step_at(Value count, bool ahead) {
  Step step;
  step.count = count;
  step.tile_step = threads_.of_turn(count);
  if (geometry().p.tiles_in_turn > 1) step.tile_step = builder().let("tile_step", step.tile_step);
  step.time = threads_.forward() ? count : builder().let("t", threads_.time_of(count));
  step.flag = [this, ahead, t = step.time](step::TensorId tensor, int channel) {
    const int tile = threads_.turn() * geometry().p.batch_tiles + geometry().tile_of(channel);
    return flag_window_->value(tensor, 2 * tile + channel % 2, t, ahead);
  };
  step.load = [this](int staged, int row, int channel) { return staged_.value(staged, row, channel); };
  return step;
}

// The next tile's turn comes in the same step, or, after the last one, the first tile's in the next step. The
// last step of a stage finds its successor in the next stage; its own has been read by then.
void PersistentKernel::look_ahead(Value stage, Value s, Value done,
                                  const std::function<void(const Step&)>& body) {
  auto& b = builder();
  const PersistentParameters& p = geometry().p;
  if (threads_.turn() + 1 < p.tiles_in_turn)
    return threads_.in_turn(threads_.turn() + 1, [&] {
      staged_.load(b.let("next_line", threads_.of_turn(stage % p.stages * p.steps + s)));
      body(step_at(done, false));
    });
  b.if_(done + 1 < threads_.walked().steps(), [&] {
    const Value line = b.variable("next_line", stage % p.stages * p.steps + s + 1);
    b.if_(s + 1 == p.steps, [&] {
      b.arrive(empty_, stage % p.stages);
      const Value slot = b.let("next_slot", (stage + 1) % p.stages);
      b.wait(full_, slot, (stage + 1) / p.stages % 2);
      b.assign(line, slot * p.steps);
    });
    threads_.in_turn(0, [&] {
      staged_.load(threads_.of_turn(line));
      body(step_at(b.let("next_done", done + 1), true));
    });
  });
}

Launch PersistentKernel::finish() {
  const PersistentGeometry& g = geometry();
  Launch launch = signature().finish(std::int64_t{g.p.blocks} * threads_.heads());
  launch.batch_tile = g.batch;
  launch.tiles_together = g.in_grid() ? g.p.batch_tiles_in_flight : 0;
  return launch;
}

}  // namespace rondo::schedule
