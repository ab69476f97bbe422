// Profiles of this machine's CPUs beside the one of all of them (profile.h).
#pragma once

#include "compiler/target/profile.h"

namespace rondo::target {

// host_profile(target) where only so many threads are to compute, 256 at most; 0: usable_threads().
Profile host_profile(const Target& target, int threads);

}  // namespace rondo::target
