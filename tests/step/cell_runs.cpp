#include "tests/step/cell_runs.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rondo::step::testing {

Cell with_probes(const Cell& cell, const Graph& graph, const std::vector<NodeId>& nodes) {
  Cell result = cell;
  result.graph = graph;
  Tensor probe{TensorKind::Output,
               "probe",
               Tail::Vector,
               {static_cast<int>(nodes.size())},
               static_cast<int>(nodes.size()),
               {}};
  result.tensors.push_back(probe);
  const auto id = static_cast<TensorId>(result.tensors.size() - 1);
  const NodeId zero = result.graph.constant(0);
  for (std::size_t k = 0; k < nodes.size(); ++k)
    result.outputs.push_back({id, static_cast<int>(k), nodes[k] == kNoNode ? zero : nodes[k]});
  return result;
}

double largest_difference(const TensorMap<double>& a, const TensorMap<double>& b) {
  double largest = a.size() == b.size() ? 0 : std::numeric_limits<double>::infinity();
  for (const auto& [name, values] : a) {
    const auto other = b.find(name);
    if (other == b.end() || other->second.size() != values.size())
      return std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double x = values[i], y = other->second[i];
      if (x == y || (std::isnan(x) && std::isnan(y))) continue;
      const double difference = std::abs(x - y) / std::max(1.0, std::abs(y));
      largest =
          std::isnan(difference) ? std::numeric_limits<double>::infinity() : std::max(largest, difference);
    }
  }
  return largest;
}

}  // namespace rondo::step::testing
