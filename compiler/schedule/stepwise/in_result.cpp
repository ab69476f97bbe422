// Whether a scratch tensor that launches of a step read may lie in a result that they write.
#include <algorithm>
#include <optional>

#include "compiler/schedule/stepwise/sweep.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

namespace {

// The root that becomes the row.
std::optional<std::size_t> root_of(const Sweep& sweep, const RowRef& row) {
  for (std::size_t root = 0; root < sweep.sinks.size(); ++root)
    for (const SweepSink& sink : sweep.sinks[root])
      if (sink.kind == SweepSink::Kind::Now && sink.row.tensor == row.tensor && sink.row.row == row.row)
        return root;
  return std::nullopt;
}

bool reaches(const step::Graph& graph, NodeId from, NodeId to) {
  const std::vector<NodeId> found = reachable(graph, {from});
  return std::ranges::find(found, to) != found.end();
}

}  // namespace

bool reads_before_writing(const StepwiseSweep& of, const InResult& pair) {
  const auto is_read_after = [&](NodeId id, int stage) {
    for (std::size_t later = at(stage) + 1; later < of.stages.stages.size(); ++later)
      for (const NodeId demand : of.stages.stages[later].demand)
        if (reaches(of.stages.stages[later].graph, demand, id)) return true;
    return false;
  };
  for (const auto& [id, source] : of.sweep.sources) {
    if (source.kind != SweepSource::Kind::Now || source.row.tensor != pair.scratch) continue;
    const std::optional<std::size_t> root = root_of(of.sweep, {pair.result, source.row.row});
    if (!root || !reaches(of.sweep.step.graph, of.sweep.step.roots[*root], id) ||
        is_read_after(id, of.stages.stage_of_root[*root]))
      return false;
  }
  return true;
}

}  // namespace rondo::schedule
