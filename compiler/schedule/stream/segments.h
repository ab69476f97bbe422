// The walk in segments: a stage's steps are split among groups of threads, which synchronise at each stage's
// start, and, where one block walks through all of time, once more in the middle.
//
// A stage has three phases. The local scan computes, for each of the thread's `unroll` steps, what needs no
// carry. The prefix scan finds the carry that comes into each segment: every thread does it after a barrier,
// or, where blocks split time, a warp of its own (scan_warp.h). The apply phase finishes the steps. When
// pipelined, a stage's apply phase runs after the next stage's local scan. In stages that are not whole,
// steps are guarded: a step that does not exist must leave no trace. Threads that compute but have no channel
// publish and scan with the others, so that the count of threads does not depend on channels.
#pragma once

#include <functional>

#include "compiler/schedule/stream/kernel.h"

namespace rondo::schedule {

class SegmentWalk {
 public:
  struct Guard {
    kernel::Value exists;    // Pred; invalid where every step exists
    kernel::Value at_start;  // Pred: t = 0; invalid where it is not
  };
  // What a walk is made of.
  struct Body {
    std::function<void()> declare;  // registers of a stage
    std::function<void(int step, const StreamKernel::Staged&, const Guard&)> local_scan;
    // After the local scan, and before the apply phase; stages count from 0.
    std::function<void(kernel::Value stage)> publish, prefix_scan;
    std::function<void(int step, const Guard&)> apply;
    // In place of `apply`, with what the local scan had of the step: not when pipelined, as the ring has
    // other stages then.
    std::function<void(const StreamKernel::Staged&, const Guard&)> apply_again;
    // After the apply phase, in threads whose channels exist.
    std::function<void(kernel::Value stage)> finish;
    // When pipelined: registers of the stage before; this stage becomes the stage before.
    std::function<void()> declare_kept;
    std::function<void()> keep;
    std::function<void()> scan;  // where blocks split time: all that the scan warp does
  };
  SegmentWalk(StreamKernel& kernel, const Body& body);
  void emit();

 private:
  void walk_rounds();
  void sync();  // of the threads that walk
  void scan_stage(kernel::Value block);
  void apply_stage(kernel::Value block);
  void apply_previous(kernel::Value block);
  kernel::Value whole_stage(kernel::Value first);  // Pred: every step of the stage exists
  void each_step(kernel::Value first, bool whole,
                 const std::function<void(int, kernel::Value, const Guard&)>& body);
  void local_scan(kernel::Value first, kernel::Value slot, bool whole);
  void apply_carries(kernel::Value first, kernel::Value slot, kernel::Value whole);
  // Stands at a step, and gives what it reads.
  StreamRing::Rows stand_at(kernel::Value first, kernel::Value slot, kernel::Value place, const Guard& guard);

  StreamKernel& kernel_;
  StreamThreads& threads_;
  kernel::Builder& b_;
  const StreamParameters& parameters_;
  const Body& body_;
};

}  // namespace rondo::schedule
