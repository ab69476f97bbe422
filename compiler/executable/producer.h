// Who makes executables: this program, by its version and by the sources that it was built from.
#pragma once

#include <string>

namespace rondo::executable {

// "rondo 0.1.0".
std::string producer();

// A hash over all sources that decide what an executable contains: those of compiler/, which go from a cell
// to kernels, text and launches, and those of engine/plan, which put executables together. Two programs with
// the same id make the same executable of the same request. Neither the compiler that built the program nor
// its options are in it: the goldens hold with all of them. What a program adds itself (a strategy, a
// backend) is not in it either. 64 hex digits.
const std::string& build_id();

}  // namespace rondo::executable
