// Copies beside a kernel, and whether threads wait for cores.
#include "engine/measure/copies.h"

#include <gtest/gtest.h>

#include <set>

#include "engine/measure/core_wait.h"
#include "runtime/device/cpu_device.h"

namespace rondo::engine {
namespace {

TEST(Copies, AlternateWithTheKernelAndMoveAsManyBytes) {
  const std::shared_ptr<const runtime::Device> device = runtime::cpu_device();
  constexpr std::int64_t kBytes = 1 << 20;
  BesideCopies beside(*device, kBytes, 4 * kBytes);
  std::set<int> sets;
  const TimedWork kernel([&](int set) {
    sets.insert(set);
    return success();
  });
  for (const int samples : {3, 2}) ASSERT_TRUE(beside.add(kernel, 4, samples).ok());
  EXPECT_EQ(beside.times().kernel.size(), 5u);
  EXPECT_EQ(beside.times().copies.size(), 5u);
  EXPECT_EQ(sets, (std::set<int>{0, 1, 2, 3}));
  for (const double seconds : beside.times().copies) EXPECT_GT(seconds, 0);
}

// The memory became slower half way: each pair has the same share.
TEST(Copies, AreComparedWithTheRunBesideThem) {
  const TimesBesideCopies times{{2, 2, 8, 8, 8}, {1, 1, 4, 4, 4}};
  EXPECT_DOUBLE_EQ(times.share(), 0.5);
  const TimesBesideCopies odd{{2, 2, 8}, {1, 1, 2}};
  EXPECT_DOUBLE_EQ(odd.share(), 0.5);
}

TEST(Copies, TakeTurnsWithTheirPlaces) {
  const std::shared_ptr<const runtime::Device> device = runtime::cpu_device();
  const auto data = CopyData::make(*device, 4096, 3);
  ASSERT_TRUE(data.ok());
  EXPECT_EQ(data->sets(), 3);
  const TimedWork work = data->work();
  for (int set = 0; set < 7; ++set) EXPECT_TRUE(work.run(set).ok());
  EXPECT_FALSE(CopyData::make(*device, std::size_t{1} << 60, 1).ok());
}

TEST(Copies, AnErrorOfTheKernelEndsThem) {
  const std::shared_ptr<const runtime::Device> device = runtime::cpu_device();
  BesideCopies beside(*device, 4096, 0);
  const TimedWork lost([](int) -> Status { return Error{ErrorKind::Device, "lost", ""}; });
  const Status status = beside.add(lost, 1, 2);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "lost");
}

TEST(CoreWait, OnlyGrows) {
  const double before = waited_for_cores_s();
  EXPECT_GE(before, 0);
  EXPECT_GE(waited_for_cores_s(), before);
}

}  // namespace
}  // namespace rondo::engine
