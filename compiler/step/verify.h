// The verifier of StepIR beyond whole cells (step_ir.h): graphs that passes made for a cell.
#pragma once

#include <string>
#include <vector>

#include "compiler/pipeline/watch.h"
#include "compiler/step/derive.h"
#include "compiler/step/step_ir.h"

namespace rondo::step {

// Every defect found, in plain words; empty if there is none. On top of what a cell's graph must satisfy: the
// forward prefix equals the cell's graph node for node, every gradient is there, and gradients of Scalar rows
// are Scalar.
std::vector<std::string> verify(const Cell& cell, const BackwardStep& step);
std::vector<std::string> verify(const Cell& cell, const JacobianStep& step);
// Of a step that a schedule rewrote. A product without an operand is a value that is read from memory.
std::vector<std::string> verify(const Cell& cell, const StepGraph& step);

// What a pass over the step made, for who watches it: all by reference.
template <class Step>
pipeline::Made made(const Cell& cell, const Step& step) {
  return {[&] { return print(cell, step); }, [&] { return verify(cell, step); }};
}
inline pipeline::Made made(const Cell& cell) {
  return {[&] { return print(cell); }, [&] { return verify(cell); }};
}

}  // namespace rondo::step
