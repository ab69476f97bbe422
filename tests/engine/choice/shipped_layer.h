// Shipped layers for tests: made of an export, as the program reads it.
#pragma once

#include "engine/choice/choose.h"
#include "engine/choice/shipped_layer.h"
#include "tests/engine/plan/cells.h"

namespace rondo::testing {

// Problems with a best trial each, on one board.
class ShippedText {
 public:
  explicit ShippedText(const target::Profile& profile) : profile_(profile) {
    db::Device device;
    device.key = profile.key;
    device.name = profile.name;
    device.profile = target::to_json(profile);
    device.origin = db::Origin::Measured;
    device.calibrated_at = 1;
    contents_.devices.push_back(device);
  }

  void add(const step::Cell& cell, const schedule::Problem& problem, const engine::Candidate& candidate,
           double ms = 1) {
    db::TunedProblem tuned;
    tuned.problem = engine::database_problem({cell, problem, profile_});
    db::Trial trial;
    trial.strategy = candidate.strategy;
    trial.parameters = engine::parameters_to_json(candidate.parameters);
    trial.verified = true;
    trial.median_ms = ms;
    trial.cubin_key = "key of elsewhere";
    trial.rondo_version = "0.0.9";
    trial.created_at = 1;
    tuned.trials.push_back(trial);
    tuned.best = 0;
    bool known = false;
    for (const db::Cell& each : contents_.cells) known = known || each.hash == tuned.problem.cell;
    if (!known) contents_.cells.push_back({tuned.problem.cell, cell.name, cell.source});
    contents_.problems.push_back(tuned);
  }

  std::string text() const { return db::to_json(contents_, db::Layout::LineAnItem).value(); }
  engine::ShippedLayer layer() const { return engine::layer_from(text(), "fixture").value(); }

 private:
  target::Profile profile_;
  db::Contents contents_;
};

}  // namespace rondo::testing
