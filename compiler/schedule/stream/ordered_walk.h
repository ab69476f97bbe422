// The walk in order of a kernel that walks in segments, for threads whose results need not be those of such a
// walk. A product of factors over a segment overflows where the walk in order may stay finite: the state is
// zero, or falls again. What comes of it is never finite, and stays so in all carries that are scanned later.
// So a thread looks once, at its end, and only then walks through all of time itself: from the first carries,
// step by step, with all that it reads loaded from global memory. It stores again what its own steps give.
#pragma once

#include <functional>
#include <vector>

#include "compiler/schedule/stream/body.h"

namespace rondo::schedule {

class OrderedWalk {
 public:
  OrderedWalk(StreamBody& body, const StreamBody::LeafOf& leaf,
              const std::function<void(const StreamBody::Results&)>& consume);

  // Emitted behind the walk in segments, and by its computing threads run where one of the values that
  // `telling` gives, of the thread, is not finite. `ends`: of the carries.
  void emit(const CarryEnds& ends, const std::function<std::vector<kernel::Value>()>& telling);

  // Emits what depends on parameters alone, where that is wanted before emit().
  void hoist();
  // What a step computes from `carries`, by StreamBody::index().
  StreamBody::Results results(const StreamKernel::Staged& staged, const StreamBody::AtStart& at_start,
                              const std::vector<kernel::Value>& carries);

  // Pred: time t is one of the steps of this thread's segments. The last step of the walk.
  kernel::Value owns(kernel::Value t);
  kernel::Value last_step();

 private:
  void walk(const CarryEnds& ends);
  void step(kernel::Value t);
  kernel::Value leaf(const step::Node& node, const StreamKernel::Staged& staged,
                     const StreamBody::AtStart& at_start, const std::vector<kernel::Value>& carries,
                     int channel);

  StreamBody& body_;
  const StreamBody::LeafOf& leaf_;
  const std::function<void(const StreamBody::Results&)>& consume_;
  kernel::Builder& b_;
  step::StepGraph step_;
  GraphLowering lowering_;
  std::vector<kernel::Value> carries_;  // variables, by StreamBody::index()
};

}  // namespace rondo::schedule
