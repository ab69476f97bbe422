// Training as the C interface has it: two plans that share what is saved, in one piece or in parts of time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/plan/part_bindings.h"
#include "runtime/capi/launch/plan.h"
#include "tools/librondo/choose.h"

namespace rondo::capi {

// A tensor that both passes have.
struct Shared {
  std::string name;
  std::int32_t forward = 0, backward = 0;
  bool saved = false;
  std::int32_t role = 0;
};

struct TrainingObject {
  std::int32_t save = RONDO_SAVE_STATES;
  std::unique_ptr<PlanObject> forward, backward;
  std::vector<Shared> shared;
  std::int64_t every = 0;             // steps of a part; 0: one piece
  bool reversed = false;              // parts follow each other from the last steps on
  std::unique_ptr<PlanObject> again;  // of parts: saves again, given the outputs; may be none
  std::vector<schedule::KnownOutputs::Of> again_of;
};
template <>
struct HandleOf<TrainingObject> {
  using Handle = rondo_training;
  static constexpr HandleKind kind = HandleKind::Training;
};

std::unique_ptr<TrainingObject> make_training(const step::Cell& cell, TrainingPlans plans);

// Of training in parts: the plan that saves walks, too.
engine::PartBindings parts_of(const TrainingObject& training, std::int64_t batch, std::int64_t time);

}  // namespace rondo::capi
