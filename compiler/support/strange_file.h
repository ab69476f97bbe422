// Files that other users could exchange.
#pragma once

#include <string>

namespace rondo {

// Whether another user may put something else in the place of a file that exists: one who owns it or a folder
// above it and is neither root nor this process's user nor the owner of Rondo's own code, or anybody where
// the file or its folder may be written by all. Code from there is not run unless the user has named it. A
// bare name is the dynamic linker's to find: false.
bool others_may_change(const std::string& path);

}  // namespace rondo
