// The CUDA driver (libcuda) opened at run time, and the way its errors become Rondo's.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "compiler/support/dynamic_library.h"
#include "compiler/support/result.h"

namespace rondo::runtime {

struct DriverApi;  // runtime/cuda/driver_api.h

// The loaded and initialised driver. Immutable, usable from any thread.
class Driver {
 public:
  // The process's driver, loaded and initialised at the first call; later calls return the same answer,
  // success or error. The environment variable RONDO_LIBCUDA gives another library path; "none" pretends that
  // there is none. Errors: Missing (no library, no GPU), Unsupported (too old a driver), Device (it fails to
  // start).
  static Result<const Driver*> get();

  // A driver of its own, from `path`: "" searches the usual names, "none" fails as if nothing were installed.
  // Used by get() and by tests; handles (streams, buffers, ...) always belong to the driver of get().
  static Result<std::unique_ptr<const Driver>> open(const std::string& path);

  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  int version() const { return version_; }              // as CUDA counts: 13000 is 13.0
  std::string version_text() const;                     // "13.0"
  std::string path() const { return library_.path(); }  // the library file in use
  const DriverApi& api() const { return *api_; }

  // Success for 0 (CUDA_SUCCESS); else an error of kind Device (Missing for "no device", Unsupported where
  // the driver cannot do it) that names the call, CUDA's name and text for the code, and what to do.
  Status check(int code, std::string_view call) const;

 private:
  Driver();
  DynamicLibrary library_;
  std::unique_ptr<DriverApi> api_;
  int version_ = 0;
};

}  // namespace rondo::runtime
