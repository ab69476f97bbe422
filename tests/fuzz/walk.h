// The launches of an executable, walked without a device.
#pragma once

#include "compiler/executable/launcher.h"
#include "tests/fuzz/target.h"

namespace rondo::fuzz {

// Counts starts, and ends a walk that a hostile repetition would make long.
class Counter final : public executable::LaunchSink {
 public:
  Status fill(executable::Address, std::int64_t bytes, float, scalar::Storage) override {
    require(bytes >= 0, "a region has a size");
    return success();
  }
  Status copy(executable::Address, executable::Address, std::int64_t bytes) override {
    require(bytes >= 0, "a state has a size");
    return success();
  }
  Status launch(std::size_t, std::int64_t blocks, std::span<void* const>) override {
    require(blocks >= 0, "blocks are counted");
    constexpr int kMost = 1000;
    return ++starts_ < kMost ? success() : Status(Error{ErrorKind::Cancelled, "enough", ""});
  }

 private:
  int starts_ = 0;
};

inline void walk(const executable::Executable& code, std::int64_t batch, std::int64_t time) {
  const Result<executable::Launcher> launcher = executable::Launcher::make(code);
  require(launcher.ok(), "what was read can be launched");
  executable::Bindings bindings;
  executable::Address next = executable::Address{1} << 40;
  for (const executable::Tensor& tensor : code.tensors) {
    if (executable::is_internal(tensor.ref.role)) continue;
    bindings.set(tensor.ref, next, std::nullopt, std::int64_t{1} << 40);
    next += executable::Address{1} << 41;
  }
  require(launcher->workspace_bytes(batch, time) >= 0, "a workspace has a size");
  bindings.set_workspace(next);
  Counter counter;
  (void)launcher->launch(counter, bindings, batch, time);
}

}  // namespace rondo::fuzz
