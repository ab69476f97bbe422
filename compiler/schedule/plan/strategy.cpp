#include "compiler/schedule/plan/strategy.h"

#include <fmt/format.h>

namespace rondo::schedule {

Legality needs_compute_8(const target::Profile& profile, const std::string& feature) {
  if (profile.limits.compute_major >= 8) return {};
  return {false,
          fmt::format("it needs {}, which GPUs have from compute capability 8.0 on; {} has {}.{}", feature,
                      profile.name, profile.limits.compute_major, profile.limits.compute_minor)};
}

}  // namespace rondo::schedule
