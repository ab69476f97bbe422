#include "compiler/schedule/stream/strategy.h"

#include "compiler/schedule/analysis/param_rows.h"
#include "compiler/schedule/channelwise/legal.h"
#include "compiler/schedule/channelwise/scan_warp.h"
#include "compiler/schedule/lower/exchange_clear.h"
#include "compiler/schedule/lower/head_gradient_sum.h"
#include "compiler/schedule/lower/param_gradient_sum.h"
#include "compiler/schedule/stream/head_reductions.h"
#include "compiler/schedule/stream/head_space.h"
#include "compiler/schedule/stream/kernel.h"
#include "compiler/schedule/stream/resources.h"
#include "compiler/schedule/stream/segment_step.h"
#include "compiler/schedule/stream/warp_shares.h"
#include "compiler/support/integers.h"

namespace rondo::schedule {

namespace {

// A table of transforms for each round of each team.
executable::SizeRule exchange_extent(const Task& task, const StreamParameters& p) {
  const std::int64_t tiles = ceil_div(task.problem.sizes.dim, p.channels);
  const std::int64_t words = ScanWarp::exchange_words(p, segment_shape(task).pattern);
  return {0, task.problem.sizes.heads * tiles * words, 1, std::int64_t{p.time_split} * p.steps};
}

}  // namespace

Legality Stream::serves(const target::Profile& profile) const {
  return needs_turing(profile, "shared memory of thread blocks and the instruction tanh.approx");
}

Legality Stream::legal(const Task& task) const {
  if (!needs_whole_head(task.cell)) return channels_alone(task, HeadValues::Inputs);
  // A head that is too large for a block may still be cut in time.
  const Legality whole = head_fits(task);
  return whole.legal || segment_parts(task) == 0 ? whole : channels_alone(task, HeadValues::StatesToo);
}

// A walk whose block holds the whole head goes step by step. Channels that copy what the head has need no
// such block.
int segment_parts(const Task& task) {
  if (!channels_alone(task, HeadValues::StatesToo).legal) return 0;
  const auto cut = segments_of_step(task);
  return *cut ? static_cast<int>((*cut)->linear.carry_free.roots.size()) : 0;
}

std::int64_t Stream::turn(const Parameters& parameters) const {
  const auto p = read_parameters<StreamParameters>(parameters);
  return std::int64_t{p.steps} * p.stages * p.time_split;
}

void Stream::add_launches(const Task& task, const StreamParameters& given, KernelPlan& plan) const {
  StreamParameters p = given;
  p.whole_head = holds_whole_head(task.cell, p);
  if (p.through_global()) {
    plan.exchange = exchange_extent(task, p);
    plan.launches.push_back(clear_exchange(task, plan));
  }
  if (task.problem.pass != Pass::Backward) {
    plan.launches.push_back(stream_forward(task, p));
    return;
  }
  plan.launches.push_back(stream_backward(task, p));
  for (Launch& launch : sum_param_gradients(task, p.time_split)) plan.launches.push_back(std::move(launch));
  if (const int rows = head_value_rows(task.cell); rows > 0 && !p.whole_head) {
    const int of_share = rows_of_share(rows, p);
    plan.scratch_rows = head_value_scratch(of_share);
    plan.shares = warps_of_head(task.problem, p);
    for (Launch& launch : sum_head_gradients(task, plan.shares, of_share))
      plan.launches.push_back(std::move(launch));
  }
  if (const int rows = head_value_rows(task.cell, TensorKind::State); rows > 0 && !p.whole_head) {
    plan.carries = {0, task.problem.sizes.heads * rows * task.problem.sizes.dim};
    for (Launch& launch : sum_head_state_gradients(task)) plan.launches.push_back(std::move(launch));
  }
  plan.workspace_elements_per_batch =
      p.time_split * param_rows(task.cell) * task.problem.sizes.heads * task.problem.sizes.dim;
}

}  // namespace rondo::schedule
