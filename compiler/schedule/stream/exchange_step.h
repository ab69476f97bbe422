// The step of a walk whose threads exchange: between its parts they add up what the step reduces, over the
// head that their block holds, or over the rows of a channel that lanes of a warp hold together.
#pragma once

#include <functional>
#include <optional>

#include "compiler/schedule/stream/body.h"
#include "compiler/schedule/stream/head_exchange.h"

namespace rondo::schedule {

class ExchangeStep {
 public:
  ExchangeStep(StreamBody& body, const StreamBody::LeafOf& leaf,
               const std::function<void(const StreamBody::Results&)>& consume);
  void walk();

 private:
  StreamBody::Results step(const StreamKernel::Staged& staged, bool at_start);
  std::vector<HeadExchange::Totals> run(int level, const std::vector<std::vector<kernel::Value>>& operands);

  StreamBody& body_;
  const StreamBody::LeafOf& leaf_;
  const std::function<void(const StreamBody::Results&)>& consume_;
  std::optional<HeadExchange> over_head_;  // or else over rows
};

}  // namespace rondo::schedule
