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

// Whether another user may put something else in the place of a file that exists: one who owns it or a folder
// above it and is neither root nor this process's user nor the owner of Rondo's own code, or anybody where
// the file or its folder may be written by all. Code from there is not run unless the user has named it. A
// bare name is the dynamic linker's to find: false.
bool others_may_change(const std::string& path);

}  // namespace rondo
