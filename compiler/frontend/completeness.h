// What a cell declares and does not use.
#pragma once

#include "compiler/frontend/diagnostics.h"
#include "compiler/frontend/scope.h"
#include "compiler/step/step_ir.h"

namespace rondo::frontend {

// States that are never advanced; inputs, params, states, consts, values and functions that are never used.
void report_unfinished_names(const Scope& scope, const Functions& functions, Diagnostics& diagnostics);

// Rows of inputs and params that no node of the finished graph reads: the caller would compute and store them
// for no use.
void report_unused_rows(const step::Cell& cell, Diagnostics& diagnostics);

}  // namespace rondo::frontend
