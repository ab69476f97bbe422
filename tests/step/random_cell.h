// Random cells over all ops of StepIR, for the tests that compare what is derived with what is measured.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "compiler/step/reference/executor.h"
#include "compiler/step/step_ir.h"

namespace rondo::step::testing {

using Random = std::mt19937_64;

struct RandomCellOptions {
  bool matrices = true;
  bool reductions = true;
  bool draws = false;  // two, of one seed
  // States with one value a head that follow no channel, and an output sometimes; not beside reductions.
  bool head_values = false;
  bool along = false;     // shifts, rotations and running sums along the channels
  bool max_plus = false;  // max-plus products with the matrix, beside those with it
  // An input with an extent of its own, of this many channels, and a matrix that multiplies it; 0: none.
  std::int64_t own_extent = 0;
  bool transposes = false;  // products with the transpose of the matrix, beside those with it
  // A state, an input, a parameter and an output with an extent of their own, and matrices from the head's
  // channels to it, from it to itself and back; 0: none.
  std::int64_t walked_extent = 0;
};
// Well formed; values stay of moderate size for arguments of about 1 (domains are guarded: log of softplus +
// 0.1 and so on).
Cell random_cell(Random& random, const RandomCellOptions& options = {});

// Odd seeds: only diagonal coupling. Every third draws random numbers. The cell of a seed is the same in
// every run.
Cell random_cell_of_seed(std::uint64_t seed);
// Normally distributed inputs, parameters (matrices scaled by 1/sqrt D) and initial states. A third of the
// steps are resets, and lengths are any from 0 to T, where the cell has them.
ForwardArguments<double> random_arguments(const Cell& cell, const Sizes& sizes, Random& random);
// Normally distributed weights on every output of every step and on every last state.
LossGradients<double> random_loss(const Cell& cell, const Sizes& sizes, Random& random);

// 1,000, or what the environment variable RONDO_RANDOM_CELLS says if that is more.
int random_cell_count();
// What a failing test prints: how to get this cell again, and what it is.
std::string provenance(std::uint64_t seed, const Cell& cell);

}  // namespace rondo::step::testing
