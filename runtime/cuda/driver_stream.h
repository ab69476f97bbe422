// Streams and timing events. Both need a current context (driver_device.h) and die before it.
#pragma once

#include <chrono>
#include <memory>

#include "compiler/support/result.h"

struct CUstream_st;
struct CUevent_st;

namespace rondo::runtime {

// A stream of the caller or of ours, not owned. Null is the legacy default stream. The same pointer type as
// CUstream and cudaStream_t.
using StreamHandle = CUstream_st*;

// Owns a stream that does not wait for the default stream.
class Stream {
 public:
  static Result<Stream> create();

  // Waits for its work; errors of kernels that ran on it surface here.
  Status synchronize() const;

  StreamHandle handle() const { return handle_.get(); }
  operator StreamHandle() const { return handle_.get(); }  // NOLINT: a Stream serves wherever its handle does

 private:
  struct Destroy {
    void operator()(CUstream_st* stream) const noexcept;
  };
  explicit Stream(CUstream_st* handle) : handle_(handle) {}
  std::unique_ptr<CUstream_st, Destroy> handle_;
};

// Owns an event that records when the GPU passed a point of a stream.
class Event {
 public:
  static Result<Event> create();

  Status record(StreamHandle stream) const;
  Status synchronize() const;  // waits until the GPU passed it
  Result<bool> done() const;   // without waiting

  // Milliseconds on the GPU from `start` to this; both must have been passed. Resolution is about 0.5
  // microseconds.
  Result<float> elapsed_ms_since(const Event& start) const;

  CUevent_st* handle() const { return handle_.get(); }

 private:
  struct Destroy {
    void operator()(CUevent_st* event) const noexcept;
  };
  explicit Event(CUevent_st* handle) : handle_(handle) {}
  std::unique_ptr<CUevent_st, Destroy> handle_;
};

// What is submitted to the stream from here on does not begin until the handle is gone, but after
// kLongestHold at the latest: a launch may itself wait for what is held, where a profiler or
// CUDA_LAUNCH_BLOCKING makes launches wait for their ends, or where more is submitted than a stream takes.
inline constexpr std::chrono::milliseconds kLongestHold{20};
Result<std::shared_ptr<void>> hold(StreamHandle stream);

// Whether the stream's work is being recorded instead of run.
Result<bool> is_capturing(StreamHandle stream);

// Whether the stream has nothing left to do. Not so while it is captured. Never waits. Error Device.
Result<bool> has_ended(StreamHandle stream);

// Waits for the work of any stream, the caller's included.
Status synchronize(StreamHandle stream);

}  // namespace rondo::runtime
