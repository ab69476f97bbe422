#include "compiler/schedule/strategies_for.h"

#include "compiler/schedule/strategies.h"

namespace rondo::schedule {

std::vector<const Strategy*> strategies_for(const target::Profile& profile) {
  target::Profile cpus;
  cpus.target = {target::Target::Kind::X86_64, 2};
  std::vector<const Strategy*> result;
  for (const Strategy* strategy : strategies())
    if (strategy->serves(cpus).legal == profile.is_cpu()) result.push_back(strategy);
  return result;
}

}  // namespace rondo::schedule
