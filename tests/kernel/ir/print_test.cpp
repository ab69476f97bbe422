// The printed form of a kernel that holds every statement and expression, as a golden file.
#include "compiler/kernel/ir/print.h"

#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>

#include "compiler/kernel/verify/verify.h"
#include "tests/kernel/harness.h"

namespace rondo::kernel::test {
namespace {

std::string source_folder() {
  const char* folder = std::getenv("RONDO_SOURCE_DIR");
  return folder != nullptr ? folder : RONDO_SOURCE_DIR;
}

// Compares with tests/golden/kernel/NAME; RONDO_UPDATE_GOLDEN=1 writes it instead.
void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = source_folder() + "/tests/golden/kernel/" + name;
  if (const char* update = std::getenv("RONDO_UPDATE_GOLDEN");
      update != nullptr && std::string(update) == "1")
    std::ofstream(path) << text;
  std::ifstream file(path);
  ASSERT_TRUE(file) << path << " is missing: run with RONDO_UPDATE_GOLDEN=1 to write it";
  std::stringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(text, golden.str()) << "if this is meant, run with RONDO_UPDATE_GOLDEN=1";
}

Kernel everything() {
  Builder b("everything", 64, Math::Accurate, "holds one of each\nfor the printer");
  b.set_min_blocks(2);
  auto x = b.input("x", Storage::BF16, "[n], the input"), y = b.output("y", Storage::F32, "[n]");
  auto n = b.argument("n", Type::I64, "elements");
  auto tile = b.shared("tile", Storage::BF16, 512, "[stages, 128]");
  auto rows = b.named("ROWS", 4, "rows a block");
  b.comment("stage 0");
  auto i = b.let("i", (b.block() * rows + b.thread()) * 2);
  b.copy_async(tile[i % 128], x[i], 2);
  b.commit_copies();
  b.wait_copies(0);
  b.barrier();
  auto a = b.array("a", Type::F32, 2);
  auto sum = b.variable("sum", b.real(0));
  auto v = b.load_vector("v", tile[i % 128], 2, CacheHint::Default);
  auto w = b.load("w", x[i - (i - 1)], CacheHint::Streaming);
  b.for_("k", 0, 2, kFullUnroll, [&](Value k) { b.write(a, k, b.math(scalar::Op::Fma, {v[0], v[1], w})); });
  b.for_("t", b.constant(0), b.thread(), rows, 4,
         [&](Value t) { b.assign(sum, sum + b.read(a, b.constant(1)) * (w - b.to_real(t)) / b.real(-1.5)); });
  b.warp_sync();
  auto other = b.shuffle("other", sum, ShuffleMode::Xor, b.constant(16));
  b.ballot("votes", i == 3);
  const Value low{&b, b.add({Type::I32, IntExpr{IntOp::Shr, i.id(), b.constant(1).id()}})};
  const Value bound{&b, b.add({Type::Pred, LogicExpr{Logic::Not, (b.wide(i) < n).id(), -1}})};
  b.if_((b.wide(low) < n && i >= 3) || bound,
        [&] {
          b.store(y[min(i, low)], b.select(i == 3, sum, b.math(scalar::Op::Tanh, {other})),
                  CacheHint::Streaming);
        },
        [&] {
          b.store_vector(y[b.wide(low) * b.constant(2, Type::I64)], {sum, b.math(scalar::Op::Neg, {w})});
        });
  return raw(b);
}

TEST(Print, EveryNode) {
  const Kernel kernel = everything();
  EXPECT_TRUE(verify(kernel).empty()) << verify(kernel).front();
  expect_golden("everything.txt", print(kernel));
}

Kernel every_unit() {
  Builder b("units", 128);
  b.set_cluster(4);
  b.set_cooperative();
  auto x = b.input("x", Storage::BF16), y = b.output("y", Storage::F16);
  auto flags = b.output("flags", Storage::I32);
  auto tile = b.shared("tile", Storage::BF16, 512);
  auto full = b.mbarrier("full", 2, 32, "tiles that are here"), done = b.mbarrier("done", 1, 128);
  auto zero = b.constant(0), rank = b.let("rank", b.cluster_rank());
  auto pairs = b.load_packed("p", x[b.thread() * 4], 2, CacheHint::Streaming);
  b.store_packed(tile[b.thread() * 4], pairs);
  b.store_packed(y[b.thread() * 2],
                 {b.pack(Storage::F16, b.unpack(Storage::BF16, pairs[0], false),
                         b.unpack(Storage::BF16, pairs[1], true) * b.real(2))},
                 CacheHint::Streaming);
  auto a = b.array("a", Type::I32, 6);
  auto acc = b.array("acc", Type::F32, 8);
  b.for_("i", 0, 8, kFullUnroll, [&](Value i) { b.write(acc, i, b.real(0)); });
  b.if_(b.thread() / 32 == 1, [&] {
    b.load_matrix(a, zero, 4, false, tile[b.thread() % 16 * 16]);
    b.load_matrix(a, b.constant(4), 2, true, tile[b.thread() % 16 * 16]);
    b.for_("m", 0, 2, kFullUnroll,
           [&](Value m) { b.mma(Storage::BF16, acc, m * 4, a, zero, a, b.constant(4)); });
    b.named_barrier(3, 32);
    b.expect(full, rank % 2, b.constant(64));
    b.store_async(tile[b.thread() * 2], {pairs[0]}, (rank + 1) % 4, full, rank % 2);
    b.wait(full, rank % 2, zero);
  });
  b.if_(
      b.thread() < 64, [&] { b.named_barrier(1, 128, false); }, [&] { b.named_barrier(1, 128); });
  b.arrive(done, zero);
  b.arrive(done, zero, b.constant(3));
  b.cluster_barrier();
  b.set_max_nreg(40, false);
  b.grid_arrive(flags[zero]);
  b.grid_wait(flags[zero], b.builtin(Builtin::GridX) * 128);
  return raw(b);
}

TEST(Print, EveryUnit) {
  const Kernel kernel = every_unit();
  EXPECT_TRUE(verify(kernel).empty()) << verify(kernel).front();
  expect_golden("units.txt", print(kernel));
}

TEST(Print, ParenthesesOnlyWhereNeeded) {
  Builder b("k", 32);
  const Value t = b.thread();
  const auto text = [&](Value v) { return print(b.kernel(), v.id()); };
  EXPECT_EQ(text(t - (t - 1)), "thread - (thread - 1)");
  EXPECT_EQ(text(t - t - 1), "thread - thread - 1");
  EXPECT_EQ(text((t + 1) * 2), "(thread + 1) * 2");
  EXPECT_EQ(text(t * 2 + t / 3), "thread * 2 + thread / 3");
  EXPECT_EQ(text(b.select(t < 1, t, b.select(t < 2, t, t))),
            "thread < 1 ? thread : (thread < 2 ? thread : thread)");
}

TEST(Print, NumbersRoundTrip) {
  Builder b("k", 32);
  for (const float value : {1.0f, -0.0f, 0.1f, 1e20f, 3.4028235e38f, 1e-45f, 16777216.0f})
    EXPECT_EQ(std::strtof(print(b.kernel(), b.real(value).id()).c_str(), nullptr), value);
  EXPECT_EQ(print(b.kernel(), b.real(-0.0).id()), "-0.0");
  EXPECT_EQ(print(b.kernel(), b.constant(5, Type::I64).id()), "5L");
}

TEST(Print, MalformedKernelsPrintToo) {
  Kernel kernel;
  kernel.name = "broken";
  kernel.expressions.push_back({Type::I32, IntExpr{IntOp::Add, 0, 7}});
  kernel.expressions.push_back({Type::I32, RegRead{5}});
  kernel.body.push_back({Let{3, 0}});
  kernel.body.push_back({DeclareArray{2}});
  kernel.body.push_back({Store{{1}, {Space::Shared, 9, 1}, CacheHint::Default}});
  EXPECT_EQ(print(kernel, kernel.body[0]), "let <register 3?>: ? = <expression 0?> + <expression 7?>");
  EXPECT_EQ(print(kernel, kernel.body[1]), "array <array 2?>");
  EXPECT_EQ(print(kernel, kernel.body[2]), "store <shared 9?>[<register 5?>] = <register 5?>");
  EXPECT_EQ(print(kernel, {MbarrierWait{{4, 1}, 1}}),
            "wait <mbarrier 4?>[<register 5?>] parity <register 5?>");
  EXPECT_EQ(print(kernel, {Mma{Storage::F16, {0, 1}, {}, {2, 1}}}),
            "mma.fp16 <array 0?>[<register 5?>..] += <array -1?>[<expression -1?>..] * <array 2?>[<register "
            "5?>..]");
}

TEST(Print, ProductsOfFp32) {
  Builder b("k", 32, Math::Tf32);
  const Array sum = b.array("sum", Type::F32, 4), x = b.array("x", Type::F32, 12);
  const Value zero = b.constant(0);
  b.write(x, zero, b.round_tf32(b.read(x, b.constant(3)) + b.real(1)));
  const std::string kernel = print(b.kernel());
  EXPECT_NE(kernel.find("math tf32"), std::string::npos) << kernel;
  EXPECT_NE(kernel.find("tf32(x[3] + 1.0)"), std::string::npos) << kernel;
  const ArraySlice at{sum.id, zero.id()}, of{x.id, zero.id()};
  EXPECT_EQ(print(b.kernel(), {Mma{Storage::F32, at, of, of}}), "mma.fp32 sum[0..] += x[0..] * x[0..]");
  EXPECT_EQ(print(b.kernel(), {Mma{Storage::F32, at, of, of, true}}),
            "mma.fp32.tf32x3 sum[0..] += x[0..] * x[0..]");
}

TEST(SharedLayout, ArraysFollowEachOtherAlignedTo16Bytes) {
  Builder b("k", 32);
  b.shared("a", Storage::BF16, 3);
  b.shared("b", Storage::F32, 5);
  b.shared("c", Storage::I32, 1);
  EXPECT_EQ(shared_offsets(b.kernel()), (std::vector<std::int64_t>{0, 16, 48}));
  EXPECT_EQ(shared_bytes(b.kernel()), 64);
  EXPECT_EQ(shared_bytes(Builder("k", 32).kernel()), 0);
}

TEST(SharedLayout, MbarriersFollowTheArraysInEightBytesEach) {
  Builder b("k", 32);
  b.mbarrier("first", 3, 1);
  b.shared("a", Storage::BF16, 3);
  b.mbarrier("second", 2, 1);
  EXPECT_EQ(mbarrier_offsets(b.kernel()), (std::vector<std::int64_t>{16, 40}));
  EXPECT_EQ(shared_bytes(b.kernel()), 64);  // 16 + 5 * 8, rounded up
}

}  // namespace
}  // namespace rondo::kernel::test
