// A record of a benchmark run (benchmarks/results) as a report.
#pragma once

#include <string>

#include "compiler/support/result.h"
#include "tuner/report/report.h"

namespace rondo::tuner {

// Of its rows `rows` and `dense`: a pass of a shipped cell, the kernel that it ran and its median. Sums of
// two passes have no kernel of their own, and are left to the comparisons: with `peers`, or else with those
// that the rows name. Floors stand on the copy that the run timed, if it timed one. Errors: Input naming
// `origin` and the place, Unsupported for a device that this version has no profile of.
Result<Report> report_of_record(const std::string& text, const std::string& origin,
                                const std::vector<PeerRow>& peers);

}  // namespace rondo::tuner
