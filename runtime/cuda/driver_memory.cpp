#include "runtime/cuda/driver_memory.h"

#include <fmt/format.h>

#include "runtime/cuda/driver_api.h"

namespace rondo::runtime {

namespace {

// The call, unless there is nothing to be done: then only whether there is a driver.
template <class... Call>
Status call_unless(bool empty, Call... what) {
  if (!empty) return call(what...);
  const Result<const Driver*> driver = Driver::get();
  return driver ? success() : Status(driver.error());
}

}  // namespace

void DeviceBuffer::Free::operator()(void* memory) const noexcept {
  if (const DriverApi* api = loaded_driver_api()) api->mem_free(reinterpret_cast<CUdeviceptr>(memory));
}

Result<DeviceBuffer> DeviceBuffer::allocate(std::size_t bytes) {
  auto driver = Driver::get();
  if (!driver) return driver.error();
  DeviceBuffer buffer;
  if (bytes == 0) return buffer;
  CUdeviceptr address = 0;
  auto made = check(**driver, (*driver)->api().mem_alloc(&address, bytes),
                    fmt::format("cuMemAlloc of {} bytes", bytes));
  if (!made) return made.error();
  // An address on the device: no host code reads through it.
  buffer.memory_.reset(reinterpret_cast<void*>(address));  // NOLINT(performance-no-int-to-ptr)
  buffer.bytes_ = bytes;
  return buffer;
}

Status DeviceBuffer::check_range(const char* what, std::size_t offset, std::size_t count) const {
  if (offset <= bytes_ && count <= bytes_ - offset) return success();
  return Error{ErrorKind::Internal, fmt::format("{} of {} bytes at offset {} leaves a buffer of {} bytes",
                                                what, count, offset, bytes_)};
}

Status DeviceBuffer::upload(std::span<const std::byte> source, StreamHandle stream,
                            std::size_t offset) const {
  if (auto fits = check_range("upload", offset, source.size()); !fits) return fits;
  return copy_to_device(address() + offset, source, stream);
}

Status DeviceBuffer::download(std::span<std::byte> target, StreamHandle stream, std::size_t offset) const {
  if (auto fits = check_range("download", offset, target.size()); !fits) return fits;
  return copy_from_device(target, address() + offset, stream);
}

Status DeviceBuffer::fill(std::uint8_t value, StreamHandle stream) const {
  return fill_bytes(address(), value, bytes_, stream);
}

Status copy_to_device(DeviceAddress target, std::span<const std::byte> source, StreamHandle stream) {
  return call_unless(source.empty(), &DriverApi::memcpy_htod, target, source.data(), source.size(), stream);
}

Status copy_from_device(std::span<std::byte> target, DeviceAddress source, StreamHandle stream) {
  return call_unless(target.empty(), &DriverApi::memcpy_dtoh, target.data(), source, target.size(), stream);
}

Status fill_bytes(DeviceAddress target, std::uint8_t value, std::size_t bytes, StreamHandle stream) {
  return call_unless(bytes == 0, &DriverApi::memset_d8, target, value, bytes, stream);
}

Status copy_on_device(DeviceAddress target, DeviceAddress source, std::size_t bytes, StreamHandle stream) {
  return call_unless(bytes == 0, &DriverApi::memcpy_dtod, target, source, bytes, stream);
}

Status fill_words(DeviceAddress target, std::uint32_t value, std::size_t count, StreamHandle stream) {
  return call_unless(count == 0, &DriverApi::memset_d32, target, value, count, stream);
}

}  // namespace rondo::runtime
