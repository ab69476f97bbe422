#include "compiler/schedule/shoot/strategy.h"

#include <fmt/format.h>

#include "compiler/executable/convergence.h"
#include "compiler/schedule/analysis/history.h"
#include "compiler/schedule/channelwise/legal.h"
#include "compiler/schedule/lower/exchange_clear.h"
#include "compiler/schedule/shoot/resources.h"
#include "compiler/schedule/shoot/rounds.h"
#include "compiler/support/integers.h"

namespace rondo::schedule {

namespace {

Launch shoot_forward(const Task& task, const ShootParameters& parameters) {
  ShootKernel kernel(fmt::format("{}_shoot_{}", task.cell.name, pass_name(task.problem.pass)),
                     fmt::format("{}: shoot forward, {} in memory", task.cell.name,
                                 kernel::storage_name(task.problem.storage)),
                     task, parameters);
  kernel.builder().set_min_blocks(blocks_of_sm(shoot_shape(task), parameters, task.profile));
  SegmentSweep sweep(kernel, task, parameters);
  sweep.declare();
  ShootRounds rounds(kernel, sweep, task, parameters);
  // No thread that stores histories knows the last states, which stand past the end, but all know the first.
  if (task.problem.pass == Pass::Forward || stored_histories(task.cell).empty() ||
      task.cell.direction == step::Direction::Reversed)
    kernel.threads().stop_early();
  kernel.place();
  sweep.start();
  rounds.run();
  const auto past_end = [&] {
    kernel.write_past_end([&](int written, int row) { return sweep.past_end(written, row); });
  };
  const kernel::Value first = rounds.in_first_launch();
  first.valid() ? kernel.builder().if_(first, past_end) : past_end();
  Launch launch = kernel.threads().finish();
  if (parameters.by_launch())
    launch.repetition = {executable::Repetition::Kind::Until, parameters.launches()};
  return launch;
}

}  // namespace

Legality Shoot::serves(const target::Profile& profile) const {
  return needs_turing(profile, "shared memory of thread blocks and the instruction tanh.approx");
}

Legality Shoot::legal(const Task& task) const {
  if (Legality alone = channels_alone(task, HeadValues::StatesToo); !alone.legal) return alone;
  if (task.problem.pass == Pass::Backward)
    return {false, "the backward sweep is affine: stream cuts it in segments without guessing"};
  if (task.cell.next.size() > kShootMostStates)
    return {false, fmt::format("a channel has {} state rows; maps of more than {} rows leave no room for "
                               "segments in shared memory",
                               task.cell.next.size(), kShootMostStates)};
  return {};
}

// Each warp turns its ring within its own segment.
std::int64_t Shoot::turn(const Parameters& parameters) const {
  const auto p = read_parameters<ShootParameters>(parameters);
  return std::int64_t{p.steps} * p.stages * p.all_segments();
}

void Shoot::add_launches(const Task& task, const ShootParameters& p, KernelPlan& plan) const {
  const std::int64_t tiles = ceil_div(task.problem.sizes.dim, p.channels);
  if (p.among_blocks() && p.through_global()) {
    const std::int64_t words = ScanWarp::exchange_words(p, shoot_pattern(task), true);
    plan.exchange = {0, task.problem.sizes.heads * tiles * p.rounds() * words, 1, 0};
    plan.launches.push_back(clear_exchange(task, plan));
  }
  if (p.by_launch()) {
    const TransformPattern pattern = shoot_pattern(task);
    const std::int64_t teams = task.problem.sizes.heads * tiles;
    plan.carries = {0,
                    teams * BetweenLaunches::elements(p, pattern, ShootRounds::kept_registers(p, pattern))};
    plan.exchange = {BetweenLaunches::kWords, teams * p.time_split * BetweenLaunches::kBlockWords, 1, 0};
  }
  plan.report = {
      0, task.problem.sizes.heads * tiles * p.time_split * p.warps() * executable::Convergence::kRecord};
  plan.launches.push_back(shoot_forward(task, p));
}

}  // namespace rondo::schedule
