#include "engine/trust/trust.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>

namespace rondo::engine {

namespace {

void block(const TrustWork::Made& made, const std::string& why, const TrustOptions& options) {
  if (options.database == nullptr) return;
  if (options.keep || options.database->access() == db::Access::ReadWrite)
    (void)db::write_to(*options.database,
                       [&](db::Database& database) { return database.block_cubin(made.code, why); });
}

Status admit(TrustWork& work, const TrustWork::Made& made, const TrustOptions& options,
             std::string& summary) {
  const Result<TrustWork::Outcome> found = work.verify();
  summary = found ? found->summary : found.error().message;
  if (found && found->passed) return success();
  // A machine that cannot run trials says nothing of the code.
  const bool no_trial = !found && found.error().kind == ErrorKind::Missing;
  if (!no_trial) block(made, summary, options);
  return Error{no_trial ? ErrorKind::Missing : ErrorKind::Wrong,
               fmt::format("the code of {} {} is {}, and is not used: {}", made.choice.strategy,
                           schedule::print(made.choice.parameters), made.origin, summary),
               "install a compiler, and it is compiled here (`rondo doctor` says which)"};
}

class Trusting {
 public:
  Trusting(TrustWork& work, const db::Platform& platform, const schedule::Problem& problem,
           const TrustOptions& options)
      : work_(work), platform_(platform), problem_(problem), options_(options) {}

  Result<Choice> run() {
    ChooseOptions choosing = options_;
    choosing.platform = &platform_;
    for (;;) {
      const Result<TrustWork::Made> made = work_.make(choosing);
      if (!made) return made.error();
      Result<std::optional<Choice>> trusted = judge(*made);
      if (!trusted) return trusted.error();
      if (trusted->has_value()) return **trusted;
      choosing.refused.push_back(made->choice.trial);
      // The database may know it under a number of its own from now on.
      if (made->choice.shipped != nullptr) choosing.refused.push_back(made->choice.shipped->id);
    }
  }

 private:
  // The choice as it may be called; nothing where its kernel is wrong.
  Result<std::optional<Choice>> judge(const TrustWork::Made& made) {
    const Choice& choice = made.choice;
    const bool recorded = choice.trial != 0;
    if (recorded && made.code == choice.verified_code)
      if (made.image == choice.verified_image) return std::optional(choice);
    if (recorded && made.origin.empty())
      if (const auto known = verified_before(made)) return outcome(made, *known);
    if (options_.strict) return no_proof(choice);
    if (!made.origin.empty()) return verify_foreign(made);
    if (!recorded) return std::optional(choice);
    if (options_.later) return without_proof(made);
    return verify(made);
  }

  std::optional<Choice> without_proof(const TrustWork::Made& made) {
    if (options_.keep && options_.database != nullptr)
      (void)db::write_to(*options_.database, [&](db::Database& database) {
        work_.keep(database);
        return success();
      });
    note(unproven(made.choice) + ", and is used before it is verified");
    return called_unproven(made.choice);
  }

  static Choice called_unproven(Choice choice) {
    if (choice.origin != ChoiceOrigin::OtherPass && choice.shipped == nullptr)
      choice.origin = ChoiceOrigin::Elsewhere;
    choice.verified_code.clear();
    return choice;
  }

  // Of this very code, where the record's newest verification is of another: another text, or another form.
  std::optional<TrustWork::Outcome> verified_before(const TrustWork::Made& made) const {
    const bool alike = made.choice.origin == ChoiceOrigin::ShippedAlike;  // which is known by its code alone
    if (options_.database == nullptr || (made.choice.verified_code.empty() && !alike)) return std::nullopt;
    const auto all = options_.database->verifications(made.choice.trial);
    if (!all) return std::nullopt;
    for (const db::Verification& each : *all) {
      const bool same_code = each.code == made.code && each.image == made.image;
      if (same_code && each.pass == schedule::pass_key(problem_) && each.platform == platform_ &&
          each.batch == problem_.sizes.batch && each.time == problem_.sizes.time)
        return TrustWork::Outcome{each.passed, each.summary};
    }
    return std::nullopt;
  }

  // Code of others: it serves only if it was compared and agrees.
  Result<std::optional<Choice>> verify_foreign(const TrustWork::Made& made) {
    const Choice& choice = made.choice;
    std::string summary;
    if (const Status admitted = admit(work_, made, options_, summary); !admitted) {
      // Another choice takes its place, but in the place of the model's there is none.
      if (admitted.error().kind != ErrorKind::Wrong || choice.trial == 0) return admitted.error();
      note(admitted.error().message);
      return std::optional<Choice>();
    }
    const Status kept = choice.trial != 0 ? keep(made, {true, summary})
                                          : Status(Error{ErrorKind::Missing, "it is no record"});
    note(fmt::format("the code of {} {} is {}; a trial process verified it: {}; {}", choice.strategy,
                     schedule::print(choice.parameters), made.origin, summary,
                     kept ? "kept, the next use is free of it"
                          : "not kept, so every use will do it: " + kept.error().message));
    return std::optional(verified_here(choice, made.code, made.image));
  }

