#include "engine/plan/device_tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compiler/scalar/storage.h"
#include "compiler/scalar/storage_blocks.h"
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
                 fmt::format("tensor '{}' has {} elements, not {}", name_, elements(), values.size())};
  std::vector<std::byte> bytes(buffer_.bytes(), std::byte{scalar::kPoisonByte});
  const auto size = kernel::storage_bytes(storage_);
  for (std::int64_t b = 0, from = 0; b < batch_; ++b)
    for (std::int64_t t = 0; t < time_; ++t)
      for (std::int64_t i = 0; i < unit_; ++i, ++from)
        encode(storage_, values[at(from)], &bytes[at((b * strides_.b + t * strides_.t + i) * size)]);
  if (Status status = device_->upload(buffer_.address(), bytes); !status) return status;
  return device_->wait();
}

Status DeviceTensor::upload(const Encode& encode) const {
  constexpr std::size_t kPart = std::size_t{1} << 20;  // bytes: they stay in the L2
  std::vector<std::byte> part(std::min(kPart, buffer_.bytes()));
  const auto size = at(kernel::storage_bytes(storage_));
  for (std::size_t done = 0; done < buffer_.bytes(); done += part.size()) {
    const std::span<std::byte> bytes(part.data(), std::min(part.size(), buffer_.bytes() - done));
    encode(static_cast<std::int64_t>(done / size), bytes);
    if (Status status = device_->upload(buffer_.address() + done, bytes); !status) return status;
    if (Status status = device_->wait(); !status) return status;
  }
  return success();
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

namespace {

// Elements that lie one after the other, as doubles.
void append_values(kernel::Storage storage, const std::byte* source, std::int64_t count,
                   std::vector<double>& values) {
  constexpr std::int64_t kTogether = 1024;  // they stay in the L1
  std::array<float, kTogether> block;
  const bool numbers =
      storage == kernel::Storage::F32 || storage == kernel::Storage::BF16 || storage == kernel::Storage::F16;
  for (std::int64_t first = 0; numbers && first < count; first += kTogether) {
    const std::span<float> part(block.data(), at(std::min(kTogether, count - first)));
    scalar::decode_block(storage, source + first * kernel::storage_bytes(storage), part);
    values.insert(values.end(), part.begin(), part.end());
  }
  for (std::int64_t i = 0; !numbers && i < count; ++i)
    values.push_back(decode(storage, source + i * kernel::storage_bytes(storage)));
}

}  // namespace

Result<ReadBack> DeviceTensor::download() const {
  const Result<std::vector<std::byte>> bytes = download_bytes();
  if (!bytes) return bytes.error();
  ReadBack result;
  result.values.reserve(at(elements()));
  const auto size = kernel::storage_bytes(storage_);
  const std::size_t held = bytes->size() / at(size);
  const std::size_t poisoned = scalar::poisoned_in_block(storage_, bytes->data(), held);
  // Without gaps and in the order of the values it is one row.
  const bool dense = !timed_ || strides_ == executable::Strides{unit_ * time_, unit_};
  const std::int64_t rows = dense ? 1 : batch_ * time_, row = dense ? elements() : unit_;
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t place = dense ? 0 : r / time_ * strides_.b + r % time_ * strides_.t;
    const std::byte* const source = bytes->data() + place * size;
    result.unwritten += static_cast<std::int64_t>(scalar::poisoned_in_block(storage_, source, at(row)));
    append_values(storage_, source, row, result.values);
  }
  result.gap_writes =
      static_cast<std::int64_t>(held) - elements() - (static_cast<std::int64_t>(poisoned) - result.unwritten);
  return result;
}

}  // namespace rondo::engine
