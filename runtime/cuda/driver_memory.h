// GPU memory. Needs a current context (driver_device.h) and dies before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "compiler/support/result.h"
#include "runtime/cuda/driver_stream.h"

namespace rondo::runtime {

// An address in GPU memory, as CUdeviceptr.
using DeviceAddress = std::uint64_t;

// Owns bytes of GPU memory, aligned to 256. Copies and fills are asynchronous on the given stream; host
// memory that takes part must live until the stream reaches them (pageable memory is staged by the driver
// before it returns).
class DeviceBuffer {
 public:
  // Contents are undefined. Zero bytes give an empty buffer with address 0. Error of kind Device when memory
  // is short.
  static Result<DeviceBuffer> allocate(std::size_t bytes);

  DeviceBuffer() = default;

  DeviceAddress address() const { return reinterpret_cast<DeviceAddress>(memory_.get()); }
  std::size_t bytes() const { return bytes_; }

  // Copies of the whole span to or from `offset` bytes into the buffer. Error of kind Internal when out of
  // range.
  Status upload(std::span<const std::byte> source, StreamHandle stream, std::size_t offset = 0) const;
  Status download(std::span<std::byte> target, StreamHandle stream, std::size_t offset = 0) const;

  Status fill(std::uint8_t value, StreamHandle stream) const;  // every byte

 private:
  struct Free {
    void operator()(void* memory) const noexcept;
  };
  Status check_range(const char* what, std::size_t offset, std::size_t count) const;
  std::unique_ptr<void, Free> memory_;
  std::size_t bytes_ = 0;
};

// Copies between host memory and any addresses of the current context, and bytes set there: as
// DeviceBuffer's.
Status copy_to_device(DeviceAddress target, std::span<const std::byte> source, StreamHandle stream);
Status copy_from_device(std::span<std::byte> target, DeviceAddress source, StreamHandle stream);
Status fill_bytes(DeviceAddress target, std::uint8_t value, std::size_t bytes, StreamHandle stream);

// Copy within GPU memory, between any addresses of the current context.
Status copy_on_device(DeviceAddress target, DeviceAddress source, std::size_t bytes, StreamHandle stream);

// Sets `count` 32-bit words; `target` is a multiple of 4. With a NaN pattern this poisons floating-point
// outputs.
Status fill_words(DeviceAddress target, std::uint32_t value, std::size_t count, StreamHandle stream);

}  // namespace rondo::runtime
