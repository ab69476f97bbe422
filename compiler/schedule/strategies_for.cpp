#include "compiler/schedule/strategies_for.h"

#include "compiler/schedule/strategies.h"

namespace rondo::schedule {

std::vector<const Strategy*> strategies_for(const target::Profile& profile) {
  const target::Profile cpus = target::host_profile(2);
  const bool cpu = profile.limits.compute_major == cpus.limits.compute_major;
  std::vector<const Strategy*> result;
  for (const Strategy* strategy : strategies())
    if (strategy->serves(cpus).legal == cpu) result.push_back(strategy);
  return result;
}

}  // namespace rondo::schedule
