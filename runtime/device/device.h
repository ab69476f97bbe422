// What kernels run on: memory, launches and time of a GPU (gpu_device.h) or of this machine's CPUs
// (cpu_device.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "compiler/executable/bindings.h"
#include "compiler/executable/convergence.h"
#include "compiler/executable/executable.h"
#include "compiler/support/result.h"

namespace rondo::runtime {

class Context;

using executable::Address;
using executable::Binding;
using executable::Bindings;
using executable::Strides;

// Bytes in a device's memory, aligned to 256. Movable; freed when it is destroyed, which must be before the
// device is.
class Memory {
 public:
  Memory() = default;
  Memory(Address address, std::size_t bytes, std::shared_ptr<void> owner)
      : address_(address), bytes_(bytes), owner_(std::move(owner)) {}
  Memory(Memory&& other) noexcept { *this = std::move(other); }
  Memory& operator=(Memory&& other) noexcept {
    address_ = std::exchange(other.address_, 0);
    bytes_ = std::exchange(other.bytes_, 0);
    owner_ = std::move(other.owner_);
    return *this;
  }

  Address address() const { return address_; }
  std::size_t bytes() const { return bytes_; }

 private:
  Address address_ = 0;
  std::size_t bytes_ = 0;
  std::shared_ptr<void> owner_;
};

// A compiled plan on a device, which outlives it. Its members are those of DevicePlan, on the device's own
// stream.
class LoadedPlan {
 public:
  virtual ~LoadedPlan() = default;
  // Bytes the caller must bind as workspace for B batch rows of T steps (0: none).
  virtual std::int64_t workspace_bytes(std::int64_t batch, std::int64_t time) const = 0;
  virtual const std::vector<executable::Tensor>& tensors() const = 0;
  // Error Unsupported where a launch at these sizes would be.
  virtual Status check_fits(std::int64_t /*batch*/, std::int64_t /*time*/) const { return success(); }
  // Starts all kernels in order; Device::wait() waits for their end. Errors: those of DevicePlan::launch().
  virtual Status launch(const Bindings& bindings, std::int64_t batch, std::int64_t time) const = 0;
  // Does what the first of `calls` calls would do beyond the others, for callers who time them.
  virtual void prepare(const Bindings& /*bindings*/, std::int64_t /*batch*/, std::int64_t /*time*/,
                       std::size_t /*calls*/) const {}
  // Error Device, once, where a kernel that the caller has waited for gave up.
  virtual Status check() const { return success(); }
  // How the iteration of the last launch with this workspace ended; none where the plan does not iterate.
  virtual Result<std::optional<executable::Convergence>> convergence(const Memory& /*workspace*/,
                                                                     std::int64_t /*batch*/,
                                                                     std::int64_t /*time*/) const {
    return std::optional<executable::Convergence>();
  }
};

// Immutable. Work is done in the order of the calls: memory that an upload reads must live until wait(). Not
// to be called from several threads at once. Errors of all members: Device.
class Device {
 public:
  virtual ~Device() = default;

  // Contents are undefined; zero bytes give address 0.
  virtual Result<Memory> allocate(std::size_t bytes) const = 0;
  virtual Status upload(Address to, std::span<const std::byte> from) const = 0;
  virtual Status download(Address from, std::span<std::byte> to) const = 0;
  virtual Status fill(Address at, std::uint8_t value, std::size_t bytes) const = 0;
  virtual Status copy(Address to, Address from, std::size_t bytes) const = 0;
  virtual Status wait() const = 0;

  // Errors: those of DevicePlan::load() and HostPlan::load().
  virtual Result<std::unique_ptr<LoadedPlan>> load(const executable::Executable& executable) const = 0;

  // Seconds from the start to the end of what `work` submits. Waits.
  virtual Result<double> seconds_of(const std::function<Status()>& work) const = 0;
  // What is submitted from here on does not begin until the handle is gone (or some milliseconds have
  // passed): a sample that is held until all of it is submitted does not contain the time that submitting
  // takes. Null where what is submitted is done at once.
  virtual Result<std::shared_ptr<void>> hold() const { return std::shared_ptr<void>(); }
  // The size of a copy that shows the bandwidth of the memory, and how many places such copies should take
  // turns with so that no cache holds them.
  virtual std::size_t copy_bytes() const = 0;
  virtual int copy_sets() const { return 1; }

  // Until the handle is gone no other program that asks for its turn has one: for what is timed, and for what
  // would disturb what others time. Null where nobody is asked (gpu_turns.h); handles may be nested.
  virtual std::shared_ptr<void> turn() const { return nullptr; }

  // Whether the device still works after a failure.
  virtual bool usable() const = 0;
  // Makes it the calling thread's.
  virtual Status make_current() const { return success(); }
  // Of a GPU; null for CPUs.
  virtual const Context* context() const { return nullptr; }
};

}  // namespace rondo::runtime
