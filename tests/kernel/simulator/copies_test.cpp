// Asynchronous copies: what is visible when, groups with some pending, and the misuses that a GPU forgives
// most of the time.
#include "tests/kernel/harness.h"

namespace rondo::kernel::test {
namespace {

using Kind = Fault::Kind;

enum class CopyDefect { None, NoWait, NoBarrier, NoCommit };

// Each thread copies 4 elements; each reads its neighbour's.
Kernel staged(CopyDefect defect) {
  Builder b("staged", 64);
  auto x = b.input("x", Storage::F32), y = b.output("y", Storage::F32);
  auto tile = b.shared("tile", Storage::F32, 256);
  b.copy_async(tile[b.thread() * 4], x[b.thread() * 4], 4);
  if (defect != CopyDefect::NoCommit) b.commit_copies();
  if (defect != CopyDefect::NoWait) b.wait_copies(0);
  if (defect != CopyDefect::NoBarrier) b.barrier();
  b.store(y[b.thread()], b.load("v", tile[((b.thread() + 32) * 4) % 256]));
  return b.finish();
}

TEST(SimulateCopies, WaitCommitAndBarrierAreAllNeeded) {
  std::vector<GlobalBuffer> buffers{counting(Storage::F32, 256), output_buffer(Storage::F32, 64)};
  expect_fault(run(staged(CopyDefect::NoWait), 1, buffers), Kind::Unwritten,
               {"asynchronous copy", "has not waited for"});
  expect_fault(run(staged(CopyDefect::NoCommit), 1, buffers), Kind::Unwritten, {"asynchronous copy"});
  const SimulationResult unordered = run(staged(CopyDefect::NoBarrier), 1, buffers);
  ASSERT_FALSE(unordered.faults.empty());
  EXPECT_TRUE(std::any_of(unordered.faults.begin(), unordered.faults.end(), [](const Fault& f) {
    return f.kind == Kind::Race;
  })) << text(unordered);
  buffers[1] = output_buffer(Storage::F32, 64);
  expect_clean(run(staged(CopyDefect::None), 1, buffers));
  for (int i = 0; i < 64; ++i) EXPECT_EQ(buffers[1].values[static_cast<std::size_t>(i)], (i + 32) * 4 % 256);
}

// A ring of `stages` buffers: time step t is read from stage t % stages while later ones are in flight.
Kernel ring(int stages, int pending, bool barrier_before_reuse, int steps = 12) {
  Builder b("ring", 64);
  auto x = b.input("x", Storage::BF16), y = b.output("y", Storage::F32);
  auto tile = b.shared("tile", Storage::BF16, stages * 128);
  const auto issue = [&](Value t) {
    b.copy_async(tile[(t % stages) * 128 + b.thread() * 2], x[t * 128 + b.thread() * 2], 2);
  };
  b.for_("p", 0, stages - 1, 1, [&](Value p) {
    issue(p);
    b.commit_copies();
  });
  b.for_("t", 0, steps, 1, [&](Value t) {
    b.wait_copies(pending);
    b.barrier();
    b.store(y[t * 64 + b.thread()], b.load("v", tile[(t % stages) * 128 + (b.constant(63) - b.thread())]));
    if (barrier_before_reuse) b.barrier();
    b.if_(t + (stages - 1) < b.constant(steps), [&] { issue(t + (stages - 1)); });
    b.commit_copies();
  });
  return b.finish();
}

TEST(SimulateCopies, RingWithGroupsPending) {
  for (const int stages : {2, 3, 4}) {
    std::vector<GlobalBuffer> buffers{input_buffer(Storage::BF16, std::vector<double>(12 * 128)),
                                      output_buffer(Storage::F32, 12 * 64)};
    for (int t = 0; t < 12; ++t)
      for (int i = 0; i < 128; ++i)
        buffers[0].values[static_cast<std::size_t>(t * 128 + i)] = static_cast<float>(t * 1000 + i);
    // The barrier before the reads also keeps stage t - 1 until all have read it, so one a step is enough.
    expect_clean(run(ring(stages, stages - 2, false), 1, buffers));
    for (int t = 0; t < 12; ++t)
      for (int i = 0; i < 64; ++i)
        ASSERT_EQ(buffers[1].values[static_cast<std::size_t>(t * 64 + i)], t * 1000 + 63 - i)
            << stages << " " << t;
    buffers[1] = output_buffer(Storage::F32, 12 * 64);
    expect_clean(run(ring(stages, stages - 2, true), 1, buffers));
  }
}

TEST(SimulateCopies, WaitingForTooFewGroups) {
  std::vector<GlobalBuffer> buffers{input_buffer(Storage::BF16, std::vector<double>(12 * 128)),
                                    output_buffer(Storage::F32, 12 * 64)};
  const SimulationResult result = run(ring(3, 2, true), 1, buffers);
  ASSERT_FALSE(result.faults.empty());
  EXPECT_EQ(result.faults[0].kind, Kind::Unwritten) << text(result);
}

// Writing a stage again while others may still read its old contents.
Kernel reuse(bool barrier) {
  Builder b("reuse", 64);
  auto x = b.input("x", Storage::F32), y = b.output("y", Storage::F32);
  auto tile = b.shared("tile", Storage::F32, 64);
  for (int turn = 0; turn < 2; ++turn) {
    if (turn > 0 && barrier) b.barrier();
    b.copy_async(tile[b.thread()], x[b.thread() + turn * 64], 1);
    b.commit_copies();
    b.wait_copies(0);
    b.barrier();
    b.store(y[b.thread() + turn * 64], b.load("v", tile[b.constant(63) - b.thread()]));
  }
  return b.finish();
}

TEST(SimulateCopies, StageReusedBeforeAllHaveReadIt) {
  std::vector<GlobalBuffer> buffers{counting(Storage::F32, 128), output_buffer(Storage::F32, 128)};
  const SimulationResult result = run(reuse(false), 1, buffers);
  ASSERT_FALSE(result.faults.empty());
  const auto race = std::find_if(result.faults.begin(), result.faults.end(), [](const Fault& f) {
    return f.kind == Kind::Race && f.message.find("copies to shared tile[") != std::string::npos;
  });
  ASSERT_NE(race, result.faults.end()) << text(result);
  EXPECT_NE(race->message.find("read by thread"), std::string::npos) << race->message;
  buffers[1] = output_buffer(Storage::F32, 128);
  expect_clean(run(reuse(true), 1, buffers));
  EXPECT_EQ(buffers[1].values[64], 127);
}

TEST(SimulateCopies, StoringToACopysTarget) {
  Builder b("store_over", 1);
  auto x = b.input("x", Storage::F32);
  auto tile = b.shared("tile", Storage::F32, 4);
  b.copy_async(tile[b.constant(0)], x[b.constant(0)], 4);
  b.store(tile[b.constant(2)], b.real(1));
  std::vector<GlobalBuffer> buffers{counting(Storage::F32, 4)};
  expect_fault(run(b.finish(), 1, buffers), Kind::Race, {"store tile[2] = 1.0", "asynchronous copy"});
}

TEST(SimulateCopies, ChangingTheSourceInFlight) {
  const auto kernel = [](bool wait_first) {
    Builder b("source", 1);
    auto x = b.output("x", Storage::F32), y = b.output("y", Storage::F32);
    auto tile = b.shared("tile", Storage::F32, 1);
    auto zero = b.constant(0);
    b.copy_async(tile[zero], x[zero], 1);
    b.commit_copies();
    if (wait_first) b.wait_copies(0);
    b.store(x[zero], b.real(9));
    b.wait_copies(0);
    b.store(y[zero], b.load("v", tile[zero]));
    return b.finish();
  };
  std::vector<GlobalBuffer> buffers{input_buffer(Storage::F32, {4}), output_buffer(Storage::F32, 1)};
  expect_fault(run(kernel(false), 1, buffers), Kind::Race, {"copy_async", "source x[0]", "in flight"});
  buffers = {input_buffer(Storage::F32, {4}), output_buffer(Storage::F32, 1)};
  expect_clean(run(kernel(true), 1, buffers));
  EXPECT_EQ(buffers[1].values[0], 4);
}

TEST(SimulateCopies, SourceAndTargetAreChecked) {
  const auto kernel = [](std::int64_t to, std::int64_t from) {
    Builder b("checked", 1);
    auto x = b.input("x", Storage::F32);
    auto tile = b.shared("tile", Storage::F32, 8);
    b.copy_async(tile[b.constant(to)], x[b.constant(from)], 4);
    return b.finish();
  };
  std::vector<GlobalBuffer> buffers{counting(Storage::F32, 8)};
  expect_clean(run(kernel(4, 4), 1, buffers));
  expect_fault(run(kernel(4, 8), 1, buffers), Kind::OutOfRange, {"global x[8]"});
  expect_fault(run(kernel(8, 4), 1, buffers), Kind::OutOfRange, {"shared tile[8]"});
  expect_fault(run(kernel(2, 4), 1, buffers), Kind::Misaligned, {"shared tile[2]"});
  expect_fault(run(kernel(4, 2), 1, buffers), Kind::Misaligned, {"global x[2]"});
  buffers[0].written[5] = false;
  expect_fault(run(kernel(4, 4), 1, buffers), Kind::Unwritten, {"global x[5]"});
}

}  // namespace
}  // namespace rondo::kernel::test
