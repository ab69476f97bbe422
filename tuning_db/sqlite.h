// Internal to tuning_db: SQLite connections and statements as C++ values. Everything here throws Failure.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>

#include "compiler/support/locked_file.h"
#include "tuning_db/failure.h"

struct sqlite3;
struct sqlite3_stmt;

namespace rondo::db {

struct Blob {
  std::string_view bytes;
};

class Connection;

// A prepared statement. It must not outlive its connection.
class Statement {
 public:
  Statement(Connection& connection, std::string_view sql);
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  // Binds the values to ?1, ?2, ... Text and blobs are copied.
  template <class... Values>
  Statement& bind(const Values&... values) {
    int index = 0;
    (bind_value(++index, values), ...);
    return *this;
  }
  bool step();  // true: a row is ready; false: done
  void run();   // steps to the end

  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;  // of text or a blob
  // The columns from `first` on, each as the type of what it goes into; an optional is left as it is by null.
  template <class... Values>
  void read(int first, Values&... values) const {
    (read_value(first++, values), ...);
  }

 private:
  template <class Value>
  void bind_value(int index, const Value& value) {
    if constexpr (std::is_integral_v<Value>) {
      bind_integer(index, static_cast<std::int64_t>(value));
    } else if constexpr (std::is_floating_point_v<Value>) {
      bind_real(index, value);
    } else if constexpr (std::is_convertible_v<Value, std::string_view>) {
      bind_text(index, value);
    } else if constexpr (std::is_same_v<Value, Blob>) {
      bind_blob(index, value);
    } else if (value.has_value()) {
      bind_value(index, *value);
    } else {
      bind_null(index);
    }
  }
  template <class Value>
  void read_value(int column, Value& value) const {
    if constexpr (std::is_same_v<Value, bool>)
      value = integer(column) != 0;
    else if constexpr (std::is_integral_v<Value>)
      value = static_cast<Value>(integer(column));
    else if constexpr (std::is_floating_point_v<Value>)
      value = real(column);
    else if constexpr (std::is_same_v<Value, std::string>)
      value = text(column);
    else if (!is_null(column))
      read_value(column, value.emplace());
  }
  void bind_integer(int index, std::int64_t value);
  void bind_real(int index, double value);
  void bind_text(int index, std::string_view value);
  void bind_blob(int index, Blob value);
  void bind_null(int index);
  void check(int code) const;

  Connection* connection_;
  sqlite3_stmt* statement_ = nullptr;
};

enum class OpenMode {
  ReadWriteCreate,
  ReadOnly,
  Immutable,  // read-only, without locks or shared memory: for a file in a folder that nobody can write
};

class Connection {
 public:
  // `path` must be absolute (so that no name means something special to SQLite).
  Connection(std::string path, OpenMode mode, std::chrono::milliseconds busy_timeout);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // Runs statements without parameters, separated by semicolons.
  void run_script(const char* sql);
  template <class... Values>
  void run(std::string_view sql, const Values&... values) {
    Statement(*this, sql).bind(values...).run();
  }
  template <class... Values>
  Statement query(std::string_view sql, const Values&... values) {
    Statement statement(*this, sql);
    statement.bind(values...);
    return statement;
  }
  // The integer of a query's first row; a Failure where there is none.
  std::int64_t integer(std::string_view sql);

  std::int64_t last_insert_id() const;
  std::int64_t changes() const;  // rows of the latest insert, update or delete
  bool read_only() const;        // SQLite fell back to it where the file cannot be written
  // Whether closing moves the log into the main file. Off while it is not known whose file it is.
  void checkpoint_on_close(bool on);

  // One short writing transaction (BEGIN IMMEDIATE ... COMMIT), rolled back when `body` throws and tried
  // again while other processes are in the way; `body` may therefore run more than once.
  template <class Body>
  auto write(Body&& body) {
    return retry([&] { return transaction("BEGIN IMMEDIATE", body); });
  }
  // The same, tried once: a Failure that is busy() where another process is in the way.
  template <class Body>
  auto write_at_once(Body&& body) {
    return at_once([&] { return transaction("BEGIN IMMEDIATE", body); });
  }
  // What `body` runs does not wait for other processes.
  template <class Body>
  auto at_once(Body&& body) {
    const Impatience impatience(*this);
    return body();
  }
  // One consistent view of the database for several queries.
  template <class Body>
  auto read(Body&& body) {
    return retry([&] { return transaction("BEGIN", body); });
  }
  // Tries again while SQLite says busy, for at most the busy timeout. SQLite's own timeout does not cover
  // switching to WAL, recovery of the log, and views that went stale.
  template <class Body>
  auto retry(Body&& body) {
    const auto deadline = std::chrono::steady_clock::now() + busy_timeout_;
    for (auto pause = std::chrono::milliseconds(1);;
         pause = std::min(2 * pause, std::chrono::milliseconds(50))) {
      try {
        return body();
      } catch (const Failure& failure) {
        if (!failure.busy() || std::chrono::steady_clock::now() >= deadline) throw;
      }
      std::this_thread::sleep_for(pause);
    }
  }

  const std::string& path() const { return path_; }
  // A Failure for SQLite's latest error on this connection.
  Failure failure(int code) const;

 private:
  friend class Statement;
  struct Rollback {
    Connection& connection;
    bool armed = true;
    ~Rollback() {
      if (armed) connection.rollback();
    }
  };
  template <class Body>
  auto transaction(const char* begin, Body&& body) {
    run_script(begin);
    Rollback rollback{*this};
    if constexpr (std::is_void_v<decltype(body())>) {
      body();
      run_script("COMMIT");
      rollback.armed = false;
    } else {
      auto result = body();
      run_script("COMMIT");
      rollback.armed = false;
      return result;
    }
  }
  void rollback() noexcept;
  void wait_for_others(std::chrono::milliseconds most);
  // SQLite does not wait for other processes, for as long as it lives.
  struct Impatience {
    explicit Impatience(Connection& of) : connection(of) {
      connection.wait_for_others(std::chrono::milliseconds(0));
    }
    Impatience(const Impatience&) = delete;
    Impatience& operator=(const Impatience&) = delete;
    ~Impatience() { connection.wait_for_others(connection.busy_timeout_); }
    Connection& connection;
  };

  std::string path_;
  LockedFile locked_{path_};
  std::chrono::milliseconds busy_timeout_;
  sqlite3* handle_ = nullptr;
};

}  // namespace rondo::db
