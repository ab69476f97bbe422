// A random case: a legal point of a strategy's tuning space, what it is made for, and how it is called.
#pragma once

#include <cstdint>
#include <string>

#include "compiler/schedule/plan/strategy.h"
#include "compiler/target/profile.h"
#include "tests/points/space.h"

namespace rondo::points {

struct Point {
  std::uint64_t seed = 0;  // makes all of it again
  const schedule::Strategy* strategy = nullptr;
  step::Cell cell;
  bool exact = false;  // integers in, the same integers out (random_text.h)
  bool from_library = false;
  schedule::Problem problem;
  target::Profile profile;
  Drawn drawn;
  step::Sizes call;    // batch and time of the call, which need not be those of the problem
  int pad = 0;         // elements between time steps and between batch rows
  double missing = 0;  // how often what counts as zero is not given: initial states, gradients of outputs
  const schedule::Parameters& parameters() const { return drawn.parameters; }
};

// Sizes for the simulator, or those that users have.
enum class Scale { Simulated, Full };

// The point of a seed: the same in every run.
Point point_of_seed(std::uint64_t seed, Scale scale = Scale::Simulated);

// Its kernels.
schedule::KernelPlan build(const Point& point);

// What it is, and the command that runs it again.
std::string describe(const Point& point);

// Whether its strategy computes channels that do not see each other, one batch row a block.
bool channels_alone(const Point& point);

// Time steps of two turns of the ring in which the point stages its inputs; 1 where it has none. A call of
// more steps uses every place of the ring a third time at least in its first one.
std::int64_t two_turns(const Point& point);
// Steps of a stage of the launches over all steps (compiler/schedule/gemm/parameters.cpp), or a multiple.
std::int64_t stage_of_products(const Point& point);
// Batch rows that one part of a launch takes; more are launched in further parts, or by further blocks.
std::int64_t rows_of_part(const Point& point);

}  // namespace rondo::points
