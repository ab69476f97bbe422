// What the GPU's counters say of a kernel, as Nsight Compute (ncu) prints them.
#pragma once

#include <string>
#include <vector>

#include "compiler/support/result.h"

namespace rondo::tuner {

// Of one run of a pass, all its launches together.
struct Counters {
  double bytes = 0;         // of the GPU's memory, read and written
  double tensor_share = 0;  // of the cycles in which tensor cores work, of all; launches count by their time
  double seconds = 0;       // of the launches, one after the other, at ncu's clocks
  int launches = 0;
};

// The metrics that Counters are made of, as ncu's --metrics takes them.
const std::vector<std::string>& counter_metrics();

// Reads what `ncu --csv --print-units base` prints, with whatever stands above the table. Error Input where
// there is no table, or a launch lacks a metric: which one.
Result<Counters> counters_of(const std::string& csv);

}  // namespace rondo::tuner
