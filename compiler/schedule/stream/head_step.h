// The step of a walk whose block holds the whole head: between its parts all threads exchange what the step
// reduces.
#pragma once

#include <functional>

#include "compiler/schedule/stream/body.h"
#include "compiler/schedule/stream/head_exchange.h"

namespace rondo::schedule {

class HeadStep {
 public:
  HeadStep(StreamBody& body, const StreamBody::LeafOf& leaf,
           const std::function<void(const StreamBody::Results&)>& consume);
  void walk();

 private:
  StreamBody::Results step(const StreamKernel::Staged& staged, bool at_start);

  StreamBody& body_;
  const StreamBody::LeafOf& leaf_;
  const std::function<void(const StreamBody::Results&)>& consume_;
  HeadExchange exchange_;
};

}  // namespace rondo::schedule
