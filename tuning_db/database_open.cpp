// Opening: whose file is it, is it whole, may it be written. Nothing is changed before that is known.
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "compiler/support/environment.h"
#include "tuning_db/database_impl.h"
#include "tuning_db/schema.h"

namespace rondo::db {
namespace fs = std::filesystem;
namespace {

constexpr const char* kElsewhere = "name another file with --db";

[[noreturn]] void fail(std::string message, std::string hint = kElsewhere) {
  throw Failure({ErrorKind::Database, std::move(message), std::move(hint)});
}

// What a reader is told of a file that holds nothing: another process is creating the database right now, or
// was stopped while it did. That is no damage, and to a reader the same as no file.
[[noreturn]] void fail_unfilled(const std::string& path) {
  throw Failure({ErrorKind::Missing, fmt::format("database '{}' is empty", path),
                 "tune something first, or name another file with --db"});
}

// 0 where there is no such file.
std::uintmax_t size_of(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  return error ? 0 : size;
}

bool has_log(const std::string& path) { return size_of(path + "-wal") > 0; }

// A rollback journal that ends with the name of another file, as SQLite writes it for a transaction over
// several databases (https://www.sqlite.org/fileformat2.html#the_rollback_journal). SQLite deletes that file
// once it has read the journal, whatever it is. Rondo has no such transactions, so somebody else made the
// journal.
bool names_another_file(const std::string& journal) {
  constexpr std::string_view kMagic = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
  const std::uintmax_t size = size_of(journal);
  if (size < kMagic.size()) return false;
  std::ifstream file(journal, std::ios::binary);
  std::string end(kMagic.size(), '\0');
  file.seekg(static_cast<std::streamoff>(size - end.size()));
  return file.read(end.data(), static_cast<std::streamsize>(end.size())) && end == kMagic;
}

void check_journal(const std::string& path) {
  const std::string journal = path + "-journal";
  std::error_code error;
  const fs::file_status status = fs::symlink_status(journal, error);
  if (status.type() == fs::file_type::not_found) return;
  if (!fs::is_regular_file(status) || names_another_file(journal))
    fail(fmt::format("beside database '{}' lies '{}', which Rondo did not write: {}", path, journal,
                     fs::is_regular_file(status) ? "reading it would delete another file" : "it is no file"),
         "look at it, and delete it; Rondo leaves both as they are");
}

// What can be told without opening the file. (Reading it here is out: closing any descriptor of a file drops
// the locks that SQLite holds on it in this process.)
void preflight(const std::string& path, Access access) {
  std::error_code error;
  const bool log = has_log(path);  // before looking at the main file, which is written first
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    if (access == Access::ReadOnly)
      throw Failure({ErrorKind::Missing, fmt::format("there is no database '{}'", path),
                     "tune something first, or name another file with --db"});
    const fs::path folder = fs::path(path).parent_path();
    if (!fs::is_directory(folder, error))
      fail(fmt::format("cannot create database '{}': there is no folder '{}'", path, folder.string()),
           "create the folder, or name another file with --db");
    return;
  }
  if (error) fail(fmt::format("database '{}' cannot be opened: {}", path, error.message()));
  if (fs::is_directory(status)) fail(fmt::format("database '{}' is a folder, not a file", path));
  if (!fs::is_regular_file(status)) fail(fmt::format("database '{}' is not a regular file", path));
  check_journal(path);
  const std::uintmax_t size = size_of(path);
  // SQLite takes a file shorter than its smallest page for an empty database, and would write over it.
  constexpr std::uintmax_t kSmallestPage = 512;
  if (size > 0 && size < kSmallestPage)
    fail(fmt::format("'{}' is not a database, or a truncated one: it has only {} bytes", path, size));
  if (size > 0) return;
  // SQLite would delete the log here, and with it what can still be rescued.
  if (log)
    fail(fmt::format("database '{}' is empty although it has a log, '{}-wal': it was truncated", path, path),
         "Rondo leaves both as they are: restore a copy, or move them away and tune again");
  if (access == Access::ReadOnly) fail_unfilled(path);
}

// SQLite compares the size in the header with the file's, in whole pages; this notices a cut within the last
// page.
void check_tail(Connection& connection) {
  const auto page = static_cast<std::uintmax_t>(connection.integer("PRAGMA page_size"));
  // Another process may be extending the file this very moment; then it has a log, or the tail is whole soon.
  for (int attempt = 0; attempt < 5; ++attempt) {
    if (has_log(connection.path()) || size_of(connection.path()) % page == 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  fail(fmt::format("database '{}' is truncated: its {} bytes end within a page of {}", connection.path(),
                   size_of(connection.path()), page),
       "Rondo leaves the file as it is: restore a copy, or move it away and tune again");
}

std::unique_ptr<Connection> open_for_writing(const std::string& path,
                                             std::chrono::milliseconds busy_timeout) {
  auto connection = std::make_unique<Connection>(path, OpenMode::ReadWriteCreate, busy_timeout);
  connection->checkpoint_on_close(false);
  const int version = schema_version(*connection).value_or(0);
  check_tail(*connection);
  if (connection->read_only()) throw Failure(explain(path, SQLITE_READONLY, 0, "the file is read-only"));
  // WAL: readers and the writer do not wait for each other, and a killed writer leaves the main file as it
  // was. NORMAL: a process that dies loses nothing; a power cut may lose the last commits, never the file.
  // Trials can be measured again, and a sync for each would cost more than many of them.
  connection->retry([&] { connection->run_script("PRAGMA journal_mode = WAL"); });
  connection->run_script("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON");
  if (version < newest_version()) migrate(*connection);
  connection->checkpoint_on_close(true);
  return connection;
}

std::unique_ptr<Connection> connect_for_reading(const std::string& path,
                                                std::chrono::milliseconds busy_timeout,
                                                std::optional<int>& version) {
  const auto connect = [&](OpenMode mode) {
    auto connection = std::make_unique<Connection>(path, mode, busy_timeout);
    version = schema_version(*connection);
    return connection;
  };
  try {
    return connect(OpenMode::ReadOnly);
  } catch (const Failure& failure) {
    // A WAL database needs its shared-memory file, which cannot be created in a read-only folder.
    const bool folder_read_only =
        ::faccessat(AT_FDCWD, fs::path(path).parent_path().c_str(), W_OK, AT_EACCESS) != 0;
    const bool readable = ::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) == 0;
    const int primary = failure.sqlite_code() & 0xff;
    if (!folder_read_only || !readable || (primary != SQLITE_READONLY && primary != SQLITE_CANTOPEN)) throw;
    if (has_log(path))
      fail(fmt::format(
               "database '{}' lies in a folder that cannot be written and has an unfinished log '{}-wal'",
               path, path),
           "open it once where the folder can be written, or copy it with its log to such a folder");
    return connect(OpenMode::Immutable);
  }
}

std::unique_ptr<Connection> open_for_reading(const std::string& path,
                                             std::chrono::milliseconds busy_timeout) {
  std::optional<int> version;
  auto connection = connect_for_reading(path, busy_timeout, version);
  if (!version) fail_unfilled(path);
  check_tail(*connection);
  if (*version < newest_version())
    fail(fmt::format("database '{}' has schema version {}, older than this program's {}", path, *version,
                     newest_version()),
         "open it once for writing, which brings it up to date");
  return connection;
}

}  // namespace

std::string resolved(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  const fs::path followed = fs::weakly_canonical(absolute, error);
  return error ? absolute.string() : followed.string();
}

Result<std::string> default_path() {
  if (std::string file = environment("RONDO_DB"); !file.empty()) return file;
  if (const std::string data = environment("XDG_DATA_HOME"); !data.empty()) return data + "/rondo/tuning.db";
  if (const std::string home = environment("HOME"); !home.empty())
    return home + "/.local/share/rondo/tuning.db";
  return Error{ErrorKind::Missing, "no place for the tuning database: neither RONDO_DB nor HOME is set",
               "name a file with --db"};
}

Database::Database(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

const std::string& Database::path() const { return impl_->path; }
Access Database::access() const { return impl_->options.access; }

Result<Database> Database::open(const std::string& path, const OpenOptions& options) {
  if (path.empty()) return Error{ErrorKind::Input, "the database's file name is empty", kElsewhere};
  auto impl = std::make_unique<Impl>();
  impl->path = resolved(path);
  impl->options = options;
  const Status opened = impl->guarded([&] {
    preflight(impl->path, options.access);
    impl->connection = options.access == Access::ReadWrite
                           ? open_for_writing(impl->path, options.busy_timeout)
                           : open_for_reading(impl->path, options.busy_timeout);
  });
  if (!opened.ok()) return opened.error();
  return Database(std::move(impl));
}

Result<bool> Database::is_older(const std::string& path) {
  try {
    preflight(resolved(path), Access::ReadOnly);
    Connection connection(resolved(path), OpenMode::ReadOnly, OpenOptions{}.busy_timeout);
    const std::optional<int> version = schema_version(connection);
    return version && *version < newest_version();
  } catch (const Failure& failure) {
    return failure.error();
  }
}

Result<Database> Database::open_default(const OpenOptions& options) {
  const Result<std::string> path = default_path();
  if (!path.ok()) return path.error();
  if (options.access == Access::ReadWrite) {
    // A failure shows again, better explained, when the file is opened.
    std::error_code ignored;
    fs::create_directories(fs::absolute(*path, ignored).parent_path(), ignored);
  }
  return open(*path, options);
}

}  // namespace rondo::db
