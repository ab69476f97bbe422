// Launches beside a walk whose batch has rows of a state: copies of states into the order of its rows and
// back, and sums over them.
#pragma once

#include "compiler/schedule/plan/kernel_plan.h"
#include "compiler/schedule/problem/task.h"

namespace rondo::schedule {

// Of a state at an end of the walk: the caller has it as [B, H, rows, ...], the walk as [B, rows, H, ...].
// `task` is the caller's, `walked` the walk's.
Launch state_to_rows(const Task& task, const Task& walked, TensorRef state, const WideTensor& of_rows);
Launch state_from_rows(const Task& task, const Task& walked, TensorRef state, const WideTensor& of_rows);
// The sum over what the rows of the walk's batch have that belong to one of the caller's, or several of them
// together: [B, of_rows.size.batch_rows, T, H, ...] to [B, T, H, ...].
Launch sum_over_rows(const Task& task, const Task& walked, TensorRef result, const WideTensor& of_rows);

// Elements that a row of the walk's batch has of a tensor, of one step where it has a time axis.
std::int64_t elements_of_row(const Task& walked, TensorRef ref);

}  // namespace rondo::schedule
