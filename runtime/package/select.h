// Which kernels of a package a call gets on the GPU at hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/support/result.h"
#include "runtime/package/package.h"

namespace rondo::package {

// Texts that are "" and sizes that are 0 may be anything, as long as what is left names one kind of problem.
struct Wanted {
  std::string cell = {};                           // its name, or its hash
  std::string storage = {}, math = {}, pass = {};  // "bf16", "fast", "bw"
  std::int64_t heads = 0, dim = 0;
  std::int64_t batch = 1, time = 1;  // of the calls to come
};

// What must be known of a GPU.
struct Gpu {
  int capability = 0;                 // 10 * major + minor
  std::int64_t shared_per_block = 0;  // bytes a block may use after opting in; 0: not known
  std::string name = {};              // "NVIDIA H200"; "": not known
  std::int64_t multiprocessors = 0;   // 0: not known
};

// How code and GPU suit each other; less is better.
enum class Suits {
  Exactly,  // a cubin for this compute capability
  Major,    // a cubin for an earlier one with the same major version, without features of its own
  Ptx,      // PTX for this compute capability or an earlier one: the driver compiles it when it is loaded
  Not,
};
Suits suits(const Code& code, const Gpu& gpu);

struct Selected {
  std::size_t entry = 0, code = 0;  // as of Package::executable()
  Suits how = Suits::Not;
};

// What to load, the best first: the next where one does not load on the GPU at hand. One at least.
//
// Among the entries that agree with `wanted` the best code counts first: an exact cubin, then a cubin of the
// same major version (the latest), then PTX (the latest). Among these the nearest shape: least ratio of B * T
// to that of the call; then what was chosen for this board, for one with as many multiprocessors, for another
// (the least ratio of their numbers); then least ratio of B, then the first. Kernels that need more shared
// memory than the GPU has are passed over. Errors: Missing (no such problem, with what there is), Input (what
// is asked for fits problems of several kinds), Unsupported (none of their code runs on the GPU, with what
// there is code for).
Result<std::vector<Selected>> select(const Package& package, const Wanted& wanted, const Gpu& gpu);

}  // namespace rondo::package
