// What code is made for: one compute capability of NVIDIA's GPUs, or a level of CPUs.
#pragma once

#include <optional>
#include <string>

namespace rondo::target {

// Of the GPUs that Rondo makes kernels for: Turing's, the first with tanh.approx (PTX ISA) and ldmatrix.
inline constexpr int kLeastCapability = 75;

struct Target {
  // NVIDIA's GPUs, and CPUs by their instruction set.
  enum class Kind { Gpu, X86_64, AArch64 };
  Kind kind = Kind::Gpu;
  // Gpu: the compute capability, 10 * major + minor. X86_64: the level, 2 to 4 (System V ABI, "x86-64-v3" has
  // AVX2 and fma, "x86-64-v4" AVX-512), and 5 for level 4 with matrix tiles, "x86-64-v4-amx" (Intel AMX for
  // bf16). AArch64 has none: 0.
  int level = 90;
  // With the instructions that exist under this architecture's own name alone (PTX ISA, .target: "sm_90a").
  // Such code runs on no other architecture; other code is never made so.
  bool specific = false;

  static Target gpu(int capability) { return {Kind::Gpu, capability}; }
  bool is_cpu() const { return kind != Kind::Gpu; }
  // Whether CPUs of this target run code that was made for the other one.
  bool runs(const Target& other) const { return is_cpu() && kind == other.kind && other.level <= level; }
  // A GPU before compute capability 8.0, which has no asynchronous copies, no mbarriers, no conversions to
  // bf16, and on its tensor cores products of fp16 alone (CUDA C++ Programming Guide, "Compute
  // Capabilities").
  bool before_ampere() const { return kind == Kind::Gpu && level < 80; }
  int major() const { return level / 10; }  // of a GPU's compute capability
  int minor() const { return level % 10; }
  // Whether a CPU multiplies and adds with one rounding, and converts fp16, by instructions (x86-64-v3 and
  // AArch64).
  bool has_fma_and_half() const { return kind != Kind::X86_64 || level >= 3; }
  bool has_avx512() const { return kind == Kind::X86_64 && level >= 4; }
  bool has_matrix_tiles() const { return kind == Kind::X86_64 && level >= 5; }
  std::string name() const;  // "sm_90", "sm_90a", "x86-64-v3"
  bool operator==(const Target&) const = default;
};

// The target of the CPUs that this runs on: the highest level that they have. None where no code can be made
// for them.
std::optional<Target> host_target();

// Asks the system to keep the registers of matrix tiles for this process, its threads and those to come, as
// Linux does for those that ask alone. False where it does not; asked once.
bool allow_matrix_tiles();

// Threads that this process may use at once: what the environment variable RONDO_THREADS says, else the CPUs
// that the system lets it run on; at most 256.
int usable_threads();

// By name: "sm_90" and "sm_90a" are compute capability 9.0 and not specific, "cpu" is host_target(). None for
// what is no architecture's name.
std::optional<Target> find_target(const std::string& arch);

// The architecture without its suffix: "sm_90a" and "sm_90" are "sm_90". The suffix is no choice of the
// user's: it follows from the instructions of each kernel (backend::target_for). Text that is no
// architecture's name stays as it is.
std::string plain_arch(const std::string& arch);

}  // namespace rondo::target
