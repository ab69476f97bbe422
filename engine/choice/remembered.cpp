#include "engine/choice/remembered.h"

#include <chrono>
#include <optional>

#include "compiler/schedule/plan/asked.h"
#include "compiler/schedule/strategies.h"
#include "tuning_db/cache_key.h"

namespace rondo::engine {
namespace {

// Another process that writes is not waited for.
constexpr db::OpenOptions kAtOnce{.access = db::Access::ReadWrite,
                                  .busy_timeout = std::chrono::milliseconds(0)};

// One point, checked and priced as if it had been looked for.
std::optional<Candidate> priced(const schedule::Task& task, int alignment, const db::Opinion& opinion) {
  const std::optional<schedule::Parameters> parameters = parameters_from_json(opinion.parameters);
  if (!parameters || !check_candidate(task, opinion.strategy, *parameters, alignment)) return std::nullopt;
  return Candidate{opinion.strategy, *parameters,
                   schedule::find_strategy(opinion.strategy)->cost(task, *parameters)};
}

std::optional<Candidate> recalled(const schedule::Task& task, int alignment, db::Database& database,
                                  const std::string& model, const std::string& asked) {
  const Result<std::optional<db::Opinion>> known = database.find_opinion(model, asked);
  if (!known || !known->has_value()) return std::nullopt;
  std::optional<Candidate> candidate = priced(task, alignment, **known);
  return candidate && candidate->estimate.seconds == (*known)->seconds ? candidate : std::nullopt;
}

}  // namespace

Result<Candidate> look_at_all(const schedule::Task& task, int alignment) {
  return best_candidate(task, alignment);
}

std::string model_id(const std::string& sources) {
  std::string names;
  for (const schedule::Strategy* strategy : schedule::strategies()) {
    if (!schedule::strategy_registry().is_built_in(strategy)) return "";
    names += strategy->name() + " ";
  }
  return db::hash_fields("rondo-model-1", {sources, names});
}

std::string asked_of_model(const schedule::Task& task, int alignment) {
  return db::hash_fields("rondo-opinion-1", {schedule::asked_hash(task), std::to_string(alignment)});
}

Result<Candidate> remembered_best(const schedule::Task& task, const ChooseOptions& options,
                                  const Look& look) {
  const std::string model = options.database != nullptr ? model_id() : "";
  if (model.empty()) return look(task, options.alignment);
  const std::string asked = asked_of_model(task, options.alignment);
  if (auto known = recalled(task, options.alignment, *options.database, model, asked)) return *known;
  Result<Candidate> best = look(task, options.alignment);
  if (best && options.keep)
    (void)db::write_to(
        *options.database,
        [&](db::Database& database) {
          return database.put_opinion(
              {model, asked, best->strategy, parameters_to_json(best->parameters), best->estimate.seconds});
        },
        kAtOnce);
  return best;
}

}  // namespace rondo::engine
