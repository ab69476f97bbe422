// Gradients of inputs with one value a head: what its channels give is added up, in an order that is always
// the same: runs are bit-identical.
#pragma once

#include <vector>

#include "compiler/schedule/plan/kernel_plan.h"
#include "compiler/schedule/problem/task.h"

namespace rondo::schedule {

// Rows of all inputs, or states, with one value a head together, and where those of one begin among its
// kind's.
int head_value_rows(const step::Cell& cell, step::TensorKind kind = step::TensorKind::Input);
int first_head_value_row(const step::Cell& cell, step::TensorId tensor);
// Rows of the scratch tensors of a plan whose sweep leaves each channel's share of these gradients in scratch
// tensor kShares, fp32 [B, T, H, rows, D]; or the share of a block or a warp of each, [B, T, H, shares,
// rows], where a share's numbers lie side by side for who stores them.
std::vector<int> head_value_scratch(int rows);
// One launch for each such input; none if the cell has none. `shares`: KernelPlan::shares, of `rows` numbers
// each, 0: of head_value_rows().
std::vector<Launch> sum_head_gradients(const Task& task, int shares = 0, int rows = 0);

// The same for initial states with one value a head, whose shares are in Role::Carries, [B, H, rows, D].
std::vector<Launch> sum_head_state_gradients(const Task& task);

}  // namespace rondo::schedule
