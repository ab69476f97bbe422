#include "engine/choice/recorded.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule/strategies.h"
#include "engine/choice/remembered.h"

namespace rondo::engine {

using schedule::Parameters;
using schedule::Problem;

Problem ModelsOpinion::shaped(std::int64_t batch, std::int64_t time) const {
  Problem there = task_.problem;
  there.sizes.batch = batch;
  there.sizes.time = time;
  return there;
}

const Result<Candidate>& ModelsOpinion::best() {
  return best_at(task_.problem.sizes.batch, task_.problem.sizes.time);
}

const Result<Candidate>& ModelsOpinion::best_at(std::int64_t batch, std::int64_t time) {
  const auto known = bests_.find({batch, time});
  if (known != bests_.end()) return known->second;
  return bests_.emplace(std::pair{batch, time}, remembered_best(task_.with(shaped(batch, time)), options_))
      .first->second;
}

schedule::Estimate ModelsOpinion::of(const Choice& choice, const Problem& problem) const {
  return schedule::find_strategy(choice.strategy)->cost(task_.with(problem), choice.parameters);
}

double ModelsOpinion::trusted_factor(const Choice& choice) {
  return choice.strategy == best()->strategy ? schedule::find_strategy(choice.strategy)->model_error()
                                             : kModelsFactor;
}

std::string ModelsOpinion::objection(const Choice& choice, const std::string& tuned_for) {
  if (!best()) return best().error().message;
  const schedule::Estimate here = of(choice, task_.problem);
  const double factor = here.seconds / best()->estimate.seconds;
  if (!(factor <= trusted_factor(choice))) return fmt::format("{:.2f} times the model's best", factor);
  // The compiler found that it does not spill there.
  if (here.may_spill && !best()->estimate.may_spill && !may_spill_in(choice, tuned_for))
    return "may spill by the model";
  return "";
}

// A tuned choice may be better than the model's best where the model is wrong about both, so it is held
// against what the model says of it where it was tuned.
std::string ModelsOpinion::outgrown(const Choice& choice, std::int64_t batch, std::int64_t time) {
  if (!best()) return best().error().message;
  const double factor = of(choice, task_.problem).seconds / best()->estimate.seconds;
  const double within = trusted_factor(choice);
  if (factor <= within) return "";
  const Result<Candidate>& best_there = best_at(batch, time);
  if (!best_there) return "";
  const double before = of(choice, shaped(batch, time)).seconds / best_there->estimate.seconds;
  if (factor <= within * std::max(1.0, before)) return "";
  return fmt::format("{:.2f} times the model's best, and {:.2f} times where it was tuned", factor, before);
}

bool ModelsOpinion::may_spill_in(const Choice& choice, const std::string& pass) const {
  for (const Problem& other : problems_alike(task_.problem))
    if (schedule::pass_key(other) == pass) return of(choice, other).may_spill;
  return false;
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

// Another batch may want other teams of blocks, and a sequence of another length another strategy.
bool far_apart(const db::Shape& a, const db::Shape& b) {
  constexpr std::int64_t kTimes = 4;
  return a.B != b.B || std::max(a.T, b.T) / kTimes >= std::min(a.T, b.T);
}

std::string shape_of(const db::Problem& tuned) {
  return fmt::format("B={},T={} on {}", tuned.shape.B, tuned.shape.T, tuned.device);
}

// " by rondo 0.1.0 on 2026-11-20", as far as the trial says.
std::string by_whom(const db::Trial& trial) {
  std::string text;
  if (!trial.rondo_version.empty()) text += " by rondo " + trial.rondo_version;
  constexpr std::int64_t kYear10000 = 253'402'300'800;  // an import may say anything
  if (trial.created_at > 0 && trial.created_at < kYear10000)
    text += fmt::format(" on {:%Y-%m-%d}", fmt::gmtime(trial.created_at));
  return text;
}

}  // namespace

// The legal point closest to `wanted` within the alignment; none if there is no point at all.
std::optional<Candidate> RecordedChoices::closest(const Choice& wanted) const {
  const Result<std::vector<Candidate>> candidates = ranked_candidates(task_, options_.alignment);
  if (!candidates) return std::nullopt;
  const Candidate* best = nullptr;
  for (const Candidate& candidate : *candidates)  // ranked: the first of equals is the fastest by the model
    if (candidate.strategy == wanted.strategy &&
        (best == nullptr || differences(candidate.parameters, wanted.parameters) <
                                differences(best->parameters, wanted.parameters)))
      best = &candidate;
  return best == nullptr ? std::nullopt : std::optional(*best);
}

std::optional<Choice> RecordedChoices::buildable(const db::Trial& trial) {
  std::optional<Parameters> parameters = recorded_parameters(trial);
  if (!parameters) return std::nullopt;
  Choice choice;
  choice.strategy = trial.strategy;
  choice.parameters = std::move(*parameters);
  choice.cubin_key = trial.cubin_key;
  choice.expected_ms = trial.median_ms.value_or(0);
  choice.trial = trial.id;
  // Code of a version without some of the parameters may expect other arguments: it is looked up by source.
  // Where parameters have other names only, it is the same.
  if (choice.parameters.size() != parameters_from_json(trial.parameters)->size()) choice.cubin_key.clear();
  if (check_(choice.strategy, choice.parameters, options_.alignment).ok()) return choice;
  if (!check_(choice.strategy, choice.parameters).ok()) return std::nullopt;
  const std::optional<Candidate> variant = closest(choice);
  if (!variant) return std::nullopt;
  choice.note = fmt::format(", changed from {} for tensors aligned to {} bytes",
                            schedule::print(choice.parameters), options_.alignment);
  choice.parameters = variant->parameters;
  choice.cubin_key.clear();
  return choice;
}

// The code that was verified for this pass.
void RecordedChoices::with_proof(const db::Neighbour& near, Choice& choice) {
  if (!near.verification) return;
  choice.verified_code = near.verification->code;
  choice.verified_image = near.verification->image;
  // Not where the code is a variant's, which has to be looked up.
  if (choice.parameters == recorded_parameters(near.trial)) choice.cubin_key = near.verification->code;
}

std::optional<Choice> RecordedChoices::of_this_pass(const db::Neighbour& near, const db::Problem& key,
                                                    Choice choice) const {
  const bool exact = near.problem == key;
  const bool elsewhere = options_.platform != nullptr && !near.verification;
  choice.once_verified = exact ? ChoiceOrigin::Tuned : ChoiceOrigin::Nearest;
  choice.origin = elsewhere ? ChoiceOrigin::Elsewhere : choice.once_verified;
  choice.note =
      fmt::format("{} for {}{}{}", elsewhere ? "recorded elsewhere" : "tuned",
                  exact ? "this problem" : shape_of(near.problem), by_whom(near.trial), choice.note);
  with_proof(near, choice);
  return choice;
}

std::optional<Choice> RecordedChoices::of_other_pass(const db::Neighbour& near, Choice choice,
                                                     std::string& trouble) {
  const std::string where = fmt::format("tuned for {}, {}", schedule::pass_title(near.problem.pass),
                                        shape_of(near.problem) + by_whom(near.trial) + choice.note);
  if (const std::string objection = model_.objection(choice, near.problem.pass); !objection.empty()) {
    if (trouble.empty()) trouble = fmt::format("not what is {}: {}", where, objection);
    return std::nullopt;
  }
  choice.origin = choice.once_verified = ChoiceOrigin::OtherPass;
  choice.note = where;
  choice.cubin_key.clear();  // the other pass's code
  with_proof(near, choice);
  choice.expected_ms = model_.of(choice, task_.problem).seconds * 1e3;
  return choice;
}

RecordedChoices::Record RecordedChoices::shipped(const ShippedChoice& choice, const db::Problem& key) const {
  Record record{{choice.problem, choice.trial, db::distance(choice.problem, key), std::nullopt}, &choice};
  if (options_.database == nullptr) return record;
  const auto known = options_.database->find_trial(choice.problem, choice.trial, key, options_.platform);
  if (!known || !known->has_value()) return record;
  record.near.trial.id = (*known)->trial.id;
  // Parameters make other code of another problem: what was verified is found by the code then.
  if (db::alike(choice.problem, key)) record.near.verification = (*known)->verification;
  return record;
}

std::optional<Choice> RecordedChoices::of_shipped(const Record& record, const db::Problem& key, Choice choice,
                                                  std::string& trouble) {
  const ShippedChoice& from = *record.shipped;
  const bool alike = db::alike(from.problem, key);
  const db::Shape& s = from.problem.shape;
  const std::string where =
      alike ? shape_of(from.problem)
            : fmt::format("{} {}, {}, B={},T={},H={},D={} on {}", from.cell.name, from.problem.dtype,
                          schedule::pass_title(from.problem.pass), s.B, s.T, s.H, s.D, from.problem.device);
  if (!alike) {
    if (const std::string objection = model_.objection(choice, from.problem.pass); !objection.empty()) {
      if (trouble.empty()) trouble = fmt::format("not what is shipped for {}: {}", where, objection);
      return std::nullopt;
    }
    choice.cubin_key.clear();  // another problem's code
    choice.expected_ms = model_.of(choice, task_.problem).seconds * 1e3;
  }
  const bool exact = from.problem == key;
  choice.shipped = &from;
  choice.origin = choice.once_verified = exact   ? ChoiceOrigin::Shipped
                                         : alike ? ChoiceOrigin::NearestShipped
                                                 : ChoiceOrigin::ShippedAlike;
  choice.note = fmt::format("shipped{}, verified on {}{}{}", exact ? "" : " for " + where, from.device.name,
                            by_whom(from.trial), choice.note);
  with_proof(record.near, choice);
  return choice;
}

std::optional<Choice> RecordedChoices::of(const Record& record, const db::Problem& key,
                                          std::string& trouble) {
  const db::Neighbour& near = record.near;
  const std::vector<std::int64_t>& refused = options_.refused;
  if (std::ranges::count(refused, near.trial.id) > 0) return std::nullopt;
  if (near.verification && !near.verification->passed) {
    const std::string where = near.problem == key ? "this problem" : shape_of(near.problem);
    trouble =
        near.distance.other_pass
            ? fmt::format("what is tuned for {}, {} is wrong here: {}",
                          schedule::pass_title(near.problem.pass), where, near.verification->summary)
            : fmt::format("what is recorded for {} is wrong here: {}", where, near.verification->summary);
    return std::nullopt;
  }
  std::optional<Choice> choice = buildable(near.trial);
  if (!choice) return std::nullopt;
  if (db::alike(near.problem, key) && far_apart(near.problem.shape, key.shape))
    if (const std::string objection = model_.outgrown(*choice, near.problem.shape.B, near.problem.shape.T);
        !objection.empty()) {
      if (trouble.empty())
        trouble = fmt::format("not what is tuned for {}: {}", shape_of(near.problem), objection);
      return std::nullopt;
    }
  if (record.shipped != nullptr) return of_shipped(record, key, std::move(*choice), trouble);
  return near.distance.other_pass ? of_other_pass(near, std::move(*choice), trouble)
                                  : of_this_pass(near, key, std::move(*choice));
}

std::optional<Choice> RecordedChoices::first(std::string& trouble) {
  const db::Problem key = database_problem(task_);
  // Its own first, which mostly is all that is wanted: the others may be many.
  if (auto choice = exact(key, trouble)) return choice;
  if (auto choice = nearest(key, trouble)) return choice;
  return like(key, trouble);
}

std::optional<Choice> RecordedChoices::exact(const db::Problem& key, std::string& trouble) {
  if (options_.database != nullptr) {
    const Result<std::optional<db::Neighbour>> own = options_.database->find_best(key, options_.platform);
    if (own && own->has_value())
      if (auto choice = of({**own}, key, trouble)) return choice;
  }
  const ShippedChoice* own = options_.shipped != nullptr ? options_.shipped->exact(key) : nullptr;
  return own != nullptr ? of(shipped(*own, key), key, trouble) : std::nullopt;
}

std::optional<Choice> RecordedChoices::nearest(const db::Problem& key, std::string& trouble) {
  std::vector<Record> records;
  if (options_.database != nullptr) {
    const Result<std::vector<db::Neighbour>> known =
        options_.database->neighbours(key, passes_alike(task_.problem), options_.platform);
    if (!known) trouble = "database: " + known.error().message;
    if (known)
      for (const db::Neighbour& near : *known)
        if (near.problem != key) records.push_back({near});
  }
  if (options_.shipped != nullptr)
    for (const ShippedChoice* choice : options_.shipped->nearest(key))
      records.push_back(shipped(*choice, key));
  std::ranges::stable_sort(
      records, [](const Record& a, const Record& b) { return a.near.distance < b.near.distance; });
  for (const Record& record : records)
    if (auto choice = of(record, key, trouble)) return choice;
  return std::nullopt;
}

std::optional<Choice> RecordedChoices::like(const db::Problem& key, std::string& trouble) {
  if (options_.shipped == nullptr || options_.shipped->empty()) return std::nullopt;
  std::size_t asked = 0;
  for (const ShippedChoice* choice :
       options_.shipped->like(key, passes_alike(task_.problem), structure_key(task_.written),
                              options_.shipped->choices().size())) {
    // Tiles that fit one number of channels fit another badly. Of 65 pairs of problems of stream on an H200
    // such a choice took 1.08 times the best measured, at most 1.33, and the model's own 1.04, at most 1.29.
    if (choice->problem.shape.D != key.shape.D) continue;
    if (asked++ == kMostAlike) break;
    if (auto taken = of(shipped(*choice, key), key, trouble)) return taken;
  }
  return std::nullopt;
}

}  // namespace rondo::engine
