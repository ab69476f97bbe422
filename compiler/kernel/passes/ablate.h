// Kernels without one of their parts: measured beside the whole, they tell what its time is made of. A part
// is known by its statements, whatever schedule wrote them. What is left is a valid kernel that comes to its
// end; its results are wrong.
#pragma once

#include <array>
#include <string>

#include "compiler/kernel/ir/ir.h"

namespace rondo::kernel {

enum class Part {
  Products,   // Mma, WarpgroupMma; sums keep the values they have
  Exchange,   // waiting for other blocks
  Clears,     // marking words as absent that are their own flags, and the fences of the grid
  Inputs,     // asynchronous copies to shared memory, and waiting for them
  Stores,     // stores to global memory inside loops that are not fully unrolled
  Functions,  // special functions (tanh, exp, division): their first argument stands for them
};
inline constexpr std::array kParts = {Part::Products, Part::Exchange, Part::Clears,
                                      Part::Inputs,   Part::Stores,   Part::Functions};
const char* part_name(Part part);  // "products"

// The kernel without the part, simplified. Nothing waits that did not wait before, and what is still waited
// for still comes:
//  - Exchange: what flags say is looked at once (GridWait, LoadSelfFlagged). In a cluster every block does to
//    itself what it would do to another one: it sends as many words as it waits for, as long as all blocks
//    of the cluster do the same. Cluster barriers are barriers of the block.
//  - Clears: words that are not cleared are taken for new ones, so this is meant to be left out of a kernel
//    without Exchange.
Kernel ablate(Kernel kernel, Part part);

// Whether there is any of the part in the kernel.
bool has_part(const Kernel& kernel, Part part);

}  // namespace rondo::kernel
