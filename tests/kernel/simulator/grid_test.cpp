// Cooperative grids: blocks that wait for each other by counters, or by words that are their own flags, and
// what goes wrong without them.
#include "tests/kernel/harness.h"

namespace rondo::kernel::test {
namespace {

using Kind = Fault::Kind;

enum class GridDefect {
  None,
  NoFlags,      // nobody waits for anybody
  NoArrive,     // block 1 does not count itself
  FewArrivals,  // one arrival less is waited for
  NoBarrier,    // thread 0 arrives before its block has stored, and the block goes on before it has waited
  NotCooperative,
};

constexpr int kGridTurns = 6, kBlocks = 5;

// Each turn a block adds 1 to the row of its left neighbour of the turn before.
Kernel flags(GridDefect defect, int cluster = 1) {
  Builder b("flags", 64);
  if (defect != GridDefect::NotCooperative) b.set_cooperative();
  b.set_cluster(cluster);
  auto y = b.output("y", Storage::I32), counter = b.output("counter", Storage::I32);
  const Value blocks = b.builtin(Builtin::GridX), me = b.let("me", b.block() * 64 + b.thread());
  const Value left = b.let("left", (b.block() + blocks - 1) % blocks * 64 + (b.constant(63) - b.thread()));
  const Value place = b.constant(3);
  b.store(y[me], me);
  b.for_("t", 1, kGridTurns, 1, [&](Value t) {
    if (defect != GridDefect::NoFlags) {
      if (defect != GridDefect::NoBarrier) b.barrier();
      b.if_(b.thread() == 0, [&] {
        const auto arrive = [&] { b.grid_arrive(counter[place]); };
        if (defect == GridDefect::NoArrive)
          b.if_(b.block() == 0, arrive, [&] { b.if_(b.block() >= 2, arrive); });
        else
          arrive();
        b.grid_wait(counter[place], t * blocks - (defect == GridDefect::FewArrivals ? 1 : 0));
      });
      if (defect != GridDefect::NoBarrier) b.barrier();
    }
    b.store(y[t * blocks * 64 + me], b.load("v", y[(t - 1) * blocks * 64 + left]) + 1);
  });
  return raw(b);
}

std::vector<GlobalBuffer> flag_buffers(int blocks) {
  GlobalBuffer counters = output_buffer(Storage::I32, 4);
  counters.integers[3] = 0;
  counters.written[3] = true;
  return {output_buffer(Storage::I32, kGridTurns * blocks * 64), counters};
}

TEST(SimulateGrid, BlocksWaitForEachOtherByCounters) {
  for (const int cluster : {1, 2}) {
    const int blocks = kBlocks + cluster - 1;
    std::vector<GlobalBuffer> buffers = flag_buffers(blocks);
    expect_clean(run(flags(GridDefect::None, cluster), blocks, buffers));
    for (int i = 0; i < kGridTurns * blocks * 64; ++i) {
      const int t = i / (blocks * 64), block = i / 64 % blocks, at = t % 2 == 0 ? i % 64 : 63 - i % 64;
      ASSERT_EQ(buffers[0].integers[static_cast<std::size_t>(i)],
                ((block - t) % blocks + blocks) % blocks * 64 + at + t)
          << i;
    }
    EXPECT_EQ(buffers[1].integers[3], (kGridTurns - 1) * blocks);
  }
}

// In a kernel with a status waits end when nobody can go on, and the kernel comes to its end; barriers do
// not.
TEST(SimulateGrid, WaitsInVainEndWithAStatus) {
  const auto vain = [](bool with_status, bool barrier_too) {
    Builder b("vain", 64);
    b.set_cooperative();
    auto status = b.output("status", Storage::I32), counter = b.output("counter", Storage::I32),
         done = b.output("done", Storage::I32);
    if (with_status) b.set_status(status);
    b.grid_wait(counter[b.constant(0)], b.constant(1));
    if (barrier_too) b.if_(b.thread() < 32, [&] { b.named_barrier(1, 64); });
    b.store(done[b.thread()], b.constant(5));
    std::vector<GlobalBuffer> buffers = {input_buffer(Storage::I32, {0}), input_buffer(Storage::I32, {0}),
                                         output_buffer(Storage::I32, 64)};
    SimulationOptions options;
    options.give_up = true;
    const SimulationResult result = run(raw(b), 1, buffers, options);
    return std::tuple(result, buffers[0].integers[0], static_cast<bool>(buffers[2].written[63]));
  };
  const auto [ended, status, written] = vain(true, false);
  expect_clean(ended);
  EXPECT_TRUE(ended.gave_up);
  EXPECT_EQ(status, 1);
  EXPECT_TRUE(written);
  const auto [without, unset, unwritten] = vain(false, false);
  expect_fault(without, Kind::Deadlock, {"waits until counter[0] is 1"});
  EXPECT_EQ(unset, 0);
  EXPECT_FALSE(without.gave_up || unwritten);
  expect_fault(std::get<0>(vain(true, true)), Kind::Deadlock, {"waits at barrier 1 for 64 threads"});
}

TEST(SimulateGrid, EveryPieceOfTheProtocolIsNeeded) {
  const auto outcome = [](GridDefect defect) {
    std::vector<GlobalBuffer> buffers = flag_buffers(kBlocks);
    return run(flags(defect), kBlocks, buffers);
  };
  const SimulationResult none = outcome(GridDefect::NoFlags);
  EXPECT_TRUE(reported(none, Kind::Race, {"global y[", "with no barrier or flag between"})) << text(none);
  expect_fault(outcome(GridDefect::NoArrive), Kind::Deadlock,
               {"grid_wait", "warp 0 of block 0 waits until counter[3] is 5; it is 4",
                "warp 1 of block 0 waits at a barrier that warp 0 never reaches: it waits elsewhere"});
  const SimulationResult few = outcome(GridDefect::FewArrivals);
  EXPECT_TRUE(reported(few, Kind::Race, {"reads global y[", "with no barrier or flag between"})) << text(few);
  const SimulationResult alone = outcome(GridDefect::NoBarrier);
  EXPECT_TRUE(reported(alone, Kind::Race, {"reads global y["})) << text(alone);
  // Blocks of an ordinary launch may run one after the other: they cannot wait for each other.
  expect_fault(outcome(GridDefect::NotCooperative), Kind::Deadlock, {"counter[3] is 5; it is 1"});
}

TEST(SimulateGrid, CountersAreCheckedAsMemoryIs) {
  const auto kernel = [](int place, bool plain, bool wait) {
    Builder b("counter", 32);
    b.set_cooperative();
    auto counter = b.output("counter", Storage::I32), y = b.output("y", Storage::I32);
    const Value at = b.let("at", b.constant(place));
    b.if_(b.thread() == 0, [&] {
      b.grid_arrive(counter[at]);
      if (wait) b.grid_wait(counter[at], b.constant(2));
      if (plain) b.store(y[b.block()], b.load("v", counter[at]));
    });
    return raw(b);
  };
  const auto outcome = [&](int place, bool plain, bool wait, bool set = true) {
    std::vector<GlobalBuffer> buffers{input_buffer(Storage::I32, {0, 0}), output_buffer(Storage::I32, 2)};
    buffers[0].written[1] = set;
    return run(kernel(place, plain, wait), 2, buffers);
  };
  expect_clean(outcome(1, false, false));
  expect_clean(outcome(1, true, true));
  expect_fault(outcome(1, true, false), Kind::Race, {"counter[1]", "a counter that others add to"});
  expect_fault(outcome(2, false, false), Kind::OutOfRange, {"counter[2]", "2 elements"});
  expect_fault(outcome(1, false, false, false), Kind::Unwritten, {"counter[1], which nobody has set"});
}

// A counter that one block sets back, with or without waiting for the others.
TEST(SimulateGrid, SettingACounterBack) {
  const auto kernel = [](bool wait) {
    Builder b("back", 32);
    b.set_cooperative();
    auto counter = b.output("counter", Storage::I32);
    const Value zero = b.constant(0);
    b.if_(b.thread() == 0, [&] {
      b.grid_arrive(counter[zero]);
      b.if_(b.block() == 0, [&] {
        if (wait) b.grid_wait(counter[zero], b.constant(3));
        b.store(counter[zero], zero);
      });
    });
    return raw(b);
  };
  std::vector<GlobalBuffer> buffers{input_buffer(Storage::I32, {0})};
  expect_clean(run(kernel(true), 3, buffers));
  EXPECT_EQ(buffers[0].integers[0], 0);
  buffers[0].integers[0] = 0;
  const SimulationResult early = run(kernel(false), 3, buffers);
  EXPECT_TRUE(reported(early, Kind::Race, {"counter[0]"})) << text(early);
}

// ---- words that are their own flags ----

enum class WordDefect { None, NoClear, NoFence, EarlyClear, OneSlot, Silent };

constexpr int kWordTurns = 12, kSlots = 4;

// Every block sends 4 words a turn to all, and adds up what all have sent. A slot is cleared by its sender
// two turns after it was used, when the words of later turns show that all have read it.
Kernel words(WordDefect defect) {
  constexpr int kRow = kBlocks * 4;
  Builder b("words", 32);
  b.set_cooperative();
  auto sent = b.output("sent", Storage::I32), y = b.output("y", Storage::I32);
  auto got = b.array("got", Type::I32, 4 * kBlocks);
  const Value zero = b.constant(0), mine = b.let("mine", b.block() * 4);
  const auto all = [&](Value v) { return std::vector<Value>(4, v); };
  b.if_(b.thread() == 0, [&] {
    b.for_("t", 0, kWordTurns, 1, [&](Value t) {
      const Value slot = b.let("slot", defect == WordDefect::OneSlot ? zero : t % kSlots);
      const auto send = [&] { b.store_self_flagged(sent[slot * kRow + mine], all(t * 100 + b.block())); };
      if (defect == WordDefect::Silent)
        b.if_(b.block() >= 1 || t < 5, send);
      else
        send();
      if (defect == WordDefect::EarlyClear)
        b.store_self_flagged(sent[(t + 3) % kSlots * kRow + mine], all(b.constant(kEmpty)));
      b.load_self_flagged(got, zero, kBlocks, sent[slot * kRow], b.constant(4));
      const Value sum = b.variable("sum", zero);
      b.for_("i", 0, 4 * kBlocks, kFullUnroll, [&](Value i) { b.assign(sum, sum + b.read(got, i)); });
      b.store(y[b.block() * kWordTurns + t], sum);
      if (defect == WordDefect::NoClear || defect == WordDefect::EarlyClear) return;
      b.if_(t >= 1, [&] {
        b.store_self_flagged(sent[(t + kSlots - 1) % kSlots * kRow + mine], all(b.constant(kEmpty)));
        if (defect != WordDefect::NoFence) b.grid_fence();
      });
    });
  });
  return raw(b);
}

SimulationResult run_words(WordDefect defect, std::vector<GlobalBuffer>& buffers) {
  const std::vector<double> absent(kSlots * kBlocks * 4, kEmpty);
  buffers = {input_buffer(Storage::I32, absent), output_buffer(Storage::I32, kBlocks * kWordTurns)};
  return run(words(defect), kBlocks, buffers);
}

TEST(SimulateGrid, WordsThatAreTheirOwnFlags) {
  std::vector<GlobalBuffer> buffers;
  expect_clean(run_words(WordDefect::None, buffers));
  for (int i = 0; i < kBlocks * kWordTurns; ++i)
    EXPECT_EQ(buffers[1].integers[static_cast<std::size_t>(i)],
              4 * (kBlocks * (i % kWordTurns) * 100 + kBlocks * (kBlocks - 1) / 2));
}

TEST(SimulateGrid, WordsAreClearedInOrder) {
  const auto expect_reported = [](WordDefect defect, Kind kind, const std::vector<std::string>& what) {
    std::vector<GlobalBuffer> buffers;
    const SimulationResult result = run_words(defect, buffers);
    EXPECT_TRUE(reported(result, kind, what)) << static_cast<int>(defect) << ": " << text(result);
  };
  expect_reported(WordDefect::NoClear, Kind::Protocol, {"sends to global sent[", "it was not cleared"});
  expect_reported(
      WordDefect::NoFence, Kind::Race,
      {"load_self_flagged", "may still find what was there before", "with no fence of both threads"});
  expect_reported(WordDefect::EarlyClear, Kind::Deadlock, {"waits, in lane 0, for sent[", "has not come"});
  expect_reported(WordDefect::OneSlot, Kind::Protocol, {"it was not cleared"});
  expect_reported(WordDefect::Silent, Kind::Deadlock, {"waits, in lane 0, for sent[20], which has not come"});
}

// Block 0 clears its word once block 1 has answered: after it has read the word, or before.
TEST(SimulateGrid, AWordIsClearedAfterItsReaders) {
  const auto kernel = [](bool early) {
    Builder b("answer", 32);
    b.set_cooperative();
    auto sent = b.output("sent", Storage::I32);
    auto got = b.array("got", Type::I32, 4);
    const Value zero = b.constant(0), four = b.constant(4);
    const auto send = [&](Value place, int value) {
      b.store_self_flagged(sent[place], std::vector<Value>(4, b.constant(value)));
    };
    const auto load = [&](Value place) { b.load_self_flagged(got, zero, 1, sent[place], zero); };
    b.if_(b.thread() == 0, [&] {
      b.if_(
          b.block() == 0,
          [&] {
            send(zero, 5);
            load(four);
            send(zero, kEmpty);
          },
          [&] {
            if (early) send(four, 6);
            load(zero);
            if (!early) send(four, 6);
          });
    });
    return raw(b);
  };
  const std::vector<double> absent(8, kEmpty);
  std::vector<GlobalBuffer> buffers{input_buffer(Storage::I32, absent)};
  expect_clean(run(kernel(false), 2, buffers));
  buffers[0] = input_buffer(Storage::I32, absent);
  expect_fault(
      run(kernel(true), 2, buffers), Kind::Race,
      {"sends to global sent[0]", "cleared although thread 0 (warp 0, lane 0) of block 1 may not have"});
}

TEST(SimulateGrid, WordsAreNoPlainMemory) {
  const auto kernel = [](bool flagged) {
    Builder b("plain", 32);
    b.set_cooperative();
    auto sent = b.output("sent", Storage::I32), y = b.output("y", Storage::I32);
    auto got = b.array("got", Type::I32, 4);
    const Value zero = b.constant(0);
    b.if_(b.thread() == 0, [&] {
      b.if_(
          b.block() == 0, [&] { b.store_self_flagged(sent[zero], std::vector<Value>(4, b.constant(7))); },
          [&] {
            b.load_self_flagged(got, zero, 1, sent[zero], zero);
            b.store(y[zero], flagged ? b.read(got, b.constant(3)) : b.load("v", sent[b.constant(3)]));
          });
    });
    return raw(b);
  };
  const auto buffers = [] {
    return std::vector<GlobalBuffer>{input_buffer(Storage::I32, {-1, -1, -1, -1}),
                                     output_buffer(Storage::I32, 1)};
  };
  auto memory = buffers();
  expect_clean(run(kernel(true), 2, memory));
  EXPECT_EQ(memory[1].integers[0], 7);
  memory = buffers();
  expect_fault(run(kernel(false), 2, memory), Kind::Race,
               {"reads global sent[3]", "a word that another thread"});
  memory = buffers();
  memory[0].written[2] = false;
  const SimulationResult unset = run(kernel(true), 2, memory);
  EXPECT_TRUE(reported(unset, Kind::Unwritten, {"sent[2], which nobody has set"})) << text(unset);
}

}  // namespace
}  // namespace rondo::kernel::test
