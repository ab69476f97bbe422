// A file's bytes where the system has them, without a copy.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "compiler/support/result.h"

namespace rondo {

// All bytes of a file, which stay as long as `owner` does. Whoever makes the file shorter in the meantime
// ends the process by SIGBUS: tools/rondo says what happened.
struct MappedFile {
  std::shared_ptr<const void> owner;
  std::string_view bytes;
};

// A regular file: mapped, or read where its file system does not map. Errors: Missing where there is no such
// file; Input where it is a folder, a pipe or a device, a database that this process has open, or cannot be
// opened or read.
Result<MappedFile> map_file(const std::string& path);

}  // namespace rondo
