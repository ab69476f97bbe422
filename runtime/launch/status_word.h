// A word that kernels set and this process reads while they run: it lies in the host's memory.
#pragma once

#include <cstdint>
#include <memory>

#include "compiler/support/result.h"
#include "runtime/cuda/driver_memory.h"

namespace rondo::runtime {

// Needs a current context and dies before it.
class StatusWord {
 public:
  static Result<StatusWord> make();  // 0

  // As kernels of the context see it.
  DeviceAddress address() const { return address_; }
  // Its value. Both may be called from several threads.
  std::int32_t read() const;
  // Its value, which is 0 from then on.
  std::int32_t take() const;

 private:
  struct Free {
    void operator()(std::int32_t* word) const noexcept;
  };
  std::unique_ptr<std::int32_t, Free> word_;
  DeviceAddress address_ = 0;
};

}  // namespace rondo::runtime
