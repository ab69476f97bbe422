// Files that a library of this process keeps open under locks of its own, as SQLite does. Whoever opens and
// closes such a file beside it drops all locks that the process holds on it (POSIX, close() and fcntl(2),
// "Advisory record locking"), and with them what the library wrote since.
#pragma once

#include <string>

#include "compiler/support/result.h"

namespace rondo {

// While it lives, may_open() refuses the file and those that SQLite keeps beside it.
class LockedFile {
 public:
  explicit LockedFile(std::string path);
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;
  ~LockedFile();

 private:
  std::string path_;
};

// To be asked before a file is opened that a user has named. Error Input where it is one of those, by
// whatever name.
Status may_open(const std::string& path);

}  // namespace rondo
