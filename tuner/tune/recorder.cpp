// What a tuning run leaves in the database.
#include "compiler/support/version.h"
#include "engine/choice/choose.h"
#include "engine/machine/device_profile.h"
#include "tuner/tune/tune.h"

namespace rondo::tuner {

using db::TrialStatus;

db::Trial to_trial(const Row& row) {
  db::Trial trial;
  trial.strategy = row.candidate.strategy;
  trial.parameters = engine::parameters_to_json(row.candidate.parameters);
  trial.status = row.status;
  trial.verified = row.verified;
  trial.reason = row.reason;
  if (row.timing.samples > 0 && row.timing.median_s > 0) trial.median_ms = row.timing.median_s * 1e3;
  trial.spread = row.timing.spread;
  trial.samples = row.timing.samples;
  trial.registers = row.registers;
  trial.shared_bytes = row.shared_bytes;
  trial.spill_bytes = row.spill_bytes;
  trial.cubin_key = row.cubin_key;
  trial.rondo_version = kVersion;
  return trial;
}

TrialRecorder::TrialRecorder(db::Database* database, const schedule::Task& task,
                             const std::optional<db::Platform>& platform)
    : database_(database),
      platform_(platform),
      batch_(task.problem.sizes.batch),
      time_(task.problem.sizes.time) {
  if (database_ == nullptr) return;
  if (database_->access() != db::Access::ReadWrite) {
    trouble_ = "the database '" + database_->path() + "' is open for reading only";
    return;
  }
  // A device that is known stays as it was calibrated.
  const auto known = database_->get_device(task.profile.key);
  if (!known)
    trouble_ = known.error().message;
  else if (!known->has_value())
    keep(database_->put_device(engine::to_device(task.profile)));
  if (!trouble_.empty()) return;
  const step::Cell keyed = schedule::cell_with_constants(task.written, task.problem);
  keep(database_->put_cell({step::canonical_hash(keyed), task.written.name, task.written.source}));
  if (!trouble_.empty()) return;
  const Result<std::int64_t> id = database_->upsert_problem(engine::database_problem(task));
  if (!id)
    trouble_ = id.error().message;
  else
    problem_ = *id;
}

void TrialRecorder::keep(const Status& status) {
  if (!status && trouble_.empty()) trouble_ = status.error().message;
}

void TrialRecorder::record(const Row& row) {
  const bool timed = row.timing.samples > 0;
  if (!usable() || (row.status == TrialStatus::Ok && !timed)) return;
  db::Trial trial = to_trial(row);
  trial.created_at = created_at_;
  const Result<std::int64_t> id = database_->record_trial(problem_, trial);
  if (!id) trouble_ = id.error().message;
}

// Before the trial becomes best: who finds it there finds its proof too.
void TrialRecorder::verified(std::int64_t trial, const Row& row) {
  if (!platform_ || row.cubin_key.empty()) return;
  db::Verification verification;
  verification.trial = trial;
  verification.batch = batch_;
  verification.time = time_;
  verification.platform = *platform_;
  verification.code = row.cubin_key;
  verification.image = row.image;
  verification.passed = verification.timed = row.verified;
  const std::string at_shape = row.at_shape.empty() ? "" : "; " + row.at_shape;
  verification.summary = row.verified ? "verified when it was tuned" + at_shape : row.reason;
  keep(database_->record_verification(verification));
}

void TrialRecorder::refute(std::int64_t trial, const Row& row) {
  if (usable() && trial != 0 && row.status == TrialStatus::Wrong) verified(trial, row);
}

bool TrialRecorder::store_best(const Row& row, db::Replace replace, std::int64_t beaten) {
  db::Trial trial = to_trial(row);
  trial.created_at = created_at_;
  if (!usable() || !trial.may_be_best()) return false;
  const Result<std::int64_t> id = database_->record_trial(problem_, trial);
  if (!id) {
    trouble_ = id.error().message;
    return false;
  }
  verified(*id, row);
  const Result<bool> became = database_->set_best(*id, replace, {platform_ ? &*platform_ : nullptr, beaten});
  if (!became) trouble_ = became.error().message;
  return became && *became;
}

}  // namespace rondo::tuner
