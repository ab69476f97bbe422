// An executable on the CPUs of this machine: loaded, and launched by the caller's thread and those of a pool.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "compiler/executable/launcher.h"
#include "compiler/support/result.h"
#include "runtime/host/launch_cost.h"
#include "runtime/host/object_file.h"
#include "runtime/host/thread_pool.h"

namespace rondo::runtime {

// The kernels of an executable as a sink of its launch walk. May be used from several threads; launches that
// need more than the caller's take turns at the pool. Results do not depend on the number of threads.
class HostKernels final : public executable::LaunchSink {
 public:
  // Takes the executable's image for CPUs. Errors: Input (none), Unsupported (made for CPUs with more
  // instructions, or a kernel whose blocks wait for each other), and those of ObjectFile::load().
  static Result<std::shared_ptr<HostKernels>> load(const executable::Executable& executable,
                                                   ThreadPool& pool = ThreadPool::shared());

  Status fill(executable::Address pointer, std::int64_t bytes, float value, scalar::Storage storage) override;
  Status copy(executable::Address target, executable::Address source, std::int64_t bytes) override;
  // Returns when all blocks have run. Error Memory where a thread has none for the memory that a block
  // shares.
  Status launch(std::size_t index, std::int64_t blocks, std::span<void* const> arguments) override;

 private:
  struct Kernel {
    void (*entry)(void* const*, std::int32_t, std::int32_t, void*) = nullptr;
    std::int64_t shared_bytes = 0;
    std::unique_ptr<LaunchCost> cost;
  };
  HostKernels(ObjectFile object, ThreadPool& pool) : object_(std::move(object)), pool_(pool) {}

  ObjectFile object_;
  ThreadPool& pool_;
  std::vector<Kernel> kernels_;  // by launch
};

// A compiled plan of CPU kernels. Movable; launch() may be called from several threads.
class HostPlan {
 public:
  // Errors: those of HostKernels::load() and executable::check().
  static Result<HostPlan> load(const executable::Executable& executable,
                               ThreadPool& pool = ThreadPool::shared());

  std::int64_t workspace_bytes(std::int64_t batch, std::int64_t time) const {
    return launcher_.workspace_bytes(batch, time);
  }
  const std::vector<executable::Tensor>& tensors() const { return launcher_.tensors(); }

  // Runs all kernels, in order, and returns when they are done. Bindings are addresses of this process.
  // Errors: those of Launcher::launch().
  Status launch(const executable::Bindings& bindings, std::int64_t batch, std::int64_t time) const {
    return launcher_.launch(*kernels_, bindings, batch, time);
  }

 private:
  HostPlan(std::shared_ptr<HostKernels> kernels, executable::Launcher launcher)
      : kernels_(std::move(kernels)), launcher_(std::move(launcher)) {}

  std::shared_ptr<HostKernels> kernels_;
  executable::Launcher launcher_;
};

}  // namespace rondo::runtime
