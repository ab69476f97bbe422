// When a call becomes a graph, and which graphs make room.
#include "runtime/launch/graph_cache.h"

#include <gtest/gtest.h>

#include <set>

namespace rondo::runtime {
namespace {

// Stands in for the driver: counts what was recorded and launched.
struct Fake {
  int direct = 0, recorded = 0, replayed = 0, alive = 0;
  bool records = true, idle = true;

  struct Replay final : GraphCache::Replay {
    explicit Replay(Fake& of) : fake(of) { ++fake.alive; }
    ~Replay() override { --fake.alive; }
    Status launch(StreamHandle) override {
      ++fake.replayed;
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
  EXPECT_EQ(fake.direct, 1);
  EXPECT_EQ(fake.recorded, 1);
  EXPECT_EQ(fake.replayed, 3);
  ASSERT_TRUE(fake.run(2).ok());  // other arguments
  EXPECT_EQ(fake.direct, 2);
  EXPECT_EQ(fake.recorded, 1);
}

TEST(GraphCache, WhatFailsIsNotRemembered) {
  Fake fake;
  for (int call = 0; call < 3; ++call) EXPECT_FALSE(fake.run(1, true).ok());
  EXPECT_EQ(fake.recorded, 0);
  EXPECT_EQ(fake.direct, 3);
}

TEST(GraphCache, WhatCannotBeRecordedIsSubmittedDirectly) {
  Fake fake;
  fake.records = false;
  for (int call = 0; call < 4; ++call) EXPECT_TRUE(fake.run(1).ok());
  EXPECT_EQ(fake.recorded, 1) << "tried once";
  EXPECT_EQ(fake.direct, 4);
}

TEST(GraphCache, TheOneUnusedForLongestMakesRoom) {
  Fake fake;
  const auto most = static_cast<std::int64_t>(GraphCache::kMostEntries);
  for (std::int64_t key = 0; key < most; ++key)
    for (int call = 0; call < 2; ++call) ASSERT_TRUE(fake.run(key).ok());
  EXPECT_EQ(fake.alive, most);
  ASSERT_TRUE(fake.run(0).ok());
  ASSERT_TRUE(fake.run(100).ok());
  EXPECT_EQ(fake.alive, most - 1);
  const int recorded = fake.recorded;
  ASSERT_TRUE(fake.run(0).ok());
  EXPECT_EQ(fake.recorded, recorded) << "0 was used since and is still there";
  ASSERT_TRUE(fake.run(1).ok());
  ASSERT_TRUE(fake.run(1).ok());
  EXPECT_EQ(fake.recorded, recorded + 1) << "1 had made room";
}

TEST(GraphCache, AGraphThatRunsIsKept) {
  Fake fake;
  const auto most = static_cast<std::int64_t>(GraphCache::kMostEntries);
  for (std::int64_t key = 0; key < most; ++key)
    for (int call = 0; call < 2; ++call) ASSERT_TRUE(fake.run(key).ok());
  fake.idle = false;
  for (int call = 0; call < 3; ++call) ASSERT_TRUE(fake.run(100).ok());
  EXPECT_EQ(fake.alive, most);
  EXPECT_EQ(fake.recorded, most) << "no room: submitted directly";
}

}  // namespace
}  // namespace rondo::runtime
