#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "engine/choice/recorded.h"

namespace rondo::engine {
namespace {

const char* const kHint =
    "`rondo db lock` writes what a database holds; without a lock file the choice is free";

// Looks for what the database knows of a pinned choice: its trial, its code, and whether that was verified.
Status add_record(Choice& choice, const db::Problem& key, const ChooseOptions& options) {
  const auto known = options.database->neighbours(key, {}, options.platform);
  if (!known) return success();  // it only knows more of the choice
  for (const db::Neighbour& near : *known) {
    if (near.trial.strategy != choice.strategy || recorded_parameters(near.trial) != choice.parameters)
      continue;
    const std::vector<std::int64_t>& refused = options.refused;
    const bool wrong = near.verification && !near.verification->passed;
    if (wrong || std::ranges::count(refused, near.trial.id) > 0)
      return Error{ErrorKind::Wrong,
                   fmt::format("what '{}' pins was found wrong here{}{}", options.pinned->origin(),
                               wrong ? ": " : "", wrong ? near.verification->summary : ""),
                   "`rondo verify` says what is wrong; " + std::string(kHint)};
    choice.trial = near.trial.id;
    choice.expected_ms = near.trial.median_ms.value_or(0);
    choice.cubin_key = near.verification ? near.verification->code : near.trial.cubin_key;
    if (near.verification) {
      choice.verified_code = near.verification->code;
      choice.verified_image = near.verification->image;
    }
    return success();
  }
  return success();
}

}  // namespace

Result<Choice> pinned_choice(const schedule::Task& task, const ChooseOptions& options) {
  const db::Problem key = database_problem(task);
  const std::string& origin = options.pinned->origin();
  const db::PinnedChoice* pinned = options.pinned->nearest(key);
  if (pinned == nullptr)
    return Error{ErrorKind::Missing,
                 fmt::format("'{}' pins no choice for {} {}", origin, task.written.name, db::describe(key)),
                 kHint};
  const std::optional<schedule::Parameters> parameters =
      recorded_parameters(pinned->strategy, pinned->parameters);
  Choice choice;
  choice.strategy = pinned->strategy;
  choice.origin = choice.once_verified = ChoiceOrigin::Pinned;
  choice.parameters = parameters.value_or(schedule::Parameters{});
  choice.note = fmt::format("pinned by '{}' for {}{}", std::filesystem::path(origin).filename().string(),
                            pinned->problem == key ? "this problem" : db::describe(pinned->problem),
                            pinned->rondo_version.empty() ? "" : ", tuned by rondo " + pinned->rondo_version);
  const Status buildable = check_candidate(task, choice.strategy, choice.parameters, options.alignment);
  if (!parameters || !buildable)
    return Error{ErrorKind::Input,
                 fmt::format("what '{}' pins for {} {} cannot be built: {}", origin, task.written.name,
                             db::describe(key),
                             !parameters ? "its parameters are no integers" : buildable.error().message),
                 kHint};
  if (options.database != nullptr)
    if (Status status = add_record(choice, key, options); !status) return status.error();
  return choice;
}

}  // namespace rondo::engine
