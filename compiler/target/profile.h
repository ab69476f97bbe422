// What a GPU or this machine's CPUs offer: hard limits, and speeds that the cost models use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/support/registry.h"
#include "compiler/support/result.h"
#include "compiler/target/floors.h"
#include "compiler/target/target.h"

namespace rondo::target {

// Limits of GPUs, fixed by the architecture and the product (CUDA C++ Programming Guide, "Compute
// Capabilities", and data sheets).
struct Limits {
  int sm_count = 132;
  int shared_per_block = 232448;  // bytes a block may use after opting in
  int shared_per_sm = 233472;     // bytes
  int registers_per_sm = 65536;   // 32-bit
  int registers_per_thread = 255;
  int threads_per_sm = 2048;
  int threads_per_block = 1024;
  int blocks_per_sm = 32;
  // CTAs; 1 where there are no clusters. 16 is not portable: a kernel must ask for it (compute 9.0 and 10.0).
  int max_cluster = 8;
  std::int64_t l2_bytes = 0;
};

// Limits of CPUs, as the system tells them.
struct CpuLimits {
  int threads = 1;            // that a process may use
  int vector_bytes = 0;       // of a register
  std::int64_t l1_bytes = 0;  // of a core
  std::int64_t l2_bytes = 0;  // of a core
  std::int64_t l3_bytes = 0;  // that all share; 0 where there is none, or the system does not tell

  std::int64_t own_caches() const { return l2_bytes * threads; }  // of all cores
};

// Speeds; of CPUs a thread stands where the names say SM. From public figures (origin "public") or measured
// by `rondo calibrate` (origin "measured").
struct Speeds {
  double clock_hz = 1.7e9;           // SM clock under load
  double copy_bytes_per_s = 1e12;    // device copy, read + write, large
  double sm_bytes_per_s = 60e9;      // most one SM moves, read + write
  double memory_latency_s = 0.8e-6;  // of global memory, or as calibration measures it
  // The same where all SMs copy as fast as they can. Calibration chases pointers that lie in the L2 after its
  // first run (0.33 us on an H200), and fewer bytes in flight than 0.8 us ask for do not keep an H200's
  // memory busy.
  double loaded_latency_s() const { return memory_latency_s < 0.8e-6 ? 0.8e-6 : memory_latency_s; }
  double barrier_s = 20e-9;          // __syncthreads of 256 threads
  double launch_s = 3e-6;            // gap a launch adds on a busy stream
  double graph_launch_s = 2e-6;      // from kernel to dependent kernel of one CUDA graph
  double l2_bytes_per_s = 3e12;      // read from L2 by all SMs
  double special_per_cycle_sm = 16;  // special-function results a cycle and SM
  double alu_per_cycle_sm = 128;     // fp32 results a cycle and SM
  // Operations of 16-bit products on the tensor cores a cycle and SM by mma.sync: each quarter of an SM does
  // one m16n8k16, of 4096 operations, in 8 cycles.
  double mma_flops_per_cycle_sm = 4 * 4096.0 / 8;
};

struct Profile {
  std::string name;    // "NVIDIA H200", as the driver names it
  std::string key;     // "h200": what --arch takes and the file is called
  std::string origin;  // "public" or "measured"
  std::string source;  // where the figures come from, or driver and date of the measurement
  Target target;
  Limits limits;  // of a GPU
  CpuLimits cpu;  // of CPUs
  Speeds speeds;
  Floors floors;  // of a GPU that was calibrated; else none
  // What is made for it also runs on all later GPUs (PTX in packages), and so has no instruction that exists
  // under its architecture's own name alone. Not in the JSON form: no board is so.
  bool portable = false;
  std::string arch() const { return target.name(); }  // "sm_90", "x86-64-v3"
  bool is_cpu() const { return target.is_cpu(); }
  // Whether kernels may have the instructions that exist under the name of that architecture alone.
  bool has_own_instructions_of(int capability) const {
    return target == Target::gpu(capability) && !portable;
  }
  // SMs of a GPU, threads of CPUs: how many blocks run side by side where each has one to itself.
  int units() const { return is_cpu() ? cpu.threads : limits.sm_count; }
  bool operator==(const Profile& other) const { return key == other.key; }
};

// A target as databases and the JSON form name it: a GPU by its compute capability, CPUs by 0 and their
// level, which is 1 for AArch64.
struct StoredTarget {
  int major = 0, minor = 0;

  static StoredTarget of(const Target& target);
  bool is_cpu() const { return major == 0; }
  std::optional<Target> target() const;  // none for a level that no CPUs have
};

// The profiles shipped with Rondo, one at least for each architecture from sm_75 to sm_121 (a10 stands for
// any board of sm_86).
const std::vector<Profile>& shipped_profiles();
// Those, and the ones that the program has added: Registration<Profile> mine(profile_registry(), profile).
Registry<Profile>& profile_registry();
// By key, by driver name, or by architecture ("sm_90": the first shipped profile of it; "sm_90a" is the same,
// see plain_arch). Error Input naming the known ones.
Result<Profile> find_profile(const std::string& name);

// The machine that this runs on as CPUs of that target: name and key tell the CPU, its level and the number
// of threads. What another kind of CPU has is not known here: it gets common caches, and the key "cpu".
// Origin "public": its speeds are common ones, until `rondo calibrate --arch cpu` has measured them.
Profile host_profile(const Target& target);
// Of host_target(), which must be there.
Profile host_profile();

// Bytes of a cache from the text that Linux has for its size, as "32768K" or "32M"; 1 TiB at most. 0 for any
// other text.
std::int64_t cache_size_of(const std::string& text);

// What the SMs read of the L2 together, as far as their number and clock tell.
double l2_speed(int sms, double clock_hz);

// JSON with the field names above (the form stored in the database and exchanged by `rondo calibrate`).
// `floors` are a list of objects, left out where there are none: earlier versions measured none.
std::string to_json(const Profile& profile);
// Error Input naming every field that is missing, of another type, or outside the range that any board keeps
// to.
Result<Profile> profile_from_json(const std::string& text);

}  // namespace rondo::target
