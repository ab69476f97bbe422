#include "tests/points/point.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "compiler/schedule/strategies.h"
#include "compiler/step/clip.h"
#include "compiler/step/forms.h"
#include "compiler/step/structure.h"
#include "tests/points/call.h"
#include "tests/schedule/cell_files.h"
#include "tests/target/board.h"

namespace rondo::points {

using kernel::Math;
using kernel::Storage;
using schedule::Pass;
using schedule::Strategy;

namespace {

constexpr std::array kBoards = {"h200", "h200", "h100", "a100", "a10", "l4", "rtx4090", "b200", "rtx5090"};

// A board, or one like it with few SMs, so that the blocks of a launch do not all fit, or hardly any L2, so
// that tensors pass through it.
target::Profile some_profile(Random& random) {
  target::Profile profile = target::board(one_of(random, kBoards));
  constexpr std::array kFew = {4, 6, 8, 16, 24};
  if (chance(random, 0.4)) profile.limits.sm_count = one_of(random, kFew);
  if (chance(random, 0.4)) profile.limits.l2_bytes = 64;
  return profile;
}

// But those whose states begin with another number than zero: an executable that is walked (walk_faults.h)
// fills what it is not given with zeros alone.
const std::vector<step::Cell>& library() {
  static const std::vector<step::Cell> cells = [] {
    std::vector<step::Cell> all = schedule::all_cells();
    std::erase_if(all, [](const step::Cell& cell) {
      return std::ranges::any_of(cell.tensors,
                                 [](const step::Tensor& tensor) { return !tensor.first.is_zero(); });
    });
    return all;
  }();
  return cells;
}

step::Cell parsed(const std::string& text) {
  const frontend::Parsed result = frontend::parse(text, "random.cell");
  if (!result.ok())
    throw std::logic_error("a random cell that the frontend refuses:\n" + text +
                           frontend::render_all(result, text, "random.cell"));
  return result.cells.at(0);
}

// One of the library, or a random one; false if the strategy is not for it.
bool draw_cell(Random& random, Point& point) {
  const bool dense = chance(random, 0.5);
  const double kind = std::uniform_real_distribution<>(0, 1)(random);
  point.exact = kind < 0.55;
  point.from_library = kind >= 0.75;
  if (point.from_library) {
    point.cell = one_of(random, library());
  } else {
    const Coupling coupling = dense                 ? Coupling::Dense
                              : chance(random, 0.7) ? Coupling::Affine
                                                    : Coupling::Diagonal;
    point.cell = parsed(random_text(random, {coupling, point.exact}));
  }
  if (!point.strategy->legal({point.cell, {}, point.profile}).legal) return false;
  step::Clip clip;
  if (point.exact && chance(random, 0.25)) clip.forward = pick(random, 1, 3);
  if (point.exact && chance(random, dense ? 0.4 : 0.2)) clip.gradient = pick(random, 1, 4);
  point.cell = step::clipped(point.cell, clip).value();
  Random forms(point.seed + 7);  // of its own: points without forms stay as they are
  step::Forms drawn{chance(forms, 0.2), chance(forms, 0.2), chance(forms, 0.2)};
  drawn.directions = !drawn.reversed && chance(forms, 0.2);
  point.cell = step::with_forms(point.cell, drawn).value();
  return true;
}

void draw_sizes(Random& random, bool dense, Scale scale, step::Sizes& sizes) {
  constexpr std::array kBatches = {1, 3, 9, 17, 33};
  constexpr std::array kFullBatches = {1, 8, 16, 17, 64, 128};
  constexpr std::array kTimes = {1, 7, 64, 1000};
  constexpr std::array kFullTimes = {1, 64, 1024, 4096};
  constexpr std::array kHeads = {1, 1, 2, 3};
  constexpr std::array kFullHeads = {1, 1, 2, 4, 12};
  constexpr std::array kDims = {1, 3, 8, 13, 24, 32, 33, 40, 40, 48, 64, 64, 72, 80, 96, 130, 136, 200, 256};
  constexpr std::array kFullDims = {24,  40,  64,  96,   128,  136,  192,  256, 257,
                                    384, 512, 768, 1000, 1024, 1536, 2048, 4096};
  if (scale == Scale::Full) {
    sizes = {one_of(random, kFullBatches), one_of(random, kFullTimes), one_of(random, kFullHeads),
             one_of(random, kFullDims)};
    return;
  }
  sizes = {one_of(random, kBatches), one_of(random, kTimes), one_of(random, kHeads), one_of(random, kDims)};
  if (!dense) sizes.batch = pick(random, 1, 3);
}

void draw_problem(Random& random, bool dense, Scale scale, Point& point) {
  schedule::Problem& problem = point.problem;
  constexpr std::array kPasses = {Pass::Forward, Pass::ForwardSave, Pass::Backward, Pass::Backward};
  constexpr std::array kStorages = {Storage::BF16, Storage::F16, Storage::F32};
  problem.pass = one_of(random, kPasses);
  problem.storage = one_of(random, kStorages);
  problem.math = schedule::default_math(problem.storage);
  if (chance(random, 0.3)) problem.math = problem.storage == Storage::F32 ? Math::Tf32 : Math::Accurate;
  problem.save_products = dense && problem.pass != Pass::Forward && chance(random, 0.35);
  draw_sizes(random, dense, scale, problem.sizes);
  if (step::forms_of(point.cell).directions && problem.sizes.heads % 2 != 0) problem.sizes.heads *= 2;
  // Fewer steps leave little to cut in segments.
  constexpr std::array kLongTimes = {64, 1000, 4000};
  if (point.strategy->name() == "shoot") problem.sizes.time = one_of(random, kLongTimes);
}

// A problem and a point of its space; false where there is none. A strategy comes as often as it has
// parameters.
bool draw_all(Random& random, Scale scale, Point& point) {
  constexpr double kMostParameters = 16;
  point.strategy = one_of(random, schedule::strategies());
  point.profile = some_profile(random);
  if (!draw_cell(random, point)) return false;
  const bool dense = step::analyze(point.cell).has_matrix;
  draw_problem(random, dense, scale, point);
  if (!point.strategy->legal({point.cell, point.problem, {}}).legal) return false;
  const constraint::System space = point.strategy->space({point.cell, point.problem, point.profile});
  if (!chance(random, std::min(1.0, static_cast<double>(space.domains().size()) / kMostParameters)))
    return false;
  const auto drawn = draw_point(space, random, chance(random, 0.75));
  if (!drawn) return false;
  point.drawn = *drawn;
  constexpr std::array kPads = {0, 1, 3};
  const schedule::Parameters& parameters = point.parameters();
  const int vector = parameters.contains("vector") ? static_cast<int>(parameters.at("vector")) : 1;
  point.pad = vector * one_of(random, kPads);
  point.missing = chance(random, 0.15) ? 0.5 : 0;
  point.call = point.problem.sizes;
  return scale == Scale::Full || draw_call(random, point);
}

}  // namespace

Point point_of_seed(std::uint64_t seed, Scale scale) {
  Random random(seed);
  for (int attempt = 0; attempt < 1000; ++attempt) {
    Point point;
    point.seed = seed;
    if (draw_all(random, scale, point)) return point;
  }
  throw std::logic_error("no point of any space in 1000 draws");
}

schedule::KernelPlan build(const Point& point) {
  return point.strategy->build({point.cell, point.problem, point.profile}, point.parameters()).value();
}

std::string describe(const Point& point) {
  const schedule::Problem& problem = point.problem;
  const step::Sizes& s = problem.sizes;
  const target::Limits& limits = point.profile.limits;
  return fmt::format(
      "RONDO_POINT={} build/release/test_points --gtest_filter=PointOfASeed.IsRight\n"
      "{}, {} {}, {} {}, made for B={},T={},H={},D={}, called with B={},T={}, {} elements between rows, {}\n"
      "{} with {} SMs and {} bytes of L2\n{}\n{}{}",
      point.seed, point.strategy->name(), point.cell.name, schedule::pass_key(problem),
      kernel::storage_name(problem.storage), kernel::math_name(problem.math), s.batch, s.time, s.heads, s.dim,
      point.call.batch, point.call.time, point.pad, point.exact ? "integers" : "reals", point.profile.name,
      limits.sm_count, limits.l2_bytes, schedule::print(point.parameters()), point.cell.source,
      step::describe_clip(point.cell) + step::describe_forms(point.cell));
}

}  // namespace rondo::points
