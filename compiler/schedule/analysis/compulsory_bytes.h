// The memory traffic that a pass cannot avoid.
#pragma once

#include <cstdint>

#include "compiler/schedule/problem/task.h"

namespace rondo::schedule {

// Bytes a pass must move through device memory: every tensor with a time axis is read once or written once,
// 16-bit or 32-bit as stored.
std::int64_t compulsory_bytes(const Task& task);

}  // namespace rondo::schedule
