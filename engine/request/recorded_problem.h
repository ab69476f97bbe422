// Cells and problems as a tuning database names them.
#pragma once

#include <optional>

#include "compiler/schedule/problem/problem.h"
#include "compiler/step/step_ir.h"
#include "tuning_db/database.h"

namespace rondo::engine {

// None where the recorded text is not the whole cell: it was tuned with clipping, forms or other constants.
std::optional<step::Cell> recorded_cell(const db::Cell& cell);
// None for a type, kind of math or pass that this version does not know.
std::optional<schedule::Problem> recorded_problem(const db::Problem& problem);

}  // namespace rondo::engine
