// Kernels without one of their parts. Timed beside the whole kernel they tell what its time is made of. A
// part is found by its statements, whatever strategy wrote them. The remaining kernel is valid and ends; its
// results are wrong.
#pragma once

#include <array>

#include "compiler/kernel/ir/ir.h"

namespace rondo::kernel {

enum class Part {
  Products,   // Mma, WarpgroupMma, TileMma; sums keep the values they have
  Exchange,   // waiting for other blocks
  Clears,     // setting self-flagging words back to kEmpty, and the fences of the grid
  Inputs,     // asynchronous copies to shared memory, and waiting for them
  Stores,     // stores to global memory inside loops that are not fully unrolled
  Functions,  // special functions (tanh, exp, division): their first argument stands for them
  Messages,   // what blocks send each other: self-flagging words, of which readers then have zeros, counters
              // of the grid, asynchronous stores and the mbarriers that count these
  Barriers,   // all waits of the threads of a block for each other in loops: barriers, and mbarriers
};
inline constexpr std::array kParts = {Part::Products, Part::Exchange,  Part::Clears,   Part::Inputs,
                                      Part::Stores,   Part::Functions, Part::Messages, Part::Barriers};
const char* part_name(Part part);  // "products"

// The kernel without the part, simplified. No new wait appears, and every wait that is left is still met:
//  - Exchange: GridWait and LoadSelfFlagged look once, whatever they find. Cluster traffic is redirected to
//    the sending block; byte counts match if all blocks send equally. Cluster barriers become block barriers.
//  - Clears: a word that was not cleared looks like a new one, so leave this out only of a kernel without
//    Exchange. The same goes for Messages, which readers may wait for, and where there are messages for
//    Barriers, without which senders run ahead of readers.
//  - Barriers: named ones and mbarriers go everywhere, others in loops that are not fully unrolled.
Kernel ablate(Kernel kernel, Part part);

// Whether there is any of the part in the kernel.
bool has_part(const Kernel& kernel, Part part);

}  // namespace rondo::kernel
