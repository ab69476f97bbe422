// Loaded kernels: modules, their functions and launches. All need a current context and die before it.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/result.h"
#include "runtime/cuda/driver_stream.h"

struct CUmod_st;
struct CUfunc_st;

namespace rondo::runtime {

// A kernel of a Module; valid while the module lives. A cheap value.
class Function {
 public:
  const std::string& name() const { return name_; }
  CUfunc_st* handle() const { return handle_; }

  // Lets launches ask for up to `bytes` of dynamic shared memory; needed above 48 KB. Once, before the
  // launch.
  Status set_dynamic_shared(std::size_t bytes) const;

  // Lets launches use clusters of more than 8 blocks, where the GPU can.
  Status allow_large_clusters() const;

  // How many blocks of this size one multiprocessor holds at once; 0 when none fits.
  Result<int> blocks_per_sm(int threads, std::size_t dynamic_shared_bytes) const;

 private:
  friend class Module;
  CUfunc_st* handle_ = nullptr;
  std::string name_;
};

// Owns what was loaded from a cubin, a bundle of cubins (compiler/support/bundle.h) or PTX.
class Module {
 public:
  // `image` holds cubins (copied by the driver) for the current device, or is text of PTX, which the driver
  // assembles (and keeps, in a cache of its own). Error of kind Device or Unsupported when it is damaged or
  // made for another GPU or a newer driver; of PTX with what the driver's assembler says.
  static Result<Module> load(std::string_view image);

  // The kernel of that (mangled or extern "C") name, of the first cubin that has one. Error of kind Internal
  // when there is none.
  Result<Function> function(const std::string& name) const;

 private:
  struct Unload {
    void operator()(CUmod_st* module) const noexcept;
  };
  using Handle = std::unique_ptr<CUmod_st, Unload>;
  Module() = default;
  static Result<Handle> load_one(std::string_view image);
  std::vector<Handle> handles_;  // of a bundle one for each cubin
};

struct Dim3 {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;
};

struct LaunchShape {
  Dim3 grid;     // in blocks
  Dim3 block;    // in threads
  Dim3 cluster;  // in blocks; 1 x 1 x 1 is a launch without clusters
  std::size_t dynamic_shared_bytes = 0;
  bool cooperative = false;  // all blocks resident at once, so that they may wait for each other
};

// Starts the kernel on `stream` and returns at once. `arguments` holds the address of each kernel parameter,
// read before the call returns. Nothing is allocated; may be captured in a graph. Errors: Unsupported for
// clusters on a driver or GPU without them, Device for a shape that the GPU refuses.
Status launch(const Function& function, const LaunchShape& shape, StreamHandle stream,
              std::span<void* const> arguments);

// How many clusters of this shape fit on the GPU at once.
Result<int> max_active_clusters(const Function& function, const LaunchShape& shape);

// The same with the parameters as values, whose types must be exactly the kernel's.
template <class... Arguments>
Status launch_values(const Function& function, const LaunchShape& shape, StreamHandle stream,
                     Arguments... arguments) {
  std::array<void*, sizeof...(Arguments)> addresses{static_cast<void*>(&arguments)...};
  return launch(function, shape, stream, addresses);
}

}  // namespace rondo::runtime
