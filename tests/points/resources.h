// What a point was thought to need of a GPU against what its kernels do need, and against what there is.
#pragma once

#include <string>
#include <vector>

#include "tests/points/point.h"

namespace rondo::points {

// Each in plain words. Of every kernel of the plan: the verifier's defects, shared memory, threads, named
// barriers, clusters, parameters, registers that the compiler may use, what the architecture lacks. Of the
// kernels that the point shapes: the same against the quantities of its space. Of the plan: its workspace, at
// the call's sizes and at others, and whether the blocks of a launch that wait for each other are resident
// together.
std::vector<std::string> resource_complaints(const Point& point, const schedule::KernelPlan& plan);

}  // namespace rondo::points
