// A copy whose result goes past the caches.
#pragma once

#include <cstddef>

namespace rondo::runtime {

// As memcpy. On x86 lines are written without being read first; elsewhere it is memcpy, whose stores
// processors see through themselves.
void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes);

}  // namespace rondo::runtime
