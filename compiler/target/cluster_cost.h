// What clusters of thread blocks cost, for the models.
#pragma once

#include "compiler/target/profile.h"

namespace rondo::target {

// Clusters of `size` blocks, `per_sm` on an SM, that a GPU holds at once. A cluster lies within one group of
// SMs (GPC); SMs of a group that are no multiple stay idle.
int clusters_at_once(const Limits& limits, int size, int per_sm);

// Blocks of the largest cluster that a GPU forms and of which it holds at least one; 1 where there are none.
int largest_cluster(const Limits& limits);

// Cycles of an exchange among all blocks of a cluster by asynchronous stores and an mbarrier, of which each
// block receives `bytes`.
double cluster_exchange_cycles(int size, double bytes);

}  // namespace rondo::target
