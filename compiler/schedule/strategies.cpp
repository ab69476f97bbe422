#include "compiler/schedule/alternating.h"
#include "compiler/schedule/persistent.h"
#include "compiler/schedule/stream.h"

namespace rondo::schedule {

const std::vector<const Strategy*>& strategies() {
  static const Stream stream;
  static const Persistent persistent;
  static const Alternating alternating;
  static const std::vector<const Strategy*> all = {&stream, &persistent, &alternating};
  return all;
}

const Strategy* find_strategy(const std::string& name) {
  for (const Strategy* strategy : strategies())
    if (strategy->name() == name) return strategy;
  return nullptr;
}

}  // namespace rondo::schedule
