// A GPU as a device: a context, a stream of its own, and events that time it.
#pragma once

#include "runtime/device/device.h"
#include "runtime/launch/device_plan.h"

namespace rondo::runtime {

// Takes the context, which is current. Errors: Device.
Result<std::shared_ptr<const Device>> gpu_device(Context context);
// The same on a context that outlives the device.
Result<std::shared_ptr<const Device>> gpu_device_in(const Context& context);

// The stream of a GPU device, on which all its work runs.
StreamHandle stream_of(const Device& gpu);

// The plan that a GPU device has loaded, to be launched on any stream; `plan` was loaded by one.
DevicePlan take_device_plan(std::unique_ptr<LoadedPlan> plan);

}  // namespace rondo::runtime
