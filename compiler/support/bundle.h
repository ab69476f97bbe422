// Several byte strings as one, so that code made in parts is stored, hashed and sent like code made at once.
//
// A bundle is the text RONDOBND, the number of its members and their sizes in bytes (u32 and u64,
// little-endian), and the members. Each begins at a multiple of 64 bytes, with zeros before it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rondo {

// One member alone needs no bundle, and is returned as it is. Throws std::length_error for 2^32 members.
std::string bundled(const std::vector<std::string>& members);

// In order, as parts of `bytes`, which must outlive them. What does not begin like a bundle is its own one
// member. Nothing for a damaged bundle: any bytes are safe.
std::optional<std::vector<std::string_view>> members_of(std::string_view bytes);

}  // namespace rondo
