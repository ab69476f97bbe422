// A run of shoot on data of a given strength, beside the plain loop: what tests of convergence ask about.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "compiler/executable/convergence.h"
#include "compiler/frontend/frontend.h"
#include "compiler/schedule/plan/simulate_plan.h"
#include "compiler/schedule/shoot/rounds.h"
#include "compiler/step/reference/executor.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/damage.h"
#include "tests/schedule/shoot/points.h"

namespace rondo::schedule {

struct Study {
  step::Cell cell;
  double weights = 1;    // standard deviation of the parameters
  double gate_bias = 0;  // of row 0 of the first input
  std::int64_t time = 2048, dim = 32;
  ShootTeam team{16, 1, 0};
  int warmup = 0, sweeps = 3;
  bool newton = true;
  // 1: in shared memory, by a ring that holds the segment.
  int keep_inputs = 0;
  kernel::Storage storage = kernel::Storage::F32;
  // Every real number of the kernel's run is a double.
  bool fp64 = false;
  // Of the state's size, by how much a segment may start off; 0: as the kernel has it.
  double tolerance = 0;
  // Changes the kernel before it runs.
  std::function<void(kernel::Kernel&)> damage = {};
  // A number put into every input at one step; none if the step is below 0.
  std::int64_t spoiled_step = -1;
  double spoiled = 0;
  // Of each channel, what its parameters are; none: drawn.
  std::function<double(std::int64_t channel)> param = {};
};

struct Outcome {
  executable::Convergence convergence;
  std::vector<std::string> faults;
  std::int64_t launches = 0;
  // By channel, of the worst output row: the largest difference from the fp64 loop over the largest size of
  // the output, by shoot and by the plain fp32 loop.
  std::vector<double> error, plain;
  // Whether both are numbers at the same places.
  bool same_places = true;
  // Channels where the plain loop itself keeps a thousandfold of rounding: no more than that can be asked of
  // them.
  static constexpr double kTold = 1e-4;
  double worst() const {
    double result = 0;
    for (std::size_t c = 0; c < error.size(); ++c)
      if (plain[c] < kTold) result = std::max(result, error[c]);
    return result;
  }
  int chaotic() const {
    return static_cast<int>(std::count_if(plain.begin(), plain.end(), [](double e) { return !(e < kTold); }));
  }
  double tolerance = 0;  // of the certificate, as a share of the state's size
  // A start may be off by the tolerance, and what the plain loop makes of its own rounding says how a cell
  // answers: each channel is held to as many times its plain error as the tolerance is of rounding.
  bool right() const {
    const double factor = 4 * tolerance / std::exp2(-24);
    for (std::size_t c = 0; c < error.size(); ++c)
      if (plain[c] < kTold && !(error[c] <= factor * (plain[c] + std::exp2(-24)))) return false;
    return same_places;
  }
};

inline step::Cell cell_of(const std::string& text) {
  const frontend::Parsed parsed = frontend::parse(text, "test.cell");
  EXPECT_TRUE(parsed.ok()) << frontend::render_all(parsed, text, "test.cell");
  return parsed.cells.front();
}

Outcome study(const Study& s);

}  // namespace rondo::schedule
