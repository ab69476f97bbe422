// Records as the program writes them, where fuzzing of binary readers begins.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rondo::fuzz {

// An executable's payload behind the header that fits it.
std::string with_header(std::string_view payload);

// One of each kind, behind the byte that chooses its reader (messages.cpp).
std::vector<std::string> samples();

// A package of one entry, whole.
std::string sample_package();

}  // namespace rondo::fuzz
