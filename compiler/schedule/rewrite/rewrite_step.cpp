#include "compiler/schedule/rewrite/rewrite_step.h"
#include "compiler/schedule/rewrite/shorten_chain.h"

#include "compiler/schedule/rewrite/fold_parameters.h"

namespace rondo::schedule {

step::StepGraph rewritten(const Task& task, step::StepGraph step, Rewrite how) {
  switch (how) {
    case Rewrite::None: break;
    case Rewrite::Latency: return shorten_chain(task, step);
    case Rewrite::Throughput: return fold_parameters(task.cell, step);
  }
  return step;
}

}  // namespace rondo::schedule
