// KernelIR -> CUDA C++ text. Node to text one to one; header-free, so that NVRTC compiles it quickly and
// plain nvcc too.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compiler/kernel/ir/ir.h"
#include "compiler/target/target.h"

namespace rondo::backend::cuda {

// One translation unit with every kernel as `extern "C" __global__`. Helpers (16-bit conversion, cp.async,
// fast math) are emitted only if used. The kernels must pass kernel::verify. `target` decides between forms
// of helpers (prelude.h): one text serves all GPUs from compute capability 8.0 on, another those before.
std::string emit(const std::vector<const kernel::Kernel*>& kernels, const target::Target& target = {});

// The same text, and where in it each kernel begins: together with the helpers, which stand before the first,
// the text up to the next one is a unit of its own.
struct Unit {
  std::string text;
  std::vector<std::size_t> kernels;
};
Unit emit_unit(const std::vector<const kernel::Kernel*>& kernels, const target::Target& target = {});

}  // namespace rondo::backend::cuda
