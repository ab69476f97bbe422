// What every function of the C interface does around its work: errors become a status with a message, and no
// exception leaves.
#pragma once

#include <rondo/launch.h>

#include <cstddef>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>

#include "compiler/support/result.h"

namespace rondo::capi {

rondo_status status_of(ErrorKind kind);
// Keeps message and hint for this thread.
rondo_status failed(const Error& error) noexcept;
rondo_status failed_memory() noexcept;

// Runs `body`, which returns a Status.
template <class Body>
rondo_status guarded(Body&& body) noexcept {
  try {
    const Status status = body();
    return status ? RONDO_OK : failed(status.error());
  } catch (const std::bad_alloc&) {
    return failed_memory();
  } catch (const std::length_error&) {  // of a container that would be larger than memory
    return failed_memory();
  } catch (const std::exception& error) {
    try {
      return failed({ErrorKind::Internal, error.what(), "report this"});
    } catch (...) {
      return failed_memory();
    }
  } catch (...) {
    return failed_memory();
  }
}

// Error Input: an argument that must not be null is.
Status not_null(const void* argument, const char* name);

// Error Input: a field that says yes or no is neither 0 nor 1. What it will mean is not decided, so it is not
// guessed.
Status zero_or_one(std::int32_t field, const char* name);

// Structs larger than this were not filled in.
inline constexpr std::size_t kMostStruct = 4096;

// `size` is the caller's size of a struct of at least `first_size` bytes, as the first version had it, of
// which this library knows `own_size`. Error Input, also where it is the size of no struct.
Status check_size(std::size_t size, std::size_t first_size, const char* name);
// Whether what this library does not know of a struct is zero. Error Unsupported.
Status check_rest(const void* given, std::size_t size, std::size_t own_size, const char* name);

// Bytes of a struct up to the end of a field: of its first version.
#define RONDO_SIZE_TO(type, field) (offsetof(type, field) + sizeof(static_cast<type*>(nullptr)->field))

// The caller's struct, whatever version he was compiled with.
template <class Struct>
Result<Struct> read_struct(const Struct* given, std::size_t first_size, const char* name) {
  if (Status status = not_null(given, name); !status) return status.error();
  std::size_t size = 0;
  std::memcpy(&size, given, sizeof size);
  if (Status status = check_size(size, first_size, name); !status) return status.error();
  if (Status status = check_rest(given, size, sizeof(Struct), name); !status) return status.error();
  Struct result{};
  std::memcpy(&result, given, size < sizeof(Struct) ? size : sizeof(Struct));
  result.struct_size = sizeof(Struct);
  return result;
}

// Gives the caller as much of `value` as he knows, and zeroes in what he knows beyond it.
template <class Struct>
Status write_struct(const Struct& value, Struct* into, std::size_t first_size, const char* name) {
  if (Status status = not_null(into, name); !status) return status;
  std::size_t size = 0;
  std::memcpy(&size, into, sizeof size);
  if (Status status = check_size(size, first_size, name); !status) return status;
  Struct copy = value;
  copy.struct_size = size;
  std::memset(static_cast<void*>(into), 0, size);
  std::memcpy(static_cast<void*>(into), &copy, size < sizeof(Struct) ? size : sizeof(Struct));
  return success();
}

}  // namespace rondo::capi
