// The copy of neighbouring elements of a tensor into shared memory.
#pragma once

#include "compiler/schedule/plan/signature.h"

namespace rondo::schedule {

// Copies `width` elements from element `from` of the tensor, asynchronously where it can. cp.async moves at
// least 4 bytes (PTX ISA, cp.async): odd rows of 16-bit elements go through registers.
inline void copy_vector(const kernel::Memory& shared, kernel::Value to, const KernelTensor& tensor,
                        kernel::Value from, int width) {
  kernel::Builder& b = *to.builder();
  if (width * kernel::storage_bytes(tensor.storage) >= 4)
    b.copy_async(shared[to], tensor.memory[from], width);
  else
    b.store(shared[to], b.load("element", tensor.memory[from]));
}

}  // namespace rondo::schedule
