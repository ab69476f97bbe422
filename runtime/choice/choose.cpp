#include "runtime/choice/choose.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "compiler/schedule/strategies.h"
#include "compiler/support/enum_text.h"
#include "compiler/target/target.h"

namespace rondo::runtime {

using schedule::Parameters;
using schedule::Problem;

namespace {

constexpr EnumText<ChoiceOrigin> kChoiceOrigins[] = {{ChoiceOrigin::Tuned, "tuned"},
                                                     {ChoiceOrigin::Nearest, "nearest tuned"},
                                                     {ChoiceOrigin::Model, "by model"}};
static_assert(is_total(kChoiceOrigins));

}  // namespace

const char* origin_name(ChoiceOrigin origin) { return to_text(kChoiceOrigins, origin); }

step::Cell cell_with_constants(const step::Cell& cell, const Problem& problem) {
  step::Cell result = cell;
  for (step::NamedConstant& constant : result.constants)
    if (const auto given = problem.constants.find(constant.name); given != problem.constants.end())
      constant.value = given->second;
  return result;
}

db::Problem database_problem(const step::Cell& cell, const Problem& problem, const target::Profile& profile) {
  db::Problem result;
  result.cell = step::canonical_hash(cell_with_constants(cell, problem));
  result.device = profile.key;
  result.arch = target::plain_arch(problem.arch);
  result.shape = {problem.sizes.batch, problem.sizes.time, problem.sizes.heads, problem.sizes.dim};
  result.dtype = kernel::storage_name(problem.storage);
  result.math = kernel::math_name(problem.math);
  result.pass = schedule::pass_key(problem);
  return result;
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

namespace {

std::size_t differences(const Parameters& a, const Parameters& b) {
  std::size_t count = 0;
  for (const auto& [name, value] : a) {
    const auto other = b.find(name);
    count += other == b.end() || other->second != value;
  }
  return count;
}

// The legal point closest to `wanted` within the alignment; none if there is no point at all.
std::optional<Candidate> closest(const step::Cell& cell, const Problem& problem,
                                 const target::Profile& profile, const Candidate& wanted, int alignment) {
  const Result<std::vector<Candidate>> candidates = ranked_candidates(cell, problem, profile, alignment);
  if (!candidates) return std::nullopt;
  const Candidate* best = nullptr;
  for (const Candidate& candidate : *candidates)  // ranked: the first of equals is the fastest by the model
    if (candidate.strategy == wanted.strategy &&
        (best == nullptr || differences(candidate.parameters, wanted.parameters) <
                                differences(best->parameters, wanted.parameters)))
      best = &candidate;
  return best == nullptr ? std::nullopt : std::optional(*best);
}

// A stored trial as a choice, bent to the alignment at hand. None if this version cannot build it.
std::optional<Choice> from_trial(const step::Cell& cell, const Problem& problem,
                                 const target::Profile& profile, const db::Trial& trial, ChoiceOrigin origin,
                                 int alignment) {
  std::optional<Parameters> parameters = recorded_parameters(trial);
  if (!parameters) return std::nullopt;
  Choice choice{trial.strategy,  std::move(*parameters),      origin,
                trial.cubin_key, trial.median_ms.value_or(0), ""};
  // Code of a version without some of the parameters may expect other arguments: it is looked up by source.
  // Where parameters have other names only, it is the same.
  if (choice.parameters.size() != parameters_from_json(trial.parameters)->size()) choice.cubin_key.clear();
  if (check_candidate(cell, problem, profile, choice.strategy, choice.parameters, alignment).ok())
    return choice;
  if (!check_candidate(cell, problem, profile, choice.strategy, choice.parameters).ok()) return std::nullopt;
  const std::optional<Candidate> variant =
      closest(cell, problem, profile, {choice.strategy, choice.parameters, {}}, alignment);
  if (!variant) return std::nullopt;
  choice.note = fmt::format(", changed from {} for tensors aligned to {} bytes",
                            schedule::print(choice.parameters), alignment);
  choice.parameters = variant->parameters;
  choice.cubin_key.clear();
  return choice;
}

std::optional<Choice> from_database(const step::Cell& cell, const Problem& problem,
                                    const target::Profile& profile, const ChooseOptions& options,
                                    std::string& trouble) {
  const db::Problem key = database_problem(cell, problem, profile);
  const Result<std::optional<db::Trial>> exact = options.database->find_best(key);
  if (!exact) {
    trouble = exact.error().message;
    return std::nullopt;
  }
  if (exact->has_value())
    if (auto choice = from_trial(cell, problem, profile, **exact, ChoiceOrigin::Tuned, options.alignment)) {
      choice->note = "tuned for this problem" + choice->note;
      return choice;
    }
  const Result<std::optional<db::Neighbour>> near = options.database->nearest(key);
  if (!near) {
    trouble = near.error().message;
    return std::nullopt;
  }
  if (!near->has_value()) return std::nullopt;
  const db::Problem& tuned = (*near)->problem;
  auto choice = from_trial(cell, problem, profile, (*near)->trial, ChoiceOrigin::Nearest, options.alignment);
  if (choice)
    choice->note =
        fmt::format("tuned for B={},T={} on {}{}", tuned.shape.B, tuned.shape.T, tuned.device, choice->note);
  return choice;
}

}  // namespace

Result<Choice> choose(const step::Cell& cell, const Problem& problem, const target::Profile& profile,
                      const ChooseOptions& options) {
  std::string trouble;
  if (options.database != nullptr)
    if (auto choice = from_database(cell, problem, profile, options, trouble)) return *choice;
  Result<Candidate> best = best_candidate(cell, problem, profile, options.alignment);
  if (!best) return best.error();
  std::string note = fmt::format("best by the model of {}", profile.name);
  if (!trouble.empty()) note += fmt::format(" (database: {})", trouble);
  return Choice{
      best->strategy, best->parameters, ChoiceOrigin::Model, "", best->estimate.seconds * 1e3, note};
}

}  // namespace rondo::runtime
