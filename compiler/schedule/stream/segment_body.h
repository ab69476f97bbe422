// The step of a walk in segments. Local scan: each thread composes the affine transforms of its steps and
// publishes the composition in shared memory. Prefix scan: it computes the carry that comes into its segment
// from all segments' transforms, or takes it from the scan warp where blocks split time. Apply: it computes
// its steps' results from that carry: from what the local scan has kept, or by computing them once more.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compiler/schedule/stream/body.h"
#include "compiler/schedule/stream/ordered_walk.h"
#include "compiler/schedule/stream/segments.h"

namespace rondo::schedule {

class SegmentedStep {
 public:
  SegmentedStep(StreamBody& body, const StreamBody::LeafOf& leaf,
                const std::function<void(const StreamBody::Results&)>& consume);
  void walk(const CarryEnds& ends);

 private:
  // Registers of the thread's steps, by [root][channel]; no array for what is hoisted. Of one step at a time
  // where steps are computed again.
  using Kept = std::vector<std::vector<kernel::Array>>;

  void declare();
  Kept declare_parts(const std::string& name);
  void local_scan(int step, const StreamKernel::Staged& staged, const SegmentWalk::Guard& guard);
  void compose(int step, int channel, const SegmentWalk::Guard& guard);
  void publish(kernel::Value stage);
  void prefix_scan(kernel::Value stage);
  void apply_step(int step, const SegmentWalk::Guard& guard);
  void apply_again(const StreamKernel::Staged& staged, const SegmentWalk::Guard& guard);
  // Stores what a step gives, and goes on from it.
  void take(const StreamBody::Results& results, const SegmentWalk::Guard& guard);
  void keep();
  // 0 or NaN, as what it adds to is, or NaN where a number in `values` is not finite.
  kernel::Value marked(kernel::Value before, const std::vector<kernel::Value>& values);
  // What tells, once the walk is over, whether the thread's results are those of a walk in order: where one
  // of them is not finite they need not be.
  std::vector<kernel::Value> telling();
  void finish_stage(kernel::Value stage, const CarryEnds& ends);

  // A value that the local scan left for one of the thread's steps; invalid if zero.
  kernel::Value part(const Kept& kept, int root, int step, int channel);
  kernel::Value evaluate(const Kept& kept, const LinearForm& form, int step, int channel,
                         const std::vector<kernel::Value>& shifted);
  // What forms are applied to: carried values and their shifts.
  std::vector<kernel::Value> shifted(const Kept& kept, int step, int channel,
                                     std::vector<kernel::Value> carried);
  std::size_t states() const { return body_.task_.cell.next.size(); }
  std::size_t at(std::size_t row, std::size_t column, int channel) const;
  TransformColumn column_of(const std::vector<kernel::Value>& rows, int channel) const;
  AffineTransform composed_of(int channel) const;
  kernel::Value keep_if(const SegmentWalk::Guard& guard, kernel::Value changed, kernel::Value old);
  int kept_steps() const { return body_.again_ ? 1 : body_.parameters_.unroll; }
  kernel::Value place(int step) { return b_.constant(body_.again_ ? 0 : step); }
  bool pipelined() const { return body_.parameters_.pipelined(); }

  StreamBody& body_;
  const StreamBody::LeafOf& leaf_;
  const std::function<void(const StreamBody::Results&)>& consume_;
  kernel::Builder& b_;
  int channels_;                         // of a thread
  TransformTable segment_transforms_;    // where every thread scans them
  std::unique_ptr<ScanWarp> scan_warp_;  // where blocks split time
  Kept parts_, parts_before_;            // of this stage, and with `pipelined` of the stage before
  std::vector<kernel::Value>
      composed_;  // by at(): the composed transform of the steps so far; column `states` is constant
  // 0, or NaN where the thread's results need not be those of a walk in order: a variable where each stage
  // may tell; in shared memory where the last one does, by thread, so that the loop holds no register for it
  // and is ordered as if nothing came after it.
  kernel::Value mark_;
  kernel::Memory marks_;
  OrderedWalk in_order_;
  std::vector<kernel::Value>
      carried_;  // by row * channels + channel: carries before the step that is applied
};

}  // namespace rondo::schedule
