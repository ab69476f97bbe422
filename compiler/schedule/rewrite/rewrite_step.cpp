#include "compiler/schedule/rewrite/rewrite_step.h"
#include "compiler/schedule/rewrite/shorten_chain.h"

#include "compiler/schedule/rewrite/fold_parameters.h"
#include "compiler/step/verify.h"

namespace rondo::schedule {

step::StepGraph rewritten(const Task& task, step::StepGraph step, Rewrite how) {
  switch (how) {
    case Rewrite::None: break;
    case Rewrite::Latency: return shorten_chain(task, step);
    case Rewrite::Throughput:
      return pipeline::watched(
          task.watcher, pipeline::Pass::FoldParameters, [&] { return fold_parameters(task.cell, step); },
          [&](const step::StepGraph& folded) { return step::made(task.cell, folded); });
  }
  return step;
}

}  // namespace rondo::schedule
