// The tensors of a pass: which tensor of the cell (step::TensorId), in which role.
#pragma once

#include "compiler/executable/tensor.h"
#include "compiler/schedule/problem/names.h"

namespace rondo::schedule {

using executable::has_time_axis;
using executable::is_internal;
using executable::is_kept;
using executable::Role;
using executable::TensorRef;

// The scratch tensor of each channel's share of what is summed over the head at each step: fp32, whatever the
// storage type, as a sum wants it.
inline constexpr int kShares = 3;
// The scratch tensor of per-head values that a launch before a sweep makes: fp32 [B, T, H, rows].
inline constexpr int kHeadValues = 4;
// The scratch tensor of the channels that max-plus products have chosen, as numbers: fp32, which has every
// number that a channel can have.
inline constexpr int kChosen = 5;
// The scratch tensors of products of inputs that are made beside a walk (hoist/hoisting.h), and of their
// gradients, where the walk has those that come before kShares itself.
inline constexpr int kInputProducts = 6;
inline constexpr int kInputProductGradients = 7;
// From this number on scratch tensors, and what launches leave for each other without a time axis, are wide
// tensors of a plan (plan/kernel_plan.h).
inline constexpr int kWide = 8;

}  // namespace rondo::schedule
