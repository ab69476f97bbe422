// The memory of boards, to say beside what a problem takes.
#pragma once

#include <cstdint>

#include "compiler/target/profile.h"

namespace rondo::target {

// Bytes by the board's data sheet; 0 for a profile that is no shipped board's.
std::int64_t board_memory(const Profile& profile);

}  // namespace rondo::target
