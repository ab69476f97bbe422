// Simplifier of StepIR graphs: constant folding, algebraic identities (x+0, x*1, x*0, --x, select of a
// constant ...), common-subexpression elimination and removal of dead nodes. Never changes a value except by
// rounding; keeps NaN and infinity behaviour of everything reachable except x*0 -> 0 of a derivative that is
// structurally zero.
#pragma once

#include <vector>

#include "compiler/pipeline/watch.h"
#include "compiler/step/step_ir.h"

namespace rondo::step {

// Simplifies `graph` with respect to `roots`; on return roots hold the new ids (kNoNode stays). Nodes keep
// labels and spans. If `keep_prefix` > 0, nodes [0, keep_prefix) stay as they are and keep their ids.
Graph simplify(const Graph& graph, std::vector<NodeId*> roots, NodeId keep_prefix = 0);

// The step with its graph simplified, and its roots in it.
StepGraph simplified(StepGraph step);

// The cell with its graph simplified (next and outputs are the roots).
Cell simplify(const Cell& cell);
// The same as a pass of the pipeline: the watcher, if there is one, hears of it, and the result is verified.
Cell simplified(const Cell& cell, pipeline::PassWatcher* watcher);

}  // namespace rondo::step
