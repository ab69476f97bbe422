// The alternating strategy's tuning space and cost model.
#include "compiler/schedule/alternating.h"

namespace rondo::schedule {

constraint::System Alternating::space(const step::Cell&, const Problem&, const target::Profile&) const {
  return {};
}

CostModel Alternating::cost_model(const step::Cell&, const Problem&, const target::Profile&) const {
  return [](const Parameters&) { return Estimate{}; };
}

}  // namespace rondo::schedule
