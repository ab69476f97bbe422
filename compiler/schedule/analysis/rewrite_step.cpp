#include "compiler/schedule/analysis/rewrite_step.h"

#include "compiler/schedule/analysis/fold_parameters.h"

namespace rondo::schedule {

StepGraph rewritten(const step::Cell& cell, const Problem& problem, StepGraph step, Rewrite how) {
  switch (how) {
    case Rewrite::None: break;
    case Rewrite::Latency: return shorten_chain(cell, problem, step);
    case Rewrite::Throughput: return fold_parameters(cell, step);
  }
  return step;
}

}  // namespace rondo::schedule
