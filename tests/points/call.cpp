#include "tests/points/call.h"

#include <algorithm>
#include <array>

namespace rondo::points {

namespace {

constexpr double kBudget = 250e3;  // microseconds, of one point

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

class Costs {
 public:
  explicit Costs(const Point& point) : point_(point) {}

  std::int64_t at(const char* name, std::int64_t otherwise = 1) const {
    const auto found = point_.parameters().find(name);
    return found == point_.parameters().end() ? otherwise : found->second;
  }
  bool backward() const { return point_.problem.pass == schedule::Pass::Backward; }

  // Each warp takes some microseconds a step, and longer the more the step reads and writes.
  double stream(std::int64_t batch, std::int64_t time) const {
    const std::int64_t split = at("time_split"), steps = at("steps");
    const std::int64_t stages = ceil_div(time, steps * split) * split;
    const std::int64_t tiles = ceil_div(point_.problem.sizes.dim, at("channels"));
    const std::int64_t warps = ceil_div(at("channels") / at("per_thread") * at("segments"), 32);
    const double of_stage = at("segments") > 1 ? 2.5 * static_cast<double>(at("unroll"))
                                               : static_cast<double>(std::min(steps, time));
    const double blocks = static_cast<double>(batch * point_.problem.sizes.heads * tiles);
    const double transforms = static_cast<double>(split * at("segments")) * (split > 1 ? 3 : 1);
    return blocks * static_cast<double>(stages) *
               (static_cast<double>(warps * at("per_thread")) * of_stage * kStreamStep + 6 * transforms) *
               rows() +
           blocks * 200;
  }
  // Each warp walks through its segment, before it a warm-up, and again where it started wrong.
  double shoot(std::int64_t batch, std::int64_t time) const {
    const std::int64_t parts = at("segments") * at("time_split");
    const std::int64_t tiles = ceil_div(point_.problem.sizes.dim, at("channels"));
    const std::int64_t walkers = ceil_div(at("channels") / at("per_thread"), 32);
    const double blocks = static_cast<double>(batch * point_.problem.sizes.heads * tiles);
    const double steps = static_cast<double>(time + parts * (at("warmup") + at("steps")));
    const double sweeps = static_cast<double>(at("sweeps") + 1 + (at("newton") == 1 ? 1 : 0));
    const double scans = static_cast<double>(parts * (at("sweeps") + at("time_split")) * walkers);
    return blocks * (static_cast<double>(walkers * at("per_thread")) * steps * sweeps * kStreamStep * rows() +
                     20 * scans * rows() + 200);
  }
  // By channel and batch row, those past the end included; and by the matrices' elements.
  double dense(std::int64_t batch, std::int64_t time) const {
    const std::int64_t tile = 8 * at("batch_tiles");
    const std::int64_t dim = ceil_div(point_.problem.sizes.dim, 16) * 16;
    const double vectors =
        static_cast<double>(ceil_div(batch, tile) * tile * dim * time * point_.problem.sizes.heads);
    const double of_matrices = 0.012 * matrices() * static_cast<double>(dim);
    const bool persistent = point_.strategy->name() == "persistent";
    const double of_element = persistent ? 0.9 : 1.6;
    return vectors * (of_element * rows() + of_matrices) * (backward() ? 2.5 : 1) +
           5 * matrices() * static_cast<double>(dim) + gradients() + knowledge(batch, time);
  }

 private:
  // Parts of the gradients of matrices are written and added up, however few steps the call has.
  double gradients() const {
    if (!backward()) return 0;
    const step::Sizes& s = point_.problem.sizes;
    const std::int64_t parts = std::clamp<std::int64_t>(s.batch * ceil_div(s.time, 32) / 8, 1, 64);
    return 0.6 * static_cast<double>(parts * s.heads * s.dim * s.dim) * matrices();
  }
  // Of blocks that wait for each other each warp keeps what it knows of every other one.
  double knowledge(std::int64_t batch, std::int64_t time) const {
    if (at("exchange", 0) == 0) return 0;
    const std::int64_t tiles = std::min(at("batch_tiles_in_flight"), ceil_div(batch, 8 * at("batch_tiles")));
    const std::int64_t blocks = at("blocks") * point_.problem.sizes.heads * tiles;
    const double warps = static_cast<double>(blocks * point_.drawn.quantities.at("threads")) / 32;
    return 25 * warps * warps * static_cast<double>(time);
  }
  static constexpr double kStreamStep = 1.6;

