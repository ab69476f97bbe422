// Times of other implementations, beside those of a report.
#pragma once

#include <string>
#include <vector>

#include "compiler/support/result.h"
#include "tuning_db/records.h"

namespace rondo::tuner {

struct PeerRow {
  std::string cell;
  db::Shape shape;
  std::string dtype;
  std::string pass;  // "fw", "fws", "bw", or "fwbw": forward (training) and backward together
  double ms = 0;
  std::string name;  // "FlashRNN fused"
};

// Rows with `peer_ms` of a record of benchmarks/results: of its lists `rows` and `dense`, or of a list alone.
// Error Input naming `origin` and the place; also where no row has a peer.
Result<std::vector<PeerRow>> peers_from_json(const std::string& text, const std::string& origin);

struct Comparison {
  std::string problem;
  double seconds = 0, peer_s = 0;
  std::string peer;
};

// A problem's fastest kernel, as comparisons need it.
struct TimedProblem {
  std::string cell;
  db::Problem problem;
  double seconds = 0;
};

// Of every peer whose problem was timed, fwbw with the sum of both passes that save the same. Of one timed on
// several devices, for each.
std::vector<Comparison> compared(const std::vector<PeerRow>& peers,
                                 const std::vector<TimedProblem>& problems);

}  // namespace rondo::tuner
