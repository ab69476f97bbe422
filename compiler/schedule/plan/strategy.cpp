#include "compiler/schedule/plan/strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <variant>

#include "compiler/kernel/ir/print.h"
#include "compiler/kernel/passes/in_double.h"
#include "compiler/kernel/passes/legalise_copies.h"
#include "compiler/kernel/passes/rematerialise.h"
#include "compiler/kernel/passes/simplify.h"
#include "compiler/kernel/verify/verify.h"
#include "compiler/schedule/analysis/contraction.h"
#include "compiler/schedule/plan/problem_check.h"

namespace rondo::schedule {

Legality needs_turing(const target::Profile& profile, const std::string& feature) {
  if (!profile.is_cpu() && profile.target.level >= target::kLeastCapability) return {};
  if (profile.is_cpu())
    return {false, fmt::format("it needs {}, which GPUs have; --strategy host computes on CPUs", feature)};
  return {false, fmt::format("it needs {}, which GPUs have from compute capability 7.5 on; {} has {}.{}",
                             feature, profile.name, profile.target.major(), profile.target.minor())};
}

namespace {

std::vector<std::string> findings(const kernel::Kernel& kernel) {
  std::vector<std::string> result = kernel::verify(kernel);
  for (std::string& finding : result) finding = fmt::format("kernel {}: {}", kernel.name, finding);
  return result;
}

void run_on_kernels(const Task& task, KernelPlan& plan, pipeline::Pass pass,
                    kernel::Kernel (*run)(kernel::Kernel)) {
  const bool verified = *pipeline::info(pass).verifier != '\0';
  for (Launch& launch : plan.launches)
    launch.kernel = pipeline::watched(
        task.watcher, pass, [&] { return run(std::move(launch.kernel)); },
        [verified](const kernel::Kernel& made) {
          pipeline::Made result{[&] { return kernel::print(made); }, {}};
          if (verified) result.verify = [&] { return findings(made); };
          return result;
        });
}

}  // namespace

// The task for which a strategy writes kernels: of one in fp64 that of fp32, whose kernels hold nothing
// rounded further.
Task as_written(const Task& task) {
  if (task.problem.storage != kernel::Storage::F64) return task;
  Problem problem = task.problem;
  problem.storage = kernel::Storage::F32;
  return task.with(std::move(problem));
}

KernelPlan contracted(const Task& task, KernelPlan plan) {
  for (Launch& launch : plan.launches) launch.kernel.may_contract = may_contract(task);
  return plan;
}

void simplify_kernels(const Task& task, KernelPlan& plan) {
  run_on_kernels(task, plan, pipeline::Pass::SimplifyKernel, kernel::simplify);
  if (task.profile.target.before_ampere())
    run_on_kernels(task, plan, pipeline::Pass::LegaliseCopies, kernel::legalise_copies);
}

Status writes_outputs(const Task& task, const KernelPlan& plan) {
  if (task.problem.pass == Pass::Backward) return success();
  const auto writes = [](const Launch& launch, TensorRef ref) {
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      const auto* pointer = std::get_if<Pointer>(&launch.arguments[i]);
      if (pointer != nullptr && pointer->tensor == ref && launch.kernel.params.at(i).written) return true;
    }
    return false;
  };
  for (const step::TensorId id : task.cell.of_kind(step::TensorKind::Output))
    if (std::ranges::none_of(plan.launches, [&](const Launch& launch) {
          return writes(launch, {Role::Output, id});
        }))
      return Error{ErrorKind::Internal,
                   fmt::format("no kernel writes the output {}", task.cell.tensor(id).name)};
  return success();
}

std::vector<EstimatePart> Strategy::parts(const Task& task, const Parameters& parameters) const {
  const Estimate e = cost(task, parameters);
  std::vector<EstimatePart> parts = {{EstimatePart::Of::Work, "memory", e.memory},
                                     {EstimatePart::Of::Chain, "chain over time", e.chain},
                                     {EstimatePart::Of::Work, "instructions", e.issue},
                                     {EstimatePart::Of::Launches, "launches", e.launch}};
  std::erase_if(parts, [](const EstimatePart& part) { return part.seconds <= 0; });
  return parts;
}

Result<KernelPlan> Strategy::build(const Task& task, const Parameters& parameters) const {
  if (Status status = check_problem(task); !status) return status.error();
  try {
    if (const Legality served = serves(task.profile); !served.legal)
      return Error{ErrorKind::Unsupported, fmt::format("strategy {} does not serve {}: {}", name(),
                                                       task.profile.name, served.reason)};
    if (const Legality legality = legal(task); !legality.legal)
      return Error{ErrorKind::Input, fmt::format("strategy {} cannot compute cell {}: {}", name(),
                                                 task.cell.name, legality.reason)};
    const Parameters all = completed(parameters);
    if (const auto point = space(task).check({all.begin(), all.end()}); !point)
      return Error{ErrorKind::Input,
                   fmt::format("strategy {} has no such kernels for cell {}: {}", name(), task.cell.name,
                               point.error().message),
                   point.error().hint};
  } catch (const std::exception& defect) {
    return this->defect(task.cell, parameters, defect.what());
  }
  return build_legal(task, parameters);
}

Result<KernelPlan> Strategy::build_legal(const Task& task, const Parameters& parameters) const {
  try {
    KernelPlan plan = pipeline::watched(
        task.watcher, pipeline::Pass::Lower,
        [&] { return contracted(task, build_kernels(as_written(task), completed(parameters))); },
        [](const KernelPlan& written) {
          return pipeline::Made{[&] { return print_kernels(written); }, {}};
        });
    if (const Status status = writes_outputs(task, plan); !status)
      return defect(task.cell, parameters, status.error().message);
    if (task.problem.storage == kernel::Storage::F64) {
      run_on_kernels(task, plan, pipeline::Pass::InDouble, kernel::in_double);
      for (WideTensor& tensor : plan.wide) tensor.storage = kernel::Storage::F64;
    }
    simplify_kernels(task, plan);
    // A CPU keeps what it has no register for on the stack, at next to no cost.
    if (!task.profile.is_cpu())
      run_on_kernels(task, plan, pipeline::Pass::RematerialiseCold, kernel::rematerialise_cold);
    return plan;
  } catch (const std::exception& defect) {
    return this->defect(task.cell, parameters, defect.what());
  }
}

Error Strategy::defect(const step::Cell& cell, const Parameters& parameters, const std::string& what) const {
  return Error{
      ErrorKind::Internal,
      fmt::format("strategy {} cannot build {} for cell {}: {}", name(), print(parameters), cell.name, what),
      "choose other parameters, and report these"};
}

}  // namespace rondo::schedule
