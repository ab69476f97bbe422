#include "engine/check/cases.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/support/integers.h"

namespace rondo::engine {

using schedule::Pass;

namespace {

constexpr std::int64_t kShortest = 5;                // steps of a case that looks at batch rows
constexpr std::int64_t kFewRows = 3;                 // batch rows of a case that looks at time
constexpr std::int64_t kSimulatedWork = 10'000'000;  // some seconds
constexpr std::int64_t kBackwardShare = 2;  // a backward step costs the reference as much as so many forward
constexpr std::int64_t kProductShare = 8;   // terms of a product that cost as much as a node

// Of one step of one batch row.
std::int64_t step_work(const schedule::Task& task) {
  const auto nodes = static_cast<std::int64_t>(task.written.graph.nodes.size());
  const std::int64_t products = std::ranges::count_if(task.written.graph.nodes, step::is_product);
  const std::int64_t work =
      task.problem.sizes.heads * task.problem.sizes.dim *
      std::max<std::int64_t>(1, nodes + products * task.problem.sizes.dim / kProductShare);
  return task.problem.pass == Pass::Backward ? work * kBackwardShare : work;
}

class Cases {
 public:
  Cases(const schedule::Task& task, const Coverage& coverage, const CaseBudget& budget)
      : problem_(task.problem), coverage_(coverage), work_(step_work(task)), budget_(budget) {}

  std::vector<VerifyCase> all() {
    add_shape();
    add_tiles();
    add_turns();
    add_single_step();
    return std::move(cases_);
  }

 private:
  // Steps that the budget allows for so many batch rows.
  std::int64_t most_steps(std::int64_t batch) const {
    return std::max<std::int64_t>(1, budget_.work / (batch * work_));
  }
  // So many steps, or what is left of them. An odd number then: a tail in every stage.
  static std::int64_t cut_to(std::int64_t most, std::int64_t wanted) {
    if (most >= wanted) return wanted;
    return most > 1 && most % 2 == 0 ? most - 1 : most;
  }
  bool covered(std::int64_t batch, std::int64_t time) const {
    return std::ranges::any_of(
        cases_, [=](const VerifyCase& one) { return one.sizes.batch >= batch && one.sizes.time >= time; });
  }
  void add(std::int64_t batch, std::int64_t time, std::string covers) {
    VerifyCase made;
    made.sizes = problem_.sizes;
    made.sizes.batch = batch;
    made.sizes.time = time;
    // Gaps keep 16-byte alignment whatever the plan's vectors are.
    made.layout.gap = 16 / kernel::storage_bytes(problem_.storage);
    made.covers = std::move(covers);
    cases_.push_back(std::move(made));
  }

  // Rows are cut first: time is what a recurrence is about. The same for all plans of a problem.
  void add_shape() {
    const step::Sizes& wanted = problem_.sizes;
    std::int64_t batch = wanted.batch, time = wanted.time;
    if (most_steps(batch) < time) batch = std::min(batch, kFewRows);
    if (most_steps(batch) < time) batch = std::min<std::int64_t>(batch, 1);
    time = cut_to(most_steps(batch), time);
    const bool cut = batch < wanted.batch || time < wanted.time;
    add(batch, time,
        cut ? fmt::format("the shape, cut from B={},T={}", wanted.batch, wanted.time)
            : "the shape asked for");
  }

  void add_tiles() {
    const std::int64_t tile = coverage_.batch_tile;
    std::int64_t batch = 2 * tile > 2 ? tile + 1 : 2;
    std::string covers = fmt::format("a batch tile of {} and one row", tile);
    if (coverage_.tiles_together > 0) {
      const std::int64_t part = coverage_.tiles_together * tile;
      if (most_steps(part + 1) >= kShortest) {
        batch = part + 1;
        covers = fmt::format("a part of {} batch rows and one row", part);
      } else {
        covers += fmt::format(" (a second part of {} rows costs too much)", part);
      }
    }
    const std::int64_t time = std::min(kShortest, most_steps(batch));
    if (!covered(batch, time)) add(batch, time, covers);
  }

