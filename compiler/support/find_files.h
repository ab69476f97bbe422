// Files by patterns.
#pragma once

#include <string>
#include <vector>

namespace rondo {

// The paths that match the pattern (glob(7)), in alphabetical order.
std::vector<std::string> matching_paths(const std::string& pattern);

// The folders from the one that holds this program up to the root, at most `levels` of them.
std::vector<std::string> program_folders(int levels);

}  // namespace rondo
