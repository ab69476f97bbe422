// What lies inside a timed sample: launches of graphs, and nothing of making them.
#include <gtest/gtest.h>

#include <set>

#include "engine/measure/measure.h"
#include "runtime/launch/graph_cache.h"
#include "tests/runtime/device/guarded_device.h"

namespace rondo::engine {
namespace {

using runtime::GraphCache;
using runtime::StreamHandle;

// Work that is launched through a cache of graphs, on a device that only counts.
class Graphed {
 public:
  TimedWork work() {
    return TimedWork(
        [this](int set) { return cache_.run(runtime::StreamHandle{}, {set}, submit()); },
        [this](int set, int sets) { cache_.prepare({set}, submit(), static_cast<std::size_t>(sets)); });
  }
  void sample(int repetitions, int sets) {
    timed_ = false;
    const TimeOnce timed = [this](const std::function<Status()>& submit) -> Result<double> {
      timed_ = true;
      const Status submitted = submit();
      timed_ = false;
      if (!submitted) return submitted.error();
      return 1.0;
    };
    ASSERT_TRUE(take_sample(work(), repetitions, sets, next_, timed).ok());
  }

  int recorded_inside = 0, direct_inside = 0, uploaded_inside = 0, recorded = 0, replayed = 0;

 private:
  struct Replay final : runtime::GraphCache::Replay {
    explicit Replay(Graphed& of) : graphed(of) {}
    Status launch(runtime::StreamHandle) override {
      ++graphed.replayed;
      return success();
    }
    Status upload() override {
      graphed.uploaded_inside += graphed.timed_;
      return success();
    }
    bool idle() override { return true; }
    Graphed& graphed;
  };

  runtime::GraphCache::Work submit() {
    return [this](runtime::StreamHandle) {
      direct_inside += timed_;
      return success();
    };
  }
  runtime::GraphCache cache_{
      [this](const runtime::GraphCache::Work&) -> Result<std::unique_ptr<runtime::GraphCache::Replay>> {
        ++recorded;
        recorded_inside += timed_;
        return std::unique_ptr<runtime::GraphCache::Replay>(std::make_unique<Replay>(*this));
      }};
  int next_ = 0;
  bool timed_ = false;
};

TEST(Sample, HoldsLaunchesOfGraphsOnly) {
  for (const int sets : {1, 2, 8, 9, 32})
    for (const int repetitions : {1, 3, 50}) {
      Graphed graphed;
      int runs = 0;
      for (int sample = 0; sample < 40; ++sample, runs += repetitions) graphed.sample(repetitions, sets);
      EXPECT_EQ(graphed.recorded_inside, 0) << sets << " sets, " << repetitions;
      EXPECT_EQ(graphed.direct_inside, 0) << sets << " sets, " << repetitions;
      EXPECT_EQ(graphed.uploaded_inside, 0) << sets << " sets, " << repetitions;
      EXPECT_EQ(graphed.replayed, runs);
      EXPECT_LE(graphed.recorded, sets) << "each set's graph once";
    }
}

// Runs what is submitted, without a clock.
Result<double> submitted(const std::function<Status()>& submit) {
  if (Status status = submit(); !status) return status.error();
  return 1.0;
}

// Inputs rotate from sample to sample, and only what a sample uses is prepared for it.
TEST(Sample, TakesTurnsWithAllSets) {
  std::vector<int> used, prepared;
  const TimedWork work(
      [&](int set) {
        used.push_back(set);
        return success();
      },
      [&](int set, int sets) {
        EXPECT_EQ(sets, 5);
        prepared.push_back(set);
      });
  int next = 0;
  for (int sample = 0; sample < 3; ++sample) ASSERT_TRUE(take_sample(work, 2, 5, next, submitted).ok());
  EXPECT_EQ(used, (std::vector<int>{0, 1, 2, 3, 4, 0}));
  EXPECT_EQ(prepared, used);
  prepared.clear();
  ASSERT_TRUE(take_sample(work, 50, 5, next, submitted).ok());
  EXPECT_EQ(prepared, (std::vector<int>{1, 2, 3, 4, 0})) << "each once";
}

// Kernels that are compared begin with the same set: it may take one of them a sweep more.
TEST(Sample, BeginsWithTheSetThatIsAskedFor) {
  const rondo::testing::GuardedDevice device(rondo::testing::Guard::Behind);
  Timer timer(device);
  std::vector<int> used;
  const TimedWork work([&](int set) {
    used.push_back(set);
    return success();
  });
  for (int kernel = 0; kernel < 2; ++kernel) {
    timer.begin_with(3);
    ASSERT_TRUE(timer.sample(work, 2, 5).ok());
  }
  EXPECT_EQ(used, (std::vector<int>{3, 4, 3, 4}));
}

TEST(Sample, ErrorsEndIt) {
  int runs = 0;
  const TimedWork work([&](int) -> Status {
    ++runs;
    return Error{ErrorKind::Device, "lost", ""};
  });
  int next = 0;
  EXPECT_FALSE(take_sample(work, 4, 1, next, submitted).ok());
  EXPECT_EQ(runs, 1);
  EXPECT_FALSE(take_sample(work, 4, 1, next, [](const auto&) -> Result<double> { return Error{}; }).ok());
  EXPECT_EQ(runs, 1) << "not begun";
}

// A device that says in which order it was held, and what was submitted meanwhile.
class HeldDevice final : public rondo::testing::GuardedDevice {
 public:
  explicit HeldDevice(std::string& log) : GuardedDevice(rondo::testing::Guard::Behind), log_(&log) {}

  Result<std::shared_ptr<void>> hold() const override {
    if (refuse) return Error{ErrorKind::Device, "cannot be held", ""};
    *log_ += '(';
    return std::shared_ptr<void>(log_, [](void* log) { *static_cast<std::string*>(log) += ')'; });
  }
  Result<double> seconds_of(const std::function<Status()>& work) const override {
    *log_ += '[';
    if (Status status = work(); !status) return status.error();
    *log_ += ']';
    return 1.0;
  }

  bool refuse = false;

 private:
  std::string* log_;
};

TEST(Timer, TheClockStartsBehindWhatIsHeldAndEndsAfterTheLastRun) {
  std::string log;
  HeldDevice device(log);
  Timer timer(device);
  const TimedWork work([&](int) {
    log += 'r';
    return success();
  });
  ASSERT_TRUE(timer.sample(work, 3, 1).ok());
  EXPECT_EQ(log, "([rrr)]") << "let go when all is submitted";
  // What runs for the first time may wait for its code, which a device that is held does not load.
  log.clear();
  TimingPlan plan;
  plan.warm_up = 2, plan.samples = 1, plan.most_repetitions = 2;
  ASSERT_TRUE(timer.time(work, plan).ok());
  EXPECT_EQ(log, "[rr]([r)]([r)]");
}

TEST(Timer, WhatFailsIsNotHeldForEver) {
  std::string log;
  HeldDevice device(log);
  Timer timer(device);
  const TimedWork work([](int) -> Status { return Error{ErrorKind::Device, "lost", ""}; });
  EXPECT_FALSE(timer.sample(work, 3, 1).ok());
  EXPECT_EQ(log, "([)");
  device.refuse = true;
  const Result<double> refused = timer.sample(work, 1, 1);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "cannot be held");
}

}  // namespace
}  // namespace rondo::engine
