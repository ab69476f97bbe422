#include "engine/plan/memory.h"

#include "compiler/executable/launcher.h"
#include "compiler/schedule/analysis/history.h"
#include "compiler/schedule/analysis/saved_products.h"
#include "compiler/schedule/plan/lower_plan.h"
#include "compiler/schedule/plan/tensor_layout.h"

namespace rondo::engine {

Result<PlanMemory> plan_memory(const schedule::Task& task, const schedule::KernelPlan& plan) {
  const Result<executable::Executable> executable = schedule::lower_plan(task, plan);
  if (!executable) return executable.error();
  const Result<executable::Launcher> launcher = executable::Launcher::make(*executable);
  if (!launcher) return launcher.error();
  PlanMemory memory;
  memory.workspace_bytes = launcher->workspace_bytes(task.problem.sizes.batch, task.problem.sizes.time);
  if (task.problem.pass == schedule::Pass::Forward) return memory;
  for (const step::TensorId id : schedule::stored_histories(task.cell))
    memory.saved_bytes += step::history_count(task.cell.tensor(id), task.problem.sizes) *
                          kernel::storage_bytes(task.history_storage(id));
  if (!schedule::passes_products(task.problem)) return memory;
  for (const step::TensorId id : schedule::product_tensors(task.cell))
    memory.saved_bytes +=
        schedule::total_elements({schedule::Role::Products, id}, task.cell, task.problem.sizes) *
        kernel::storage_bytes(task.problem.storage);
  return memory;
}

}  // namespace rondo::engine
