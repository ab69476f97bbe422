// When a call becomes a graph, and which graphs make room.
#include "runtime/launch/graph_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <set>
#include <thread>

namespace rondo::runtime {
namespace {

// Stands in for the driver: counts what was recorded and launched.
struct Fake {
  std::atomic<int> direct = 0, recorded = 0, replayed = 0, uploaded = 0, alive = 0;
  bool records = true, idle = true;

  struct Replay final : GraphCache::Replay {
    explicit Replay(Fake& of) : fake(of) { ++fake.alive; }
    ~Replay() override { --fake.alive; }
    Status launch(StreamHandle) override {
      ++fake.replayed;
      return success();
    }
    Status upload() override {
      ++fake.uploaded;
      return success();
    }
    bool idle() override { return fake.idle; }
    Fake& fake;
  };

  GraphCache cache{[this](const GraphCache::Work&) -> Result<std::unique_ptr<GraphCache::Replay>> {
    ++recorded;
    if (!records) return Error{ErrorKind::Device, "not this", ""};
    return std::unique_ptr<GraphCache::Replay>(std::make_unique<Replay>(*this));
  }};

  void prepare(std::int64_t key, int calls) {
    cache.prepare(
        {key, 7}, [](StreamHandle) { return success(); }, static_cast<std::size_t>(calls));
  }
  Status run(std::int64_t key, bool fails = false) {
    return cache.run(nullptr, {key, 7}, [&, fails](StreamHandle) -> Status {
      ++direct;
      if (fails) return Error{ErrorKind::Input, "bad call", ""};
      return success();
    });
  }
};

TEST(GraphCache, ACallThatComesAgainBecomesAGraph) {
  Fake fake;
  for (int call = 0; call < 4; ++call) ASSERT_TRUE(fake.run(1).ok());
  EXPECT_EQ(fake.direct.load(), 1);
  EXPECT_EQ(fake.recorded.load(), 1);
  EXPECT_EQ(fake.replayed.load(), 3);
  ASSERT_TRUE(fake.run(2).ok());  // other arguments
  EXPECT_EQ(fake.direct.load(), 2);
  EXPECT_EQ(fake.recorded.load(), 1);
}

TEST(GraphCache, WhatFailsIsNotRemembered) {
  Fake fake;
  for (int call = 0; call < 3; ++call) EXPECT_FALSE(fake.run(1, true).ok());
  EXPECT_EQ(fake.recorded.load(), 0);
  EXPECT_EQ(fake.direct.load(), 3);
}

TEST(GraphCache, WhatCannotBeRecordedIsSubmittedDirectly) {
  Fake fake;
  fake.records = false;
  for (int call = 0; call < 4; ++call) EXPECT_TRUE(fake.run(1).ok());
  EXPECT_EQ(fake.recorded.load(), 1) << "tried once";
  EXPECT_EQ(fake.direct.load(), 4);
}

constexpr std::int64_t kMost = GraphCache::kMostEntries;
constexpr int kOften = static_cast<int>(GraphCache::kOften * GraphCache::kMostEntries);

void fill(Fake& fake) {
  for (std::int64_t key = 0; key < kMost; ++key)
    for (int call = 0; call < 2; ++call) ASSERT_TRUE(fake.run(key).ok());
  ASSERT_EQ(fake.alive.load(), kMost);
}

TEST(GraphCache, AGraphUnusedForLongMakesRoom) {
  Fake fake;
  fill(fake);
  for (int call = 0; call < kOften; ++call) {
    ASSERT_TRUE(fake.run(call % 2 == 0 ? 0 : 100).ok());
    ASSERT_TRUE(fake.run(0).ok());
  }
  EXPECT_EQ(fake.alive.load(), kMost);
  EXPECT_EQ(fake.recorded.load(), kMost + 1) << "100 has a graph";
  ASSERT_TRUE(fake.run(0).ok());
  EXPECT_EQ(fake.recorded.load(), kMost + 1) << "0 was used since and is still there";
  for (int call = 0; call < 2; ++call) ASSERT_TRUE(fake.run(1).ok());
  EXPECT_EQ(fake.recorded.load(), kMost + 2) << "1 had made room";
}

// More keys in turn than there are graphs: those that fit are replayed, and none is recorded twice.
TEST(GraphCache, KeysInTurnDoNotThrash) {
  for (const int keys : {9, 12, kOften - 1}) {
    Fake fake;
    for (int round = 0; round < 20; ++round)
      for (int key = 0; key < keys; ++key) ASSERT_TRUE(fake.run(key).ok());
    EXPECT_EQ(fake.recorded.load(), kMost) << keys;
    EXPECT_EQ(fake.replayed.load(), 19 * kMost) << keys;
  }
  Fake fake;
  for (int round = 0; round < 20; ++round)
    for (int key = 0; key < 3 * kOften; ++key) ASSERT_TRUE(fake.run(key).ok());
  EXPECT_EQ(fake.recorded.load(), 0) << "none comes often";
}

TEST(GraphCache, AGraphThatRunsIsKept) {
  Fake fake;
  fill(fake);
  fake.idle = false;
  for (int call = 0; call < 2 * kOften; ++call) ASSERT_TRUE(fake.run(100).ok());
  EXPECT_EQ(fake.alive.load(), kMost);
  EXPECT_EQ(fake.recorded.load(), kMost) << "no room: submitted directly";
}

TEST(GraphCache, WhatIsPreparedIsAGraphFromTheFirstCallOn) {
  for (const int calls : {1, 8, 9, 32}) {
    Fake fake;
    for (int key = 0; key < calls; ++key) fake.prepare(key, calls);
    EXPECT_EQ(fake.recorded.load(), calls);
    EXPECT_EQ(fake.uploaded.load(), calls);
    EXPECT_EQ(fake.direct.load(), 0) << "nothing runs";
    for (int round = 0; round < 20; ++round)
      for (int key = 0; key < calls; ++key) {
        fake.prepare(key, calls);
        ASSERT_TRUE(fake.run(key).ok());
      }
    EXPECT_EQ(fake.recorded.load(), calls) << calls;
    EXPECT_EQ(fake.replayed.load(), 20 * calls) << calls;
    EXPECT_EQ(fake.direct.load(), 0) << calls;
  }
}

// Other addresses, as when the workspace has grown: the old graphs make room.
TEST(GraphCache, WhatIsPreparedLaterTakesThePlaceOfTheOldest) {
  Fake fake;
  for (int key = 0; key < 12; ++key) fake.prepare(key, 12);
  ASSERT_TRUE(fake.run(0).ok());
  ASSERT_TRUE(fake.run(0).ok());
  for (int key = 100; key < 112; ++key) {
    fake.prepare(key, 12);
    ASSERT_TRUE(fake.run(key).ok());
  }
  EXPECT_EQ(fake.alive.load(), 12);
  EXPECT_EQ(fake.direct.load(), 0);
}

// Whoever prepares fewer calls takes no graphs from those who prepared more: there stays room for theirs.
TEST(GraphCache, FewerPreparedCallsTakeNoGraphsFromMore) {
  for (const int fewer : {1, 4, 11}) {
    Fake fake;
    for (int key = 0; key < 12; ++key) fake.prepare(key, 16);
    for (int key = 0; key < fewer; ++key) fake.prepare(key, fewer);
    for (int key = 100; key < 104; ++key)
      for (int call = 0; call < 2; ++call) ASSERT_TRUE(fake.run(key).ok());
    EXPECT_EQ(fake.alive.load(), 16) << fewer;
    EXPECT_EQ(fake.recorded.load(), 16) << fewer;
    for (int key = 0; key < 12; ++key) ASSERT_TRUE(fake.run(key).ok());
    EXPECT_EQ(fake.direct.load(), 4) << fewer;
  }
}

// As where a stream takes no more until another thread has done its part.
TEST(GraphCache, ASubmissionThatWaitsKeepsNoOtherThreadWaiting) {
  Fake fake;
  std::promise<void> begun, other_is_done;
  const auto patience = std::chrono::seconds(10);
  bool in_time = false;
  std::thread waits([&] {
    const auto work = [&](StreamHandle) {
      begun.set_value();
      in_time = other_is_done.get_future().wait_for(patience) == std::future_status::ready;
      return success();
    };
    EXPECT_TRUE(fake.cache.run(nullptr, {1, 7}, work).ok());
  });
  begun.get_future().wait();
  for (int call = 0; call < 3; ++call) EXPECT_TRUE(fake.run(2).ok());
  other_is_done.set_value();
  waits.join();
  EXPECT_TRUE(in_time);
  EXPECT_EQ(fake.replayed.load(), 2);
}

// More keys than there are graphs, so that graphs come and go meanwhile.
TEST(GraphCache, EachCallOfManyThreadsIsSubmittedOnce) {
  constexpr int kThreads = 4, kCalls = 2000, kKeys = 12;
  Fake fake;
  std::atomic<int> failed = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&, thread] {
      for (int call = 0; call < kCalls; ++call) {
        // Runs of one key, so that graphs are made, and others meanwhile.
        const std::int64_t key = (call / 50 + thread * call % 3) % kKeys;
        if (!fake.run(key).ok()) ++failed;
        if (call % 100 == 0) fake.prepare(key, 1);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed.load(), 0);
  EXPECT_EQ(fake.direct + fake.replayed, kThreads * kCalls);
  EXPECT_GT(fake.replayed.load(), 0);
  EXPECT_LE(fake.alive.load(), kMost);
}

TEST(GraphCache, PreparingWhatCannotBeRecordedIsNoError) {
  Fake fake;
  fake.records = false;
  fake.prepare(1, 1);
  EXPECT_TRUE(fake.run(1).ok());
  EXPECT_EQ(fake.recorded.load(), 1) << "tried once";
  EXPECT_EQ(fake.direct.load(), 1);
}

}  // namespace
}  // namespace rondo::runtime
