// Asynchronous copies for GPUs that have none (before compute capability 8.0): each becomes a load into
// registers and a store to shared memory.
#pragma once

#include "compiler/kernel/ir/ir.h"

namespace rondo::kernel {

// Each CopyAsync becomes a Load and a Store of its elements, as packed pairs where they have 16 bits. Groups
// of copies and the waits for them go: an asynchronous copy may land as soon as it is issued, so its place in
// shared memory is free by then, and what reads it waits for a later point. Of copies with nothing but values
// between them all loads come before the first store, so that their latencies overlap, up to kMostInFlight
// registers. The result is simplified (simplify.h) if anything changed.
Kernel legalise_copies(Kernel kernel);

// Registers that wait for their stores: 32-bit words of a thread.
inline constexpr int kMostInFlight = 16;

}  // namespace rondo::kernel
