// GPUs: what each one is, and its context.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "compiler/support/result.h"

struct CUctx_st;

namespace rondo::runtime {

// One GPU as the driver describes it. Sizes in bytes.
struct DeviceInfo {
  int ordinal = 0;   // the driver's number, after CUDA_VISIBLE_DEVICES
  std::string name;  // "NVIDIA H200"
  std::string uuid;  // 8-4-4-4-12 hex digits
  int cc_major = 0;  // compute capability
  int cc_minor = 0;
  int sm_count = 0;
  int max_threads_per_block = 0;
  int max_threads_per_sm = 0;
  int max_blocks_per_sm = 0;
  int registers_per_sm = 0;        // of 32 bits
  int shared_per_block = 0;        // without opting in
  int shared_per_block_optin = 0;  // with Function::set_dynamic_shared
  int shared_per_sm = 0;
  int l2_bytes = 0;
  std::size_t memory_bytes = 0;
  bool cooperative = false;  // grid-wide barriers
  bool clusters = false;
  int driver_version = 0;  // as Driver::version()

  int cc() const { return 10 * cc_major + cc_minor; }  // 90
  std::string arch() const;                            // "sm_90"
};

// How many GPUs are visible. Errors: those of Driver::get().
Result<int> device_count();

// Describes GPU `ordinal`. Errors: those of Driver::get(); Input for a number out of range.
Result<DeviceInfo> device_info(int ordinal);

// A reference to the primary context of a GPU, the one that the CUDA runtime and PyTorch use too, or to a
// context of the caller's. Released when destroyed, if it is a primary one; every stream, buffer and module
// made under it must be destroyed before.
class Context {
 public:
  // Retains the context of GPU `ordinal` and makes it current on the calling thread.
  static Result<Context> open(int ordinal);
  // The same, and leaves the thread's current context as it is.
  static Result<Context> retain(int ordinal);
  // The one that is current on the calling thread, which stays its owner's. Error Missing if none is.
  static Result<Context> current();
  // A second reference to the same one.
  Result<Context> again() const;

  // Every other thread that calls the driver needs this once.
  Status make_current() const;

  // Waits for all work of the context; errors of kernels that ran asynchronously surface here.
  Status synchronize() const;

  int ordinal() const { return ordinal_; }
  CUctx_st* handle() const { return handle_.get(); }

 private:
  struct Release {
    int ordinal;
    bool owned;
    void operator()(CUctx_st* context) const noexcept;
  };
  Context(CUctx_st* handle, int ordinal, bool owned)
      : handle_(handle, Release{ordinal, owned}), ordinal_(ordinal) {}
  std::unique_ptr<CUctx_st, Release> handle_;
  int ordinal_;
};

// While it lives a context is current on this thread; then the one that was before is again. For callers with
// several devices, who know nothing of Rondo's contexts.
class ScopedCurrent {
 public:
  static Result<ScopedCurrent> enter(const Context& context);
  ScopedCurrent(ScopedCurrent&& other) noexcept;
  ScopedCurrent& operator=(ScopedCurrent&&) = delete;
  ~ScopedCurrent();

 private:
  ScopedCurrent(bool changed, CUctx_st* before) : changed_(changed), before_(before) {}
  bool changed_;
  CUctx_st* before_;
};

}  // namespace rondo::runtime
