// How much longer than on the board that the model's figures were fitted on a board takes for what a step
// waits for, as calibration measured it on both.
#pragma once

#include "compiler/schedule/problem/problem.h"
#include "compiler/target/floors.h"

namespace rondo::schedule {

// 1 of what was not measured, as on every shipped board: the model's figures are then as they were fitted.
struct BoardFactors {
  double grid = 1;      // an exchange of vectors through global memory, in seconds
  double products = 1;  // from one product to the next that adds to its sums, in cycles
};
BoardFactors board_factors(const target::Floors& floors, double clock_hz, kernel::Storage storage);

}  // namespace rondo::schedule
