#include "engine/plan/ready_plan.h"

#include <memory>

#include "compiler/schedule/plan/asked.h"
#include "compiler/schedule/plan/lower_plan.h"
#include "compiler/schedule/strategies.h"
#include "compiler/target/target.h"

namespace rondo::engine {

Result<schedule::KernelPlan> build_choice(const schedule::Task& task, const Choice& choice) {
  const schedule::Strategy* strategy = schedule::find_strategy(choice.strategy);
  if (strategy == nullptr)
    return Error{ErrorKind::Input, fmt::format("there is no strategy '{}'", choice.strategy), ""};
  return strategy->build_legal(task, choice.parameters);
}

Result<CompiledCode> code_of_choice(const schedule::Task& task, const Choice& choice,
                                    db::Database* database) {
  const target::Target& target = task.profile.target;
  const backend::Backend* wanted = target.is_cpu() ? nullptr : backend::wanted_backend();
  const backend::Backend& preferred = backend::preferred_backend_for(target);
  CompileOptions compiling;
  // Of what the program brings itself the id of the build says nothing.
  if (schedule::strategy_registry().is_built_in(schedule::find_strategy(choice.strategy)) &&
      backend::backend_registry().is_built_in(&preferred))
    compiling.asked = schedule::asked_hash(task);
  if (database != nullptr && !compiling.asked.empty()) {
    executable::Identity identity = schedule::identity_of(task, choice.strategy, choice.parameters);
    identity.asked = compiling.asked;
    if (auto stored = stored_code(identity, choice.cubin_key, wanted, target, *database))
      return std::move(*stored);
  }
  Result<schedule::KernelPlan> built = build_choice(task, choice);
  if (!built) return built.error();
  compiling.database = database;
  compiling.cubin_key = choice.cubin_key;
  // A tuned choice was timed with one backend's code.
  const backend::Backend* recorded =
      wanted == nullptr && database != nullptr ? backend_of_code(choice.cubin_key, *database) : nullptr;
  compiling.backend = recorded != nullptr ? recorded : &preferred;
  const auto shared = std::make_shared<const schedule::Task>(task);
  Result<CompiledPlan> compiled = compile_plan(shared, *built, compiling);
  if (!compiled && compiled.error().kind == ErrorKind::Missing && compiling.backend != &preferred) {
    compiling.backend = &preferred;  // whose compiler is not here any more
    compiled = compile_plan(shared, std::move(built).value(), compiling);
  }
  if (!compiled) return compiled.error();
  return CompiledCode(std::move(compiled).value());
}

Result<ReadyPlan> make_ready(const schedule::Task& task, const Machine& machine, Choice choice,
                             db::Database* database) {
  if (Status status = machine.need_device(); !status) return status.error();
  auto compiled = code_of_choice(task, choice, database);
  if (!compiled) return compiled.error();
  Result<std::unique_ptr<runtime::LoadedPlan>> plan = machine.device->load(compiled->executable);
  if (!plan) return plan.error();
  return ReadyPlan{std::move(choice), std::move(compiled).value(), std::move(plan).value()};
}

}  // namespace rondo::engine
