// A database with records of a problem, and a device that stands in for the GPU on which they are verified.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "engine/emit/emit_stages.h"
#include "engine/machine/device_profile.h"
#include "engine/plan/compile.h"
#include "engine/trust/trust.h"
#include "tests/engine/choice/shipped_layer.h"
#include "tests/engine/plan/cells.h"
#include "tuner/tune/tune.h"

namespace rondo::engine {

inline const db::Platform kHere{"0.1.0", "GPU-1", "13.0"};

// Chooses as on a GPU, and knows of each choice what the kernel would be and whether it is right.
class FakeWork final : public TrustWork {
 public:
  FakeWork(const step::Cell& cell, const schedule::Problem& problem, const target::Profile& profile)
      : cell_(cell), problem_(problem), profile_(profile) {}

  Result<Made> make(const ChooseOptions& options) override {
    Result<Choice> choice = choose({cell_, problem_, profile_}, options);
    if (!choice) return choice.error();
    ++made;
    const std::string own = "code of " + schedule::print(choice->parameters) + text;
    made_ = Made{*choice, code.empty() ? own : code, image, origin};
    return *made_;
  }
  Result<Outcome> verify() override {
    ++verified;
    if (error) return *error;
    const bool passed = made_->choice.parameters != wrong;
    return Outcome{passed, passed ? "all 3 tensors agree" : "h: error 1 (limit 0.1): WRONG"};
  }
  void keep(db::Database& database) override { kept_in = database.path(); }

  int made = 0, verified = 0;
  std::string text;             // of this version
  std::string code;             // the key under which the database has it; "": by the choice
  std::string image = "bytes";  // of the code
  std::string origin;           // of code of others
  schedule::Parameters wrong;   // whose kernel is wrong
  std::optional<Error> error;
  std::string kept_in;

 private:
  const step::Cell& cell_;
  const schedule::Problem& problem_;
  const target::Profile& profile_;
  std::optional<Made> made_;
};

class Trust : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              ("trust-" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    database_ = std::make_unique<db::Database>(db::Database::open((folder_ / "tuning.db").string()).value());
    ASSERT_TRUE(database_->put_device(engine::to_device(profile_)).ok());
    ASSERT_TRUE(database_->put_cell({step::canonical_hash(cell_), cell_.name, cell_.source}).ok());
    const auto ranked = ranked_candidates({cell_, problem_, profile_}, kFullAlignment, "stream");
    for (std::size_t i = 0; i < 3; ++i) points_.push_back((*ranked)[10 * (i + 1)].parameters);
  }
  void TearDown() override {
    database_.reset();
    std::filesystem::remove_all(folder_);
  }

  // As an import leaves it: a claim, with the key of code from elsewhere.
  void record(const schedule::Parameters& parameters, double ms, std::int64_t time = 0) {
    schedule::Problem problem = problem_;
    if (time != 0) problem.sizes.time = time;
    record_for(problem, {"stream", parameters, {}}, ms);
  }
  void record_for(const schedule::Problem& problem, const Candidate& candidate, double ms) {
    db::Trial trial;
    trial.strategy = candidate.strategy;
    trial.parameters = parameters_to_json(candidate.parameters);
    trial.verified = true;
    trial.median_ms = ms;
    trial.cubin_key = "from elsewhere";
    trial.rondo_version = "0.0.9";
    const auto id = database_->upsert_problem(database_problem({cell_, problem, profile_}));
    const auto recorded = database_->record_trial(*id, trial);
    ASSERT_TRUE(recorded.ok()) << recorded.error().message;
    ASSERT_TRUE(database_->set_best(*recorded, db::Replace::Always).ok());
  }
  Result<Choice> trusted(FakeWork& work, const db::Platform& platform = kHere, bool strict = false) {
    TrustOptions options;
    options.database = database_.get();
    options.keep = keep_;
    options.recorded = recorded_;
    options.strict = strict;
    options.later = later_;
    options.note = [this](const std::string& text) { notes_.push_back(text); };
    options.shipped = shipped_ ? &*shipped_ : nullptr;
    options.create = create_;
    notes_.clear();
    work.made = work.verified = 0;
    return trusted_choice(work, platform, problem_, options);
  }
  FakeWork work() { return {cell_, problem_, profile_}; }

  step::Cell cell_ = rondo::testing::library_cell("paragru");
  target::Profile profile_ = target::find_profile("h200").value();
  schedule::Problem problem_ = rondo::testing::problem_of(schedule::Pass::Forward);
  std::filesystem::path folder_;
  std::unique_ptr<db::Database> database_;
  bool keep_ = true, recorded_ = true, later_ = false;
  std::vector<schedule::Parameters> points_;
  std::vector<std::string> notes_;
  std::optional<ShippedLayer> shipped_;
  std::function<Result<db::Database>()> create_;

  void ship(const schedule::Problem& problem, const Candidate& candidate) {
    rondo::testing::ShippedText text(profile_);
    text.add(cell_, problem, candidate);
    shipped_ = text.layer();
  }
};

}  // namespace rondo::engine
