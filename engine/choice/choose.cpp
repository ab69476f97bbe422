#include "engine/choice/choose.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "compiler/schedule/strategies.h"
#include "compiler/support/enum_text.h"
#include "engine/choice/recorded.h"

namespace rondo::engine {

using schedule::Parameters;
using schedule::Problem;
using schedule::Task;

namespace {

constexpr EnumText<ChoiceOrigin> kChoiceOrigins[] = {
    {ChoiceOrigin::Tuned, "tuned"},
    {ChoiceOrigin::Nearest, "nearest tuned"},
    {ChoiceOrigin::OtherPass, "tuned for another pass"},
    {ChoiceOrigin::Model, "by model"},
    {ChoiceOrigin::Elsewhere, "recorded elsewhere"},
    {ChoiceOrigin::Pinned, "pinned"},
    {ChoiceOrigin::Shipped, "shipped"},
    {ChoiceOrigin::NearestShipped, "nearest shipped"},
    {ChoiceOrigin::ShippedAlike, "shipped for a like problem"}};
static_assert(is_total(kChoiceOrigins));

}  // namespace

std::vector<Problem> problems_alike(const Problem& problem) {
  using schedule::Pass;
  std::vector<Problem> result;
  for (Problem& other : schedule::in_all_passes(problem)) {
    const bool same_way = (other.pass == Pass::Backward) == (problem.pass == Pass::Backward);
    if (same_way && schedule::pass_key(other) != schedule::pass_key(problem))
      result.push_back(std::move(other));
  }
  return result;
}

const char* origin_name(ChoiceOrigin origin) { return to_text(kChoiceOrigins, origin); }

std::string label(const Choice& choice) {
  return choice.proven() ? origin_name(choice.origin)
                         : fmt::format("{}, not verified", origin_name(choice.origin));
}

db::Problem database_problem(const Task& task) {
  db::Problem result;
  result.cell = step::canonical_hash(schedule::cell_with_constants(task.written, task.problem));
  result.device = task.profile.key;
  result.arch = task.profile.arch();
  result.shape = {task.problem.sizes.batch, task.problem.sizes.time, task.problem.sizes.heads,
                  task.problem.sizes.dim};
  result.dtype = kernel::storage_name(task.problem.storage);
  result.math = kernel::math_name(task.problem.math);
  result.pass = schedule::pass_key(task.problem);
  return result;
}

std::vector<std::string> passes_alike(const Problem& problem) {
  std::vector<std::string> keys;
  for (const Problem& other : problems_alike(problem)) keys.push_back(schedule::pass_key(other));
  return keys;
}

std::string parameters_to_json(const Parameters& parameters) { return nlohmann::json(parameters).dump(); }

std::optional<Parameters> parameters_from_json(const std::string& text) {
  const nlohmann::json parsed = nlohmann::json::parse(text, nullptr, false);
  if (!parsed.is_object()) return std::nullopt;
  Parameters result;
  for (const auto& [name, value] : parsed.items()) {
    if (!value.is_number_integer()) return std::nullopt;
    result[name] = value.get<std::int64_t>();
  }
  return result;
}

std::optional<Parameters> recorded_parameters(const std::string& strategy, const std::string& recorded) {
  std::optional<Parameters> parameters = parameters_from_json(recorded);
  const schedule::Strategy* known = schedule::find_strategy(strategy);
  if (!parameters || known == nullptr) return parameters;
  return known->completed(std::move(*parameters));
}

std::optional<Parameters> recorded_parameters(const db::Trial& trial) {
  return recorded_parameters(trial.strategy, trial.parameters);
}

Choice verified_here(Choice choice, const std::string& code, const std::string& image) {
  choice.origin = choice.once_verified;
  choice.verified_code = code;
  choice.verified_image = image;
  choice.note += ", verified here";
  return choice;
}

Result<Choice> choose(const Task& task, const ChooseOptions& options) {
  if (options.pinned != nullptr) return pinned_choice(task, options);
  std::string trouble;
  ModelsOpinion model(task, options);
  if (options.recorded && (options.database != nullptr || options.shipped != nullptr))
    if (auto choice = RecordedChoices(task, options, model).first(trouble)) return *choice;
  const Result<Candidate>& best = model.best();
  if (!best) return best.error();
  std::string note = fmt::format("best by the model of {}", task.profile.name);
  if (!trouble.empty()) note += fmt::format(" ({})", trouble);
  return Choice{
      best->strategy, best->parameters, ChoiceOrigin::Model, "", best->estimate.seconds * 1e3, note};
}

}  // namespace rondo::engine
