#include "engine/check/plain.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/kernel/passes/perturb.h"
#include "compiler/scalar/storage.h"
#include "compiler/schedule/strategies.h"
#include "compiler/step/derive.h"
#include "compiler/step/folded.h"
#include "compiler/step/structure.h"
#include "engine/check/erring_factors.h"

namespace rondo::engine {

using schedule::Parameters;
using schedule::Pass;
using schedule::Problem;
using schedule::Task;

namespace {

constexpr const char* kOnGpus = "alternating";
constexpr const char* kOnCpus = "host";

// Units, batch tiles and warps, the simplest first: with 8 units for 2 warps, or 16 for 4, each thread has
// one channel of one batch row.
constexpr std::int64_t kTiles[][3] = {{16, 1, 4}, {8, 1, 2}, {8, 1, 4}, {16, 1, 8}};

// What a rounding to fp32 leaves of a value that passes through a few operations.
constexpr double kArithmetic = 4 * 0x1p-24;
constexpr double kTf32 = 0x1p-11;

// Of what plain plans of the problem compute in: a rounding, in those to fp32.
double rounding_beside_fp32(const Problem& problem) {
  return scalar::unit_roundoff(scalar::computed_in(problem.storage)) /
         scalar::unit_roundoff(kernel::Storage::F32);
}

Status plain_serves(const schedule::Task& task) {
  const step::Cell& cell = task.written;
  if (task.structure.has_reduction)
    return Error{ErrorKind::Unsupported, "no plain plan reduces over the head"};
  if (task.structure.has_along)
    return Error{ErrorKind::Unsupported, "no plain plan shifts or sums up along the channels"};
  for (const step::Tensor& tensor : cell.tensors)
    if (tensor.tail == step::Tail::Scalar && tensor.kind != step::TensorKind::Param &&
        !step::is_flag(tensor.kind))
      return Error{
          ErrorKind::Unsupported,
          fmt::format("no plain plan has tensors of one value a head and step, as '{}'", tensor.name)};
  return success();
}

// The points of a plain plan, the first of which that is not the kernel's own serves.
std::vector<Parameters> plain_points(const target::Profile& profile, Pass pass) {
  std::vector<Parameters> points;
  if (profile.is_cpu()) {
    for (const std::int64_t vectors : {1, 2})
      points.push_back({{"lanes", 16}, {"vectors", vectors}, {"rows", 1}, {"together", 1}, {"tile", 1}});
    return points;
  }
  for (const auto& tiles : kTiles) {
    points.push_back({{"units", tiles[0]}, {"batch_tiles", tiles[1]}, {"warps", tiles[2]}, {"stages", 3}});
    if (pass == Pass::Backward) points.back()["vector"] = 1;
  }
  return points;
}

bool same_tiles(const Parameters& a, const Parameters& b) {
  return std::ranges::all_of(a, [&](const auto& entry) {
    const auto other = b.find(entry.first);
    return entry.first == "stages" || entry.first == "vector" ||
           (other != b.end() && other->second == entry.second);
  });
}

bool fits(const schedule::KernelPlan& plan, const target::Limits& limits) {
  return std::ranges::all_of(plan.launches, [&](const schedule::Launch& launch) {
    return kernel::shared_bytes(launch.kernel) <= limits.shared_per_block &&
           launch.kernel.threads <= limits.threads_per_block;
  });
}

// Built without asking whether the strategy would choose it: its kernels are right for cells without matrices
// too, and rules of its space that only narrow a search do not matter here.
Result<PlainPlan> plain_plan(Task task, kernel::Math math, const std::string& strategy,
                             const Parameters& beside) {
  task.problem.storage = scalar::computed_in(task.problem.storage);
  task.problem.math = math;
  const char* name = task.profile.is_cpu() ? kOnCpus : kOnGpus;
  const schedule::Strategy* plain = schedule::find_strategy(name);
  if (plain == nullptr) return Error{ErrorKind::Internal, "the plain plans' strategy is missing"};
  for (const Parameters& parameters : plain_points(task.profile, task.problem.pass)) {
    if (strategy == name && same_tiles(parameters, beside)) continue;
    Result<schedule::KernelPlan> built = plain->build_legal(task, parameters);
    if (!built) return built.error();
    if (fits(*built, task.profile.limits)) return PlainPlan{std::move(task), std::move(built).value()};
  }
  return Error{ErrorKind::Unsupported, "no plain plan fits on this machine"};
}

// Every number of the cell, up or down in turn, as kernels have it: folded, then rounded. 0 stays: what is
// compared with it keeps its sign. The size of the head is exact.
step::Cell with_rounded_numbers(const step::Cell& written, const Problem& problem) {
  step::Cell cell = written;
  const std::vector<std::optional<double>> numbers = step::folded_numbers(
      cell.graph, schedule::constant_values(cell, problem), static_cast<double>(problem.sizes.dim));
  double sign = rounding_beside_fp32(problem);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    step::Node& node = cell.graph.nodes[i];
    if (!numbers[i] || node.kind == step::NodeKind::HeadSize) continue;
    step::Node rounded;
    rounded.kind = step::NodeKind::Constant;
    rounded.extent = node.extent;
    rounded.value = *numbers[i];
    rounded.value *= 1 + kArithmetic * (sign = -sign);
    node = rounded;
  }
  return cell;
}

}  // namespace

Result<PlainPlans> plain_plans(const Task& task, const std::string& strategy, const Parameters& beside) {
  if (Status status = plain_serves(task); !status) return status.error();
  const auto plan = [&](Task of, kernel::Math math) {
    return plain_plan(std::move(of), math, strategy, beside);
  };
  const bool fast = task.problem.math == kernel::Math::Fast;
  Result<PlainPlan> same = plan(task, fast ? kernel::Math::Fast : kernel::Math::Accurate);
  if (!same) return same.error();
  Problem rounded = task.problem;
  const step::Cell numbers = with_rounded_numbers(task.written, task.problem);
  const std::optional<step::Cell> erring = with_erring_factors({numbers, task.problem, task.profile});
  // A backward pass with errors multiplies for itself.
  rounded.save_products = task.problem.save_products && (task.problem.pass != Pass::Backward || !erring);
  Result<PlainPlan> perturbed =
      plan({erring ? *erring : numbers, rounded, task.profile}, kernel::Math::Accurate);
  if (!perturbed) return perturbed.error();
  for (schedule::Launch& launch : perturbed->plan.launches)
    launch.kernel = kernel::with_erring_functions(launch.kernel, fast);
  PlainPlans plans{std::move(same).value(), std::move(perturbed).value(), {}};
  if (task.problem.pass != Pass::Backward) return plans;
  Problem saving = task.problem;
  saving.pass = Pass::ForwardSave;
  Result<PlainPlan> forward = plan(task.with(saving), kernel::Math::Accurate);
  if (!forward) return forward.error();
  plans.forward = std::move(forward).value();
  return plans;
}

double rounding_inside(const Task& task) {
  const step::Graph graph =
      task.problem.pass == Pass::Backward ? step::backward_step(task.written).graph : task.written.graph;
  double unit = kArithmetic * rounding_beside_fp32(task.problem);
  for (const step::Node& node : graph.nodes) {
    if (step::is_product(node)) {
      unit = std::max(unit, scalar::unit_roundoff(task.problem.storage));
      if (task.problem.math == kernel::Math::Tf32) unit = std::max(unit, kTf32);
    }
  }
  return unit;
}

}  // namespace rondo::engine
