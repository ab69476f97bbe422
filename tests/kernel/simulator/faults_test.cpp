// Every kind of fault planted in a small kernel, caught with a message that says where, and absent from the
// mended kernel.
#include "tests/kernel/harness.h"

namespace rondo::kernel::test {
namespace {

using Kind = Fault::Kind;

// y[i] = x[63 - i] through shared memory.
Kernel reverse(bool barrier) {
  Builder b("reverse", 64);
  auto x = b.input("x", Storage::F32), y = b.output("y", Storage::F32);
  auto tile = b.shared("tile", Storage::F32, 64);
  b.store(tile[b.thread()], b.load("v", x[b.thread()]));
  if (barrier) b.barrier();
  b.store(y[b.thread()], b.load("w", tile[b.constant(63) - b.thread()]));
  return b.finish();
}

TEST(SimulateFaults, MissingBarrier) {
  // Warp 0 runs first: it reads what warp 1 has yet to write, and warp 1 then overwrites what warp 0 has
  // read.
  std::vector<GlobalBuffer> buffers{counting(Storage::F32, 64), output_buffer(Storage::F32, 64)};
  const SimulationResult result = run(reverse(false), 1, buffers);
  std::string races, unwritten;
  for (const Fault& fault : result.faults)
    (fault.kind == Kind::Race ? races : unwritten) += fault.message + "\n";
  for (const char* word :
       {"`store tile[thread] = v`", "thread 32 (warp 1, lane 0) of block 0 writes shared tile[32]",
        "read by thread 31 (warp 0, lane 31) of block 0 with no barrier between",
        "`w: f32 = load tile[63 - thread]`"})
    EXPECT_NE(races.find(word), std::string::npos) << word << " is not in:\n" << races;
  EXPECT_NE(
      unwritten.find("thread 0 (warp 0, lane 0) of block 0 reads shared tile[63], which nobody has written"),
      std::string::npos)
      << text(result);

  buffers[1] = output_buffer(Storage::F32, 64);
  expect_clean(run(reverse(true), 1, buffers));
  for (int i = 0; i < 64; ++i) EXPECT_EQ(buffers[1].values[static_cast<std::size_t>(i)], 63 - i);
}

// Neighbouring lanes of one warp exchange; `sync` orders them.
Kernel exchange(bool sync, bool shuffle) {
  Builder b("exchange", 32);
  auto y = b.output("y", Storage::I32);
  auto tile = b.shared("tile", Storage::I32, 32);
  b.store(tile[b.thread()], b.thread());
  if (sync) b.warp_sync();
  if (shuffle) b.shuffle("unused", b.thread(), ShuffleMode::Xor, b.constant(1));
  b.store(y[b.thread()], b.load("v", tile[(b.thread() + 1) % 32]));
  return b.finish();
}

TEST(SimulateFaults, LanesOfOneWarpNeedAWarpSync) {
  std::vector<GlobalBuffer> buffers{output_buffer(Storage::I32, 32)};
  expect_fault(run(exchange(false, false), 1, buffers), Kind::Race,
               {"reads shared tile[1]", "warp 0, lane 1"});
  expect_fault(run(exchange(false, true), 1, buffers), Kind::Race, {"reads shared tile[1]"});
  expect_clean(run(exchange(true, false), 1, buffers));
  EXPECT_EQ(buffers[0].integers[31], 0);
}

TEST(SimulateFaults, TwoLanesWritingOneElementRace) {
  Builder b("collide", 32);
  auto tile = b.shared("tile", Storage::F32, 16);
  b.store(tile[b.thread() % 16], b.real(1));
  std::vector<GlobalBuffer> buffers;
  expect_fault(run(b.finish(), 1, buffers), Kind::Race, {"writes shared tile[0]", "lane 16", "lane 0"});
}

// Many readers of other warps, then a write: each reader must be remembered.
Kernel overwrite(bool barrier) {
  Builder b("overwrite", 96);
  auto y = b.output("y", Storage::F32);
  auto cell = b.shared("cell", Storage::F32, 1);
  auto zero = b.constant(0);
  b.if_(b.thread() == 0, [&] { b.store(cell[zero], b.real(5)); });
  b.barrier();
  b.store(y[b.thread()], b.load("v", cell[zero]));
  if (barrier) b.barrier();
  b.if_(b.thread() == 95, [&] { b.store(cell[zero], b.real(6)); });
  return b.finish();
}

TEST(SimulateFaults, WriteAfterReadsNeedsABarrier) {
  std::vector<GlobalBuffer> buffers{output_buffer(Storage::F32, 96)};
  expect_fault(run(overwrite(false), 1, buffers), Kind::Race, {"writes shared cell[0]", "read by thread 0 "});
  buffers[0] = output_buffer(Storage::F32, 96);
  expect_clean(run(overwrite(true), 1, buffers));
}

Kernel guarded(bool guard) {
  Builder b("guarded", 32);
  auto x = b.input("x", Storage::F32), y = b.output("y", Storage::F32);
  const auto copy = [&] { b.store(y[b.thread()], b.load("v", x[b.thread()])); };
  if (guard)
    b.if_(b.thread() < 20, copy);
  else
    copy();
  return b.finish();
}

TEST(SimulateFaults, OutOfRange) {
  std::vector<GlobalBuffer> buffers{counting(Storage::F32, 20), output_buffer(Storage::F32, 32)};
  expect_fault(
      run(guarded(false), 1, buffers), Kind::OutOfRange,
      {"`v: f32 = load x[thread]`", "thread 20 (warp 0, lane 20) of block 0", "global x[20]", "20 elements"});
  buffers[1] = output_buffer(Storage::F32, 20);
  expect_clean(run(guarded(true), 1, buffers));
}

TEST(SimulateFaults, NegativeIndexAndVectorOverTheEnd) {
  for (const bool negative : {true, false}) {
    Builder b("edge", 1);
    auto tile = b.shared("tile", Storage::F32, 6);
    b.store_vector(tile[b.constant(negative ? -4 : 4)], {b.real(1), b.real(1), b.real(1), b.real(1)});
    std::vector<GlobalBuffer> buffers;
    expect_fault(run(b.finish(), 1, buffers), Kind::OutOfRange, {negative ? "tile[-4]" : "tile[4]", "of 6"});
  }
}

TEST(SimulateFaults, MisalignedVector) {
  const auto kernel = [](int offset) {
    Builder b("vector", 4);
    auto x = b.input("x", Storage::BF16), y = b.output("y", Storage::F32);
    auto v = b.load_vector("v", x[b.thread() * 4 + offset], 4);
    b.store(y[b.thread()], v[0] + v[3]);
    return b.finish();
  };
  std::vector<GlobalBuffer> buffers{counting(Storage::BF16, 24), output_buffer(Storage::F32, 4)};
  expect_fault(run(kernel(2), 1, buffers), Kind::Misaligned, {"x[2]", "multiple of 4"});
  buffers[1] = output_buffer(Storage::F32, 4);
  expect_clean(run(kernel(4), 1, buffers));
  EXPECT_EQ(buffers[1].values, (std::vector<float>{11, 19, 27, 35}));
}

TEST(SimulateFaults, UnwrittenSharedAndGlobal) {
  Builder b("unwritten", 32);
  auto y = b.output("y", Storage::F32);
  auto tile = b.shared("tile", Storage::F32, 32);
  b.if_(b.thread() < 31, [&] { b.store(tile[b.thread()], b.real(1)); });
  b.store(y[b.thread()], b.load("v", tile[b.thread()]));
  std::vector<GlobalBuffer> buffers{output_buffer(Storage::F32, 32)};
  expect_fault(run(b.finish(), 1, buffers), Kind::Unwritten,
               {"lane 31", "shared tile[31]", "nobody has written"});

  std::vector<GlobalBuffer> half{counting(Storage::F32, 32), output_buffer(Storage::F32, 32)};
  half[0].written[7] = false;
  expect_fault(run(guarded(true), 1, half), Kind::Unwritten, {"global x[7]"});
  half[0].written[7] = true;
  half[1] = output_buffer(Storage::F32, 32);
  expect_clean(run(guarded(true), 1, half));
}

TEST(SimulateFaults, SharedMemoryIsNotHandedFromBlockToBlock) {
  Builder b("stale", 32);
  auto y = b.output("y", Storage::F32);
  auto tile = b.shared("tile", Storage::F32, 32);
  b.if_(b.block() == 0, [&] { b.store(tile[b.thread()], b.real(1)); });
  b.store(y[b.block() * 32 + b.thread()], b.load("v", tile[b.thread()]));
  std::vector<GlobalBuffer> buffers{output_buffer(Storage::F32, 64)};
  expect_fault(run(b.finish(), 2, buffers), Kind::Unwritten, {"of block 1", "tile[0]"});
}

TEST(SimulateFaults, TwoBlocksOneElement) {
  const auto kernel = [](bool apart) {
    Builder b("blocks", 32);
    auto y = b.output("y", Storage::F32);
    b.store(y[apart ? b.block() * 32 + b.thread() : b.thread()], b.real(1));
    return b.finish();
  };
  std::vector<GlobalBuffer> buffers{output_buffer(Storage::F32, 64)};
  expect_fault(run(kernel(false), 2, buffers), Kind::Race,
               {"of block 1 writes global y[0]", "of block 0 of the same launch"});
  buffers[0] = output_buffer(Storage::F32, 64);
  expect_clean(run(kernel(true), 2, buffers));
}

TEST(SimulateFaults, ReadingWhatAnotherBlockWritesAndTheReverse) {
  for (const std::int64_t writer : {0, 2}) {
    Builder b("across", 1);
    auto y = b.output("y", Storage::F32);
    auto out = b.output("out", Storage::F32);
    auto zero = b.constant(0);
    b.if_(
        b.block() == b.constant(writer), [&] { b.store(y[zero], b.real(2)); },
        [&] { b.store(out[b.block()], b.load("v", y[zero])); });
    std::vector<GlobalBuffer> buffers{input_buffer(Storage::F32, {1}), output_buffer(Storage::F32, 3)};
    expect_fault(run(b.finish(), 3, buffers), Kind::Race, {"global y[0]", "of the same launch"});
  }
}

TEST(SimulateFaults, GlobalMemoryWithinABlockNeedsBarriersToo) {
  const auto kernel = [](bool barrier) {
    Builder b("through_global", 64);
    auto y = b.output("y", Storage::I32), z = b.output("z", Storage::I32);
    b.store(y[b.thread()], b.thread());
    if (barrier) b.barrier();
    b.store(z[b.thread()], b.load("v", y[(b.thread() + 32) % 64]));
    return b.finish();
  };
  std::vector<GlobalBuffer> buffers{counting(Storage::I32, 64), output_buffer(Storage::I32, 64)};
  EXPECT_FALSE(run(kernel(false), 1, buffers).faults.empty());
  buffers = {output_buffer(Storage::I32, 64), output_buffer(Storage::I32, 64)};
  expect_clean(run(kernel(true), 1, buffers));
  EXPECT_EQ(buffers[1].integers[5], 37);
}

TEST(SimulateFaults, ReadOnlyStore) {
  Builder b("read_only", 1);
  auto x = b.input("x", Storage::F32);
  b.store(x[b.constant(0)], b.real(1));
  std::vector<GlobalBuffer> buffers{counting(Storage::F32, 1)};
  expect_fault(run(raw(b), 1, buffers), Kind::ReadOnly, {"store x[0] = 1.0", "read-only"});
  EXPECT_EQ(buffers[0].values[0], 0);
}

TEST(SimulateFaults, OneBufferAsInputAndOutput) {
  Builder b("alias", 4);
  auto x = b.input("x", Storage::F32), y = b.output("y", Storage::F32);
  b.store(y[b.thread()], b.load("v", x[b.thread()]));
  std::vector<GlobalBuffer> buffers{counting(Storage::F32, 4)};
  const SimulationResult result = simulate(b.finish(), 1, {{.buffer = 0}, {.buffer = 0}}, buffers);
  expect_fault(result, Kind::ReadOnly, {"writes global y[0]"});
}

TEST(SimulateFaults, DivergentBarrier) {
  // By lane, by warp in different branches, and by a warp that has finished.
  const auto kernel = [](int threads, int split, bool other) {
    Builder b("divergent", threads);
    b.if_(
        b.thread() < split, [&] { b.barrier(); },
        [&] {
          if (other) b.barrier();
        });
    return raw(b);
  };
  std::vector<GlobalBuffer> none;
  expect_fault(run(kernel(32, 7, false), 1, none), Kind::Deadlock,
               {"lanes 0x0000007f of warp 0", "thread 7 "});
  expect_fault(run(kernel(64, 32, true), 1, none), Kind::Deadlock,
               {"warp 0", "warp 1 never reaches", "another barrier"});
  expect_fault(run(kernel(64, 32, false), 1, none), Kind::Deadlock, {"warp 1 never reaches", "has finished"});
  expect_clean(run(kernel(64, 64, false), 1, none));
}

TEST(SimulateFaults, DifferentNumbersOfBarriers) {
  Builder b("turns", 64);
  b.for_("i", b.constant(0), b.thread() / 32 + 1, b.constant(1), 1, [&](Value) { b.barrier(); });
  std::vector<GlobalBuffer> none;
  expect_fault(run(raw(b), 1, none), Kind::Deadlock, {"warp 1 of block 0 waits", "warp 0 never reaches"});
}

TEST(SimulateFaults, PartOfAWarpSynchronising) {
  Builder sync("part", 32);
  sync.if_(sync.thread() < 16, [&] { sync.warp_sync(); });
  std::vector<GlobalBuffer> none;
  expect_fault(run(raw(sync), 1, none), Kind::Deadlock, {"warp_sync", "thread 16 "});
  Builder shuffle("part", 32);
  shuffle.if_(shuffle.thread() < 16,
              [&] { shuffle.shuffle("v", shuffle.thread(), ShuffleMode::Up, shuffle.constant(1)); });
  expect_fault(run(raw(shuffle), 1, none), Kind::Deadlock, {"shuffle", "all 32"});
  Builder vote("part", 32);
  vote.if_(vote.thread() < 16, [&] { vote.ballot("v", vote.thread() == 1); });
  expect_fault(run(raw(vote), 1, none), Kind::Deadlock, {"a ballot", "all 32"});
}

TEST(SimulateFaults, UnsetArrayElement) {
  const auto kernel = [](bool all) {
    Builder b("unset", 32);
    auto y = b.output("y", Storage::F32);
    auto a = b.array("a", Type::F32, 2);
    b.write(a, b.constant(0), b.real(1));
    b.if_(b.thread() < (all ? 32 : 3), [&] { b.write(a, b.constant(1), b.real(2)); });
    b.store(y[b.thread()], b.read(a, b.constant(0)) + b.read(a, b.constant(1)));
    return b.finish();
  };
  std::vector<GlobalBuffer> buffers{output_buffer(Storage::F32, 32)};
  expect_fault(run(kernel(false), 1, buffers), Kind::Unset, {"lane 3", "`a[1]`", "never set"});
  expect_clean(run(kernel(true), 1, buffers));
}

TEST(SimulateFaults, UndefinedValuesThatNobodyUsesAreNoFault) {
  Builder b("unused", 32);
  auto y = b.output("y", Storage::I32);
  auto zero = b.variable("zero", b.constant(0));
  auto quotient = b.thread() / zero;
  b.store(y[b.thread()], b.select(zero == 0, b.thread(), quotient));
  b.if_((zero >= 1) && (quotient == 3), [&] { b.store(y[b.thread()], zero); });
  std::vector<GlobalBuffer> buffers{output_buffer(Storage::I32, 32)};
  expect_clean(run(b.finish(), 1, buffers));

  Builder used("used", 32);
  auto z = used.output("z", Storage::I32);
  auto nothing = used.variable("nothing", used.constant(0));
  used.store(z[used.thread()], used.thread() % nothing);
  buffers = {output_buffer(Storage::I32, 32)};
  expect_fault(run(used.finish(), 1, buffers), Kind::Unset, {"`thread % nothing`", "operands 0 and 0"});
}

TEST(SimulateFaults, StepLimitAndEndlessLoop) {
  Builder b("long", 1);
  auto x = b.variable("x", b.constant(0));
  b.for_("i", 0, 1000, 1, [&](Value i) { b.assign(x, x + i); });
  const Kernel kernel = b.finish();
  std::vector<GlobalBuffer> none;
  expect_fault(run(kernel, 1, none, {.step_limit = 100}), Kind::StepLimit, {"100 steps"});
  expect_clean(run(kernel, 1, none, {.step_limit = 10000}));

  Builder endless("endless", 1);
  auto step = endless.variable("step", endless.constant(0));
  endless.for_("i", endless.constant(0), endless.constant(4), step, 1, [&](Value) {
    endless.comment("turn");
    endless.warp_sync();
  });
  expect_fault(run(endless.finish(), 1, none), Kind::StepLimit, {"never ends"});
}

TEST(SimulateFaults, StopsAfterSoMany) {
  Builder b("many", 1);
  auto x = b.input("x", Storage::F32);
  for (int i = 0; i < 6; ++i) b.load("v", x[b.constant(10 + i)]);
  const Kernel kernel = b.finish();
  std::vector<GlobalBuffer> buffers{counting(Storage::F32, 1)};
  EXPECT_EQ(run(kernel, 1, buffers).faults.size(), 6u);
  EXPECT_EQ(run(kernel, 1, buffers, {.max_faults = 2}).faults.size(), 2u);
}

TEST(SimulateFaults, BadArgumentsAreAnErrorOfTheCaller) {
  std::vector<GlobalBuffer> buffers{counting(Storage::BF16, 32), output_buffer(Storage::F32, 32)};
  EXPECT_THROW(run(guarded(true), 1, buffers), std::logic_error);
  buffers.pop_back();
  EXPECT_THROW(run(guarded(true), 1, buffers), std::logic_error);
}

}  // namespace
}  // namespace rondo::kernel::test
