// One tensor of a pass in a device's memory, with any strides: uploaded from, and read back to, dense host
// values.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "compiler/executable/bindings.h"
#include "compiler/schedule/plan/tensor_layout.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/support/result.h"
#include "runtime/device/device.h"

namespace rondo::engine {

// How tensors with a time axis are laid out in tests and on the command line.
struct TensorLayout {
  enum class Order { BatchMajor, TimeMajor } order = Order::BatchMajor;  // [B, T, ...] or [T, B, ...]
  std::int64_t gap = 0;  // unused elements after each (b, t); keep it a multiple of the plan's alignment
};

struct ReadBack {
  std::vector<double> values;   // dense
  std::int64_t unwritten = 0;   // elements that still hold the poison
  std::int64_t gap_writes = 0;  // gap elements that do not hold the poison any more
};

class DeviceTensor {
 public:
  // The device outlives it. Error Device when memory is short.
  static Result<DeviceTensor> allocate(const runtime::Device& device, schedule::TensorRef ref,
                                       const schedule::Task& task, const step::Sizes& sizes,
                                       const TensorLayout& layout = {});

  schedule::TensorRef ref() const { return ref_; }
  const std::string& name() const { return name_; }
  kernel::Storage storage() const { return storage_; }
  std::int64_t elements() const { return batch_ * time_ * unit_; }
  executable::Binding binding() const {
    return {ref_, buffer_.address(), timed_ ? std::optional(strides_) : std::nullopt,
            static_cast<std::int64_t>(buffer_.bytes())};
  }
  const runtime::Memory& buffer() const { return buffer_; }

  // Rounds `values` (dense, elements() of them) to the storage type; gaps are poisoned. Waits for the copy.
  Status upload(std::span<const double> values) const;
  // Elements from `first` on, in the storage type: as many as the bytes hold.
  using Encode = std::function<void(std::int64_t first, std::span<std::byte> into)>;
  // The same of a tensor without gaps, a part at a time, which never takes the memory of a copy.
  Status upload(const Encode& encode) const;
  // All bytes to scalar::kPoisonByte, gaps included.
  Status poison() const;
  // Waits for the device.
  Result<ReadBack> download() const;
  // The raw bytes, for bit-by-bit comparison of runs.
  Result<std::vector<std::byte>> download_bytes() const;

 private:
  const runtime::Device* device_ = nullptr;
  schedule::TensorRef ref_;
  std::string name_;
  kernel::Storage storage_ = kernel::Storage::F32;
  bool timed_ = false;
  std::int64_t batch_ = 1, time_ = 1, unit_ = 0;  // batch_ and time_ are 1 where the tensor has no such axis
  executable::Strides strides_;
  runtime::Memory buffer_;
};

}  // namespace rondo::engine
