#include "tuning_db/failure.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

namespace rondo::db {
namespace {

constexpr const char* kWritableElsewhere = "name a file in a writable folder with --db";
constexpr const char* kKeepDamaged =
    "Rondo leaves the file as it is: restore a copy, or move it away and tune again ('sqlite3 FILE .recover' "
    "may "
    "rescue rows)";

// errno that reading `path` (R_OK) or writing it (W_OK) would give, or 0. With the effective user, as it
// would be done.
int denied_access(const std::filesystem::path& path, int how) {
  return ::faccessat(AT_FDCWD, path.c_str(), how, AT_EACCESS) == 0 ? 0 : errno;
}

// The folder or the file itself that cannot be read or written, if that is the trouble.
std::optional<Error> explain_denied(const std::string& path) {
  std::error_code ignored;
  const bool exists = std::filesystem::exists(path, ignored);
  if (const int denied = exists ? denied_access(path, R_OK) : 0)
    return Error{ErrorKind::Database,
                 fmt::format("database '{}' cannot be read: {}", path, std::strerror(denied)),
                 "ask its owner for the right to read it, or name another file with --db"};
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (const int denied = denied_access(folder, W_OK))
    return Error{ErrorKind::Database,
                 fmt::format("database '{}' cannot be written: folder '{}': {}", path, folder.string(),
                             std::strerror(denied)),
                 kWritableElsewhere};
  if (const int denied = exists ? denied_access(path, W_OK) : 0)
    return Error{ErrorKind::Database,
                 fmt::format("database '{}' cannot be written: {}", path, std::strerror(denied)),
                 kWritableElsewhere};
  return std::nullopt;
}

Error no_space(const std::string& path, int os_error) {
  return {ErrorKind::Database,
          fmt::format("no space to write database '{}': {}", path,
                      os_error == 0 ? "the disk is full" : std::strerror(os_error)),
          "free some space or name a file on another disk with --db; what was committed before is intact"};
}

}  // namespace

bool Failure::busy() const {
  const int primary = code_ & 0xff;
  return primary == SQLITE_BUSY || primary == SQLITE_LOCKED;
}

Error explain(const std::string& path, int sqlite_code, int os_error, const std::string& detail) {
  const bool out_of_space = os_error == ENOSPC || os_error == EDQUOT || os_error == EFBIG;
  switch (sqlite_code & 0xff) {
    case SQLITE_NOTADB:
      return {ErrorKind::Database, fmt::format("'{}' is not a database (or its header is damaged)", path),
              "name another file with --db; Rondo never overwrites a file that it did not write"};
    case SQLITE_CORRUPT:
      return {ErrorKind::Database,
              fmt::format("database '{}' is damaged, perhaps truncated: {}", path, detail), kKeepDamaged};
    case SQLITE_FULL: return no_space(path, os_error);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorKind::Database,
              fmt::format("database '{}' stays locked by another process: {}", path, detail),
              "wait for the other process, or name another file with --db and merge it later with 'rondo db "
              "merge'"};
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      if (auto error = explain_denied(path)) return *error;
      break;
    case SQLITE_IOERR:
      if (out_of_space) return no_space(path, os_error);
      break;
    default: break;
  }
  const std::string system = os_error == 0 ? "" : fmt::format(" ({})", std::strerror(os_error));
  return {ErrorKind::Database, fmt::format("database '{}': {}{}", path, detail, system)};
}

}  // namespace rondo::db
