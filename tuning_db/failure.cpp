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

// errno that a write to `path` would give, or 0. With the effective user, as the write would be.
int write_denied(const std::filesystem::path& path) {
  return ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0 ? 0 : errno;
}

// The folder or the file itself that cannot be written, if that is the trouble.
std::optional<Error> explain_unwritable(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (const int denied = write_denied(folder))
    return Error{ErrorKind::Database,
                 fmt::format("database '{}' cannot be written: folder '{}': {}", path, folder.string(),
                             std::strerror(denied)),
                 kWritableElsewhere};
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  if (const int denied = write_denied(path))
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
      if (auto error = explain_unwritable(path)) return *error;
      break;
    case SQLITE_IOERR:
      if (out_of_space) return no_space(path, os_error);
      break;
    default: break;
  }
  const std::string system = os_error == 0 ? "" : fmt::format(" ({})", std::strerror(os_error));
  return {ErrorKind::Database, fmt::format("database '{}': {}{}", path, detail, system), ""};
}

}  // namespace rondo::db
