// A sink that writes launches down instead of running them.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <utility>
#include <vector>

#include "compiler/executable/launch_sink.h"

namespace rondo::executable::testing {

class Recorder final : public LaunchSink {
 public:
  struct Call {
    std::size_t index;
    std::int64_t blocks;
    std::vector<std::int64_t> values;
  };
  Status fill(Address pointer, std::int64_t bytes, float value, scalar::Storage) override {
    if (value != 0)
      filled.push_back({pointer, bytes, value});
    else
      zeroed.emplace_back(pointer, bytes);
    EXPECT_TRUE(calls.empty()) << "zeroed after a launch";
    return success();
  }
  Status copy(Address target, Address source, std::int64_t bytes) override {
    copied.push_back({target, source, bytes});
    return success();
  }
  Status launch(std::size_t index, std::int64_t blocks, std::span<void* const> arguments) override {
    Call call{index, blocks, {}};
    for (void* argument : arguments) {
      std::int64_t value = 0;
      std::memcpy(&value, argument, sizeof value);
      call.values.push_back(value);
    }
    calls.push_back(std::move(call));
    return success();
  }
  bool holds(Address condition) override {
    asked.push_back(condition);
    return asked.size() >= holds_after;
  }

  struct Copy {
    Address target, source;
    std::int64_t bytes;
    friend bool operator==(const Copy&, const Copy&) = default;
  };
  struct Fill {
    Address pointer;
    std::int64_t bytes;
    float value;
    friend bool operator==(const Fill&, const Fill&) = default;
  };
  std::vector<std::pair<Address, std::int64_t>> zeroed;
  std::vector<Fill> filled;  // with another number
  std::vector<Copy> copied;
  std::vector<Call> calls;
  std::vector<Address> asked;
  std::size_t holds_after = 1u << 30;  // how often it is asked until the condition holds
};

}  // namespace rondo::executable::testing
