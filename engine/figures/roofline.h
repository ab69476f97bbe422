// Problems beside what the machine allows them.
#pragma once

#include <string>
#include <vector>

#include "engine/figures/figure.h"

namespace rondo::figures {

struct FloorOfPoint {
  std::string name;  // "bytes", "products", "chain"
  double seconds = 0;
  double amount = 0;  // bytes, operations, steps
};

struct MeasuredPoint {
  std::string name;
  double seconds = 0;
  std::vector<FloorOfPoint> floors;  // those that take time, the one that binds first
  bool marked = false;
  std::string label{};  // a short name, for the picture itself; "": the point has none

  const FloorOfPoint* floor(const std::string& of) const;  // null: it has none
};

struct Roof {
  std::string name;  // "mma.sync"
  double operations_per_s = 0;
};

// The roofline of one machine (Williams, Waterman, Patterson: Roofline, CACM 2009): operations of products a
// second over operations a byte, below the rate of a copy and those of products. A dash above a point is what
// the chain of dependent steps allows it. Points without products or bytes have no place in it.
Figure roofline(const std::string& machine, double copy_bytes_per_s, const std::vector<Roof>& roofs,
                const std::vector<MeasuredPoint>& points);

// Times over the highest floor of each point, with lines at once, twice and four times the floor: also of
// problems without products.
Figure time_over_floor(const std::string& machine, const std::vector<MeasuredPoint>& points);

// Each floor as a share of the time: a row a point.
Figure floor_shares(const std::string& title, const std::vector<MeasuredPoint>& points);

}  // namespace rondo::figures
