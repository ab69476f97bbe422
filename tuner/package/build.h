// Packages built: problems chosen, compiled for each architecture and put into one file. Needs no GPU.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/support/result.h"
#include "compiler/target/profile.h"
#include "engine/choice/choose.h"
#include "runtime/package/writer/writer.h"
#include "tuner/package/list.h"

namespace rondo::tuner {

struct PackageProgress {
  std::size_t done = 0, all = 0;
  std::string what;  // that was done last: "lstm fw bf16 D=512 for sm_90"
};

struct PackageOptions : engine::Sources {
  std::vector<target::Profile> targets;  // GPUs that get a choice and a cubin of their own
  // What the PTX is made for: it runs on GPUs of this architecture and of all later ones, so its choice keeps
  // within portable_profile(). None: no PTX.
  std::optional<target::Profile> base;
  bool self_tests = true;
  int workers = 0;                                       // threads; 0: as many as there are cores
  const std::atomic<bool>* stop = nullptr;               // set: the build ends with Error Cancelled
  std::function<void(const PackageProgress&)> progress;  // called by one thread at a time
  std::function<void(const std::string&)> note;          // remarks for people; by one thread at a time
};

// A GPU of the base's architecture with the least that later ones have too: 99 KiB of shared memory a block,
// few multiprocessors, no clusters (CUDA C++ Programming Guide, "Compute Capabilities": 8.6, 8.9 and 12.0).
target::Profile portable_profile(const target::Profile& base);

// All kernels of the problems, in a package. Whoever has no compiler gets what the database has code of, and
// no PTX, with a note. A problem whose reference is not finite has no self-test, with a note. The same
// problems, choices and compiler give the same bytes. Errors: Missing (no compiler), Compile, Unsupported (a
// problem that no strategy computes), those of choosing; Cancelled.
Result<package::PackageWriter> build_package(const std::vector<PackagedProblem>& problems,
                                             const PackageOptions& options);

}  // namespace rondo::tuner
