// The device behind a context handle.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "runtime/capi/launch/handle.h"
#include "runtime/cuda/driver_device.h"

namespace rondo::capi {

// Immutable; shared by all that is made in it.
struct Device {
  int kind = RONDO_DEVICE_CPU;
  std::optional<runtime::Context> cuda;     // of both CUDA kinds
  std::optional<runtime::DeviceInfo> info;  // of the GPU
  std::string name = "CPU", arch;
  int threads = 0;                               // of the CPU, that a launch may use; 0: as many as there are
  std::function<void(const std::string&)> note;  // for people; may be empty
};

struct ContextObject {
  std::shared_ptr<const Device> device;
};
template <>
struct HandleOf<ContextObject> {
  using Handle = rondo_context;
  static constexpr HandleKind kind = HandleKind::Context;
};

// Errors: Input (an unknown kind), those of runtime::Context.
Result<std::shared_ptr<Device>> open_device(int kind, int ordinal);

}  // namespace rondo::capi
