// A machine made of a table: candidates with recorded times and faults, and a clock that only work moves on.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tuner/search/search.h"

namespace rondo::tuner::testing {

struct Point {
  double seconds = 1e-3;  // true time of one run
  db::TrialStatus build = db::TrialStatus::Ok;
  int spill_bytes = 0;
  std::string code;    // "": its own
  bool wrong = false;  // results differ from the reference
  double excess = 77;  // by so many times the limit
  const char* tensor = "h_out";
  bool right_elsewhere = false;  // wrong on the data of the run only
  bool untold = false;           // nothing can be said of it on the data of the run
  bool fails = false;            // the launch is refused
  bool kills = false;            // takes the device with it
  bool wrong_at_shape = false;   // right in all but a comparison at the full shape
  bool not_at_shape = false;     // which cannot be made
  bool fails_at_shape = false;   // which ends in a failure of the GPU
  bool hangs_late = false;       // from the first interleaved run on it is stopped by the time limit
};

class TableMeasurer final : public Measurer {
 public:
  explicit TableMeasurer(std::vector<Point> points) : points_(std::move(points)) {}

  // What things cost on the fake clock, and noise of timings (relative, one standard deviation).
  double compile_s = 0.1, verify_s = 0.05, noise = 0.005;
  double flatters = 1;  // what the few samples of the race show, of the true time
  int slots = 8;
  // One that the compiler comes with only then, as long as there are others.
  std::optional<std::size_t> late;
  double late_until = 0;
  bool gpu = true;
  double now = 0;
  std::function<void()> after_run;

  std::vector<std::size_t> compiled, verified;
  std::vector<std::uint64_t> seeds;  // of the verifications
  std::vector<std::size_t> at_shape;
  std::set<std::size_t> dropped;
  std::map<std::size_t, int> runs;

  Clock clock() {
    return [this] { return now; };
  }

  bool can_run() const override { return gpu; }
  int compile_slots() const override { return slots; }
  // Points from here on are twins of those before.
  std::size_t twins_from = 0;
  std::optional<std::size_t> twin(std::size_t candidate) const override {
    if (twins_from == 0 || candidate + twins_from >= points_.size()) return std::nullopt;
    return candidate + twins_from;
  }
  void compile(std::size_t candidate) override { queue_.push_back(candidate); }
  std::optional<Compiled> next_compiled(double timeout_s) override {
    if (queue_.empty()) {
      now += timeout_s;
      return std::nullopt;
    }
    auto next = queue_.begin();
    if (late && *next == *late && now < late_until && ++next == queue_.end()) {
      now += timeout_s;
      return std::nullopt;
    }
    const std::size_t candidate = *next;
    queue_.erase(next);
    now += compile_s / slots;
    compiled.push_back(candidate);
    const Point& p = points_.at(candidate);
    Compiled result;
    result.candidate = candidate;
    result.status = p.build;
    if (p.build != db::TrialStatus::Ok) result.reason = "as recorded";
    result.spill_bytes = p.spill_bytes;
    result.registers = 32;
    result.cubin_key = "key" + std::to_string(candidate);
    result.code = p.code.empty() ? result.cubin_key : p.code;
    result.compiler = twins_from > 0 && candidate >= twins_from ? "other" : "first";
    return result;
  }
  void stop_compiling() override { queue_.clear(); }

  Result<std::vector<double>> run(std::size_t candidate, int samples, double sample_s) override {
    EXPECT_EQ(dropped.count(candidate), 0u) << "a dropped candidate was run";
    const Point& p = points_.at(candidate);
    ++runs[candidate];
    if (p.kills) alive_ = false;
    if (p.hangs_late && beside_) return Error{ErrorKind::Cancelled, "timeout: as planted", ""};
    if (p.fails || p.kills) return Error{ErrorKind::Device, "too many resources requested for launch", ""};
    std::vector<double> result;
    for (int i = 0; i < samples; ++i) result.push_back(timed(flatters * p.seconds));
    now += samples * std::max(sample_s, p.seconds);
    if (after_run) after_run();
    return result;
  }
  Result<std::vector<std::vector<double>>> run_interleaved(const std::vector<std::size_t>& candidates,
                                                           int rounds,
                                                           const std::function<bool()>& stop) override {
    beside_ = true;
    for (const std::size_t candidate : candidates)
      if (points_.at(candidate).hangs_late) return Error{ErrorKind::Cancelled, "timeout: as planted", ""};
    std::vector<std::vector<double>> result(candidates.size());
    for (int round = 0; round < rounds; ++round) {
      if (round > 0 && stop()) break;
      for (std::size_t i = 0; i < candidates.size(); ++i) {
        result[i].push_back(timed(points_.at(candidates[i]).seconds));
        now += 1e-3;
      }
    }
    return result;
  }
  Result<engine::Verdict> verify(std::size_t candidate, std::uint64_t seed) override {
    EXPECT_EQ(dropped.count(candidate), 0u) << "a dropped candidate was verified";
    now += verify_s;
    verified.push_back(candidate);
    seeds.push_back(seed);
    const Point& p = points_.at(candidate);
    if (p.untold) return Error{ErrorKind::Input, "h_out cannot be told from a wrong one", "other data"};
    if (p.wrong && !(p.right_elsewhere && seed != 0))
      return engine::Verdict{false, p.tensor, p.excess,
                             std::string(p.tensor) + ": error 3.1e-01 (limit 4.0e-03)"};
    return engine::Verdict{true, "", 0, "all 1 tensors agree"};
  }
  Result<engine::Verdict> verify_at_shape(std::size_t candidate) override {
    EXPECT_EQ(dropped.count(candidate), 0u) << "a dropped candidate was compared";
    at_shape.push_back(candidate);
    const Point& p = points_.at(candidate);
    if (p.fails_at_shape) return Error{ErrorKind::Device, "an illegal address", ""};
    if (p.not_at_shape) return Error{ErrorKind::Unsupported, "no plain plan reduces over the head", ""};
    if (p.wrong_at_shape) return engine::Verdict{false, "h_out", 50, "h_out: wrong at B=7 T=4000"};
    return engine::Verdict{true, "", 0, "every element beside a plain kernel"};
  }
  void drop(std::size_t candidate) override { dropped.insert(candidate); }
  bool alive() const override { return alive_; }

