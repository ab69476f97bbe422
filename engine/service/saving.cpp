#include "engine/service/saving.h"

namespace rondo::engine {

namespace {

bool all_measured(const TrainingTime& time) {
  return time.forward.measured > 0 && time.backward.measured > 0;
}

double sum(const TrainingTime& time, double PassTime::*of) { return time.forward.*of + time.backward.*of; }

}  // namespace

SaveComparison compare_saving(const TrainingTime& states, const TrainingTime& products) {
  const bool measured = all_measured(states) && all_measured(products);
  const auto of = measured ? &PassTime::measured : &PassTime::by_model;
  return {sum(states, of), sum(products, of), measured};
}

}  // namespace rondo::engine
