// Products of all steps at once on CPUs, for backward passes.
#pragma once

#include "compiler/schedule/backward/dense_backward.h"
#include "compiler/schedule/host/packed.h"
#include "compiler/schedule/problem/task.h"

namespace rondo::schedule {

// Launches that multiply matrices by a vector of each step, and that sum outer products of two of them. They
// live no longer than what they are given. The matrices of products are packed first, from the begin of
// Role::Packed on.
TimeLaunches host_time_launches(const Task& task, const HostParameters& parameters,
                                const std::vector<int>& scratch_rows);

// Products of packed matrices and one vector of each step. Where the vector is several neighbouring rows,
// each has matrices of its own, which lie one behind the other from those of `packed` on, and the results are
// sums.
Launch host_time_product(const Task& task, const HostParameters& parameters,
                         const std::vector<int>& scratch_rows, const std::vector<TimeProduct>& products,
                         const HostPacked& packed, const std::string& name);

// Elements of Role::Packed that the products of a group of `products` need.
std::int64_t host_time_packed(const Problem& problem, const HostParameters& parameters, int products);

}  // namespace rondo::schedule