 private:
  double timed(double seconds) { return seconds * (1 + noise * std::abs(normal_(random_))); }

  std::vector<Point> points_;
  std::deque<std::size_t> queue_;
  bool alive_ = true;
  bool beside_ = false;  // some ran interleaved
  std::mt19937_64 random_{7};
  std::normal_distribution<double> normal_;
};

// A space like stream's, with a model that is wrong in a systematic way and by chance. Ranked by the model.
struct Landscape {
  std::vector<engine::Candidate> candidates;
  std::vector<Point> points;
  double best_s = 1e9;  // of the points that can be used
};

inline Landscape synthetic(std::uint64_t seed, double model_error) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  // The machine's true optimum lies somewhere else than the model's, on every axis.
  const double channels_at = 4 + 4 * uniform(random), steps_at = 2 + 4 * uniform(random);
  const double stages_at = 2 + 5 * uniform(random), unroll_at = 1 + 3 * uniform(random);
  const double shift = 1.5 * normal(random);
  std::vector<std::pair<engine::Candidate, Point>> all;
  for (std::int64_t channels = 8; channels <= 256; channels += 8)
    for (std::int64_t steps = 4; steps <= 64; steps *= 2)
      for (const std::int64_t stages : {2, 3, 4, 6, 8})
        for (std::int64_t unroll = 2; unroll <= 16; unroll *= 2)
          for (std::int64_t vector = 1; vector <= 8; vector *= 2) {
            if (unroll > steps || channels * steps * stages > 60000 || channels % vector != 0) continue;
            auto bowl = [](double x, double at, double width) {
              return (x - at) * (x - at) / (width * width);
            };
            auto cost = [&](double moved) {
              return 1e-4 *
                     (1 + 0.25 * bowl(std::log2(static_cast<double>(channels)), channels_at + moved, 2) +
                      0.2 * bowl(std::log2(static_cast<double>(steps)), steps_at - moved, 2) +
                      0.1 * bowl(static_cast<double>(stages), stages_at, 3) +
                      0.1 * bowl(std::log2(static_cast<double>(unroll)), unroll_at, 2) +
                      0.1 * (3 - std::log2(static_cast<double>(vector))));
            };
            Point point;
            // Roughness that no model knows: neighbours differ by a few percent.
            point.seconds = cost(0) * (1 + 0.03 * std::abs(normal(random)));
            if (uniform(random) < 0.02) point.build = db::TrialStatus::CompileError;
            if (uniform(random) < 0.05) point.spill_bytes = 512;
            if (uniform(random) < 0.01) point.fails = true;
            if (uniform(random) < 0.02) point.wrong = true;
            engine::Candidate candidate;
            candidate.strategy = "stream";
            candidate.parameters = {{"channels", channels},
                                    {"steps", steps},
                                    {"stages", stages},
                                    {"unroll", unroll},
                                    {"vector", vector}};
            candidate.estimate.seconds = cost(shift) * std::exp(model_error * normal(random));
            all.emplace_back(candidate, point);
          }
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.first.estimate.seconds < b.first.estimate.seconds; });
  Landscape result;
  for (const auto& [candidate, point] : all) {
    result.candidates.push_back(candidate);
    result.points.push_back(point);
    if (point.build == db::TrialStatus::Ok && point.spill_bytes == 0 && !point.fails && !point.wrong)
      result.best_s = std::min(result.best_s, point.seconds);
  }
  return result;
}

// `count` candidates of one parameter, in model order.
inline std::vector<engine::Candidate> line(std::size_t count) {
  std::vector<engine::Candidate> result;
  for (std::size_t i = 0; i < count; ++i) {
    engine::Candidate candidate{"stream", {{"channels", static_cast<std::int64_t>(i)}}, {}};
    candidate.estimate.seconds = 1e-4 * static_cast<double>(i + 1);
    result.push_back(candidate);
  }
  return result;
}

}  // namespace rondo::tuner::testing
