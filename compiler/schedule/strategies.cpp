#include "compiler/schedule/strategies.h"

namespace rondo::schedule {

const Strategy* find_strategy(const std::string& name) {
  for (const Strategy* strategy : strategies())
    if (strategy->name() == name) return strategy;
  return nullptr;
}

}  // namespace rondo::schedule
