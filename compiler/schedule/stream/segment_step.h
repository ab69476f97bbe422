// The step of a walk in segments, before kernels are written for it.
#pragma once

#include <memory>
#include <optional>

#include "compiler/schedule/channelwise/affine_transforms.h"
#include "compiler/schedule/rewrite/linear_step.h"

namespace rondo::schedule {

struct SegmentStep {
  // Of all that the step computes; where steps are computed again, of what it carries alone.
  LinearStep linear;
  TransformPattern pattern;  // of the maps of segments
  // A segment does not keep what its steps' results are made of until the carries are known, as that is too
  // much for the registers, but computes its steps once more from those.
  bool again = false;
};

// `keeps`: registers or not, nothing is computed again, as with rounds in flight, when the ring has other
// stages already. nullopt if the step is not affine in what it carries. The first roots of `step` are the
// rows of Cell::next.
std::optional<SegmentStep> segment_step(const Task& task, const step::StepGraph& step, bool keeps = false);
// That of stream_step(), with what is too much for the registers computed again.
std::shared_ptr<const std::optional<SegmentStep>> segments_of_step(const Task& task);

}  // namespace rondo::schedule
