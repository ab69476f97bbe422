// Which numbers the states of a cell may be, by interval arithmetic (Moore, Kearfott, Cloud 2009,
// "Introduction to interval analysis").
#pragma once

#include <vector>

#include "compiler/step/step_ir.h"

namespace rondo::step {

// By tensor, for states: whether a state that begins between -bound and bound stays there, whatever inputs,
// parameters and named constants are, as far as ranges of inputs and parameters let them. A state that adds
// up, such as the cell state of an LSTM, does not, nor does one that the cell's text begins outside. `false`
// where nothing shows it, and for all other tensors.
std::vector<bool> states_within(const Cell& cell, double bound);

}  // namespace rondo::step
