// Runs the kernels of one module of probes, each of which measures one thing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/backend/interface/backend.h"
#include "engine/measure/samples.h"
#include "runtime/cuda/driver_module.h"
#include "runtime/device/gpu_device.h"

namespace rondo::tuner {

class ProbeRunner {
 public:
  static constexpr std::size_t kOutBytes = 4096 * sizeof(std::uint64_t);
  static constexpr int kRepeats = 7;
  using Figures = std::array<std::uint64_t, 2>;  // out[0] and out[1]: cycles, and what else a probe tells

  // Compiles and loads them. Errors: those of the compiler and the driver.
  static Result<ProbeRunner> make(const backend::Request& request, const runtime::Device& device);

  Result<runtime::Function> function(const std::string& name) const { return module_.function(name); }
  runtime::StreamHandle stream() const { return stream_; }
  std::uint64_t out() const {
    return out_.address();
  }  // device memory of kOutBytes, a probe's first argument
  // An int of device memory, 0, that a wait in vain sets: an argument of probes that wait for other blocks.
  std::uint64_t status() const { return out_.address() + kOutBytes - sizeof(std::uint64_t); }

  // Runs a probe kRepeats times after one to warm up; the median of what `read` makes of its figures.
  // `prepare` is called before each. Error Device where a wait was in vain.
  template <class Prepare, class Read, class... Arguments>
  Result<double> repeat_prepared(const runtime::Function& function, const runtime::LaunchShape& shape,
                                 Prepare prepare, Read read, Arguments... arguments) {
    std::vector<double> values;
    for (int i = 0; i <= kRepeats; ++i) {
      if (Status status = prepare(); !status) return status.error();
      if (Status status = runtime::launch_values(function, shape, stream_, arguments...); !status)
        return status.error();
      const Result<Figures> figures = download(function.name());
      if (!figures) return figures.error();
      if (i > 0) values.push_back(read(*figures));
    }
    return engine::median(values);
  }
  template <class Read, class... Arguments>
  Result<double> repeat(const char* name, unsigned blocks, unsigned threads, Read read,
                        Arguments... arguments) {
    const Result<runtime::Function> function = module_.function(name);
    if (!function) return function.error();
    runtime::LaunchShape shape;
    shape.grid.x = blocks;
    shape.block.x = threads;
    return repeat_prepared(
        *function, shape, [] { return success(); }, read, arguments...);
  }

 private:
  ProbeRunner(runtime::Module module, const runtime::Device& device)
      : module_(std::move(module)), stream_(stream_of(device)) {}
  Result<Figures> download(const std::string& name);

  runtime::Module module_;
  runtime::StreamHandle stream_;
  runtime::DeviceBuffer out_;
};

}  // namespace rondo::tuner
