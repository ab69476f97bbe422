#include "runtime/capi/launch/status.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "compiler/executable/producer.h"

namespace rondo::capi {

namespace {

struct LastError {
  std::string message, hint;
  bool memory = false;  // there was no memory for a message
};

LastError& last_error() {
  thread_local LastError error;
  return error;
}

constexpr const char* kNames[] = {"ok",      "input", "unsupported", "missing",  "database", "device",
                                  "compile", "wrong", "cancelled",   "internal", "memory"};

}  // namespace

rondo_status status_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::Input: return RONDO_ERROR_INPUT;
    case ErrorKind::Unsupported: return RONDO_ERROR_UNSUPPORTED;
    case ErrorKind::Missing: return RONDO_ERROR_MISSING;
    case ErrorKind::Database: return RONDO_ERROR_DATABASE;
    case ErrorKind::Device: return RONDO_ERROR_DEVICE;
    case ErrorKind::Compile: return RONDO_ERROR_COMPILE;
    case ErrorKind::Wrong: return RONDO_ERROR_WRONG;
    case ErrorKind::Cancelled: return RONDO_ERROR_CANCELLED;
    case ErrorKind::Internal: return RONDO_ERROR_INTERNAL;
    case ErrorKind::Memory: return RONDO_ERROR_MEMORY;
  }
  return RONDO_ERROR_INTERNAL;
}

rondo_status failed(const Error& error) noexcept {
  try {
    LastError& last = last_error();
    last.message = error.message;
    last.hint = error.hint;
    last.memory = false;
  } catch (...) {
    return failed_memory();
  }
  return status_of(error.kind);
}

rondo_status failed_memory() noexcept {
  last_error().memory = true;
  return RONDO_ERROR_MEMORY;
}

Status not_null(const void* argument, const char* name) {
  if (argument != nullptr) return success();
  return Error{ErrorKind::Input, fmt::format("{} is NULL", name)};
}

Status zero_or_one(std::int32_t field, const char* name) {
  if (field == 0 || field == 1) return success();
  return Error{ErrorKind::Input, fmt::format("{} = {}: it is 0 or 1", name, field)};
}

Status check_size(std::size_t size, std::size_t first_size, const char* name) {
  const bool whole =
      size % alignof(std::int64_t) == 0;  // else it ends within a field, which may be a pointer
  if (whole && size >= first_size && size <= kMostStruct) return success();
  return Error{
      ErrorKind::Input,
      fmt::format("{} says that it has {} bytes; it has {}", name, size,
                  whole ? fmt::format("at least {}", first_size) : "whole fields"),
      "put the sizeof of the struct into its field struct_size, of an array's element beside the array"};
}

Status check_rest(const void* given, std::size_t size, std::size_t own_size, const char* name) {
  if (size <= own_size) return success();
  const auto* bytes = static_cast<const unsigned char*>(given);
  if (std::all_of(bytes + own_size, bytes + size, [](unsigned char byte) { return byte == 0; }))
    return success();
  return Error{
      ErrorKind::Unsupported,
      fmt::format("{} uses fields beyond the {} bytes that {} knows", name, own_size, executable::producer()),
      "it was compiled with the header of a newer version: load that library, or leave them zero"};
}

}  // namespace rondo::capi

extern "C" {

const char* rondo_version(void) {
  static const std::string version = [] {
    const std::string producer = rondo::executable::producer();  // "rondo 0.1.0"
    return producer.substr(producer.find(' ') + 1);
  }();
  return version.c_str();
}

const char* rondo_status_name(rondo_status status) {
  const auto known = static_cast<rondo_status>(std::size(rondo::capi::kNames));
  return status >= 0 && status < known ? rondo::capi::kNames[status] : "unknown";
}

const char* rondo_message(void) {
  const rondo::capi::LastError& last = rondo::capi::last_error();
  return last.memory ? "the host's memory is short" : last.message.c_str();
}

const char* rondo_hint(void) {
  const rondo::capi::LastError& last = rondo::capi::last_error();
  return last.memory ? "take smaller sizes, or end what else uses memory" : last.hint.c_str();
}

}  // extern "C"
