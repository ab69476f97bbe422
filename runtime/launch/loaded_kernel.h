// A kernel of an executable on the GPU at hand: what its launches need, worked out and checked once.
#pragma once

#include <cstdint>
#include <span>

#include "compiler/executable/executable.h"
#include "runtime/cuda/driver_device.h"
#include "runtime/cuda/driver_module.h"

namespace rondo::runtime {

class LoadedKernel {
 public:
  // `module` holds the code that was made of `kernel`, and outlives the result; `device` is the GPU it is
  // loaded on. Errors: Unsupported for clusters that the GPU does not have, or that do not fit on it once;
  // Device from the driver.
  static Result<LoadedKernel> load(const Module& module, const executable::Kernel& kernel,
                                   const DeviceInfo& device);

  // Starts `blocks` blocks, a multiple of the kernel's cluster, on `stream` and returns; `arguments` as of
  // runtime::launch. Error Unsupported, before anything runs, when the kernel is cooperative and its blocks
  // do not all fit on the GPU at once.
  Status launch(StreamHandle stream, std::int64_t blocks, std::span<void* const> arguments) const;
  // What launch() asks first: Unsupported when so many blocks wait for each other and do not all fit.
  Status check_fits(std::int64_t blocks) const;

 private:
  Status place_clusters(const DeviceInfo& device);

  Function function_;
  unsigned threads_ = 1;
  unsigned cluster_ = 1;
  std::size_t shared_bytes_ = 0;
  bool cooperative_ = false;
  std::int64_t resident_ =
      0;  // blocks that fit at once; known of kernels that are cooperative or have clusters
};

}  // namespace rondo::runtime
