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
                                                     {ChoiceOrigin::OtherPass, "tuned for another pass"},
                                                     {ChoiceOrigin::Model, "by model"}};
static_assert(is_total(kChoiceOrigins));

// The problem in the other passes that share what is tuned.
std::vector<Problem> problems_alike(const Problem& problem) {
  using schedule::Pass;
  const bool backward = problem.pass == Pass::Backward;
  std::vector<Problem> result;
  for (const Pass pass : {Pass::Forward, Pass::ForwardSave, Pass::Backward})
    for (const bool save_products : {false, true}) {
      Problem other = problem;
      other.pass = pass;
      other.save_products = save_products;
      const bool same_way = (pass == Pass::Backward) == backward;
      const bool one_of_two = pass != Pass::Forward || !save_products;  // forward alone saves nothing
      if (same_way && one_of_two && schedule::pass_key(other) != schedule::pass_key(problem))
        result.push_back(std::move(other));
    }
  return result;
}

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

// What the model thinks of a problem, worked out when it is first asked.
class ModelsOpinion {
 public:
  ModelsOpinion(const step::Cell& cell, const Problem& problem, const target::Profile& profile, int alignment)
      : cell_(cell), problem_(problem), profile_(profile), alignment_(alignment) {}

  const Result<Candidate>& best() {
    if (!best_) best_ = best_candidate(cell_, problem_, profile_, alignment_);
    return *best_;
  }
  schedule::Estimate of(const Choice& choice, const Problem& problem) const {
    return schedule::find_strategy(choice.strategy)->cost(cell_, problem, choice.parameters, profile_);
  }
  // Why the choice, which was tuned for the pass `tuned_for`, is not taken over; "" where nothing speaks
  // against it.
  std::string objection(const Choice& choice, const std::string& tuned_for) {
    if (!best()) return best().error().message;
    const schedule::Estimate here = of(choice, problem_);
    const double factor = here.seconds / best()->estimate.seconds;
    if (!(factor <= kOtherPassFactor)) return fmt::format("{:.2f} times the model's best", factor);
    // The compiler found that it does not spill there.
    if (here.may_spill && !best()->estimate.may_spill && !may_spill_in(choice, tuned_for))
      return "may spill by the model";
    return "";
  }

 private:
  bool may_spill_in(const Choice& choice, const std::string& pass) const {
    for (const Problem& other : problems_alike(problem_))
      if (schedule::pass_key(other) == pass) return of(choice, other).may_spill;
    return false;
  }

  const step::Cell& cell_;
  const Problem& problem_;
  const target::Profile& profile_;
  int alignment_;
  std::optional<Result<Candidate>> best_;
};

// A neighbour's trial as the choice for this problem; what speaks against it goes to `trouble`.
std::optional<Choice> from_neighbour(const step::Cell& cell, const Problem& problem,
                                     const target::Profile& profile, const db::Neighbour& near,
                                     const db::Problem& key, int alignment, ModelsOpinion& model,
                                     std::string& trouble) {
  const db::Problem& tuned = near.problem;
  const ChoiceOrigin origin = tuned == key               ? ChoiceOrigin::Tuned
                              : near.distance.other_pass ? ChoiceOrigin::OtherPass
                                                         : ChoiceOrigin::Nearest;
  auto choice = from_trial(cell, problem, profile, near.trial, origin, alignment);
  if (!choice) return std::nullopt;
  const std::string shape =
      fmt::format("B={},T={} on {}", tuned.shape.B, tuned.shape.T, tuned.device) + choice->note;
  switch (origin) {
    case ChoiceOrigin::Tuned: choice->note = "tuned for this problem" + choice->note; return choice;
    case ChoiceOrigin::Nearest: choice->note = "tuned for " + shape; return choice;
    case ChoiceOrigin::OtherPass:
    case ChoiceOrigin::Model: break;
  }
  const std::string where = fmt::format("tuned for {}, {}", schedule::pass_title(tuned.pass), shape);
  if (const std::string objection = model.objection(*choice, tuned.pass); !objection.empty()) {
    if (trouble.empty()) trouble = fmt::format("not what is {}: {}", where, objection);
    return std::nullopt;
  }
  choice->note = where;
  choice->cubin_key.clear();
  choice->expected_ms = model.of(*choice, problem).seconds * 1e3;
  return choice;
}

std::optional<Choice> from_database(const step::Cell& cell, const Problem& problem,
                                    const target::Profile& profile, const ChooseOptions& options,
                                    ModelsOpinion& model, std::string& trouble) {
  const db::Problem key = database_problem(cell, problem, profile);
  const Result<std::vector<db::Neighbour>> known = options.database->neighbours(key, passes_alike(problem));
  if (!known) {
    trouble = "database: " + known.error().message;
    return std::nullopt;
  }
  for (const db::Neighbour& near : *known)
    if (auto choice = from_neighbour(cell, problem, profile, near, key, options.alignment, model, trouble))
      return choice;
  return std::nullopt;
}

}  // namespace

Result<Choice> choose(const step::Cell& cell, const Problem& problem, const target::Profile& profile,
                      const ChooseOptions& options) {
  std::string trouble;
  ModelsOpinion model(cell, problem, profile, options.alignment);
  if (options.database != nullptr)
    if (auto choice = from_database(cell, problem, profile, options, model, trouble)) return *choice;
  const Result<Candidate>& best = model.best();
  if (!best) return best.error();
  std::string note = fmt::format("best by the model of {}", profile.name);
  if (!trouble.empty()) note += fmt::format(" ({})", trouble);
  return Choice{
      best->strategy, best->parameters, ChoiceOrigin::Model, "", best->estimate.seconds * 1e3, note};
}

}  // namespace rondo::runtime
