// Whether the launch walk of an executable keeps apart what must be apart, whatever it computes: regions of
// the workspace, and the parts of a launch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/executable/executable.h"

namespace rondo::executable::testing {

// Walks the executable at these sizes with every tensor bound that must be, and `optional` ones too if so. In
// plain words, each way in which
//  - the place of a tensor in the workspace is not the same in all launches, not aligned, or past its end;
//  - two of these places overlap that are not both zeroed, or both thrown away;
//  - the parts of a launch do not take each batch tile once, in order, with as many blocks as their tiles
//  need.
std::vector<std::string> walk_faults(const Executable& executable, std::int64_t batch, std::int64_t time,
                                     bool optional);

}  // namespace rondo::executable::testing
