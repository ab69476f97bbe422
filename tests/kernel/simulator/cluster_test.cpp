// Clusters: asynchronous stores into other blocks, arrivals at their mbarriers, the cluster barrier, and what
// goes wrong without a piece of it.
#include <stdexcept>

#include "tests/kernel/harness.h"

namespace rondo::kernel::test {
namespace {

using Kind = Fault::Kind;

enum class ClusterDefect {
  None,
  NoExpect,   // nobody expects the bytes
  FewBytes,   // fewer are expected than come
  ManyBytes,  // more
  NoWait,     // the data is read without waiting
  OneSlot,    // a slot is sent to again while others may still read it
  LoneWait,   // one lane waits for all, with no warp_sync
  LostSend,   // the last row is sent to a block that does not wait for it
};

constexpr int kTurns = 5;

// Every block adds up the rows of its cluster, turn by turn: y[t][block] = sum of x[t][blocks of the
// cluster]. Two slots are enough: who sends turn t + 1 has waited for turn t of all blocks, and these had
// read turn t - 1 before they sent turn t.
Kernel exchange(Storage storage, int cluster, ClusterDefect defect) {
  Builder b("exchange", 32);
  b.set_cluster(cluster);
  auto x = b.input("x", storage), y = b.output("y", Storage::F32);
  auto rows = b.shared("rows", storage, 2 * cluster * 64);
  const auto full = b.mbarrier("full", 2, 1);
  const Value lane = b.let("lane", b.thread()), rank = b.let("rank", b.cluster_rank());
  const int row_bytes = 64 * storage_bytes(storage);
  const int bytes = cluster * row_bytes + (defect == ClusterDefect::FewBytes    ? -4
                                           : defect == ClusterDefect::ManyBytes ? 4
                                                                                : 0);
  const auto expect = [&](Value slot) {
    if (defect != ClusterDefect::NoExpect) b.if_(lane == 0, [&] { b.expect(full, slot, b.constant(bytes)); });
  };
  for (int slot = 0; slot < 2; ++slot) expect(b.constant(slot));
  b.for_("t", 0, kTurns, 1, [&](Value t) {
    const Value slot = b.let("slot", t % 2);
    const Value place = defect == ClusterDefect::OneSlot ? b.constant(0) : slot;
    const Value from = b.let("from", (t * b.builtin(Builtin::GridX) + b.block()) * 64 + lane * 2);
    const auto words =
        storage == Storage::F32 ? b.load_vector("v", x[from], 2) : b.load_packed("v", x[from], 1);
    b.for_("to", 0, cluster, kFullUnroll, [&](Value to) {
      b.store_async(rows[(place * cluster + rank) * 64 + lane * 2], words, to, full, slot);
    });
    if (defect == ClusterDefect::LoneWait)
      b.if_(lane == 0, [&] { b.wait(full, slot, t / 2 % 2); });
    else if (defect != ClusterDefect::NoWait)
      b.wait(full, slot, t / 2 % 2);
    b.if_(t + 2 < b.constant(kTurns), [&] { expect(slot); });
    for (int c = 0; c < 2; ++c) {
      const Value sum = b.variable("sum", b.real(0));
      b.for_("r", 0, cluster, 1, [&](Value r) {
        b.assign(sum, sum + b.load("w", rows[(place * cluster + r) * 64 + lane + c * 32]));
      });
      b.store(y[(t * b.builtin(Builtin::GridX) + b.block()) * 64 + lane + c * 32], sum);
    }
    // What peers send two turns on must not come before all lanes have read: their sends follow this block's.
    b.warp_sync();
  });
  if (defect == ClusterDefect::LostSend) {
    b.if_(rank == 0, [&] {
      b.store_async(rows[lane * 2], {storage == Storage::F32 ? b.real(1) : b.constant(0)}, b.constant(1),
                    full, b.constant(kTurns % 2));
    });
  }
  return b.finish();
}

SimulationResult run_exchange(Storage storage, int cluster, ClusterDefect defect,
                              std::vector<GlobalBuffer>& buffers) {
  const int blocks = cluster * 2;
  std::vector<double> x;
  for (int i = 0; i < kTurns * blocks * 64; ++i) x.push_back(i * 31 % 127 - 60);
  buffers = {input_buffer(storage, x), output_buffer(Storage::F32, kTurns * blocks * 64)};
  return run(exchange(storage, cluster, defect), blocks, buffers);
}

TEST(SimulateCluster, BlocksExchangeRows) {
  for (const Storage storage : {Storage::BF16, Storage::F16, Storage::F32})
    for (const int cluster : {1, 2, 4, 8}) {
      if (cluster == 1) continue;  // no cluster, no other blocks
      std::vector<GlobalBuffer> buffers;
      expect_clean(run_exchange(storage, cluster, ClusterDefect::None, buffers));
      const int row = cluster * 2 * 64;
      for (int i = 0; i < kTurns * row; ++i) {
        const int block = i % row / 64, first = block / cluster * cluster;
        float sum = 0;
        for (int r = 0; r < cluster; ++r)
          sum += buffers[0].values[static_cast<std::size_t>(i / row * row + (first + r) * 64 + i % 64)];
        ASSERT_EQ(buffers[1].values[static_cast<std::size_t>(i)], sum) << cluster << " " << i;
      }
    }
}

TEST(SimulateCluster, EveryPieceOfTheExchangeIsNeeded) {
  const auto expect_reported = [](ClusterDefect defect, Kind kind, const std::vector<std::string>& words) {
    std::vector<GlobalBuffer> buffers;
    const SimulationResult result = run_exchange(Storage::BF16, 2, defect, buffers);
    EXPECT_TRUE(reported(result, kind, words)) << static_cast<int>(defect) << ": " << text(result);
  };
  expect_reported(ClusterDefect::NoExpect, Kind::Deadlock,
                  {"waits for phase parity 0 of mbarrier full[0], which is in phase 0",
                   "0 of 1 arrivals have come, 256 bytes came that nobody expects"});
  expect_reported(ClusterDefect::FewBytes, Kind::Deadlock,
                  {"1 of 1 arrivals", "4 bytes came that nobody expects"});
  expect_reported(ClusterDefect::ManyBytes, Kind::Deadlock,
                  {"1 of 1 arrivals", "4 bytes are still expected"});
  expect_reported(ClusterDefect::NoWait, Kind::Race,
                  {"reads shared rows[", "sent by thread", "with no wait for its mbarrier between"});
  expect_reported(ClusterDefect::OneSlot, Kind::Race,
                  {"`store_async rows", "sends to shared rows[", " of block ", "sent by thread"});
  expect_reported(ClusterDefect::OneSlot, Kind::Race, {"`w: f32 = load rows[", "sent by thread"});
  expect_reported(ClusterDefect::LoneWait, Kind::Race,
                  {"thread 1 ", "sent by thread", "no wait for its mbarrier"});
  expect_reported(
      ClusterDefect::LostSend, Kind::Protocol,
      {"block 1 may have left", "block 0 stores to its shared memory", "phase 2 of mbarrier full[1]"});
}

// Block 0 sends twice to one place of block 1, which says in between that it has read: before it has, or
// after.
TEST(SimulateCluster, APlaceIsFreeOnceItsReadersSaySo) {
  const auto kernel = [](bool early) {
    Builder b("twice", 32);
    b.set_cluster(2);
    auto y = b.output("y", Storage::I32);
    auto cell = b.shared("cell", Storage::I32, 32);
    const auto full = b.mbarrier("full", 1, 1), empty = b.mbarrier("empty", 1, 32);
    const Value zero = b.constant(0), one = b.constant(1);
    const auto send = [&] { b.store_async(cell[b.thread()], {b.thread()}, one, full, zero); };
    const auto receive = [&](int turn) {
      b.if_(b.thread() == 0, [&] { b.expect(full, zero, b.constant(128)); });
      b.wait(full, zero, b.constant(turn));
      if (early) b.arrive(empty, zero, zero);
      b.store(y[b.thread() + turn * 32], b.load("v", cell[b.constant(31) - b.thread()]));
      if (!early) b.arrive(empty, zero, zero);
    };
    b.if_(
        b.cluster_rank() == 0,
        [&] {
          send();
          b.wait(empty, zero, zero);
          send();
          b.wait(empty, zero, one);
        },
        [&] {
          receive(0);
          receive(1);
        });
    return b.finish();
  };
  std::vector<GlobalBuffer> buffers{output_buffer(Storage::I32, 64)};
  expect_clean(run(kernel(false), 2, buffers));
  EXPECT_EQ(buffers[0].integers[32], 31);
  buffers[0] = output_buffer(Storage::I32, 64);
  expect_fault(run(kernel(true), 2, buffers), Kind::Race,
               {"sends to shared cell[0] of block 1", "read by thread 31 (warp 0, lane 31) of block 1"});
}

// The sender knows no better when its own data arrives.
TEST(SimulateCluster, SentDataIsNotVisibleToItsSenderEither) {
  const auto kernel = [](bool wait) {
    Builder b("self", 32);
    b.set_cluster(2);
    auto y = b.output("y", Storage::I32);
    auto cell = b.shared("cell", Storage::I32, 32);
    const auto bar = b.mbarrier("bar", 1, 1);
    const Value zero = b.constant(0);
    b.if_(b.thread() == 0, [&] { b.expect(bar, zero, b.constant(128)); });
    b.store_async(cell[b.thread()], {b.thread() + 5}, b.cluster_rank(), bar, zero);
    if (wait) b.wait(bar, zero, zero);
    b.store(y[b.block() * 32 + b.thread()], b.load("v", cell[b.thread()]));
    if (!wait) b.wait(bar, zero, zero);
    return b.finish();
  };
  std::vector<GlobalBuffer> buffers{output_buffer(Storage::I32, 64)};
  expect_fault(
      run(kernel(false), 2, buffers), Kind::Race,
      {"thread 0 (warp 0, lane 0) of block 0 reads", "sent by thread 0 (warp 0, lane 0) of block 0"});
  buffers[0] = output_buffer(Storage::I32, 64);
  expect_clean(run(kernel(true), 2, buffers));
  EXPECT_EQ(buffers[0].integers[33], 6);
}

// st.async publishes its own data only: what its thread stored before is not visible to who receives it.
TEST(SimulateCluster, SendingPublishesNothingElse) {
  const auto kernel = [](bool by_arrival) {
    Builder b("publish", 32);
    b.set_cluster(2);
    auto x = b.output("x", Storage::I32), y = b.output("y", Storage::I32);
    auto cell = b.shared("cell", Storage::I32, 32);
    const auto bar = b.mbarrier("bar", 1, by_arrival ? 32 : 1);
    const Value zero = b.constant(0), one = b.constant(1);
    b.if_(
        b.cluster_rank() == 0,
        [&] {
          b.store(x[b.thread()], b.thread());
          b.warp_sync();
          if (by_arrival)
            b.arrive(bar, zero, one);
          else
            b.store_async(cell[b.thread()], {b.thread()}, one, bar, zero);
        },
        [&] {
          if (!by_arrival) b.if_(b.thread() == 0, [&] { b.expect(bar, zero, b.constant(128)); });
          b.wait(bar, zero, zero);
          b.store(y[b.thread()], b.load("v", x[b.constant(31) - b.thread()]));
        });
    return b.finish();
  };
  std::vector<GlobalBuffer> buffers{output_buffer(Storage::I32, 32), output_buffer(Storage::I32, 32)};
  expect_clean(run(kernel(true), 2, buffers));
  EXPECT_EQ(buffers[1].integers[0], 31);
  buffers = {output_buffer(Storage::I32, 32), output_buffer(Storage::I32, 32)};
  expect_fault(run(kernel(false), 2, buffers), Kind::Race,
               {"of block 1 reads global x[31]", "of block 0 with no barrier or flag between"});
}

// ---- the cluster barrier ----

enum class Meeting { None, Cluster, BlockOnly };

Kernel neighbours(Meeting meeting) {
  Builder b("neighbours", 64);
  b.set_cluster(4);
  auto x = b.output("x", Storage::I32), y = b.output("y", Storage::I32);
  const Value me = b.let("me", b.block() * 64 + b.thread());
  b.store(x[me], me * 2 + b.cluster_rank());
  if (meeting == Meeting::Cluster) b.cluster_barrier();
  if (meeting == Meeting::BlockOnly) b.barrier();
  const Value next = b.block() / 4 * 4 + (b.cluster_rank() + 1) % 4;
  b.store(y[me], b.load("v", x[next * 64 + (b.constant(63) - b.thread())]));
  return b.finish();
}

TEST(SimulateCluster, TheClusterBarrierOrdersItsBlocks) {
  std::vector<GlobalBuffer> buffers{output_buffer(Storage::I32, 512), output_buffer(Storage::I32, 512)};
  expect_clean(run(neighbours(Meeting::Cluster), 8, buffers));
  for (int i = 0; i < 512; ++i) {
    const int next = i / 64 / 4 * 4 + (i / 64 + 1) % 4;
    EXPECT_EQ(buffers[1].integers[static_cast<std::size_t>(i)], (next * 64 + 63 - i % 64) * 2 + next % 4);
  }
  for (const Meeting meeting : {Meeting::None, Meeting::BlockOnly}) {
    buffers = {output_buffer(Storage::I32, 512), output_buffer(Storage::I32, 512)};
    const SimulationResult result = run(neighbours(meeting), 8, buffers);
    EXPECT_TRUE(reported(result, Kind::Race, {"global x[", "with no barrier or flag between"}))
        << text(result);
  }
}

TEST(SimulateCluster, OtherClustersAreNeverOrdered) {
  Builder b("across", 32);
  b.set_cluster(2);
  auto x = b.output("x", Storage::I32), y = b.output("y", Storage::I32);
  const Value me = b.let("me", b.block() * 32 + b.thread());
  b.store(x[me], me);
  b.cluster_barrier();
  b.store(y[me], b.load("v", x[(me + 64) % 128]));
  std::vector<GlobalBuffer> buffers{output_buffer(Storage::I32, 128), output_buffer(Storage::I32, 128)};
  const SimulationResult result = run(b.finish(), 4, buffers);
  EXPECT_TRUE(reported(result, Kind::Race, {"reads global x[", "of block 0 of the same launch"}))
      << text(result);
}

TEST(SimulateCluster, ABlockThatDoesNotComeIsADeadlock) {
  Builder b("absent", 64);
  b.set_cluster(2);
  b.if_(b.cluster_rank() == 0, [&] { b.cluster_barrier(); });
  std::vector<GlobalBuffer> none;
  expect_fault(run(raw(b), 2, none), Kind::Deadlock,
               {"warp 0 of block 0 waits at a cluster barrier that warp 0 of block 1 never reaches"});
}

// ---- arrivals from other blocks ----

Kernel remote_arrival(bool meet, bool wait, int rank = 1) {
  Builder b("remote", 32);
  b.set_cluster(2);
  const auto bar = b.mbarrier("bar", 1, 32);
  const Value zero = b.constant(0), to = b.let("to", b.constant(rank));
  b.if_(
      b.cluster_rank() == 0, [&] { b.arrive(bar, zero, to); },
      [&] {
        if (wait) b.wait(bar, zero, zero);
      });
  if (meet) b.cluster_barrier();
  return raw(b);
}

TEST(SimulateCluster, ABlockStaysWhileOthersArriveAtItsMbarriers) {
  std::vector<GlobalBuffer> none;
  expect_clean(run(remote_arrival(true, false), 2, none));
  expect_clean(run(remote_arrival(false, true), 2, none));
  expect_fault(run(remote_arrival(false, false), 2, none), Kind::Protocol,
               {"arrive", "block 1 may have left when thread 0 (warp 0, lane 0) of block 0 arrives"});
}

TEST(SimulateCluster, RanksAndGridsAreChecked) {
  std::vector<GlobalBuffer> none;
  for (const int rank : {2, -1})
    EXPECT_TRUE(reported(run(remote_arrival(true, false, rank), 2, none), Kind::OutOfRange,
                         {"names rank " + std::to_string(rank), "of a cluster of 2 blocks"}));
  EXPECT_THROW(run(remote_arrival(true, false), 3, none), std::logic_error);
}

TEST(SimulateCluster, AsynchronousStoresAreChecked) {
  const auto kernel = [](int first) {
    Builder b("checked", 1);
    b.set_cluster(2);
    auto tile = b.shared("tile", Storage::BF16, 16);
    const auto bar = b.mbarrier("bar", 1, 1);
    const Value zero = b.constant(0), at = b.let("at", b.constant(first));
    b.expect(bar, zero, b.constant(8));
    b.store_async(tile[at], {zero, zero}, b.constant(1) - b.cluster_rank(), bar, zero);
    b.wait(bar, zero, zero);
    return raw(b);
  };
  std::vector<GlobalBuffer> none;
  expect_clean(run(kernel(12), 2, none));
  expect_fault(run(kernel(2), 2, none), Kind::Misaligned, {"tile[2] of block 1", "multiple of 4"});
  expect_fault(run(kernel(16), 2, none), Kind::OutOfRange,
               {"tile[16] of block 1", "4 elements at once, of 16"});
}

}  // namespace
}  // namespace rondo::kernel::test