  double rows() const {
    int count = 0;
    for (const step::Tensor& tensor : point_.cell.tensors)
      if (tensor.tail != step::Tail::Matrix) count += tensor.rows;
    return count * (backward() ? 1.5 : 1);
  }
  double matrices() const {
    int count = 0;
    for (const step::Tensor& tensor : point_.cell.tensors)
      if (tensor.tail == step::Tail::Matrix) count += tensor.rows;
    return count;
  }

  const Point& point_;
};

// Batch rows worth a call: those of the problem; and one row more than a block's, than two blocks', and than
// all that one part of a launch takes.
std::int64_t some_batch(Random& random, const Point& point) {
  const Costs costs(point);
  const std::int64_t tile = channels_alone(point) ? 1 : 8 * costs.at("batch_tiles");
  const bool waiting = costs.at("exchange", 0) == 1;
  switch (pick(random, 0, waiting ? 9 : 4)) {
    case 0: return point.problem.sizes.batch;
    case 1: return tile + 1;
    case 2: return 2 * tile + 1;
    default: return rows_of_part(point) + 1;
  }
}

// Steps worth a call: two turns of the ring and one more; whole stages of the launches over all steps; a few.
std::int64_t some_time(Random& random, const Point& point) {
  const bool gradients = Costs(point).backward() && !channels_alone(point);
  if (gradients && chance(random, 0.3)) return pick(random, 1, 2) * stage_of_products(point);
  switch (pick(random, 0, 9)) {
    case 0: return pick(random, 1, 3);
    case 1: return pick(random, 4, 40);
    case 2: return 16 * pick(random, 1, 4);
    default: return two_turns(point) + 1;
  }
}

}  // namespace

bool channels_alone(const Point& point) {
  return point.strategy->name() == "stream" || point.strategy->name() == "shoot";
}

std::int64_t two_turns(const Point& point) {
  const Costs costs(point);
  if (point.strategy->name() == "alternating") return 1;
  const std::int64_t parts =
      costs.at("time_split") * (point.strategy->name() == "shoot" ? costs.at("segments") : 1);
  return 2 * costs.at("stages") * costs.at("steps") * parts;
}

std::int64_t stage_of_products(const Point& point) {
  if (point.problem.storage == scalar::Storage::F32) return 16;
  return point.problem.sizes.dim >= 128 ? 64 : 32;
}

std::int64_t rows_of_part(const Point& point) {
  const Costs costs(point);
  const bool alone = channels_alone(point);
  if (costs.at("exchange", 0) == 0) return alone ? 1 : 8 * costs.at("batch_tiles");
  return alone ? point.problem.sizes.batch : 8 * costs.at("batch_tiles") * costs.at("batch_tiles_in_flight");
}

double simulated_us(const Point& point, std::int64_t batch, std::int64_t time) {
  const Costs costs(point);
  if (point.strategy->name() == "shoot") return costs.shoot(batch, time);
  return channels_alone(point) ? costs.stream(batch, time) : costs.dense(batch, time);
}

bool draw_call(Random& random, Point& point) {
  std::int64_t batch = some_batch(random, point), time = some_time(random, point);
  const auto fits = [&] { return simulated_us(point, batch, time) <= kBudget; };
  // Which of the two is cut down first is a matter of luck.
  const bool keep_batch = chance(random, 0.5);
  if (!keep_batch && !fits()) batch = std::min<std::int64_t>(batch, pick(random, 1, 3));
  const std::int64_t stage = stage_of_products(point);
  const bool whole = time % stage == 0 && batch > 1;
  if (whole) time = fits() ? time : stage;
  if (whole && !fits()) batch = 2;
  while (!fits() && time > 9) time = time * 3 / 4;
  while (!fits() && batch > 1) batch = batch * 3 / 4;
  while (!fits() && time > 2) --time;
  point.call.batch = batch;
  point.call.time = time;
  return fits();
}

}  // namespace rondo::points
