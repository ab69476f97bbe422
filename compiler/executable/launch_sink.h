// Who carries out the launches of an executable: the driver, the recorder of a CUDA graph, the simulator, or
// a printer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "compiler/executable/bindings.h"
#include "compiler/support/result.h"

namespace rondo::executable {

class LaunchSink {
 public:
  virtual ~LaunchSink() = default;
  // Zeroes `bytes` at `pointer`, ordered before the launches that follow.
  virtual Status zero(Address pointer, std::int64_t bytes) = 0;
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
