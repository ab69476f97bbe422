// What code is made for: one compute capability of NVIDIA's GPUs, or a level of CPUs.
#pragma once

#include <string>

namespace rondo::target {

struct Target {
  // Of a GPU: 10 * major + minor. Of CPUs, which are below 10: 2 to 4 are the levels of x86-64 (System V ABI,
  // "x86-64-v3" has AVX2 and fma, "x86-64-v4" AVX-512), 1 is AArch64.
  int capability = 90;
  // With the instructions that exist under this architecture's own name alone (PTX ISA, .target: "sm_90a").
  // Such code runs on no other architecture; other code is never made so.
  bool specific = false;

  bool is_cpu() const { return capability > 0 && capability < 10; }
  std::string name() const;  // "sm_90", "sm_90a", "x86-64-v3"
  bool operator==(const Target&) const = default;
};

// The target of the machine that this runs on: the highest level that it has; 0 where no code can be made for
// it.
int host_capability();

// Threads that this process may use at once: what the environment variable RONDO_THREADS says, else the CPUs
// that the system lets it run on; at most 256.
int usable_threads();

// "sm_90" and "sm_90a" are 90, "x86-64-v3" is 3, "cpu" is host_capability(); 0 for what is no architecture's
// name.
int compute_capability(const std::string& arch);

// The architecture without its suffix: "sm_90a" and "sm_90" are "sm_90". The suffix is no choice of the
// user's: it follows from the instructions of each kernel (backend::target_for). Text that is no
// architecture's name stays as it is.
std::string plain_arch(const std::string& arch);

}  // namespace rondo::target
