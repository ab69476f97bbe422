// What a cold branch computes anew: which values, and that kernels compute the same bits afterwards.
#include "compiler/kernel/passes/rematerialise.h"

#include <functional>

#include "compiler/kernel/ir/print.h"
#include "compiler/kernel/ir/visit.h"
#include "compiler/kernel/passes/simplify.h"
#include "compiler/kernel/verify/verify.h"
#include "tests/kernel/harness.h"

namespace rondo::kernel::test {
namespace {

std::string body_text(const Kernel& kernel) {
  EXPECT_TRUE(verify(kernel).empty()) << verify(kernel).front();
  return print(kernel);
}

// A walk that ends with a cold branch. `cold`: whether it is marked.
Kernel walk(bool cold) {
  Builder b("walk", 64);
  auto x = b.input("x", Storage::F32), y = b.output("y", Storage::F32);
  const Value tile = b.let("tile", b.block() * b.named("kTile", 64, "a block's"));
  const Value place = b.let("place", tile + b.thread());
  const Value start = b.load("start", x[place]);
  const Value scale = b.let("scale", start * b.real(2));
  const Value sum = b.variable("sum", b.real(0));
  b.for_("t", 0, 4, 1, [&](Value) { b.assign(sum, sum + start); });
  b.store(y[place], sum);
  const auto anew = [&] {
    const Value own = b.let("own", place + 1);
    b.store(y[own - 1], scale + sum);
  };
  cold ? b.if_cold(start < b.real(40), anew) : b.if_(start < b.real(40), anew);
  return b.finish();
}

TEST(Rematerialise, CopiesWhatComesOfBuiltinsAndArguments) {
  const Kernel plain = walk(true);
  const std::string text = body_text(rematerialise_cold(plain));
  const std::size_t branch = text.find("if cold ");
  ASSERT_NE(branch, std::string::npos) << text;
  const std::string inside = text.substr(branch);
  EXPECT_NE(inside.find("tile_anew: i32 = block * kTile"), std::string::npos) << text;
  EXPECT_NE(inside.find("place_anew: i32 = tile_anew + thread"), std::string::npos) << text;
  EXPECT_NE(inside.find("own: i32 = place_anew + 1"), std::string::npos) << text;
  EXPECT_EQ(inside.find("start_anew"), std::string::npos) << "what was loaded: " << text;
  EXPECT_EQ(inside.find("scale_anew"), std::string::npos) << "what comes of a loaded value: " << text;
  EXPECT_EQ(inside.find("sum_anew"), std::string::npos) << "a variable: " << text;
  EXPECT_EQ(text.substr(0, branch), body_text(plain).substr(0, branch)) << "what stands before the branch";
}

TEST(Rematerialise, LeavesBranchesThatAreNotCold) {
  const Kernel plain = walk(false);
  EXPECT_EQ(body_text(rematerialise_cold(plain)), body_text(plain));
}

TEST(Rematerialise, CopiesNoValueThatALoopOrAnArrayGives) {
  Builder b("k", 32);
  auto y = b.output("y", Storage::I32);
  const Array kept = b.array("kept", Type::I32, 1);
  b.write(kept, b.constant(0), b.thread());
  const Value read = b.let("read", b.read(kept, b.constant(0)) * 2);
  b.for_("i", 0, 3, 1, [&](Value i) {
    const Value of_loop = b.let("of_loop", i + 1);
    b.if_cold(b.thread() < 7, [&] {
      b.store(y[b.thread()], of_loop + read);
      b.if_(of_loop == 2, [&] { b.store(y[b.thread()], read); });
    });
  });
  const Kernel plain = b.finish();
  EXPECT_EQ(body_text(rematerialise_cold(plain)), body_text(plain));
}

TEST(Rematerialise, CopiesIntoBothBodiesWithNamesOfTheirOwn) {
  Builder b("k", 32);
  auto y = b.output("y", Storage::I32);
  const Value n = b.let("n", b.thread() * 3);
  b.store(y[n], n);
  b.if_cold(
      b.thread() < 7, [&] { b.store(y[n], n + 1); }, [&] { b.store(y[n], n + 2); });
  const std::string text = body_text(rematerialise_cold(b.finish()));
  EXPECT_NE(text.find("store y[n_anew] = n_anew + 1"), std::string::npos) << text;
  EXPECT_NE(text.find("store y[n_anew_2] = n_anew_2 + 2"), std::string::npos) << text;
}

// A cold branch within up to three loops and sides of conditions: `places` has two bits for each of them.
Kernel nested(unsigned places, int depth) {
  Builder b("nested", 32);
  auto x = b.input("x", Storage::F32), y = b.output("y", Storage::F32);
  const Value place = b.let("place", b.block() * 32 + b.thread());
  const Value v = b.load("v", x[place]);
  const std::function<void(unsigned, int)> within = [&](unsigned left, int levels) {
    const auto inner = [&] { within(left / 4, levels - 1); };
    const auto other = [&] { b.store(y[place], v + v); };
    if (levels == 0)
      b.if_cold(v < b.real(9), [&] { b.store(y[place], v); });
    else if (left % 4 == 0)
      b.for_("i", 0, 3, 1, [&](Value) { inner(); });
    else if (left % 4 == 1)
      b.if_(v < b.real(7), inner);
    else if (left % 4 == 2)
      b.if_(v < b.real(6), inner, other);
    else
      b.if_(v < b.real(5), other, inner);
  };
  within(places, depth);
  return b.finish();
}

TEST(Rematerialise, CopiesWhereverTheBranchStands) {
  for (int depth = 0; depth <= 3; ++depth)
    for (unsigned places = 0; places < 1U << 2 * depth; ++places) {
      const std::string text = body_text(rematerialise_cold(nested(places, depth)));
      const std::size_t branch = text.find("if cold ");
      ASSERT_NE(branch, std::string::npos) << text;
      EXPECT_NE(text.find("store y[place_anew] = v\n", branch), std::string::npos) << text;
    }
}

// What the kernel makes of 0, 1, 2, ...
std::vector<float> results(const Kernel& kernel, const std::function<void(const SimulationResult&)>& check) {
  std::vector<GlobalBuffer> buffers{counting(Storage::F32, 128), output_buffer(Storage::F32, 128)};
  check(run(kernel, 2, buffers));
  return buffers[1].values;
}

// The comparison sees a copy that is not the value it stands for: a thread where the tile stands.
TEST(Rematerialise, KernelsComputeTheSame) {
  const Kernel plain = walk(true);
  const Kernel anew = rematerialise_cold(plain);
  const std::vector<float> wanted = results(plain, expect_clean);
  EXPECT_EQ(results(anew, expect_clean), wanted);
  EXPECT_EQ(wanted[3], 3.0f * 2 + 3 * 4);
  Kernel wrong = anew;
  int copies = 0;
  for_each_statement(wrong.body, [&](Stmt& stmt) {
    auto* let = std::get_if<Let>(&stmt.node);
    if (let == nullptr || wrong.registers[static_cast<std::size_t>(let->reg)].name != "tile_anew") return;
    ++copies;
    wrong.expressions.push_back({Type::I32, BuiltinRead{Builtin::ThreadX}});
    let->value = static_cast<ExprId>(wrong.expressions.size()) - 1;
  });
  EXPECT_EQ(copies, 1);
  EXPECT_NE(results(wrong, [](const SimulationResult&) {}), wanted);
}

}  // namespace
}  // namespace rondo::kernel::test
