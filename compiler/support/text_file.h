// Whole text files: exports and lock files.
#pragma once

#include <string>

#include "compiler/support/result.h"

namespace rondo {

// Error Missing where there is no such file, Input where it cannot be read.
Result<std::string> read_text_file(const std::string& path);

// Writes under a temporary name beside `path`, syncs and renames: readers see the old file or the new one,
// and a failure (Error Input with the system's reason) leaves the old one.
Status write_text_file(const std::string& path, const std::string& text);

}  // namespace rondo
