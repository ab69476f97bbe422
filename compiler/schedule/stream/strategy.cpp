#include "compiler/schedule/stream/strategy.h"

#include "compiler/schedule/analysis/history.h"
#include "compiler/schedule/analysis/param_rows.h"
#include "compiler/schedule/channelwise/legal.h"
#include "compiler/schedule/channelwise/scan_warp.h"
#include "compiler/schedule/lower/exchange_clear.h"
#include "compiler/schedule/lower/number_gradient_sum.h"
#include "compiler/schedule/lower/param_gradient_sum.h"
#include "compiler/schedule/rewrite/linear_step.h"
#include "compiler/schedule/stream/head_reductions.h"
#include "compiler/schedule/stream/head_space.h"
#include "compiler/schedule/stream/kernel.h"
#include "compiler/schedule/stream/resources.h"
#include "compiler/step/simplify.h"

namespace rondo::schedule {

namespace {

constexpr RenamedParameter kRenamed[] = {
    {"cluster", "time_split"},        {"grid", "exchange"},
    {"behind", "pipeline_depth", 1},  {"shorten", "rewrite"},
    {"pieces", "interleaved_copies"}, {"loaders", "producer_warps"},
};

// A table of transforms for each round of each team.
executable::SizeRule exchange_extent(const step::Cell& cell, const Problem& problem,
                                     const StreamParameters& p) {
  const std::int64_t tiles = (problem.sizes.dim + p.channels - 1) / p.channels;
  const std::int64_t words = ScanWarp::exchange_words(p, static_cast<int>(cell.next.size()));
  return {0, problem.sizes.heads * tiles * words, 1, std::int64_t{p.time_split} * p.steps};
}

}  // namespace

Legality Stream::serves(const target::Profile& profile) const {
  return needs_compute_8(profile, "asynchronous copies to shared memory");
}

Legality Stream::legal(const step::Cell& cell, const Problem& problem) const {
  return needs_whole_head(cell) ? head_fits(cell, problem) : channels_alone(cell, problem, true);
}

// A walk whose block holds the whole head goes step by step.
int segment_parts(const step::Cell& cell, const Problem& problem) {
  if (needs_whole_head(cell)) return 0;
  const step::Cell simple = step::simplify(cell);
  const std::optional<LinearStep> linear = linear_step(simple, problem, stream_step(simple, problem));
  return linear ? static_cast<int>(linear->carry_free.roots.size()) : 0;
}

std::span<const RenamedParameter> Stream::renamed_parameters() const { return kRenamed; }

Parameters Stream::added_parameters() const {
  return {{"time_split", 1},
          {"exchange", 0},
          {"stream_stores", 0},
          {"interleaved_copies", 0},
          {"pipeline_depth", 1}};
}

int Stream::alignment(const Problem& problem, const Parameters& parameters) const {
  return static_cast<int>(parameters.at("vector")) * kernel::storage_bytes(problem.storage);
}

std::int64_t Stream::turn(const Parameters& parameters) const {
  return parameters.at("steps") * parameters.at("stages") * parameters.at("time_split");
}

KernelPlan Stream::build_kernels(const step::Cell& cell, const Problem& problem, const Parameters& parameters,
                                 const target::Profile&) const {
  const step::Cell simple = step::simplify(cell);
  KernelPlan plan;
  plan.strategy = name();
  plan.parameters = parameters;
  const StreamParameters p = StreamParameters::from(parameters);
  plan.alignment = alignment(problem, parameters);
  if (p.through_global()) {
    plan.exchange = exchange_extent(simple, problem, p);
    plan.launches.push_back(clear_exchange(simple, problem, plan));
  }
  if (problem.pass != Pass::Backward) {
    plan.launches.push_back(stream_forward(simple, problem, parameters));
    return plan;
  }
  plan.launches.push_back(stream_backward(simple, problem, parameters));
  for (Launch& launch : sum_param_gradients(simple, problem, p.time_split))
    plan.launches.push_back(std::move(launch));
  if (const int rows = number_rows(simple); rows > 0 && !needs_whole_head(simple)) {
    plan.scratch_rows = number_scratch(rows);
    for (Launch& launch : sum_number_gradients(simple, problem)) plan.launches.push_back(std::move(launch));
  }
  plan.workspace_elements_per_batch =
      p.time_split * param_rows(simple) * problem.sizes.heads * problem.sizes.dim;
  return plan;
}

const Strategy& stream_strategy() {
  static const Stream strategy;
  return strategy;
}

}  // namespace rondo::schedule
