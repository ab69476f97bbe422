// Measures a device profile on the machine at hand: the figures the cost models stand on.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/backend/interface/backend.h"
#include "compiler/target/profile.h"
#include "engine/machine/machine.h"

namespace rondo::tuner {

struct CalibrateOptions {
  std::function<void(const std::string&)> step;  // told what is being measured now
};

// Of a GPU: copy bandwidth, what one SM moves, loaded memory latency, __syncthreads, the gap of a launch, and
// the clock under load. Of CPUs: copy bandwidth, what one thread moves, memory latency, the gap of a launch,
// what all threads read of their second cache, fused multiply-adds, and the clock under load. Takes a few
// seconds. Origin "measured"; source: driver version and date. Errors: Missing (nothing to run on, no
// compiler of CUDA C++), Device.
Result<target::Profile> calibrate(const engine::Machine& machine, const CalibrateOptions& options = {});

// One measurement after the other, as options.step is told; what measures nothing leaves the figure as it is.
struct CalibrateStep {
  const char* what;
  double* speed;
  std::function<Result<double>()> measure;
};
Status run_steps(const std::vector<CalibrateStep>& steps, const CalibrateOptions& options);
// The parts of calibrate() for each kind of machine: everything but origin and source.
Result<target::Profile> calibrate_gpu(const engine::Machine& machine, const CalibrateOptions& options);
Result<target::Profile> calibrate_cpus(const engine::Machine& machine, const CalibrateOptions& options);

// The compilation of the probes, which are CUDA C++, for GPUs of a compute capability (90).
backend::Request calibration_request(const target::Target& target);

}  // namespace rondo::tuner