  void add_turns() {
    std::int64_t batch = kFewRows;
    const std::int64_t wanted = 2 * coverage_.turn + 1;
    if (most_steps(batch) < wanted) batch = 1;
    const std::int64_t time = cut_to(most_steps(batch), wanted);
    if (covered(1, wanted)) return;
    if (covered(batch, time)) {
      cases_.front().covers += fmt::format(" (two turns of {} steps cost too much)", coverage_.turn);
      return;
    }
    add(batch, time,
        time < wanted ? fmt::format("{} steps, cut from two turns of {} steps and one", time, coverage_.turn)
                      : fmt::format("two turns of {} steps and one", coverage_.turn));
  }

  void add_single_step() {
    add(1, 1, "one step, no initial states");
    cases_.back().layout.gap = 0;
    cases_.back().initial_states = false;
  }

  const schedule::Problem& problem_;
  const Coverage& coverage_;
  const std::int64_t work_;
  const CaseBudget& budget_;
  std::vector<VerifyCase> cases_;
};

}  // namespace

std::string VerifyCase::text() const {
  return fmt::format("B={},T={},H={},D={}{}{}{}{}{}{}{}{}", sizes.batch, sizes.time, sizes.heads, sizes.dim,
                     layout.gap > 0 ? fmt::format(", gaps of {}", layout.gap) : "",
                     layout.order == TensorLayout::Order::TimeMajor ? ", time-major" : "",
                     initial_states ? "" : ", no states given", arbitrary_states ? ", arbitrary states" : "",
                     matrix_scale != 1 ? fmt::format(", matrices times {}", matrix_scale) : "",
                     data_scale != 1 ? fmt::format(", data times {}", data_scale) : "",
                     stored_states ? ", from stored states" : "", erring_states ? ", states that err" : "");
}

std::vector<VerifyCase> better_cases(const VerifyCase& shape, Pass pass, bool decisions) {
  struct Change {
    std::int64_t most_steps;
    double matrices, data;
  };
  constexpr std::int64_t kAll = std::int64_t{1} << 40, kSome = 8, kFew = 2;
  std::vector<Change> changes{{kAll, 0.25, 0.5}, {kSome, 0.25, 0.5}, {kFew, 1, 1}, {kFew, 0.25, 0.0625}};
  // As the sigmoid of 0 turns a decision at a half.
  if (decisions) changes.insert(changes.end(), {{kFew, 1, 4}, {kFew, 4, 4}});
  if (pass == Pass::Backward) changes.insert(changes.begin(), {kAll, 1, 1});
  std::vector<VerifyCase> cases;
  for (const Change& change : changes) {
    VerifyCase better = shape;
    better.stored_states = pass == Pass::Backward;
    better.sizes.time = std::min(shape.sizes.time, change.most_steps);
    better.matrix_scale *= change.matrices;
    better.data_scale *= change.data;
    better.covers = "data of which more can be told";
    cases.push_back(std::move(better));
  }
  return cases;
}

const VerifyCase& longest_case(const std::vector<VerifyCase>& cases) {
  return *std::ranges::max_element(
      cases, [](const VerifyCase& a, const VerifyCase& b) { return a.sizes.time < b.sizes.time; });
}

Coverage coverage_of(const executable::Executable& executable, std::int64_t turn) {
  Coverage coverage;
  coverage.turn = std::max<std::int64_t>(1, turn);
  for (const executable::Launch& launch : executable.launches) {
    const executable::SizeRule& blocks = launch.grid.blocks;
    const std::int64_t tile = ceil_div(blocks.batch_tile, blocks.batch_rows);  // in rows of the call
    coverage.batch_tile = std::max(coverage.batch_tile, tile);
    const std::int64_t part = ceil_div(launch.grid.tiles_together * blocks.batch_tile, blocks.batch_rows);
    coverage.tiles_together = std::max(coverage.tiles_together, ceil_div(part, tile));
  }
  return coverage;
}

CaseBudget gpu_budget() { return {}; }

CaseBudget simulator_budget() { return {kSimulatedWork}; }

std::vector<VerifyCase> cases_for(const schedule::Task& task, const Coverage& coverage,
                                  const CaseBudget& budget, bool arbitrary_states) {
  std::vector<VerifyCase> cases = Cases(task, coverage, budget).all();
  for (VerifyCase& one : cases) one.arbitrary_states = arbitrary_states && one.initial_states;
  return cases;
}

}  // namespace rondo::engine
