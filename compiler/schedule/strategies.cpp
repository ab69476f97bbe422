#include "compiler/schedule/strategies.h"

namespace rondo::schedule {

const Strategy* find_strategy(const std::string& name) {
  for (const Strategy* strategy : strategies())
    if (strategy->name() == name) return strategy;
  return nullptr;
}

std::int64_t turn_of(const std::string& strategy, const Parameters& parameters) {
  const Strategy* known = find_strategy(strategy);
  return known == nullptr ? 1 : known->turn(parameters);
}

}  // namespace rondo::schedule
