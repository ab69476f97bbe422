#include "runtime/plan/memory.h"

#include "compiler/schedule/analysis/history.h"
#include "compiler/schedule/analysis/saved_products.h"
#include "compiler/step/simplify.h"
#include "runtime/plan/arguments.h"
#include "runtime/plan/tensor_layout.h"

namespace rondo::runtime {

Result<PlanMemory> plan_memory(const step::Cell& cell, const schedule::Problem& problem,
                               const schedule::KernelPlan& plan) {
  const Result<PlanArguments> arguments = PlanArguments::make(cell, problem, plan);
  if (!arguments) return arguments.error();
  PlanMemory memory;
  memory.workspace_bytes = arguments->workspace_bytes(problem.sizes.batch, problem.sizes.time);
  if (problem.pass == schedule::Pass::Forward) return memory;
  const step::Cell simple = step::simplify(cell);
  for (const step::TensorId id : schedule::stored_histories(simple))
    memory.saved_bytes += step::history_count(simple.tensors[static_cast<std::size_t>(id)], problem.sizes) *
                          kernel::storage_bytes(problem.storage);
  if (!schedule::passes_products(problem)) return memory;
  for (const step::TensorId id : schedule::product_tensors(simple))
    memory.saved_bytes += total_elements({schedule::Role::Products, id}, simple, problem.sizes) *
                          kernel::storage_bytes(problem.storage);
  return memory;
}

}  // namespace rondo::runtime
