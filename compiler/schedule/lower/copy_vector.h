// The copy of neighbouring elements of a tensor into shared memory.
#pragma once

#include <algorithm>

#include "compiler/schedule/plan/signature.h"

namespace rondo::schedule {

// Copies `width` elements from element `from` of the tensor, asynchronously where it can. cp.async moves 4 to
// 16 bytes (PTX ISA, cp.async): odd rows of 16-bit elements go through registers, and of a tensor whose
// elements are wider than those that `width` was chosen for there are several copies.
inline void copy_vector(const kernel::Memory& shared, kernel::Value to, const KernelTensor& tensor,
                        kernel::Value from, int width) {
  kernel::Builder& b = *to.builder();
  const int bytes = kernel::storage_bytes(tensor.storage), each = std::min(width, 16 / bytes);
  if (each * bytes < 4) return b.store(shared[to], b.load("element", tensor.memory[from]));
  for (int first = 0; first < width; first += each)
    first == 0 ? b.copy_async(shared[to], tensor.memory[from], each)
               : b.copy_async(shared[to + first], tensor.memory[from + first], each);
}

}  // namespace rondo::schedule
