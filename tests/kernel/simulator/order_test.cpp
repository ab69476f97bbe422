// What single lanes of a warp know and make known: mbarriers order threads, not warps.
#include <functional>

#include "tests/kernel/harness.h"

namespace rondo::kernel::test {
namespace {

using Kind = Fault::Kind;

// Warp 0 reads a cell, synchronises, and lane 0 reads it once more and says so; warp 1 then overwrites it.
TEST(SimulateOrder, EarlierReadsOfOtherLanesAreOrderedByTheWarpSync) {
  const auto kernel = [](bool sync) {
    Builder b("reads", 64);
    auto y = b.output("y", Storage::F32);
    auto cell = b.shared("cell", Storage::F32, 1);
    const auto bar = b.mbarrier("bar", 1, 1);
    const Value zero = b.constant(0);
    b.if_(b.thread() == 0, [&] { b.store(cell[zero], b.real(4)); });
    b.barrier();
    b.if_(
        b.thread() < 32,
        [&] {
          b.store(y[b.thread()], b.load("v", cell[zero]));
          if (sync) b.warp_sync();
          b.if_(b.thread() == 0, [&] {
            b.store(y[b.constant(32)], b.load("w", cell[zero]));
            b.arrive(bar, zero);
          });
        },
        [&] {
          b.wait(bar, zero, zero);
          b.if_(b.thread() == 32, [&] { b.store(cell[zero], b.real(5)); });
        });
    return b.finish();
  };
  std::vector<GlobalBuffer> buffers{output_buffer(Storage::F32, 33)};
  expect_clean(run(kernel(true), 1, buffers));
  buffers[0] = output_buffer(Storage::F32, 33);
  expect_fault(run(kernel(false), 1, buffers), Kind::Race, {"writes shared cell[0]", "read by thread 1 "});
}

// Warp 0 tells lane 0 of warp 1, which tells warp 2 (or another lane of warp 1 does, which was told nothing).
TEST(SimulateOrder, ALaneHandsOnWhatItWasTold) {
  const auto kernel = [](int teller) {
    Builder b("chain", 96);
    auto y = b.output("y", Storage::I32);
    auto tile = b.shared("tile", Storage::I32, 32);
    const auto first = b.mbarrier("first", 1, 32), second = b.mbarrier("second", 1, 1);
    const Value zero = b.constant(0);
    const auto in_warp = [&](int warp, const std::function<void()>& body) {
      b.if_(b.thread() / 32 == warp, body);
    };
    in_warp(0, [&] {
      b.store(tile[b.thread()], b.thread());
      b.arrive(first, zero);
    });
    in_warp(1, [&] {
      b.if_(b.thread() == 32, [&] { b.wait(first, zero, zero); });
      b.if_(b.thread() == 32 + teller, [&] { b.arrive(second, zero); });
    });
    in_warp(2, [&] {
      b.wait(second, zero, zero);
      b.store(y[b.thread() - 64], b.load("v", tile[b.thread() - 64]));
    });
    return b.finish();
  };
  std::vector<GlobalBuffer> buffers{output_buffer(Storage::I32, 32)};
  expect_clean(run(kernel(0), 1, buffers));
  EXPECT_EQ(buffers[0].integers[31], 31);
  buffers[0] = output_buffer(Storage::I32, 32);
  expect_fault(run(kernel(1), 1, buffers), Kind::Race, {"thread 64 ", "tile[0]", "written by thread 0 "});
}

enum class Between { Nothing, Shuffle, Sync };

// Block 1 receives, all lanes read, and one lane answers; block 0 then sends to the same place. The answer
// may be a st.async: the place may be overwritten once all lanes' loads are over, for which it is enough that
// a value of each has gone into what is sent.
Kernel answered(Between between, bool lane_waits) {
  Builder b("answered", 32);
  b.set_cluster(2);
  auto y = b.output("y", Storage::I32);
  auto cell = b.shared("cell", Storage::I32, 33);
  const auto full = b.mbarrier("full", 1, 1), answer = b.mbarrier("answer", 1, 1);
  const Value zero = b.constant(0), one = b.constant(1), lane = b.thread(), place = b.constant(32);
  const auto send = [&] { b.store_async(cell[lane], {lane}, one, full, zero); };
  const auto expect = [&](Mbarrier bar, int bytes) {
    b.if_(lane == 0, [&] { b.expect(bar, zero, b.constant(bytes)); });
  };
  b.if_(
      b.cluster_rank() == 0,
      [&] {
        expect(answer, 4);
        send();
        if (lane_waits)
          b.if_(lane == 0, [&] {
            b.wait(answer, zero, zero);
            b.store_async(cell[lane], {lane}, one, full, zero);
          });
        else
          b.wait(answer, zero, zero);
        if (!lane_waits) send();
      },
      [&] {
        expect(full, 128);
        b.wait(full, zero, zero);
        Value got = b.load("v", cell[b.constant(31) - lane]);
        b.store(y[lane], got);
        expect(full, lane_waits ? 4 : 128);
        if (between == Between::Shuffle) got = b.shuffle("sum", got, ShuffleMode::Xor, one);
        if (between == Between::Sync) b.warp_sync();
        b.if_(lane == 0, [&] { b.store_async(cell[place], {got}, zero, answer, zero); });
        b.wait(full, zero, one);
      });
  return b.finish();
}

TEST(SimulateOrder, ALaneAnswersForItsWarp) {
  std::vector<GlobalBuffer> buffers{output_buffer(Storage::I32, 32)};
  for (const Between between : {Between::Shuffle, Between::Sync})
    for (const bool lane_waits : {false, true}) {
      buffers[0] = output_buffer(Storage::I32, 32);
      expect_clean(run(answered(between, lane_waits), 2, buffers));
      EXPECT_EQ(buffers[0].integers[0], 31);
    }
  buffers[0] = output_buffer(Storage::I32, 32);
  expect_fault(run(answered(Between::Nothing, false), 2, buffers), Kind::Race,
               {"sends to shared cell[0] of block 1", "read by thread 31 (warp 0, lane 31) of block 1"});
}

// Block 1 reads a place and says so to block 0, where one lane waits; a lane there, the same or another,
// sends word to block 2, which then overwrites the place.
TEST(SimulateOrder, WhatALaneHasReachedTravelsWithWhatItSends) {
  const auto kernel = [](int teller) {
    Builder b("travel", 32);
    b.set_cluster(4);
    auto y = b.output("y", Storage::I32);
    auto cell = b.shared("cell", Storage::I32, 2);
    const auto read = b.mbarrier("read", 1, 32), told = b.mbarrier("told", 1, 1);
    const Value zero = b.constant(0), one = b.constant(1), two = b.constant(2), lane = b.thread();
    const auto in_block = [&](Value rank, const std::function<void()>& body) {
      b.if_(b.cluster_rank() == rank, body);
    };
    const auto expect_word = [&] { b.if_(lane == 0, [&] { b.expect(told, zero, b.constant(4)); }); };
    b.if_(lane == 0, [&] { b.store(cell[zero], lane); });
    b.cluster_barrier();
    in_block(zero, [&] {
      b.if_(lane == 0, [&] { b.wait(read, zero, zero); });
      b.if_(lane == teller, [&] { b.store_async(cell[one], {lane}, two, told, zero); });
    });
    in_block(one, [&] {
      b.store(y[lane], b.load("v", cell[zero]));
      b.arrive(read, zero, zero);
      expect_word();
      b.wait(told, zero, zero);
    });
    in_block(two, [&] {
      expect_word();
      b.wait(told, zero, zero);
      b.if_(lane == 0, [&] { b.store_async(cell[zero], {lane}, one, told, zero); });
    });
    b.cluster_barrier();
    return raw(b);
  };
  std::vector<GlobalBuffer> buffers{output_buffer(Storage::I32, 32)};
  expect_clean(run(kernel(0), 4, buffers));
  buffers[0] = output_buffer(Storage::I32, 32);
  expect_fault(
      run(kernel(5), 4, buffers), Kind::Race,
      {"of block 2 sends to shared cell[0] of block 1", "read by thread 0 (warp 0, lane 0) of block 1"});
}

TEST(SimulateOrder, TheThirdWarpOfABarrierForTwoWaits) {
  Builder b("three", 96);
  b.named_barrier(4, 64);
  std::vector<GlobalBuffer> none;
  const SimulationResult result = run(raw(b), 1, none);
  EXPECT_TRUE(reported(result, Kind::Deadlock,
                       {"warp 2 of block 0 waits at barrier 4 for 64 threads, of which 32 have come"}))
      << text(result);
  // Which two warps it is that come first, nobody knows.
  EXPECT_TRUE(reported(result, Kind::Protocol, {"warp 2 of block 0 comes to barrier 4 for turn 1"}))
      << text(result);
}

// ---- words cleared by their reader ----

enum class Clearing { Fenced, Unfenced, Unread };

Kernel cleared_by_reader(Clearing clearing) {
  Builder b("cleared", 32);
  b.set_cooperative();
  auto sent = b.output("sent", Storage::I32);
  auto got = b.array("got", Type::I32, 4);
  const Value zero = b.constant(0), four = b.constant(4);
  const auto send = [&](Value place, int value) {
    b.store_self_flagged(sent[place], std::vector<Value>(4, b.constant(value)));
  };
  const auto load = [&](Value place) { b.load_self_flagged(got, zero, 1, sent[place], zero); };
  const auto fence = [&] {
    if (clearing != Clearing::Unfenced) b.grid_fence();
  };
  b.if_(b.thread() == 0, [&] {
    b.if_(
        b.block() == 0,
        [&] {
          send(zero, 5);
          load(four);
          fence();
          send(zero, 6);
        },
        [&] {
          if (clearing != Clearing::Unread) load(zero);
          send(zero, kEmpty);
          fence();
          send(four, 7);
        });
  });
  return raw(b);
}

TEST(SimulateOrder, WordsMayBeClearedByTheirReader) {
  const std::vector<double> absent(8, kEmpty);
  const auto outcome = [&](Clearing clearing) {
    std::vector<GlobalBuffer> buffers{input_buffer(Storage::I32, absent)};
    return run(cleared_by_reader(clearing), 2, buffers);
  };
  expect_clean(outcome(Clearing::Fenced));
  expect_fault(outcome(Clearing::Unfenced), Kind::Race,
               {"sends to global sent[0]", "cleared by thread 0 (warp 0, lane 0) of block 1 with no fence"});
  expect_fault(
      outcome(Clearing::Unread), Kind::Race,
      {"sends to global sent[0]", "nothing ordered between it and thread 0 (warp 0, lane 0) of block 0"});
}

}  // namespace
}  // namespace rondo::kernel::test