  std::optional<Choice> outcome(const TrustWork::Made& made, const TrustWork::Outcome& found) const {
    if (found.passed) return verified_here(made.choice, made.code, made.image);
    note(fmt::format("{} {} is recorded, and wrong here; it is passed over: {}", made.choice.strategy,
                     schedule::print(made.choice.parameters), found.summary));
    return std::nullopt;
  }

  Result<std::optional<Choice>> verify(const TrustWork::Made& made) {
    const auto begin = std::chrono::steady_clock::now();
    const Result<TrustWork::Outcome> found = work_.verify();
    if (!found && found.error().kind == ErrorKind::Input) {
      note(fmt::format("{}, and cannot be verified: {}", unproven(made.choice), found.error().message));
      return std::optional(called_unproven(made.choice));
    }
    if (!found) return found.error();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    const Status kept = keep(made, *found);
    note(fmt::format("{}, so verified on first use, which took {:.0f} ms: {}; {}", unproven(made.choice),
                     took.count(), found->summary,
                     kept ? "kept, the next use is free of it"
                          : "not kept, so every use will do it: " + kept.error().message));
    return outcome(made, *found);
  }

  Status keep(const TrustWork::Made& made, const TrustWork::Outcome& found) const {
    if (!options_.keep) return Error{ErrorKind::Database, "the database is open for reading only"};
    if (options_.database != nullptr)
      return keep_verification(work_, made, platform_, problem_, found, *options_.database);
    if (!options_.create) return Error{ErrorKind::Missing, "there is no database"};
    Result<db::Database> created = options_.create();
    if (!created) return created.error();
    return keep_verification(work_, made, platform_, problem_, found, *created);
  }

  // Why a choice that comes from a record has to be verified.
  static std::string unproven(const Choice& choice) {
    if (choice.shipped != nullptr) return origin_name(choice.origin);
    return origin_name(choice.origin == ChoiceOrigin::OtherPass ? choice.origin : ChoiceOrigin::Elsewhere);
  }

  static Error no_proof(const Choice& choice) {
    return {
        ErrorKind::Missing,
        fmt::format("{} {} was not verified on this machine with this version and driver ({}), and "
                    "strict is asked for",
                    choice.strategy, schedule::print(choice.parameters), choice.note),
        choice.origin == ChoiceOrigin::Pinned
            ? "`rondo db import` what it was tuned with: that is then verified and kept; or do not ask for "
              "strict (--strict), and it runs unverified"
        : choice.origin == ChoiceOrigin::Model
            ? "`rondo tune` finds a choice with its proof; `rondo verify` compares this one with the "
              "reference"
            : "tune the problem here, or do not ask for strict (--strict) once: what is recorded is then "
              "verified and kept"};
  }

  void note(const std::string& text) const {
    if (options_.note) options_.note(text);
  }

  TrustWork& work_;
  const db::Platform& platform_;
  const schedule::Problem& problem_;
  const TrustOptions& options_;
};

}  // namespace

Result<Choice> trusted_choice(TrustWork& work, const db::Platform& platform, const schedule::Problem& problem,
                              const TrustOptions& options) {
  return Trusting(work, platform, problem, options).run();
}

Status admit_foreign(TrustWork& work, const TrustWork::Made& made, const TrustOptions& options) {
  std::string summary;
  return admit(work, made, options, summary);
}

namespace {

Status keep_in(TrustWork& work, const TrustWork::Made& made, const db::Platform& platform,
               const schedule::Problem& problem, const TrustWork::Outcome& outcome, db::Database& database) {
  work.keep(database);
  db::Verification verification;
  verification.trial = made.choice.trial;
  if (made.choice.shipped != nullptr && made.choice.trial == made.choice.shipped->id) {
    const Result<std::int64_t> stored = keep_shipped(*made.choice.shipped, database);
    if (!stored) return stored.error();
    verification.trial = *stored;
  }
  verification.pass = schedule::pass_key(problem);
  verification.batch = problem.sizes.batch;
  verification.time = problem.sizes.time;
  verification.platform = platform;
  verification.code = made.code;
  verification.image = made.image;
  verification.passed = outcome.passed;
  verification.summary = outcome.summary;
  return database.record_verification(verification);
}

}  // namespace

Status keep_verification(TrustWork& work, const TrustWork::Made& made, const db::Platform& platform,
                         const schedule::Problem& problem, const TrustWork::Outcome& outcome,
                         db::Database& database) {
  return db::write_to(database, [&](db::Database& writer) {
    return keep_in(work, made, platform, problem, outcome, writer);
  });
}

}  // namespace rondo::engine
