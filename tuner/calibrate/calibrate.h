// Measures a device profile on the GPU at hand: the figures the cost models stand on.
#pragma once

#include <functional>
#include <string>

#include "compiler/backend/interface/backend.h"
#include "compiler/target/profile.h"
#include "runtime/cuda/driver.h"

namespace rondo::tuner {

struct CalibrateOptions {
  std::function<void(const std::string&)> step;  // told what is being measured now
};

// Copy bandwidth, what one SM moves, loaded memory latency, __syncthreads, the gap of a launch, and the clock
// under load; takes a few seconds. Origin "measured"; source: driver version and date. Errors: Missing (no
// compiler of CUDA C++), Device.
Result<target::Profile> calibrate(const runtime::Context& context, const runtime::DeviceInfo& info,
                                  const CalibrateOptions& options = {});

// The compilation of the probes, which are CUDA C++, for GPUs of a compute capability (90).
backend::Request calibration_request(int capability);

}  // namespace rondo::tuner
