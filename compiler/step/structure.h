// How the next states depend on the previous ones: what decides which strategies are legal. Whether a
// derivative depends on a state is said of the values that a step computes; a coupling may be one of values,
// or one of derivatives that the cell declares (declared.h).
#pragma once

#include <string>
#include <vector>

#include "compiler/step/step_ir.h"

namespace rondo::step {

// Diagonal: channel by channel, or of a channel on a value of the head that no channel changes. Dense:
// through a product with a matrix, a reduction over the head, or what shifts or sums up along it.
enum class Coupling { None, Diagonal, Dense };

struct Structure {
  int states = 0;                     // state rows, in the order of Cell::next
  std::vector<Coupling> coupling;     // states x states, [next * states + previous]
  std::vector<bool> state_dependent;  // same shape: does d next / d previous itself depend on any state?
  bool all_diagonal = true;           // no Dense entry: each channel on its own
  bool affine = true;                 // all_diagonal and no derivative depends on a state: an exact scan
  bool has_matrix = false;            // some product with a matrix exists, R @ v or maxplus(R, v)
  bool has_reduction = false;         // some reduction over the head exists
  bool has_along = false;             // some shift, rotation or running sum along the channels exists
  bool declares_derivatives = false;  // by with_gradient or stop_gradient
  Coupling at(int next, int previous) const { return coupling[place(next, previous)]; }
  bool depends_on_state(int next, int previous) const { return state_dependent[place(next, previous)]; }

 private:
  std::size_t place(int next, int previous) const {
    return static_cast<std::size_t>(next) * static_cast<std::size_t>(states) +
           static_cast<std::size_t>(previous);
  }
};
Structure analyze(const Cell& cell);
// The same of a cell that is simplified already, which is most of the work.
Structure structure_of(const Cell& simplified);
// What Structure says of a simplified cell's graph alone, without the dependences.
bool has_matrix(const Cell& simplified);
bool has_max_plus(const Cell& simplified);
bool has_reduction(const Cell& simplified);
bool has_along(const Cell& simplified);

// Plain words for `rondo check`: the recurrence's kind, each pair that is coupled, and what acts on the whole
// head. Which strategies that allows is for them to say (schedule::Strategy::legal).
std::string describe(const Cell& cell, const Structure& structure);

}  // namespace rondo::step
