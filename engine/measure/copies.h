// Copies within a device's memory: what a kernel that only moves its tensors is compared with.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/measure/measure.h"

namespace rondo::engine {

// Places that copies take turns with.
class CopyData {
 public:
  // Of `bytes` each, read and as many written. Error Device where there is no memory for one.
  static Result<CopyData> make(const runtime::Device& device, std::size_t bytes, int sets);

  int sets() const { return static_cast<int>(from_.size()); }
  TimedWork work() const;  // which this outlives

 private:
  const runtime::Device* device_ = nullptr;
  std::vector<runtime::Memory> from_, to_;
};

// Bytes per second, read + written, of copies of `bytes` (halved while memory is short; 0: those that show
// the device's bandwidth).
Result<double> copy_bandwidth(Timer& timer, std::size_t bytes = 0, int samples = 9);

// Seconds of a kernel's runs and of copies of as many bytes, in pairs that follow each other.
struct TimesBesideCopies {
  std::vector<double> kernel, copies;

  // Of a copy, of what the kernel takes: the median of all pairs. Memory is faster at one moment than at
  // another, and both of a pair met the same.
  double share() const;
};

// On CPUs. Bandwidth depends on which pages the memory has, on the cache that the tensors fit in or not, and
// on who else uses the memory at the moment. So samples of kernel and copy alternate, the copy moves as many
// bytes through as many places, and both get new memory several times. `bytes`: that a run must move.
class BesideCopies {
 public:
  BesideCopies(const runtime::Device& device, std::int64_t bytes, std::int64_t cache_bytes)
      : device_(device), bytes_(bytes), cache_bytes_(cache_bytes) {}
  // Adds `samples` of each, with memory of its own for the copies.
  Status add(const TimedWork& kernel, int sets, int samples);
  const TimesBesideCopies& times() const { return times_; }

 private:
  const runtime::Device& device_;
  std::int64_t bytes_, cache_bytes_;
  TimesBesideCopies times_;
};

}  // namespace rondo::engine
