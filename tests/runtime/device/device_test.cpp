// The CPUs as a device: memory, copies, and the clock; and memory that is guarded.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "runtime/host/free_memory.h"
#include "runtime/host/stream_copy.h"
#include "runtime/host/thread_pool.h"
#include "tests/runtime/device/guarded_device.h"

namespace rondo::runtime {
namespace {

std::vector<std::byte> bytes_that_differ(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
  return bytes;
}

TEST(CpuDevice, MovesBytes) {
  const std::shared_ptr<const Device> device = cpu_device();
  // From one that a thread copies alone to one that all share.
  for (const std::size_t count : {std::size_t{1}, std::size_t{1000}, std::size_t{3'000'001}}) {
    const std::vector<std::byte> from = bytes_that_differ(count);
    const Memory a = device->allocate(count).value(), b = device->allocate(count).value();
    EXPECT_EQ(a.address() % 256, 0u);
    EXPECT_EQ(a.bytes(), count);
    ASSERT_TRUE(device->upload(a.address(), from).ok());
    ASSERT_TRUE(device->copy(b.address(), a.address(), count).ok());
    std::vector<std::byte> to(count);
    ASSERT_TRUE(device->download(b.address(), to).ok());
    EXPECT_EQ(to, from);
    ASSERT_TRUE(device->fill(b.address(), 0x5A, count).ok());
    ASSERT_TRUE(device->download(b.address(), to).ok());
    EXPECT_EQ(to, std::vector<std::byte>(count, std::byte{0x5A}));
  }
  EXPECT_EQ(device->allocate(0)->address(), 0u);
  EXPECT_FALSE(device->allocate(std::size_t{1} << 60).ok());
  EXPECT_EQ(device->context(), nullptr);
}

// Sizes around lines, from and to places that are not aligned, with nothing written beside them.
// The system promises more than it has, and ends who takes it at its word.
TEST(CpuDevice, MoreMemoryThanThereIsIsRefused) {
  const auto device = cpu_device();
  const auto part = static_cast<std::size_t>(free_memory() / 16 * 9);
  Result<Memory> first = device->allocate(part);
  ASSERT_TRUE(first.ok()) << first.error().message;
  const Result<Memory> second = device->allocate(part);
  ASSERT_FALSE(second.ok()) << "what is held counts, written or not";
  EXPECT_EQ(second.error().kind, ErrorKind::Memory);
  first = Memory();
  EXPECT_TRUE(device->allocate(part).ok()) << "what was given back does not";
}

TEST(CpuDevice, StreamedCopiesAreWhole) {
  for (const std::size_t to : {std::size_t{0}, std::size_t{1}, std::size_t{48}, std::size_t{63}})
    for (const std::size_t count : {0, 1, 63, 64, 65, 127, 1000, 4096}) {
      const std::vector<std::byte> from = bytes_that_differ(count + 3);
      std::vector<std::byte> memory(count + 256, std::byte{0x5A});
      std::byte* const line =
          memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64) % 64;
      stream_copy(line + to, from.data() + 3, count);
      std::vector<std::byte> expected(count + 256, std::byte{0x5A});
      std::copy(from.begin() + 3, from.end(),
                expected.begin() + (line - memory.data()) + static_cast<long>(to));
      EXPECT_EQ(memory, expected) << count << " bytes to " << to;
    }
}

TEST(CpuDevice, TimesWhatItIsGivenAndPassesItsError) {
  const std::shared_ptr<const Device> device = cpu_device();
  int runs = 0;
  const Result<double> seconds = device->seconds_of([&] {
    ++runs;
    return success();
  });
  ASSERT_TRUE(seconds.ok());
  EXPECT_GE(*seconds, 0);
  EXPECT_EQ(runs, 1);
  const Result<double> failed = device->seconds_of([] {
    return Status(Error{ErrorKind::Device, "broken", ""});
  });
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().message, "broken");
}

TEST(CpuDevice, RefusesCodeForGpus) {
  executable::Executable none;
  const auto loaded = cpu_device()->load(none);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().kind, ErrorKind::Input);
}

using rondo::testing::Guard;
using rondo::testing::GuardedDevice;

TEST(GuardedMemoryDeathTest, EndsTheProcessOnEitherSide) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const Guard guard : {Guard::Behind, Guard::Before}) {
    const GuardedDevice device(guard);
    const Memory memory = device.allocate(100).value();
    ASSERT_TRUE(device.fill(memory.address(), 1, 100).ok()) << "all of it can be written";
    const Address outside = guard == Guard::Behind ? memory.address() + 100 : memory.address() - 1;
    const auto touch = [&] {
      const volatile char value = *reinterpret_cast<const volatile char*>(outside);
      (void)value;
    };
    EXPECT_DEATH(touch(), "");
  }
}

}  // namespace
}  // namespace rondo::runtime
