// Places for the nodes of a directed graph without cycles, in layers from top to bottom (Sugiyama, Tagawa,
// Toda: Methods for visual understanding of hierarchical system structures, 1981): edges go downwards, cross
// seldom, and are short.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace rondo::figures {

struct LayeredGraph {
  std::vector<double> widths;                              // of the nodes, in pixels
  std::vector<std::pair<std::size_t, std::size_t>> edges;  // from a node to one below it
  std::vector<std::size_t> last;                           // nodes that belong into the lowest layer
};

struct LayeredPlaces {
  std::vector<double> x;                  // of the middle of each node
  std::vector<std::size_t> layer;         // 0 is the highest
  std::vector<std::vector<double>> ways;  // of each edge: x in the layers between its ends
  std::size_t layers = 0;
  double width = 0;  // of all
};

// `gap`: pixels between two neighbours of a layer.
LayeredPlaces places_of(const LayeredGraph& graph, double gap);

}  // namespace rondo::figures
