// The ranges that a cell's text names, looked for in the caller's arrays.
#pragma once

#include "compiler/step/ranges.h"
#include "engine/arrays/run_arrays.h"

namespace rondo::engine {

// Whether all numbers of inputs, parameters and first states lie in the ranges of their tensors, before or
// after they are rounded to `storage`, fp32 for all but inputs. Past the end of a row an input may be
// anything. Errors (Input): the first number that does not, with its place; element types that do not fit.
Status check_ranges(const step::Cell& cell, const RunArrays& arrays, kernel::Storage storage,
                    const step::Overrides& constants);

}  // namespace rondo::engine
