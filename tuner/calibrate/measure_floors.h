// Measures the least times of what a step waits for on a GPU.
#pragma once

#include <functional>
#include <string>

#include "compiler/target/profile.h"
#include "engine/machine/machine.h"

namespace rondo::tuner {

// Exchanges by number of blocks and bytes, as far as the GPU has clusters and SMs; barriers; products by
// tile; functions. `speeds`: those just measured, of which the clock and the barrier count. `step` may be
// empty. Takes some seconds, most of them for the compiler. Errors: those of the compiler, Device.
Result<target::Floors> measure_floors(const engine::Machine& machine, const target::Speeds& speeds,
                                      const std::function<void(const std::string&)>& step);

}  // namespace rondo::tuner
