// Files by patterns.
#pragma once

#include <string>
#include <vector>

namespace rondo {

// The paths that match the pattern (glob(7)), in alphabetical order.
std::vector<std::string> matching_paths(const std::string& pattern);

// Folders where files of Rondo may lie: from the one that holds this code up to the root, at most `levels` of
// them, and the same of the program, which is another file where this code is in a shared library.
std::vector<std::string> own_folders(int levels);

}  // namespace rondo
