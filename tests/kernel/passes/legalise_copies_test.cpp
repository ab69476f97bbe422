// Asynchronous copies as loads and stores: in which order these stand, and that kernels compute the same
// bits.
#include "compiler/kernel/passes/legalise_copies.h"

#include "compiler/kernel/ir/print.h"
#include "compiler/kernel/passes/features.h"
#include "compiler/kernel/passes/simplify.h"
#include "compiler/kernel/verify/verify.h"
#include "tests/kernel/harness.h"

namespace rondo::kernel::test {
namespace {

std::string text_of(const Kernel& kernel) {
  EXPECT_TRUE(verify(kernel).empty()) << verify(kernel).front();
  return print(kernel);
}

// Places of the parts in the text, which stand in this order, each once from the one before on.
void expect_in_order(const std::string& text, const std::vector<std::string>& parts) {
  std::size_t at = 0;
  for (const std::string& part : parts) {
    const std::size_t found = text.find(part, at);
    ASSERT_NE(found, std::string::npos) << part << " is not behind the one before in\n" << text;
    at = found + 1;
  }
}

// Rows of a ring, copied ahead by threads that read what others have copied.
Kernel ring(Storage storage, int elements) {
  Builder b("ring", 32);
  const Memory x = b.input("x", storage), y = b.output("y", storage);
  const int row = 32 * elements;
  const Memory staged = b.shared("staged", storage, std::int64_t{3} * row);
  const auto fetch = [&](Value step) {
    b.if_(step < 8, [&] {
      b.copy_async(staged[step % 3 * row + b.thread() * elements], x[step * row + b.thread() * elements],
                   elements);
    });
    b.commit_copies();
  };
  for (int ahead = 0; ahead < 2; ++ahead) fetch(b.constant(ahead));
  b.for_("step", 0, 8, 1, [&](Value step) {
    b.wait_copies(1);
    b.barrier();
    fetch(step + 2);
    const Value other = (b.constant(31) - b.thread()) * elements;
    for (int e = 0; e < elements; ++e)
      b.store(y[step * row + other + e], b.load("v", staged[step % 3 * row + other + e]));
  });
  return b.finish();
}

TEST(LegaliseCopies, KernelsComputeTheSameBits) {
  for (const Storage storage : {Storage::F32, Storage::BF16, Storage::F16})
    for (const int bytes : {4, 8, 16}) {
      const int elements = bytes / storage_bytes(storage);
      const Kernel kernel = ring(storage, elements), without = legalise_copies(kernel);
      SCOPED_TRACE(text_of(without));
      EXPECT_TRUE(features_of(kernel).contains(Feature::AsyncCopy));
      EXPECT_FALSE(features_of(without).contains(Feature::AsyncCopy));
      std::vector<std::vector<float>> results;
      for (const Kernel* one : {&kernel, &without}) {
        std::vector<GlobalBuffer> buffers{counting(storage, 8 * 32 * elements),
                                          output_buffer(storage, 8 * 32 * elements)};
        expect_clean(run(*one, 1, buffers));
        results.push_back(buffers[1].values);
      }
      EXPECT_EQ(results[0], results[1]);
    }
}

TEST(LegaliseCopies, LoadsOfNeighboursComeBeforeTheirStores) {
  Builder b("k", 32);
  const Memory x = b.input("x", Storage::BF16);
  const Memory staged = b.shared("staged", Storage::BF16, 4096);
  for (int i = 0; i < 2; ++i) {
    const Value at = b.let("at", b.thread() * 8 + i * 256);
    b.copy_async(staged[at], x[at], 8);
  }
  b.commit_copies();
  b.wait_copies(0);
  b.barrier();
  const Kernel without = legalise_copies(b.finish());
  const std::string text = text_of(without);
  expect_in_order(text, {"copied_0", "copied_4", "store", "copied_0", "store", "copied_4", "barrier"});
  EXPECT_EQ(text.find("commit"), std::string::npos) << text;
  EXPECT_EQ(text.find("wait"), std::string::npos) << text;
}

// A store that waited until behind a barrier would come too late, and one behind a change of a variable
// elsewhere.
TEST(LegaliseCopies, StoresWaitForNothingButOtherCopies) {
  Builder b("k", 32);
  const Memory x = b.input("x", Storage::F32);
  const Memory staged = b.shared("staged", Storage::F32, 4096);
  const Value slot = b.variable("slot", b.constant(0));
  b.copy_async(staged[slot * 32 + b.thread()], x[b.thread()], 1);
  b.assign(slot, slot + 1);
  b.copy_async(staged[slot * 32 + b.thread()], x[b.thread() + 32], 1);
  b.barrier();
  b.copy_async(staged[slot * 32 + b.thread() + 64], x[b.thread() + 64], 1);
  const Kernel without = legalise_copies(b.finish());
  expect_in_order(text_of(without), {"load x", "store staged", "slot =", "load x", "store staged", "barrier",
                                     "load x", "store staged"});
}

TEST(LegaliseCopies, SoManyRegistersWaitAndNoMore) {
  Builder b("k", 32);
  const Memory x = b.input("x", Storage::F32);
  const Memory staged = b.shared("staged", Storage::F32, 4096);
  constexpr int kCopies = kMostInFlight / 4;  // of four words
  for (int i = 0; i <= kCopies; ++i)
    b.copy_async(staged[b.thread() * 4 + 128 * i], x[b.thread() * 4 + 128 * i], 4);
  const std::string text = text_of(legalise_copies(b.finish()));
  std::vector<std::string> order(kCopies, "load x");
  order.insert(order.end(), kCopies, "store staged");
  order.insert(order.end(), {"load x", "store staged"});
  expect_in_order(text, order);
}

TEST(LegaliseCopies, LeavesOtherKernelsAndTheirNames) {
  Builder b("k", 32);
  const Memory x = b.input("x", Storage::F32), y = b.output("y", Storage::F32);
  b.store(y[b.thread()], b.load("copied_0", x[b.thread()]));
  const Kernel kernel = b.finish();
  EXPECT_EQ(text_of(legalise_copies(kernel)), text_of(kernel));

  Builder c("k", 32);
  const Memory from = c.input("from", Storage::F32), to = c.output("to", Storage::F32);
  const Memory staged = c.shared("staged", Storage::F32, 32);
  const Value named = c.load("copied_0", from[c.thread()]);
  c.copy_async(staged[c.thread()], from[c.thread()], 1);
  c.wait_copies(0);
  c.store(to[c.thread()], named + c.load("v", staged[c.thread()]));
  std::vector<GlobalBuffer> buffers{counting(Storage::F32, 32), output_buffer(Storage::F32, 32)};
  const Kernel without = legalise_copies(c.finish());
  EXPECT_NE(text_of(without).find("copied_1"), std::string::npos) << text_of(without);
  expect_clean(run(without, 1, buffers));
  EXPECT_EQ(buffers[1].values[5], 10);
}

}  // namespace
}  // namespace rondo::kernel::test
