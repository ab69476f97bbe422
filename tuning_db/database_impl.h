// Internal to tuning_db: what a Database holds, and the edge where Failures become Error values.
#pragma once

#include <fmt/format.h>

#include <mutex>
#include <new>
#include <string>
#include <type_traits>

#include "tuning_db/database.h"
#include "tuning_db/rows.h"
#include "tuning_db/sqlite.h"

namespace rondo::db {

// The absolute path, with links followed as the system follows them: "link/../x.db" lies beside what the link
// names. What is not there yet is kept as it is written.
std::string resolved(const std::string& path);

struct Database::Impl {
  std::unique_ptr<Connection> connection;
  std::string path;
  OpenOptions options;
  std::mutex mutex;

  // One view of the database for `body(connection)`; its value or the error.
  template <class Body>
  auto read(Body&& body) {
    return guarded([&] { return connection->read([&] { return body(*connection); }); });
  }
  // One transaction for `body(connection)`, which may run more than once.
  template <class Body>
  auto write(Body&& body) {
    return guarded([&] {
      require_writable();
      return connection->write([&] { return body(*connection); });
    });
  }

  // The same, where another process in the way is an Error at once.
  template <class Body>
  auto write_at_once(Body&& body) {
    return guarded([&] {
      require_writable();
      return connection->write_at_once([&] { return body(*connection); });
    });
  }

  template <class Body>
  auto guarded(Body&& body)
      -> Result<std::conditional_t<std::is_void_v<decltype(body())>, Unit, decltype(body())>> {
    const std::lock_guard lock(mutex);
    try {
      if constexpr (std::is_void_v<decltype(body())>) {
        body();
        return Unit{};
      } else {
        return body();
      }
    } catch (const Failure& failure) {
      return failure.error();
    } catch (const std::bad_alloc&) {
      return Error{ErrorKind::Memory, fmt::format("out of memory reading database '{}'", path)};
    }
  }

  void require_writable() const {
    if (options.access == Access::ReadWrite) return;
    throw Failure({ErrorKind::Database, fmt::format("database '{}' was opened for reading only", path),
                   "open it for writing, or name another file with --db"});
  }
};

}  // namespace rondo::db
