#include "engine/plan/ready_plan.h"

#include <fmt/format.h>

#include "compiler/schedule/plan/asked.h"
#include "compiler/schedule/plan/lower_plan.h"
#include "compiler/schedule/strategies.h"
#include "compiler/target/target.h"

namespace rondo::engine {

Result<schedule::KernelPlan> build_choice(const schedule::Task& task, const Choice& choice) {
  const schedule::Strategy* strategy = schedule::find_strategy(choice.strategy);
  if (strategy == nullptr)
    return Error{ErrorKind::Input, fmt::format("there is no strategy '{}'", choice.strategy)};
  return strategy->build_legal(task, choice.parameters);
}

namespace {

Result<CompiledCode> code_believed(const schedule::Task& task, const Choice& choice, db::Database* database,
                                   const Believed& believed, const BeforeCompiling& before) {
  const target::Target& target = task.profile.target;
  const backend::Backend* wanted = target.is_cpu() ? nullptr : backend::wanted_backend();
  const backend::Backend& preferred = backend::preferred_backend_for(target);
  CompileOptions compiling;
  compiling.believed = believed;
  compiling.before = before;
  // Of what the program brings itself the id of the build says nothing.
  if (schedule::strategy_registry().is_built_in(schedule::find_strategy(choice.strategy)) &&
      backend::backend_registry().is_built_in(&preferred))
    compiling.asked = schedule::asked_hash(task);
  if (database != nullptr && !compiling.asked.empty()) {
    executable::Identity identity = schedule::identity_of(task, choice.strategy, choice.parameters);
    identity.asked = compiling.asked;
    if (auto stored = stored_code(identity, choice.cubin_key, wanted, target, *database, believed))
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

// Why a compiler is missed though the database holds code.
Error with_foreign_code(Error error, const Choice& choice, db::Database* database) {
  if (database == nullptr || choice.cubin_key.empty()) return error;
  const Result<std::optional<db::Cubin>> stored = database->get_cubin(choice.cubin_key);
  if (!stored || !stored->has_value() || !(*stored)->foreign()) return error;
  error.message += fmt::format("; the database's code of it is {}", db::provenance((*stored)->origin));
  if (!(*stored)->blocked())
    error.message += ", and serves only once a trial process verified it here; it is never packed";
  return error;
}

}  // namespace

Result<CompiledCode> code_of_choice(const schedule::Task& task, const Choice& choice, db::Database* database,
                                    Foreign foreign, const BeforeCompiling& before) {
  Believed believed{choice.verified_code, choice.verified_image};
  Result<CompiledCode> code = code_believed(task, choice, database, believed, before);
  if (code || code.error().kind != ErrorKind::Missing) return code;
  if (foreign == Foreign::ToBeVerified && database != nullptr) {
    believed.any = true;
    if (Result<CompiledCode> others = code_believed(task, choice, database, believed, before)) return others;
  }
  return with_foreign_code(code.error(), choice, database);
}

Result<ReadyPlan> make_ready(const schedule::Task& task, const Machine& machine, Choice choice,
                             db::Database* database, const BeforeCompiling& before) {
  if (Status status = machine.need_device(); !status) return status.error();
  auto compiled = code_of_choice(task, choice, database, Foreign::ToBeVerified, before);
  if (!compiled) return compiled.error();
  ReadyPlan ready{std::move(choice), std::move(compiled).value(), nullptr};
  const Believed known{ready.choice.verified_code, ready.choice.verified_image};
  if (ready.compiled.foreign() && !known.takes(ready.compiled)) return ready;
  Result<std::unique_ptr<runtime::LoadedPlan>> plan = machine.device->load(ready.compiled.executable);
  if (!plan) return plan.error();
  ready.plan = std::move(plan).value();
  return ready;
}

Result<ReadyPlan> outline_of(const schedule::Task& task, Choice choice) {
  const Result<schedule::KernelPlan> built = build_choice(task, choice);
  if (!built) return built.error();
  Result<executable::Executable> executable = schedule::lower_plan(task, *built);
  if (!executable) return executable.error();
  ReadyPlan outline;
  outline.choice = std::move(choice);
  outline.compiled.executable = std::move(executable).value();
  return outline;
}

}  // namespace rondo::engine
