// The launch of a site: it makes the results, takes a workspace from PyTorch's allocator, and launches on the
// current stream.
#ifndef RONDO_PYTHON_SHIM_LAUNCH_H
#define RONDO_PYTHON_SHIM_LAUNCH_H

#include "tensors.h"

namespace rondo::torch_shim {

// Results that are to be converted: where they can, they lie one behind the other in one piece of memory, so
// that one operator of PyTorch converts them all. None where `memory` is null.
struct Joined {
  std::size_t first = 0, count = 0;
  Owned memory;
};

// Runs a site on tensors that are laid out as it takes them. False where something is not plainly right.
bool run(const Site& site, std::span<const Seen> given, Tensors& results, Joined& joined);

// Runs the site of the family for these tensors, if it is known.
bool launch(std::int64_t family, std::span<const AtenTensorHandle> given, Tensors& results, Joined& joined);

}  // namespace rondo::torch_shim

#endif
