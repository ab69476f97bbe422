#include "engine/check/spread.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include "compiler/scalar/ops.h"
#include "compiler/schedule/analysis/history.h"
#include "compiler/schedule/plan/signature.h"
#include "compiler/step/derive.h"
#include "compiler/step/reference/perturbation.h"
#include "compiler/support/parallel_for.h"
#include "compiler/support/split_mix.h"

namespace rondo::engine {

using schedule::Axis;
using schedule::Pass;
using schedule::TensorRef;

namespace {

constexpr int kRuns = 6;  // random ones, and as many steady ones
// Beside the one that rounds to nearest; half of them are the others with all errors turned round.
constexpr int kFarRuns = 8;

// Times the largest error of the runs. One element's errors may all be small by luck: for normal ones this is
// passed once in 10^9. A norm over n elements varies by 1 / sqrt(n) from run to run, or more where a few of
// them or one cause dominate it: how much it does is measured, and the factor grows with that.
constexpr double kElement = 16;
constexpr double kNorm = 2;
constexpr double kVariation = 16;
// Times the largest error of the far runs, where the pass has decisions. A far run and a kernel that take the
// same other side make the same jump. But the far run's own rounding, kFar times as large, and its other
// jumps may have the opposite sign, so that its error is less than the jump.
constexpr double kJump = 2;

double square(double value) { return value * value; }

double largest(const std::vector<std::vector<double>>& runs, std::size_t slice) {
  double result = 0;
  for (const std::vector<double>& norms : runs) result = std::max(result, norms[slice]);
  return result;
}

// Standard deviation over mean. Runs end in any order, and sums of them must not depend on it.
double variation(const std::vector<std::vector<double>>& runs, std::size_t slice) {
  const auto count = static_cast<double>(runs.size());
  std::vector<double> sorted;
  for (const std::vector<double>& norms : runs) sorted.push_back(norms[slice]);
  std::ranges::sort(sorted);
  double sum = 0, squares = 0;
  for (const double norm : sorted) {
    sum += norm;
    squares += square(norm);
  }
  const double mean = sum / count;
  return mean > 0 ? std::sqrt(std::max(0.0, squares / count - mean * mean)) / mean : 0;
}

// Of `count` numbers value(i). By rows of the last axis, so that the other axes are looked at once a row.
template <class Value>
std::vector<double> norms_of(const std::vector<Axis>& axes, std::size_t count, Value value_of) {
  std::size_t slices = 1;
  for (const Axis& axis : axes) slices += static_cast<std::size_t>(axis.extent);
  std::vector<double> squares(slices, 0.0);
  const std::size_t width = axes.empty() ? 1 : static_cast<std::size_t>(axes.back().extent);
  double* const last = axes.empty() ? nullptr : &squares[slices - width];
  std::vector<std::int64_t> index(axes.size(), 0);
  for (std::size_t row = 0; row < count; row += width) {
    double sum = 0;
    for (std::size_t i = 0; i < std::min(width, count - row); ++i) {
      const double value = value_of(row + i);
      const double add = std::isfinite(value) ? value * value : 0;
      sum += add;
      if (last != nullptr) last[i] += add;
    }
    squares[0] += sum;
    std::size_t first = 1;
    for (std::size_t a = 0; a + 1 < axes.size(); ++a) {
      squares[first + static_cast<std::size_t>(index[a])] += sum;
      first += static_cast<std::size_t>(axes[a].extent);
    }
    for (std::size_t a = axes.size(); a-- > 1;) {
      if (++index[a - 1] < axes[a - 1].extent) break;
      index[a - 1] = 0;
    }
  }
  for (double& one : squares) one = std::sqrt(one);
  return squares;
}

}  // namespace

std::vector<double> slice_norms(const std::vector<Axis>& axes, std::span<const double> values) {
  return norms_of(axes, values.size(), [=](std::size_t i) { return values[i]; });
}

std::string slice_name(const std::vector<Axis>& axes, std::size_t slice) {
  if (slice == 0) return "all of it";
  std::size_t index = slice - 1;
  for (const Axis& axis : axes) {
    if (index < static_cast<std::size_t>(axis.extent)) return fmt::format("{}={}", axis.name, index);
    index -= static_cast<std::size_t>(axis.extent);
  }
  return "";
}

std::string element_name(const std::vector<Axis>& axes, std::size_t element) {
  std::string result;
  for (std::size_t a = axes.size(); a-- > 0;) {
    const auto extent = static_cast<std::size_t>(axes[a].extent);
    result = fmt::format("{}={}{}{}", axes[a].name, element % extent, result.empty() ? "" : " ", result);
    element /= extent;
  }
  return result;
}

Spread::Errors Spread::errors(std::span<const double> result, std::span<const double> exact) const {
  Errors errors;
  errors.norms = norms_of(axes_, exact.size(), [&](std::size_t i) {
    const double error = result[i] - exact[i];
    errors.finite = errors.finite && std::isfinite(error);
    return error;
  });
  return errors;
}

void Spread::add(RunKind kind, Errors errors, std::size_t elements) {
  norms_[static_cast<std::size_t>(kind)].push_back(std::move(errors.norms));
  // A run that leaves the numbers says that anything may happen here.
  finite_ = finite_ && (kind == RunKind::Far || errors.finite);
  (kind == RunKind::Far ? far_ : near_).resize(elements, 0.0F);
}

// An error that is no number counts as large as the exact value.
void Spread::add_elements(RunKind kind, std::span<const double> result, std::span<const double> exact,
                          std::size_t first, std::size_t end) {
  std::vector<float>& element = kind == RunKind::Far ? far_ : near_;
  for (std::size_t i = first; i < end; ++i) {
    const double error = result[i] - exact[i];
    const double size = std::isfinite(error) ? std::abs(error) : std::abs(exact[i]);
    element[i] = std::max(element[i], static_cast<float>(size));
  }
}

double Spread::element_limit(std::size_t element, bool decisions) const {
  return std::max(kElement * static_cast<double>(near_[element]),
                  (decisions ? kJump : 1) * static_cast<double>(far_[element]));
}

double Spread::slice_limit(std::size_t slice, std::int64_t elements, bool decisions) const {
  double limit = 0;
  for (const RunKind kind : {RunKind::Random, RunKind::Steady}) {
    const auto& runs = norms_[static_cast<std::size_t>(kind)];
    const double varies = std::max(variation(runs, slice), 1 / std::sqrt(static_cast<double>(elements)));
    limit = std::max(limit, largest(runs, slice) * (kNorm + kVariation * varies));
  }
  if (!decisions) return limit;
  return std::max(limit, kJump * largest(norms_[static_cast<std::size_t>(RunKind::Far)], slice));
}

double Spread::norm() const {
  return std::max(largest(norms_[static_cast<std::size_t>(RunKind::Random)], 0),
                  largest(norms_[static_cast<std::size_t>(RunKind::Steady)], 0));
}

namespace {

struct PerturbedRun {
  RunKind kind;
  step::Perturbation perturbation;
};

std::vector<PerturbedRun> perturbed_runs(const schedule::Task& task, const SpreadCase& of) {
  const schedule::Problem& problem = task.problem;
  std::uint64_t seed = of.seed;
  step::Perturbation base;
  base.exact_history = of.data->stored_states;
  for (const step::TensorId id : schedule::stored_histories(task.cell))
    if (task.history_storage(id) != problem.storage) base.kept_in_fp32.insert(task.cell.tensor(id).name);
  base.fast_math = problem.math == kernel::Math::Fast;
  base.stored = problem.storage;
  base.product = problem.math == kernel::Math::Tf32 ? 0x1p-11 : 0;
  std::vector<PerturbedRun> runs;
  const auto add = [&](RunKind kind, bool steady, double amplitude, bool turned) {
    base.seed = turned ? base.seed : ++seed * kSplitMixStep;
    base.steady = steady;
    base.amplitude = turned ? -amplitude : amplitude;
    runs.push_back({kind, base});
  };
  for (int i = 0; i < kRuns; ++i) add(RunKind::Random, false, 1, false);
  for (int i = 0; i < kRuns; ++i) add(RunKind::Steady, true, 1, false);
  // What rounds to nearest, as most kernels do: numbers that saturate are equal to others there.
  add(RunKind::Far, false, 0, false);
  for (int i = 0; i < kFarRuns; ++i) add(RunKind::Far, i % 4 >= 2, kFar, i % 2 == 1);
  return runs;
}

std::vector<TensorRef> computed_tensors(const schedule::Task& task, const ReferenceResult& exact) {
  std::vector<TensorRef> result;
  for (int role = 0; role < executable::kRoles; ++role)
    for (std::size_t tensor = 0; tensor < task.written.tensors.size(); ++tensor) {
      const TensorRef ref{static_cast<schedule::Role>(role), static_cast<std::int32_t>(tensor)};
      if (ref.role == schedule::Role::History && task.problem.pass != Pass::ForwardSave) continue;
      if (computed_values(ref, task.written, task.problem.pass, exact) != nullptr) result.push_back(ref);
    }
  return result;
}

}  // namespace

namespace {

// Runs of one case that a thread makes together.
struct RunsOfCase {
  std::size_t number;
  std::vector<RunKind> kinds;
  std::vector<step::Perturbation> perturbations;
};

// So many that each case has the share of the cores that its steps have of all steps, and no group waits for
// another; but not more runs together than gain from it, and at least one.
std::size_t groups_of(std::size_t runs, double share) {
  constexpr std::size_t kMostTogether = 5;
  const std::size_t fewest = (runs + kMostTogether - 1) / kMostTogether;
  const double cores = std::max(1U, std::thread::hardware_concurrency());
  return std::clamp(static_cast<std::size_t>(share * cores), fewest, runs);
}

std::vector<RunsOfCase> runs_of(const schedule::Task& task, std::span<const SpreadCase> cases) {
  const auto steps = [](const SpreadCase& one) {
    return static_cast<double>(one.data->sizes.batch * one.data->sizes.time);
  };
  double all_steps = 0;
  for (const SpreadCase& one : cases) all_steps += steps(one);
  std::vector<RunsOfCase> all;
  for (std::size_t number = 0; number < cases.size(); ++number) {
    const std::vector<PerturbedRun> runs = perturbed_runs(task, cases[number]);
    const std::size_t groups = groups_of(runs.size(), steps(cases[number]) / all_steps);
    for (std::size_t group = 0; group < groups; ++group) {
      RunsOfCase& some = all.emplace_back(RunsOfCase{number, {}, {}});
      for (std::size_t i = group * runs.size() / groups; i < (group + 1) * runs.size() / groups; ++i) {
        some.kinds.push_back(runs[i].kind);
        some.perturbations.push_back(runs[i].perturbation);
      }
    }
  }
  return all;
}

Status check_finite(const schedule::Task& task, const Spreads& spreads) {
  for (const auto& [ref, spread] : spreads)
    if (!spread.finite())
      return Error{ErrorKind::Input,
                   fmt::format("cell {}: rounding alone makes '{}' infinite or no number at all",
                               task.written.name, schedule::name_of(ref, task.written)),
                   fmt::format("the cell leaves the range of its types, so no kernel can be compared: {}",
                               kOtherData)};
  return success();
}

// Which all runs of a case share; always there.
using SharedMatrices = std::optional<step::Matrices<double>>;

std::vector<SharedMatrices> matrices_of(const schedule::Task& task, std::span<const SpreadCase> cases) {
  std::vector<SharedMatrices> made(cases.size());
  const auto make = [&](std::int64_t i) {
    const HostProblem& data = *cases[static_cast<std::size_t>(i)].data;
    made[static_cast<std::size_t>(i)].emplace(task.written, data.sizes, data.forward.params, true);
  };
  parallel_for(static_cast<std::int64_t>(cases.size()), 0, [&]() -> Worker { return make; });
  return made;
}

// The spreads of a case, to which runs are added by several threads, which end at about the same time.
class SharedSpreads {
 public:
  SharedSpreads(const schedule::Task& task, const SpreadCase& of) : task_(task), exact_(*of.exact) {
    for (const TensorRef ref : computed_tensors(task, exact_))
      spreads_.emplace(ref, Spread(schedule::axes_of(ref, task.cell, of.data->sizes)));
  }

