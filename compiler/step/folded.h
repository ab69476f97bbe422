// What a step computes of numbers alone. Literals fold where a cell is simplified. What also has named
// constants, which a caller may override, or the size of the head folds here, once a problem has set them.
#pragma once

#include <optional>
#include <vector>

#include "compiler/step/step_ir.h"

namespace rondo::step {

// By node: its value if it depends on literals, on named constants (`constants`, by const_index) and on the
// size of the head alone, and nothing for every other node. It is computed in double, however many operations
// there are, so that who rounds it to fp32 rounds once: in fp32 1 - 0.999999 would be 1.3% off. What is not a
// finite number stays for run time.
std::vector<std::optional<double>> folded_numbers(const Graph& graph, const std::vector<double>& constants,
                                                  double head_size);

}  // namespace rondo::step
