// A place that several threads have read may be overwritten by who is ordered after all of them.
#include "tests/kernel/harness.h"

namespace rondo::kernel::test {
namespace {

using Kind = Fault::Kind;

// Thread 0 writes a cell, the block meets, and warps 0 and 1 read the cell with nothing that orders them.
// Those in `tell` then say so to warp 2, which overwrites the cell.
Kernel two_readers(const std::vector<int>& tell) {
  Builder b("readers", 96);
  auto y = b.output("y", Storage::F32);
  auto cell = b.shared("cell", Storage::F32, 1);
  const auto read = b.mbarrier("read", 1, static_cast<int>(tell.size()));
  const Value zero = b.constant(0), warp = b.thread() / 32, lane = b.thread() % 32;
  b.if_(b.thread() == 0, [&] { b.store(cell[zero], b.real(4)); });
  b.barrier();
  for (const int number : {0, 1})
    b.if_(warp == number && lane == 0, [&] {
      b.store(y[warp], b.load("v", cell[zero]));
      for (const int teller : tell)
        if (teller == number) b.arrive(read, zero);
    });
  b.if_(warp == 2 && lane == 0, [&] {
    b.wait(read, zero, zero);
    b.store(cell[zero], b.real(5));
  });
  return b.finish();
}

TEST(SimulateReaders, AWriterIsOrderedAfterEachOfThem) {
  std::vector<GlobalBuffer> buffers{output_buffer(Storage::F32, 2)};
  expect_clean(run(two_readers({0, 1}), 1, buffers));
  buffers[0] = output_buffer(Storage::F32, 2);
  expect_fault(run(two_readers({0}), 1, buffers), Kind::Race,
               {"writes shared cell[0]", "read by thread 32 "});
  buffers[0] = output_buffer(Storage::F32, 2);
  expect_fault(run(two_readers({1}), 1, buffers), Kind::Race, {"writes shared cell[0]", "read by thread 0 "});
}

// The same with a global buffer that the launch writes, and three readers of which the writer has heard of
// two.
TEST(SimulateReaders, OfGlobalMemoryToo) {
  const auto kernel = [](int silent) {
    Builder b("readers", 128);
    auto cell = b.output("cell", Storage::F32);
    auto y = b.output("y", Storage::F32);
    const auto read = b.mbarrier("read", 1, 2);
    const Value zero = b.constant(0), warp = b.thread() / 32, lane = b.thread() % 32;
    b.if_(b.thread() == 0, [&] { b.store(cell[zero], b.real(4)); });
    b.barrier();
    for (int number = 0; number < 3; ++number)
      b.if_(warp == number && lane == 0, [&] {
        b.store(y[warp], b.load("v", cell[zero]));
        if (number != silent) b.arrive(read, zero);
      });
    b.if_(warp == 3 && lane == 0, [&] {
      b.wait(read, zero, zero);
      b.store(cell[zero], b.real(5));
    });
    return b.finish();
  };
  for (int silent = 0; silent < 3; ++silent) {
    std::vector<GlobalBuffer> buffers{output_buffer(Storage::F32, 1), output_buffer(Storage::F32, 3)};
    expect_fault(run(kernel(silent), 1, buffers), Kind::Race,
                 {"cell[0]", "read by thread " + std::to_string(32 * silent) + " "});
  }
}

// A reader that comes again in step with the others counts once more: after the block has met, a later read
// of one of them is what the writer must wait for.
TEST(SimulateReaders, AReadAfterTheMeetingCounts) {
  const auto kernel = [](bool again, bool tell) {
    Builder b("readers", 96);
    auto y = b.output("y", Storage::F32);
    auto cell = b.shared("cell", Storage::F32, 1);
    const auto read = b.mbarrier("read", 1, 1);
    const Value zero = b.constant(0), warp = b.thread() / 32, lane = b.thread() % 32;
    b.if_(b.thread() == 0, [&] { b.store(cell[zero], b.real(4)); });
    b.barrier();
    b.if_(warp < 2, [&] { b.store(y[b.thread()], b.load("v", cell[zero])); });
    b.barrier();
    b.if_(warp == 1 && lane == 3, [&] {
      if (again) b.store(y[b.constant(64)], b.load("w", cell[zero]));
      if (tell) b.arrive(read, zero);
    });
    b.if_(warp == 2 && lane == 0, [&] {
      if (tell) b.wait(read, zero, zero);
      b.store(cell[zero], b.real(5));
    });
    return b.finish();
  };
  for (const auto& [again, tell] : {std::pair{false, false}, {true, true}}) {
    std::vector<GlobalBuffer> buffers{output_buffer(Storage::F32, 65)};
    expect_clean(run(kernel(again, tell), 1, buffers));
  }
  std::vector<GlobalBuffer> buffers{output_buffer(Storage::F32, 65)};
  expect_fault(run(kernel(true, false), 1, buffers), Kind::Race,
               {"writes shared cell[0]", "read by thread 35 "});
}

}  // namespace
}  // namespace rondo::kernel::test
