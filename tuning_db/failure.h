// Internal to tuning_db: a failure on its way to the library's edge, where it becomes an Error value.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "compiler/support/result.h"

namespace rondo::db {

class Failure : public std::exception {
 public:
  explicit Failure(Error error, int sqlite_code = 0) : error_(std::move(error)), code_(sqlite_code) {}
  const char* what() const noexcept override { return error_.message.c_str(); }
  const Error& error() const { return error_; }
  int sqlite_code() const { return code_; }  // extended result code; 0 where SQLite had no part
  bool busy() const;                         // another process was in the way; trying again may succeed

 private:
  Error error_;
  int code_;
};

// What an SQLite result code means for the user of the database at `path`: file, what is wrong, what to do.
// `os_error` is errno of the failed system call, or 0; `detail` is SQLite's own message.
Error explain(const std::string& path, int sqlite_code, int os_error, const std::string& detail);

// The value, or the error thrown as a Failure.
template <class T>
T unwrap(Result<T> result) {
  if (!result.ok()) throw Failure(result.error());
  return std::move(result).value();
}
inline void unwrap(const Status& status) {
  if (!status.ok()) throw Failure(status.error());
}

}  // namespace rondo::db