  // `begin` spreads threads over the stripes.
  void add(RunKind kind, const ReferenceResult& result, std::size_t begin) {
    for (auto& [ref, spread] : spreads_) {
      const std::vector<double>&values = of(ref, result), &exact = of(ref, exact_);
      Spread::Errors errors = spread.errors(values, exact);
      {
        const std::lock_guard<std::mutex> guard(lock_);
        spread.add(kind, std::move(errors), exact.size());
      }
      for (std::size_t i = 0; i < kStripes; ++i) {
        const std::size_t stripe = (begin + i) % kStripes;
        const std::lock_guard<std::mutex> guard(stripe_locks_[stripe]);
        spread.add_elements(kind, values, exact, exact.size() * stripe / kStripes,
                            exact.size() * (stripe + 1) / kStripes);
      }
    }
  }

  Result<Spreads> take() {
    if (Status status = check_finite(task_, spreads_); !status) return status.error();
    return std::move(spreads_);
  }

 private:
  static constexpr std::size_t kStripes = 16;  // of every tensor's elements

  const std::vector<double>& of(TensorRef ref, const ReferenceResult& result) const {
    return *computed_values(ref, task_.written, task_.problem.pass, result);
  }

  const schedule::Task& task_;
  const ReferenceResult& exact_;
  Spreads spreads_;
  std::mutex lock_, stripe_locks_[kStripes];
};

}  // namespace

Result<std::vector<Spreads>> measure_spreads(const schedule::Task& task, std::span<const SpreadCase> cases) {
  std::deque<SharedSpreads> shared;
  for (const SpreadCase& one : cases) shared.emplace_back(task, one);
  const std::vector<SharedMatrices> matrices = matrices_of(task, cases);
  const std::vector<RunsOfCase> runs = runs_of(task, cases);
  std::mutex failure_lock;
  std::optional<Error> failure;
  const auto make_runs = [&](std::int64_t i) {
    const auto& [number, kinds, perturbations] = runs[static_cast<std::size_t>(i)];
    const auto& [data, exact, seed] = cases[number];
    const TakeResult take = [&](std::size_t run, const ReferenceResult& result) {
      shared[number].add(kinds[run], result, static_cast<std::size_t>(i) * 3);
    };
    const Status status = run_perturbed(task, *data, *exact, perturbations, take, &*matrices[number]);
    if (status) return;
    const std::lock_guard<std::mutex> guard(failure_lock);
    failure = status.error();
  };
  parallel_for(static_cast<std::int64_t>(runs.size()), 0, [&]() -> Worker { return make_runs; });
  if (failure) return *failure;
  std::vector<Spreads> made;
  for (SharedSpreads& one : shared) {
    Result<Spreads> spreads = one.take();
    if (!spreads) return spreads.error();
    made.push_back(std::move(spreads).value());
  }
  return made;
}

Result<Spreads> measure_spreads(const schedule::Task& task, const HostProblem& data,
                                const ReferenceResult& exact, std::uint64_t seed) {
  const SpreadCase one{&data, &exact, seed};
  Result<std::vector<Spreads>> made = measure_spreads(task, {&one, 1});
  if (!made) return made.error();
  return std::move(made->front());
}

namespace {

// log(max(v, 1e-30)) and its like: a bound that keeps a steep function off its pole. Where v comes to lie
// beyond the bound, the value jumps by far more than any rounding of v.
bool is_held_off_a_pole(const step::Graph& graph, const step::Node& node) {
  using scalar::Op;
  if (node.kind != step::NodeKind::Scalar) return false;
  const bool steep = node.op == Op::Log || node.op == Op::Rsqrt || node.op == Op::Recip || node.op == Op::Div;
  if (!steep) return false;
  const step::Node& held = graph.at(node.operands.back());
  if (held.kind != step::NodeKind::Scalar || (held.op != Op::Max && held.op != Op::Min)) return false;
  return std::ranges::any_of(held.operands, [&](step::NodeId id) {
    const step::NodeKind kind = graph.at(id).kind;
    return kind == step::NodeKind::Constant || kind == step::NodeKind::NamedConst;
  });
}

}  // namespace

bool has_decisions(const step::Cell& cell, Pass pass) {
  const step::Graph graph = pass == Pass::Backward ? step::backward_step(cell).graph : cell.graph;
  return std::ranges::any_of(graph.nodes, [&](const step::Node& node) {
    using scalar::Op;
    if (is_held_off_a_pole(graph, node) || node.kind == step::NodeKind::ArgMaxPlus) return true;
    // No rounding changes a flag.
    if (node.kind == step::NodeKind::Scalar && node.op == Op::Select) {
      const step::Node& condition = graph.at(node.operands[0]);
      if (condition.kind == step::NodeKind::Leaf && step::is_flag(cell.tensor(condition.tensor).kind))
        return false;
    }
    return node.kind == step::NodeKind::Scalar &&
           ((node.op >= Op::Less && node.op <= Op::Floor) || node.op == Op::Sign);
  });
}

}  // namespace rondo::engine
