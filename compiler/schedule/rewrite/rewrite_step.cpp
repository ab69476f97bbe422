#include "compiler/schedule/rewrite/rewrite_step.h"
#include "compiler/schedule/rewrite/shorten_chain.h"

#include "compiler/schedule/rewrite/fold_parameters.h"

namespace rondo::schedule {

step::StepGraph rewritten(const step::Cell& cell, const Problem& problem, step::StepGraph step, Rewrite how) {
  switch (how) {
    case Rewrite::None: break;
    case Rewrite::Latency: return shorten_chain(cell, problem, step);
    case Rewrite::Throughput: return fold_parameters(cell, step);
  }
  return step;
}

}  // namespace rondo::schedule
