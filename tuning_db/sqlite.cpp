#include "tuning_db/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cctype>
#include <cerrno>

namespace rondo::db {
namespace {

// More than any value that is stored, the text of a kernel and its image among them. A damaged file may claim
// a gigabyte.
constexpr int kMostValueBytes = 32 << 20;

// file:/absolute/path with everything unusual escaped (https://www.sqlite.org/uri.html).
std::string immutable_uri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || c == '/' || c == '.' || c == '-' || c == '_') {
      uri += c;
    } else {
      uri += fmt::format("%{:02X}", byte);
    }
  }
  return uri + "?immutable=1";
}

}  // namespace

Statement::Statement(Connection& connection, std::string_view sql) : connection_(&connection) {
  check(
      sqlite3_prepare_v2(connection.handle_, sql.data(), static_cast<int>(sql.size()), &statement_, nullptr));
}

Statement::Statement(Statement&& other) noexcept
    : connection_(other.connection_), statement_(std::exchange(other.statement_, nullptr)) {}

Statement::~Statement() { sqlite3_finalize(statement_); }

bool Statement::step() {
  errno = 0;  // failure() reads it
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) {
    Failure failure = connection_->failure(code);
    sqlite3_reset(statement_);
    throw failure;
  }
  return false;
}

void Statement::run() {
  while (step()) {
  }
}

bool Statement::is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }
double Statement::real(int column) const { return sqlite3_column_double(statement_, column); }

std::string Statement::text(int column) const {
  const void* bytes = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return bytes == nullptr ? std::string()
                          : std::string(static_cast<const char*>(bytes), static_cast<size_t>(size));
}

void Statement::bind_integer(int index, std::int64_t value) {
  check(sqlite3_bind_int64(statement_, index, value));
}
void Statement::bind_real(int index, double value) { check(sqlite3_bind_double(statement_, index, value)); }
void Statement::bind_null(int index) { check(sqlite3_bind_null(statement_, index)); }

void Statement::bind_text(int index, std::string_view value) {
  const char* bytes = value.data() == nullptr ? "" : value.data();  // a null pointer would bind NULL
  check(sqlite3_bind_text64(statement_, index, bytes, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Statement::bind_blob(int index, Blob value) {
  const char* bytes = value.bytes.data() == nullptr ? "" : value.bytes.data();
  check(sqlite3_bind_blob64(statement_, index, bytes, value.bytes.size(), SQLITE_TRANSIENT));
}

void Statement::check(int code) const {
  if (code != SQLITE_OK) throw connection_->failure(code);
}

Connection::Connection(std::string path, OpenMode mode, std::chrono::milliseconds busy_timeout)
    : path_(std::move(path)), busy_timeout_(busy_timeout) {
  // NOMUTEX: the database serialises its calls itself.
  int flags = SQLITE_OPEN_NOMUTEX;
  flags |=
      mode == OpenMode::ReadWriteCreate ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  if (mode == OpenMode::Immutable) flags |= SQLITE_OPEN_URI;
  const std::string name = mode == OpenMode::Immutable ? immutable_uri(path_) : path_;
  const int code = sqlite3_open_v2(name.c_str(), &handle_, flags, nullptr);
  if (code != SQLITE_OK) {
    Failure reason = failure(code);
    sqlite3_close_v2(handle_);
    throw reason;
  }
  sqlite3_extended_result_codes(handle_, 1);
  sqlite3_limit(handle_, SQLITE_LIMIT_LENGTH, kMostValueBytes);
  wait_for_others(busy_timeout_);
}

Connection::~Connection() { sqlite3_close_v2(handle_); }

void Connection::run_script(const char* sql) {
  errno = 0;
  const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) throw failure(code);
}

std::int64_t Connection::integer(std::string_view sql) {
  Statement statement(*this, sql);
  if (statement.step()) return statement.integer(0);
  throw Failure({ErrorKind::Internal, fmt::format("database '{}': '{}' gave no row", path_, sql)});
}

std::int64_t Connection::last_insert_id() const { return sqlite3_last_insert_rowid(handle_); }
std::int64_t Connection::changes() const { return sqlite3_changes64(handle_); }
bool Connection::read_only() const { return sqlite3_db_readonly(handle_, "main") == 1; }

void Connection::checkpoint_on_close(bool on) {
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, on ? 0 : 1, nullptr);
}

void Connection::wait_for_others(std::chrono::milliseconds most) {
  sqlite3_busy_timeout(handle_, static_cast<int>(most.count()));
}

void Connection::rollback() noexcept {
  // SQLite has rolled back by itself after some errors (full disk, I/O): then there is nothing left to do.
  if (sqlite3_get_autocommit(handle_) == 0) sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
}

Failure Connection::failure(int code) const {
  const int last_errno = errno;
  const int extended = handle_ == nullptr ? code : sqlite3_extended_errcode(handle_);
  const char* message = handle_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle_);
  // Only these come from system calls. SQLite keeps errno of some of them; of a failed COMMIT it does not.
  const int primary = code & 0xff;
  int os_error = 0;
  if (primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN || primary == SQLITE_FULL) {
    if (handle_ != nullptr) os_error = sqlite3_system_errno(handle_);
    if (os_error == 0) os_error = last_errno;
  }
  return Failure(explain(path_, extended, os_error, message), extended);
}

}  // namespace rondo::db
