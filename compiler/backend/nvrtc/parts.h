// A text compiled part by part, side by side: NVRTC works on one program on one thread, and most of the time
// of a backward plan goes to its sweep over time, which the other kernels need not wait for.
#pragma once

#include <cstddef>
#include <vector>

#include "compiler/backend/interface/backend.h"
#include "compiler/backend/nvrtc/nvrtc.h"

namespace rondo::backend {

// Of the places in a text of `size` bytes where kernels begin, those where a new program is worth its start:
// neighbours that are short stay together. It depends on nothing else, so that the code is the same on every
// machine.
std::vector<std::size_t> worthwhile_parts(std::size_t size, const std::vector<std::size_t>& kernels);

// The text's cubin, of a text of several parts a bundle of one cubin a part, in their order. Errors are those
// of Nvrtc::compile, of the first part that has one, and name the lines of the whole text.
Result<Compiled> compile_parts(const Nvrtc& nvrtc, const Request& request);

}  // namespace rondo::backend
