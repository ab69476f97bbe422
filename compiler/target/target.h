// What code is made for: one compute capability of NVIDIA's GPUs.
#pragma once

#include <string>

namespace rondo::target {

struct Target {
  int capability = 90;  // 10 * major + minor
  // With the instructions that exist under this architecture's own name alone (PTX ISA, .target: "sm_90a").
  // Such code runs on no other architecture; other code is never made so.
  bool specific = false;

  std::string name() const;  // "sm_90", "sm_90a"
  bool operator==(const Target&) const = default;
};

// "sm_90" and "sm_90a" are 90; 0 for what is no architecture's name.
int compute_capability(const std::string& arch);

// The architecture without its suffix: "sm_90a" and "sm_90" are "sm_90". The suffix is no choice of the
// user's: it follows from the instructions of each kernel (backend::target_for). Text that is no
// architecture's name stays as it is.
std::string plain_arch(const std::string& arch);

}  // namespace rondo::target
