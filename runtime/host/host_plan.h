// An executable on the CPUs of this machine: loaded, and launched by the caller's thread and those of a pool.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "compiler/executable/launcher.h"
#include "compiler/support/result.h"
#include "runtime/host/object_file.h"
#include "runtime/host/thread_pool.h"

namespace rondo::runtime {

// A compiled plan of CPU kernels. Movable; launch() may be called from several threads, which take turns at the pool.
// Results do not depend on the number of threads.
class HostPlan {
 public:
  // Takes the executable's image for CPUs. Errors: Input (none), Unsupported (made for CPUs with more instructions, or
  // a kernel that is one of GPUs), and those of ObjectFile::load() and executable::check().
  static Result<HostPlan> load(const executable::Executable& executable);

  std::int64_t workspace_bytes(std::int64_t batch, std::int64_t time) const {
    return launcher_.workspace_bytes(batch, time);
  }
  const std::vector<executable::Tensor>& tensors() const { return launcher_.tensors(); }

  // Runs all kernels, in order, and returns when they are done. Bindings are addresses of this process. Errors: those
  // of Launcher::launch().
  Status launch(const executable::Bindings& bindings, std::int64_t batch, std::int64_t time,
                ThreadPool& pool = ThreadPool::shared()) const;

 private:
  class Sink;
  struct Kernel {
    void (*entry)(void* const*, std::int32_t, std::int32_t, void*) = nullptr;
    std::int64_t shared_bytes = 0;
  };
  HostPlan(ObjectFile object, executable::Launcher launcher)
      : object_(std::move(object)), launcher_(std::move(launcher)) {}

  ObjectFile object_;
  executable::Launcher launcher_;
  std::vector<Kernel> kernels_;  // by launch
};

}  // namespace rondo::runtime
