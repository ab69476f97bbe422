// Who carries out the launches of an executable: the driver, the recorder of a CUDA graph, the simulator, or
// a printer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "compiler/executable/bindings.h"
#include "compiler/scalar/storage.h"
#include "compiler/support/result.h"

namespace rondo::executable {

// What fill() is in the host's memory.
inline void fill_host(Address pointer, std::int64_t bytes, float value, scalar::Storage storage) {
  if (value == 0) {
    std::memset(reinterpret_cast<void*>(pointer), 0, static_cast<std::size_t>(bytes));
    return;
  }
  const auto with = [&]<class Real>(Real number) {
    auto* const numbers = reinterpret_cast<Real*>(pointer);
    std::fill(numbers, numbers + bytes / static_cast<std::int64_t>(sizeof number), number);
  };
  storage == scalar::Storage::F64 ? with(double{value}) : with(value);
}

class LaunchSink {
 public:
  virtual ~LaunchSink() = default;
  // Fills `bytes` at `pointer` with a number of the storage type, ordered before the launches that follow.
  // Memory of other types than fp32 and, on CPUs, fp64 is filled with 0 alone.
  virtual Status fill(Address pointer, std::int64_t bytes, float value, scalar::Storage storage) = 0;
  // Copies `bytes` from `source` to `target`, which lie apart; ordered as launches are.
  virtual Status copy(Address target, Address source, std::int64_t bytes) = 0;
  // Starts launch `index` of the executable with `blocks` blocks. arguments[i] points to the value of its
  // i-th argument, 8 bytes of which a 4-byte parameter is the low half; valid during the call.
  virtual Status launch(std::size_t index, std::int64_t blocks, std::span<void* const> arguments) = 0;
  // Whether the int32 at `condition` is known to be not 0, so that a repetition until then may end. A sink
  // that would have to wait for the device says false.
  virtual bool holds(Address condition) {
    (void)condition;
    return false;
  }
};

}  // namespace rondo::executable
