#include "engine/figures/layers.h"

#include <algorithm>
#include <numeric>

namespace rondo::figures {
namespace {

constexpr double kWayWidth = 8;  // of an edge that passes a layer
constexpr int kSweeps = 12;

using Row = std::vector<std::size_t>;  // nodes from left to right

// The graph with a node for each layer that an edge passes, so that each edge goes to the next layer.
struct Proper {
  std::vector<double> widths;
  std::vector<std::size_t> layer;
  std::vector<std::vector<std::size_t>> above, below;  // neighbours
  std::vector<std::vector<std::size_t>> ways;  // of each edge of the graph: the nodes between its ends
  std::vector<Row> rows;
  std::vector<double> x;
};

// The longest way from above; nodes without one stand right above the first that needs them.
std::vector<std::size_t> layers_of(const LayeredGraph& graph) {
  const std::size_t n = graph.widths.size();
  std::vector<std::size_t> layer(n, 0);
  // Edges may come in any order: as often as the longest way is long.
  for (bool moved = true; moved;) {
    moved = false;
    for (const auto& [from, to] : graph.edges)
      if (layer[to] < layer[from] + 1) {
        layer[to] = layer[from] + 1;
        moved = true;
      }
  }
  if (!graph.last.empty()) {
    std::size_t lowest = 0;
    for (const std::size_t each : layer) lowest = std::max(lowest, each);
    for (const std::size_t node : graph.last) layer[node] = lowest;
  }
  std::vector<bool> has_above(n, false);
  std::vector<std::size_t> next(n, n == 0 ? 0 : *std::ranges::max_element(layer));
  std::vector<bool> has_below(n, false);
  for (const auto& [from, to] : graph.edges) {
    has_above[to] = true;
    has_below[from] = true;
    next[from] = std::min(next[from], layer[to] - 1);
  }
  for (std::size_t node = 0; node < n; ++node)
    if (!has_above[node] && has_below[node]) layer[node] = next[node];
  return layer;
}

std::size_t add_node(Proper& proper, double width, std::size_t layer) {
  proper.widths.push_back(width);
  proper.layer.push_back(layer);
  proper.above.emplace_back();
  proper.below.emplace_back();
  return proper.widths.size() - 1;
}

Proper proper_of(const LayeredGraph& graph) {
  Proper proper;
  const std::vector<std::size_t> layer = layers_of(graph);
  for (std::size_t i = 0; i < graph.widths.size(); ++i) add_node(proper, graph.widths[i], layer[i]);
  for (const auto& [from, to] : graph.edges) {
    std::vector<std::size_t>& way = proper.ways.emplace_back();
    std::size_t at = from;
    const auto join = [&](std::size_t next) {
      proper.below[at].push_back(next);
      proper.above[next].push_back(at);
      at = next;
    };
    for (std::size_t between = layer[from] + 1; between < layer[to]; ++between) {
      way.push_back(add_node(proper, kWayWidth, between));
      join(way.back());
    }
    join(to);
  }
  for (std::size_t i = 0; i < proper.widths.size(); ++i) {
    if (proper.rows.size() <= proper.layer[i]) proper.rows.resize(proper.layer[i] + 1);
    proper.rows[proper.layer[i]].push_back(i);
  }
  return proper;
}

// Orders each row by the mean place of its neighbours in the row before it, downwards and upwards in turn.
void order_rows(Proper& proper) {
  std::vector<double> place(proper.widths.size(), 0);
  const auto number = [&](const Row& row) {
    for (std::size_t i = 0; i < row.size(); ++i)
      place[row[i]] = (static_cast<double>(i) + 0.5) / static_cast<double>(row.size());
  };
  for (const Row& row : proper.rows) number(row);
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    const bool down = sweep % 2 == 0;
    for (std::size_t step = 0; step < proper.rows.size(); ++step) {
      Row& row = proper.rows[down ? step : proper.rows.size() - 1 - step];
      for (const std::size_t node : row) {
        const auto& neighbours = down ? proper.above[node] : proper.below[node];
        if (neighbours.empty()) continue;
        double sum = 0;
        for (const std::size_t each : neighbours) sum += place[each];
        place[node] = sum / static_cast<double>(neighbours.size());
      }
      std::ranges::stable_sort(row, [&](std::size_t a, std::size_t b) { return place[a] < place[b]; });
      number(row);
    }
  }
}

// Puts the nodes of a row as near to `wanted` as their order and widths allow, by the sum of squares:
// neighbours that would overlap become one block at its mean (pool adjacent violators; Barlow et al.,
// Statistical Inference under Order Restrictions, 1972).
void place_row(Proper& proper, const Row& row, const std::vector<double>& wanted, double gap) {
  struct Block {
    double sum = 0, count = 0;
    double mean() const { return sum / count; }
  };
  std::vector<Block> blocks;
  std::vector<double> offset(row.size(), 0);  // of a node from the row's first, all close together
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) offset[i] = offset[i - 1] + (proper.widths[row[i - 1]] + proper.widths[row[i]]) / 2 + gap;
    blocks.push_back({wanted[i] - offset[i], 1});
    while (blocks.size() > 1 && blocks[blocks.size() - 2].mean() > blocks.back().mean()) {
      blocks[blocks.size() - 2].sum += blocks.back().sum;
      blocks[blocks.size() - 2].count += blocks.back().count;
      blocks.pop_back();
    }
  }
  std::size_t at = 0;
  for (const Block& block : blocks)
    for (double i = 0; i < block.count; ++i, ++at) proper.x[row[at]] = block.mean() + offset[at];
}

void place_rows(Proper& proper, double gap) {
  proper.x.assign(proper.widths.size(), 0);
  for (const Row& row : proper.rows) place_row(proper, row, std::vector<double>(row.size(), 0), gap);
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (std::size_t step = 0; step < proper.rows.size(); ++step) {
      const Row& row = proper.rows[sweep % 2 == 0 ? step : proper.rows.size() - 1 - step];
      std::vector<double> wanted;
      for (const std::size_t node : row) {
        double sum = 0, count = 0;
        for (const auto* neighbours : {&proper.above[node], &proper.below[node]})
          for (const std::size_t each : *neighbours) sum += proper.x[each], ++count;
        wanted.push_back(count > 0 ? sum / count : proper.x[node]);
      }
      place_row(proper, row, wanted, gap);
    }
  }
}

}  // namespace

LayeredPlaces places_of(const LayeredGraph& graph, double gap) {
  LayeredPlaces places;
  if (graph.widths.empty()) return places;
  Proper proper = proper_of(graph);
  order_rows(proper);
  place_rows(proper, gap);
  double left = proper.x[0], right = proper.x[0];
  for (std::size_t i = 0; i < proper.widths.size(); ++i) {
    left = std::min(left, proper.x[i] - proper.widths[i] / 2);
    right = std::max(right, proper.x[i] + proper.widths[i] / 2);
  }
  for (double& x : proper.x) x -= left;
  places.width = right - left;
  places.layers = proper.rows.size();
  for (std::size_t i = 0; i < graph.widths.size(); ++i) {
    places.x.push_back(proper.x[i]);
    places.layer.push_back(proper.layer[i]);
  }
  for (const auto& way : proper.ways) {
    std::vector<double>& xs = places.ways.emplace_back();
    for (const std::size_t node : way) xs.push_back(proper.x[node]);
  }
  return places;
}

}  // namespace rondo::figures
