// CUDA graphs: work recorded once and started again with one call, which costs the host less than a launch
// for each kernel.
#pragma once

#include <functional>
#include <memory>

#include "compiler/support/result.h"
#include "runtime/cuda/driver_stream.h"

struct CUgraph_st;
struct CUgraphExec_st;

namespace rondo::runtime {

struct DriverApi;  // runtime/cuda/driver_api.h

// Some calls, such as asking for an event, spoil a capture that another thread has under way. While this
// object lives, such calls of its thread do not (CUDA Driver API, cuThreadExchangeStreamCaptureMode). It does
// nothing where no driver is loaded.
class BesideCaptures {
 public:
  BesideCaptures();
  BesideCaptures(const BesideCaptures&) = delete;
  BesideCaptures& operator=(const BesideCaptures&) = delete;
  ~BesideCaptures();

 private:
  void exchange();
  const DriverApi* api_;  // null: no driver is loaded
  int mode_;              // CUstreamCaptureMode: the thread's, once it has been exchanged
};

// Owns an executable graph. The buffers, modules and streams it refers to must outlive it.
class Graph {
 public:
  // Records what `work` submits to `stream` (not the default stream) instead of running it. An error of
  // `work`, or a call in it that may not be captured (allocation, synchronisation), is returned and leaves
  // the stream usable.
  static Result<Graph> capture(StreamHandle stream, const std::function<Status(StreamHandle)>& work);

  Status launch(StreamHandle stream) const;
  // Moves it to the device on `stream`, which the first launch would do otherwise.
  Status upload(StreamHandle stream) const;

  std::size_t node_count() const { return nodes_; }  // kernels, copies and fills recorded

 private:
  struct Destroy {
    void operator()(CUgraph_st* graph) const noexcept;
    void operator()(CUgraphExec_st* executable) const noexcept;
  };
  using Recorded = std::unique_ptr<CUgraph_st, Destroy>;
  Graph(CUgraphExec_st* executable, std::size_t nodes) : executable_(executable), nodes_(nodes) {}
  std::unique_ptr<CUgraphExec_st, Destroy> executable_;
  std::size_t nodes_ = 0;
};

}  // namespace rondo::runtime
