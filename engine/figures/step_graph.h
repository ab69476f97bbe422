// One step of a cell as a graph: what flows from the states before it to the states after it.
#pragma once

#include "compiler/step/derive.h"
#include "compiler/step/step_ir.h"
#include "engine/figures/figure.h"

namespace rondo::figures {

// More nodes than this are told in words instead.
inline constexpr std::size_t kMostNodes = 240;

// Of a cell that is well formed (step::verify). Inputs, parameters and numbers stand in the boxes that read
// them; a dot stands for what comes from above.
Figure step_graph(const step::Cell& cell);
// The gradients of its backward step. Values of the forward step stand in the boxes that read them.
Figure backward_graph(const step::Cell& cell, const step::BackwardStep& step);

}  // namespace rondo::figures
