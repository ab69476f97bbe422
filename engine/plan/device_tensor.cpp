#include "engine/plan/device_tensor.h"

#include <fmt/format.h>

#include "compiler/scalar/storage.h"
#include "compiler/schedule/plan/signature.h"
#include "compiler/support/index.h"

namespace rondo::engine {

Result<DeviceTensor> DeviceTensor::allocate(const runtime::Device& device, schedule::TensorRef ref,
                                            const schedule::Task& task, const step::Sizes& sizes,
                                            const TensorLayout& layout) {
  DeviceTensor result;
  result.device_ = &device;
  result.ref_ = ref;
  result.name_ = schedule::name_of(ref, task.written);
  result.storage_ = schedule::storage_of(ref, task);
  result.timed_ = schedule::has_time_axis(ref.role);
  if (result.timed_) {
    result.batch_ = sizes.batch;
    result.time_ = sizes.time;
    result.unit_ = schedule::unit_elements(ref, task.cell, sizes);
    const std::int64_t row = result.unit_ + layout.gap;
    result.strides_ = layout.order == TensorLayout::Order::BatchMajor
                          ? executable::Strides{row * sizes.time, row}
                          : executable::Strides{row, row * sizes.batch};
  } else {
    result.unit_ = schedule::total_elements(ref, task.cell, sizes);
  }
  std::int64_t bytes = result.unit_ + (result.timed_ ? layout.gap : 0);
  for (const std::int64_t factor :
       {result.batch_, result.time_, std::int64_t{kernel::storage_bytes(result.storage_)}})
    if (__builtin_mul_overflow(bytes, factor, &bytes))
      return Error{ErrorKind::Input,
                   fmt::format("tensor '{}' is larger than any memory at B={}, T={}", result.name_,
                               sizes.batch, sizes.time),
                   "split the batch or the sequence into several calls"};
  Result<runtime::Memory> buffer = device.allocate(at(bytes));
  if (!buffer) return buffer.error();
  result.buffer_ = std::move(buffer).value();
  return result;
}

Status DeviceTensor::upload(std::span<const double> values) const {
  if (values.size() != at(elements()))
    return Error{ErrorKind::Input,
                 fmt::format("tensor '{}' has {} elements, not {}", name_, elements(), values.size()), ""};
  std::vector<std::byte> bytes(buffer_.bytes(), std::byte{scalar::kPoisonByte});
  const auto size = kernel::storage_bytes(storage_);
  for (std::int64_t b = 0, from = 0; b < batch_; ++b)
    for (std::int64_t t = 0; t < time_; ++t)
      for (std::int64_t i = 0; i < unit_; ++i, ++from)
        encode(storage_, values[at(from)], &bytes[at((b * strides_.b + t * strides_.t + i) * size)]);
  if (Status status = device_->upload(buffer_.address(), bytes); !status) return status;
  return device_->wait();
}

Status DeviceTensor::poison() const {
  return device_->fill(buffer_.address(), scalar::kPoisonByte, buffer_.bytes());
}

Result<std::vector<std::byte>> DeviceTensor::download_bytes() const {
  std::vector<std::byte> bytes(buffer_.bytes());
  if (Status status = device_->download(buffer_.address(), bytes); !status) return status.error();
  if (Status status = device_->wait(); !status) return status.error();
  return bytes;
}

Result<ReadBack> DeviceTensor::download() const {
  const Result<std::vector<std::byte>> bytes = download_bytes();
  if (!bytes) return bytes.error();
  ReadBack result;
  result.values.reserve(at(elements()));
  const auto size = at(kernel::storage_bytes(storage_));
  std::int64_t poisoned = 0;
  for (std::size_t place = 0; place < bytes->size(); place += size)
    poisoned += is_poison(storage_, &(*bytes)[place]);
  for (std::int64_t b = 0; b < batch_; ++b)
    for (std::int64_t t = 0; t < time_; ++t)
      for (std::int64_t i = 0; i < unit_; ++i) {
        const std::byte* source = &(*bytes)[at(b * strides_.b + t * strides_.t + i) * size];
        result.unwritten += is_poison(storage_, source);
        result.values.push_back(decode(storage_, source));
      }
  const auto gaps = static_cast<std::int64_t>(bytes->size() / size) - elements();
  result.gap_writes = gaps - (poisoned - result.unwritten);
  return result;
}

}  // namespace rondo::engine
