// One step's share of the walk in segments: each thread composes the affine maps of its steps and leaves the
// composition in shared memory. What its own steps start from it then works out from all segments' maps, or
// where blocks split time is told by the warp that follows the carries.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compiler/schedule/stream/body.h"

namespace rondo::schedule {

class SegmentedStep {
 public:
  SegmentedStep(StreamBody& body, const StreamBody::LeafOf& leaf,
                const std::function<void(const StreamBody::Results&)>& consume);
  void walk(const CarryEnds& ends);

 private:
  // Registers of the thread's steps, by [root][channel]; no array for what is hoisted.
  using Kept = std::vector<std::vector<kernel::Array>>;

  void declare();
  Kept declare_parts(const std::string& name);
  void early(int step, const StreamKernel::Staged& staged, const StreamKernel::Guard& guard);
  void compose(int step, int channel, const StreamKernel::Guard& guard);
  void publish(kernel::Value stage);
  void resume(kernel::Value stage);
  void late(int step, const StreamKernel::Guard& guard);
  void keep();

  // An early value of one of the thread's steps; invalid if zero.
  kernel::Value part(const Kept& kept, int root, int step, int channel);
  kernel::Value apply(const Kept& kept, const LinearForm& form, int step, int channel,
                      const std::vector<kernel::Value>& shifted);
  // What forms are applied to: carried values and their shifts.
  std::vector<kernel::Value> shifted(const Kept& kept, int step, int channel,
                                     std::vector<kernel::Value> carried);
  std::size_t states() const { return body_.cell_.next.size(); }
  std::size_t at(std::size_t row, std::size_t column, int channel) const;
  MapColumn column_of(const std::vector<kernel::Value>& rows, int channel) const;
  FlatMap composed_of(int channel) const;
  kernel::Value keep_if(const StreamKernel::Guard& guard, kernel::Value changed, kernel::Value old);
  bool pipelined() const { return body_.parameters_.pipelined(); }

  StreamBody& body_;
  const StreamBody::LeafOf& leaf_;
  const std::function<void(const StreamBody::Results&)>& consume_;
  kernel::Builder& b_;
  int channels_;                      // of a thread
  MapTable segment_maps_;             // where every thread follows them
  std::unique_ptr<CarryWarp> carry_;  // where blocks split time
  Kept parts_, parts_before_;         // of this stage, and with `pipelined` of the stage before
  std::vector<kernel::Value>
      composed_;  // by at(): the composed map of the steps so far; column `states` is constant
  std::vector<kernel::Value> carried_;  // by row * channels + channel: carries before the current late step
};

}  // namespace rondo::schedule
