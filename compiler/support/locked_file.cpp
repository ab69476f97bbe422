#include "compiler/support/locked_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <mutex>
#include <set>
#include <utility>

namespace rondo {
namespace {

struct Locked {
  std::mutex mutex;
  std::multiset<std::string> paths;
};

// Never destroyed: databases may live as long as the process.
Locked& locked() {
  static Locked* const all = new Locked;
  return *all;
}

bool is(const std::string& path, const struct stat& file) {
  struct stat about = {};
  return ::stat(path.c_str(), &about) == 0 && about.st_dev == file.st_dev && about.st_ino == file.st_ino;
}

}  // namespace

LockedFile::LockedFile(std::string path) : path_(std::move(path)) {
  const std::lock_guard lock(locked().mutex);
  locked().paths.insert(path_);
}

LockedFile::~LockedFile() {
  const std::lock_guard lock(locked().mutex);
  locked().paths.erase(locked().paths.find(path_));
}

Status may_open(const std::string& path) {
  struct stat file = {};
  if (::stat(path.c_str(), &file) != 0) return success();  // whoever opens it says why it cannot
  const std::lock_guard lock(locked().mutex);
  for (const std::string& known : locked().paths)
    for (const char* ending : {"", "-wal", "-shm", "-journal"})
      if (is(known + ending, file))
        return Error{
            ErrorKind::Input,
            fmt::format("cannot read '{}': it is part of the database '{}', which is open", path, known),
            "name another file"};
  return success();
}

}  // namespace rondo
