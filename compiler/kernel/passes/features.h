// Which abilities of a GPU a kernel uses beside plain arithmetic, memory and barriers of a block. A backend
// makes code for them (the instructions of some exist under the name of one architecture only).
#pragma once

#include <cstdint>
#include <set>

#include "compiler/kernel/ir/ir.h"

namespace rondo::kernel {

enum class Feature : std::uint8_t {
  AsyncCopy,     // cp.async
  Mma,           // 16-bit products of a warp on the tensor cores, and ldmatrix
  Tf32Mma,       // the same with fp32 operands as tf32
  Mbarrier,      // barriers in shared memory that count arrivals
  AsyncStore,    // stores to another block of the cluster, and bytes that an mbarrier counts
  Clusters,      // clusters of thread blocks
  GridSync,      // blocks of the whole grid wait for each other
  WarpgroupMma,  // wgmma
  SetMaxNReg,    // registers that go from one role of warps to another
  MatrixTiles,   // of CPUs: TileMma
};
using FeatureSet = std::set<Feature>;

FeatureSet features_of(const Kernel& kernel);

// Whether the instructions of a feature exist only under an architecture's own name ("sm_90a"; PTX ISA, wgmma
// and setmaxnreg: "requires sm_90a or higher").
bool architecture_specific(Feature feature);
bool architecture_specific(const FeatureSet& features);  // of any of them

}  // namespace rondo::kernel
