// Mbarriers and named barriers within a block: a ring between warps, and what a missing piece of its protocol
// leads to.
#include "tests/kernel/harness.h"

namespace rondo::kernel::test {
namespace {

using Kind = Fault::Kind;

enum class MbarrierDefect {
  None,
  NoEmptyArrive,  // the reader never frees a slot
  NoFullArrive,   // the writer never announces one
  NoEmptyWait,    // the writer does not wait for a free slot
  NoFullWait,     // the reader does not wait for data
  NoSwap,         // the reader stays at slot 0
  NoReaderSync,   // lane 0 frees the slot before the other lanes have synchronised with it
  OneLaneWaits,   // lane 0 alone waits for data
  TwoArrivals,    // two lanes announce a slot that waits for one
  WrongParity,    // the reader waits for the other phase
};

// Warp 0 writes rows of x into a ring, warp 1 stores them to y, mirrored.
Kernel ring(int slots, MbarrierDefect defect, int turns = 7) {
  Builder b("ring", 64);
  auto x = b.input("x", Storage::F32), y = b.output("y", Storage::F32);
  auto tile = b.shared("tile", Storage::F32, slots * 32);
  const auto full = b.mbarrier("full", slots, 1), empty = b.mbarrier("empty", slots, 1);
  const Value lane = b.let("lane", b.thread() % 32), zero = b.constant(0);
  const auto arrive = [&](Mbarrier barrier, Value slot, int lanes = 1) {
    b.if_(lane < lanes, [&] { b.arrive(barrier, slot); });
  };
  const auto write = [&](Value t) {
    const Value slot = b.let("slot", t % slots);
    // A fresh mbarrier has "completed" the phase before its first.
    if (defect != MbarrierDefect::NoEmptyWait) b.wait(empty, slot, (t / slots + 1) % 2);
    b.store(tile[slot * 32 + lane], b.load("v", x[t * 32 + lane]));
    b.warp_sync();
    if (defect != MbarrierDefect::NoFullArrive)
      arrive(full, slot, defect == MbarrierDefect::TwoArrivals ? 2 : 1);
  };
  const auto read = [&](Value t) {
    const Value slot = b.let("slot", t % slots),
                parity = (t / slots + (defect == MbarrierDefect::WrongParity)) % 2;
    if (defect == MbarrierDefect::OneLaneWaits)
      b.if_(lane == 0, [&] { b.wait(full, slot, parity); });
    else if (defect != MbarrierDefect::NoFullWait)
      b.wait(full, slot, parity);
    const Value from = defect == MbarrierDefect::NoSwap ? zero : slot;
    b.store(y[t * 32 + lane], b.load("w", tile[from * 32 + (b.constant(31) - lane)]));
    if (defect != MbarrierDefect::NoReaderSync) b.warp_sync();
    if (defect != MbarrierDefect::NoEmptyArrive) arrive(empty, slot);
  };
  b.if_(
      b.thread() < 32, [&] { b.for_("t", 0, turns, 1, write); }, [&] { b.for_("t", 0, turns, 1, read); });
  return b.finish();
}

SimulationResult run_ring(int slots, MbarrierDefect defect, GlobalBuffer* y = nullptr) {
  std::vector<GlobalBuffer> buffers{counting(Storage::F32, 7 * 32), output_buffer(Storage::F32, 7 * 32)};
  const SimulationResult result = run(ring(slots, defect), 1, buffers);
  if (y != nullptr) *y = buffers[1];
  return result;
}

TEST(SimulateMbarrier, RingBetweenTwoWarps) {
  for (const int slots : {1, 2, 3, 8}) {
    GlobalBuffer y;
    expect_clean(run_ring(slots, MbarrierDefect::None, &y));
    for (int i = 0; i < 7 * 32; ++i)
      ASSERT_EQ(y.values[static_cast<std::size_t>(i)], static_cast<float>(i / 32 * 32 + 31 - i % 32))
          << slots;
  }
}

TEST(SimulateMbarrier, AMissingArrivalIsADeadlock) {
  expect_fault(
      run_ring(2, MbarrierDefect::NoEmptyArrive), Kind::Deadlock,
      {"warp 0 of block 0 waits for phase parity 0 of mbarrier empty[0], which is in phase 0: 0 of 1 "
       "arrivals have come",
       "; at `wait full[slot_2]", "warp 1 of block 0 waits for phase parity 1 of mbarrier full[0]",
       "in phase 1"});
  expect_fault(run_ring(2, MbarrierDefect::NoFullArrive), Kind::Deadlock,
               {"full[0], which is in phase 0: 0 of 1"});
  // With as many slots as turns nobody waits for the arrivals that are missing.
  expect_clean(run_ring(8, MbarrierDefect::NoEmptyArrive));
}

TEST(SimulateMbarrier, EveryOtherStepOfTheProtocolIsNeeded) {
  const auto expect_reported = [](MbarrierDefect defect, Kind kind, const std::vector<std::string>& words) {
    const SimulationResult result = run_ring(2, defect);
    EXPECT_TRUE(reported(result, kind, words)) << static_cast<int>(defect) << ": " << text(result);
  };
  // The writer runs ahead, whole phases pass unseen.
  expect_reported(MbarrierDefect::NoEmptyWait, Kind::Deadlock,
                  {"parity 0 of mbarrier full[0], which is in phase 4"});
  expect_reported(MbarrierDefect::NoEmptyWait, Kind::Protocol,
                  {"arrives in phase 1 of mbarrier full[0] of block 0"});
  expect_reported(MbarrierDefect::NoFullWait, Kind::Race, {"reads shared tile[31]", "written by thread 31 "});
  // This interleaving may show the right values: the race is reported all the same.
  expect_reported(MbarrierDefect::NoSwap, Kind::Race, {"writes shared tile[0]", "read by thread 63 "});
  expect_reported(MbarrierDefect::NoReaderSync, Kind::Race, {"writes shared tile[0]", "read by thread 63 "});
  expect_reported(MbarrierDefect::OneLaneWaits, Kind::Race,
                  {"thread 33 ", "tile[30]", "written by thread 30 "});
  expect_reported(MbarrierDefect::TwoArrivals, Kind::Protocol,
                  {"2 arrivals at mbarrier full[0]", "waits for 1"});
  expect_reported(MbarrierDefect::WrongParity, Kind::Deadlock,
                  {"parity 1 of mbarrier full[0], which is in phase 1"});
}

// All lanes arrive, each for itself; one waits and the warp_sync hands on what it learned.
TEST(SimulateMbarrier, ArrivalsCountPerThread) {
  const auto kernel = [](int arrivals, bool sync) {
    Builder b("gather", 96);
    auto y = b.output("y", Storage::I32);
    auto tile = b.shared("tile", Storage::I32, 96);
    const auto bar = b.mbarrier("bar", 1, arrivals);
    const Value zero = b.constant(0);
    b.store(tile[b.thread()], b.thread());
    b.arrive(bar, zero);
    b.if_(b.thread() < 32, [&] {
      b.if_(b.thread() == 0, [&] { b.wait(bar, zero, zero); });
      if (sync) b.warp_sync();
      for (int w = 0; w < 3; ++w)
        b.store(y[b.thread() + w * 32], b.load("v", tile[b.constant(95 - w * 32) - b.thread()]));
    });
    return b.finish();
  };
  std::vector<GlobalBuffer> buffers{output_buffer(Storage::I32, 96)};
  expect_clean(run(kernel(96, true), 1, buffers));
  for (int i = 0; i < 96; ++i) EXPECT_EQ(buffers[0].integers[static_cast<std::size_t>(i)], 95 - i);
  buffers[0] = output_buffer(Storage::I32, 96);
  expect_fault(run(kernel(97, true), 1, buffers), Kind::Deadlock, {"96 of 97 arrivals have come"});
  buffers[0] = output_buffer(Storage::I32, 96);
  const SimulationResult few = run(kernel(64, true), 1, buffers);
  EXPECT_TRUE(reported(few, Kind::Protocol, {"arrives in phase 1", "until phase 0 completed"})) << text(few);
  EXPECT_TRUE(reported(few, Kind::Race, {"tile[95]", "written by thread 95 "})) << text(few);
  buffers[0] = output_buffer(Storage::I32, 96);
  const SimulationResult lone = run(kernel(96, false), 1, buffers);
  EXPECT_TRUE(reported(lone, Kind::Race, {"thread 1 ", "written by thread"})) << text(lone);
}

TEST(SimulateMbarrier, BytesThatNobodySendsAreWaitedFor) {
  const auto kernel = [](int bytes) {
    Builder b("bytes", 32);
    const auto bar = b.mbarrier("bar", 2, 1);
    const Value one = b.constant(1);
    b.if_(b.thread() == 0, [&] { b.expect(bar, one, b.constant(bytes)); });
    b.wait(bar, one, b.constant(0));
    return b.finish();
  };
  std::vector<GlobalBuffer> none;
  expect_fault(
      run(kernel(64), 1, none), Kind::Deadlock,
      {"phase parity 0 of mbarrier bar[1]", "1 of 1 arrivals have come, 64 bytes are still expected"});
  expect_clean(run(kernel(0), 1, none));
}

TEST(SimulateMbarrier, IndicesAndParitiesAreChecked) {
  const auto kernel = [](int index, int parity) {
    Builder b("index", 32);
    const auto bar = b.mbarrier("bar", 2, 32);
    const Value at = b.let("at", b.constant(index));
    b.arrive(bar, at);
    b.wait(bar, at, b.let("parity", b.constant(parity)));
    return raw(b);
  };
  std::vector<GlobalBuffer> none;
  expect_clean(run(kernel(1, 0), 1, none));
  EXPECT_TRUE(reported(run(kernel(2, 0), 1, none), Kind::OutOfRange, {"thread 0 ", "bar[2] of 2"}));
  EXPECT_TRUE(reported(run(kernel(-1, 0), 1, none), Kind::OutOfRange, {"bar[-1] of 2"}));
  expect_fault(run(kernel(0, 2), 1, none), Kind::Protocol, {"parity 2", "0 and 1 are legal"});
}

// Each block has mbarriers of its own, fresh.
TEST(SimulateMbarrier, BlocksStartAnew) {
  Builder b("anew", 32);
  const auto bar = b.mbarrier("bar", 1, 32);
  b.arrive(bar, b.constant(0));
  b.wait(bar, b.constant(0), b.constant(0));
  std::vector<GlobalBuffer> none;
  expect_clean(run(b.finish(), 5, none));
}

// ---- named barriers ----

// Warps 2w and 2w + 1 exchange rows at barrier w + 1.
Kernel pairs(int threads, int second_threads, bool same_id) {
  Builder b("pairs", 128);
  auto y = b.output("y", Storage::I32);
  auto tile = b.shared("tile", Storage::I32, 128);
  b.store(tile[b.thread()], b.thread());
  b.if_(
      b.thread() < 64, [&] { b.named_barrier(1, threads); },
      [&] { b.named_barrier(same_id ? 1 : 2, second_threads); });
  const Value first = b.thread() / 64 * 64;
  b.store(y[b.thread()], b.load("v", tile[first + (b.thread() + 32) % 64]));
  return b.finish();
}

TEST(SimulateNamedBarrier, OrdersWhoComesAndNobodyElse) {
  std::vector<GlobalBuffer> buffers{output_buffer(Storage::I32, 128)};
  expect_clean(run(pairs(64, 64, false), 1, buffers));
  for (int i = 0; i < 128; ++i)
    EXPECT_EQ(buffers[0].integers[static_cast<std::size_t>(i)], i / 64 * 64 + (i + 32) % 64);
  buffers[0] = output_buffer(Storage::I32, 128);
  expect_fault(run(pairs(64, 96, false), 1, buffers), Kind::Deadlock,
               {"warp 2 of block 0 waits at barrier 2 for 96 threads, of which 64 have come"});
  buffers[0] = output_buffer(Storage::I32, 128);
  const SimulationResult numbers = run(pairs(96, 64, true), 1, buffers);
  EXPECT_TRUE(reported(numbers, Kind::Protocol,
                       {"warp 2 of block 0", "barrier 1 for 64 threads", "have come for 96"}))
      << text(numbers);

  Builder b("outsider", 96);
  auto y = b.output("y", Storage::I32);
  auto tile = b.shared("tile", Storage::I32, 64);
  b.if_(
      b.thread() < 64,
      [&] {
        b.store(tile[b.thread()], b.thread());
        b.named_barrier(3, 64);
      },
      [&] { b.store(y[b.thread() - 64], b.load("v", tile[b.thread() - 64])); });
  buffers[0] = output_buffer(Storage::I32, 128);
  const SimulationResult result = run(b.finish(), 1, buffers);
  EXPECT_TRUE(reported(result, Kind::Race, {"thread 64 ", "reads shared tile[0]"})) << text(result);
}

TEST(SimulateNamedBarrier, WholeWarpsOnly) {
  Builder b("part", 64);
  b.if_(b.thread() < 40, [&] { b.named_barrier(1, 64); });
  std::vector<GlobalBuffer> none;
  expect_fault(run(raw(b), 1, none), Kind::Deadlock, {"named barrier", "thread 40 "});
}

// Used again and again, by warps that are never further apart than one turn.
TEST(SimulateNamedBarrier, TurnsOfOneBarrier) {
  Builder b("turns", 64);
  auto y = b.output("y", Storage::I32);
  auto tile = b.shared("tile", Storage::I32, 64);
  b.for_("t", 0, 9, 1, [&](Value t) {
    b.store(tile[b.thread()], b.thread() * 10 + t);
    b.named_barrier(1, 64);
    b.store(y[t * 64 + b.thread()], b.load("v", tile[b.constant(63) - b.thread()]));
    b.named_barrier(1, 64);
  });
  std::vector<GlobalBuffer> buffers{output_buffer(Storage::I32, 9 * 64)};
  expect_clean(run(b.finish(), 1, buffers));
  for (int i = 0; i < 9 * 64; ++i)
    EXPECT_EQ(buffers[0].integers[static_cast<std::size_t>(i)], (63 - i % 64) * 10 + i / 64);
}

// Two roles meet by two signals. Each hands the other a row, and gets one, nine times.
Kernel two_signals(const std::function<void(Builder&)>& first, const std::function<void(Builder&)>& second,
                   int turns = 9) {
  Builder b("signals", 64);
  auto y = b.output("y", Storage::I32);
  auto tile = b.shared("tile", Storage::I32, 2 * 64);
  const auto role = [&](const std::function<void(Builder&)>& meet) {
    b.for_("t", 0, turns, 1, [&](Value t) {
      b.store(tile[t % 2 * 64 + b.thread()], b.thread() * 10 + t);
      meet(b);
      b.store(y[t * 64 + b.thread()], b.load("v", tile[t % 2 * 64 + 63 - b.thread()]));
    });
  };
  b.if_(
      b.thread() < 32, [&] { role(first); }, [&] { role(second); });
  return b.finish();
}
void arrive(Builder& b, int id) { b.named_barrier(id, 64, false); }
void await(Builder& b, int id) { b.named_barrier(id, 64); }

TEST(SimulateNamedBarrier, SignalsBothWaysAreAMeeting) {
  const auto first = [](Builder& b) { arrive(b, 1), await(b, 2); };
  const auto second = [](Builder& b) { await(b, 1), arrive(b, 2); };
  std::vector<GlobalBuffer> buffers{output_buffer(Storage::I32, 9 * 64)};
  expect_clean(run(two_signals(first, second), 1, buffers));
  for (int i = 0; i < 9 * 64; ++i)
    EXPECT_EQ(buffers[0].integers[static_cast<std::size_t>(i)], (63 - i % 64) * 10 + i / 64);
}

// Who waits sees what those have done who arrived; they see nothing of what it has done.
TEST(SimulateNamedBarrier, ASignalOrdersOneWay) {
  std::vector<GlobalBuffer> buffers{output_buffer(Storage::I32, 64)};
  const SimulationResult result =
      run(two_signals([](Builder& b) { await(b, 1); }, [](Builder& b) { arrive(b, 1); }, 1), 1, buffers);
  ASSERT_FALSE(result.faults.empty());
  for (const Fault& fault : result.faults) EXPECT_EQ(fault.kind, Kind::Race) << text(result);
  EXPECT_TRUE(reported(result, Kind::Race, {"thread 32 ", "reads shared tile[31]"})) << text(result);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(buffers[0].integers[static_cast<std::size_t>(i)], (63 - i) * 10);
}

// Who signals before it waits may be too slow to be counted: with both signals under way at once the first
// role passes, and comes again, while a warp of the second has yet to come.
TEST(SimulateNamedBarrier, WhoComesAgainMustKnowThatAllHaveCome) {
  const auto first = [](Builder& b) { arrive(b, 1), await(b, 2); };
  const auto early = [](Builder& b) { arrive(b, 2), await(b, 1); };
  const auto only_arrives = [](Builder& b) { arrive(b, 1); };
  const auto only_waits = [](Builder& b) { await(b, 1); };
  for (const auto& [a, z] :
       {std::pair<std::function<void(Builder&)>, std::function<void(Builder&)>>{first, early},
        {only_arrives, only_waits}}) {
    std::vector<GlobalBuffer> buffers{output_buffer(Storage::I32, 9 * 64)};
    const SimulationResult result = run(two_signals(a, z), 1, buffers);
    EXPECT_TRUE(reported(result, Kind::Protocol, {"barrier 1 for turn 1", "may be counted"})) << text(result);
  }
}

TEST(SimulateNamedBarrier, WaitingForASignalThatNeverComes) {
  Builder b("alone", 64);
  b.if_(
      b.thread() < 32, [&] { b.if_(b.thread() >= 64, [&] { arrive(b, 1); }); }, [&] { await(b, 1); });
  std::vector<GlobalBuffer> none;
  expect_fault(run(b.finish(), 1, none), Kind::Deadlock,
               {"warp 1 of block 0 waits at barrier 1 for 64 threads, of which 32 have come"});
}

}  // namespace
}  // namespace rondo::kernel::test
