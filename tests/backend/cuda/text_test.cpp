// Pieces of the emitted text: literals, names, comments, what is left out.
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <utility>

#include "compiler/backend/cuda/emit.h"
#include "compiler/backend/cuda/expressions.h"
#include "compiler/backend/cuda/math_table.h"
#include "compiler/backend/cuda/statements.h"
#include "tests/backend/cuda/kernels.h"

namespace rondo::backend::cuda {
namespace {

using namespace kernel;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(CudaText, FloatLiteralsReadBackAsTheSameFloat) {
  for (float value : {0.1f, 1.0f / 3, 1e-45f, 1.17549435e-38f, 16777217.0f, 3.4028235e38f, -7.5e-10f}) {
    const std::string text = float_literal(static_cast<double>(value)).text;
    EXPECT_EQ(text.back(), 'f');
    EXPECT_EQ(std::strtof(text.c_str(), nullptr), value) << text;
  }
  EXPECT_EQ(float_literal(1).text, "1.0f");
  EXPECT_EQ(float_literal(1e30).text, "1e+30f");
  EXPECT_EQ(float_literal(1e300).text, "__int_as_float(0x7f800000)");
  EXPECT_EQ(float_literal(-std::numeric_limits<double>::infinity()).text, "__int_as_float(0xff800000)");
}

TEST(CudaText, IntegerLiterals) {
  EXPECT_EQ(integer_literal(-3, false).text, "-3");
  EXPECT_EQ(integer_literal(std::numeric_limits<std::int32_t>::min(), false).text, "-2147483647 - 1");
  EXPECT_EQ(integer_literal(std::numeric_limits<std::int64_t>::min(), true).text,
            "-9223372036854775807LL - 1");
  EXPECT_EQ(integer_literal(std::numeric_limits<std::int32_t>::min(), true).text, "-2147483648LL");
}

TEST(CudaText, EveryOpHasItsRow) {
  for (int op = 0; op < scalar::kKernelOpCount; ++op) {
    const MathText& row = math_text(static_cast<scalar::Op>(op));
    EXPECT_EQ(row.op, static_cast<scalar::Op>(op));
    EXPECT_FALSE(row.fast.text.empty());
    EXPECT_FALSE(row.accurate.text.empty());
  }
}

TEST(CudaText, NamesAreValidAndDistinct) {
  Kernel kernel;
  kernel.name = "k";
  for (const char* name : {"while", "while_", "h'", "h_", "2x", "", "__a", "threadIdx", "load_bf16x4",
                           "tanh_approx", "linux", "k"})
    kernel.registers.push_back({name, Type::F32});
  const Names names(kernel);
  const std::vector<std::string> expected = {
      "while_", "while__",    "h_",           "h__",          "v2x",    "v",
      "v_a",    "threadIdx_", "load_bf16x4_", "tanh_approx_", "linux_", "k_"};
  for (int i = 0; i < static_cast<int>(expected.size()); ++i)
    EXPECT_EQ(names.reg(i), expected[static_cast<std::size_t>(i)]);
}

TEST(CudaText, CommentsCannotSwallowCode) {
  EXPECT_EQ(comment_lines("one\ntwo \\\n\nlast\\", "  "), "  // one\n  // two \\.\n  //\n  // last\\.\n");
}

TEST(CudaText, OnlyWhatIsUsedIsPrinted) {
  Builder b("k", 32);
  const Memory y = b.output("y", Storage::F32);
  b.named("kUnused", 3);
  b.store(y[b.thread()], b.real(1));
  const Kernel kernel = b.finish();
  const std::string text = emit({&kernel});
  for (const char* absent : {"kUnused", "block_x", "shared_memory", "__device__", "i64", "bf16"})
    EXPECT_FALSE(contains(text, absent)) << absent << "\n" << text;
}

TEST(CudaText, KernelsShareTheirHelpers) {
  const Kernel a = testing::axpy(), b = testing::every_access();
  const std::string text = emit({&a, &b});
  EXPECT_EQ(text.find("float bf16_to_float(bf16 x)"), text.rfind("float bf16_to_float(bf16 x)"));
  EXPECT_LT(text.find("axpy("), text.find("every_access("));
  EXPECT_EQ(emit({}), "");
}

TEST(CudaText, EachKernelIsAUnitOfItsOwnBelowTheHelpers) {
  const Kernel a = testing::axpy(), b = testing::every_access();
  const Unit unit = emit_unit({&a, &b});
  EXPECT_EQ(unit.text, emit({&a, &b}));
  ASSERT_EQ(unit.kernels.size(), 2U);
  const std::string helpers = unit.text.substr(0, unit.kernels[0]);
  const std::string first = unit.text.substr(unit.kernels[0], unit.kernels[1] - unit.kernels[0]);
  const std::string second = unit.text.substr(unit.kernels[1]);
  EXPECT_TRUE(contains(helpers, "float bf16_to_float(bf16 x)"));
  EXPECT_TRUE(contains(first, "axpy(") && !contains(first, "every_access("));
  EXPECT_TRUE(contains(second, "every_access(") && !contains(second, "axpy("));
  EXPECT_TRUE(emit_unit({}).kernels.empty());
}

// What another block writes must be loaded after the wait for it: `restrict` would allow otherwise.
TEST(CudaText, BuffersOfKernelsWhoseBlocksMeetAreNotRestrict) {
  const auto text = [](int cluster, bool cooperative) {
    Builder b("k", 32);
    b.set_cluster(cluster);
    if (cooperative) b.set_cooperative();
    const Memory x = b.input("x", Storage::F32), y = b.output("y", Storage::F32);
    b.store(y[b.thread()], b.load("v", x[b.thread()]));
    const Kernel kernel = b.finish();
    return emit({&kernel});
  };
  EXPECT_TRUE(contains(text(1, false), "float* __restrict__ y)"));
  for (const auto& [cluster, cooperative] : {std::pair{1, true}, {4, false}, {4, true}}) {
    EXPECT_TRUE(contains(text(cluster, cooperative), "const float* __restrict__ x,"));
    EXPECT_TRUE(contains(text(cluster, cooperative), "float* y)"));
  }
  EXPECT_TRUE(contains(text(4, false), "void __cluster_dims__(4, 1, 1) __launch_bounds__(32, 1) k("));
  EXPECT_FALSE(contains(text(1, true), "__cluster_dims__"));
}

TEST(CudaText, MbarriersAreInitialisedBeforeTheBody) {
  const auto text = [](int cluster) {
    Builder b("k", 32);
    b.set_cluster(cluster);
    b.shared("tile", Storage::F32, 3);
    const Mbarrier one = b.mbarrier("one", 1, 32, "a comment"), many = b.mbarrier("mbarrier_wait", 3, 5);
    b.arrive(one, b.constant(0));
    b.wait(many, b.constant(2), b.constant(1));
    const Kernel kernel = b.finish();
    return emit({&kernel});
  };
  const std::string setup =
      "  if (threadIdx.x == 0) {\n    mbarrier_init(&one[0], 32);\n"
      "    for (int i = 0; i < 3; ++i) mbarrier_init(&mbarrier_wait_[i], 5);\n";
  EXPECT_TRUE(contains(text(1), setup + "  }\n  __syncthreads();\n\n  mbarrier_arrive(&one[0]);\n"
                                        "  mbarrier_wait(&mbarrier_wait_[2], 1, nullptr);\n}\n"))
      << text(1);
  EXPECT_TRUE(contains(text(1), "mbarrier* const one = reinterpret_cast<mbarrier*>(shared_memory + 16); "));
  EXPECT_TRUE(contains(text(1), "// a comment\n"));
  EXPECT_TRUE(contains(text(2), setup + "    publish_mbarriers();\n  }\n  cluster_barrier();\n\n"
                                        "  mbarrier_arrive(&one[0]);\n"
                                        "  mbarrier_wait(&mbarrier_wait_[2], 1, nullptr);\n"))
      << text(2);
}

// Only what other blocks signal is waited for with what they did before.
TEST(CudaText, WaitsForOtherBlocksAndForTheOwn) {
  Builder b("k", 32);
  b.set_cluster(2);
  const Memory shared = b.shared("values", Storage::F32, 64);
  const Mbarrier own = b.mbarrier("own", 1, 32), arrived = b.mbarrier("arrived", 1, 32),
                 sent = b.mbarrier("sent", 1, 32);
  const Value zero = b.constant(0), other = b.constant(1) - b.cluster_rank();
  b.arrive(own, zero);
  b.if_(b.thread() >= 0, [&] { b.arrive(arrived, zero, other); });
  b.expect(sent, zero, b.constant(4));
  b.for_("i", 0, 1, 1, [&](Value) { b.store_async(shared[b.thread()], {b.real(1)}, other, sent, zero); });
  for (const Mbarrier& barrier : {own, arrived, sent}) b.wait(barrier, zero, zero);
  b.cluster_barrier();
  const Kernel kernel = b.finish();
  const std::string text = emit({&kernel});
  for (const char* call :
       {" mbarrier_wait(&own[0]", " mbarrier_wait_cluster(&arrived[0]", " mbarrier_wait_cluster(&sent[0]"})
    EXPECT_TRUE(contains(text, call)) << call;
}

// A delay stands before the first look, and a load without one has no trace of it.
TEST(CudaText, ALoadOfWordsMayRestFirst) {
  for (const int rest : {0, 300}) {
    Builder b("k", 32);
    const Memory words = b.output("words", Storage::I32);
    b.set_cooperative();
    const Array got = b.array("got", Type::I32, 4);
    b.load_self_flagged(got, b.constant(0), 1, words[b.thread() * 4], b.constant(0), true, rest);
    const Kernel kernel = b.finish();
    const std::string text = emit({&kernel});
    const std::size_t first = text.find("  rest_cycles(300);\n  load_flagged_together<1>(");
    EXPECT_EQ(first != std::string::npos, rest > 0);
    EXPECT_EQ(contains(text, "rest_cycles"), rest > 0) << text;
  }
}

// Too many arrivals at a phase that never completes are an error of the hardware, not a status.
TEST(CudaText, WhoWaitedInVainExpectsNothingMore) {
  Builder b("k", 32);
  b.set_cluster(2);
  b.set_status(b.output("status", Storage::I32));
  const Mbarrier ready = b.mbarrier("ready", 1, 1);
  b.wait(ready, b.constant(0), b.constant(0));
  b.expect(ready, b.constant(0), b.constant(64));
  const Kernel kernel = b.finish();
  const std::string text = emit({&kernel});
  EXPECT_TRUE(contains(text, "  bool in_vain = false;\n")) << text;
  EXPECT_TRUE(contains(text,
                       "  in_vain |= mbarrier_wait(&ready[0], 0, status);\n"
                       "  if (!in_vain) mbarrier_expect(&ready[0], 64);\n"))
      << text;
}

// A cold branch is a function. It gets what it reads, and what it assigns comes back.
TEST(CudaText, ColdBranchesAreFunctions) {
  Builder b("cold", 32);
  b.set_cluster(2);
  const Memory x = b.input("x", Storage::F32), y = b.output("y", Storage::F32);
  const Value v = b.load("v", x[b.thread()]);
  const Value sum = b.variable("sum", b.real(0));
  b.for_("i", 0, 4, 1, [&](Value i) { b.assign(sum, sum + b.load("each", x[i])); });
  b.if_cold(sum < b.real(0), [&] {
    b.for_("again", 0, 4, 1, [&](Value i) { b.assign(sum, sum + v * b.load("w", x[i])); });
    b.store(y[b.cluster_rank()], sum);
  });
  b.store(y[b.block()], sum);
  const Kernel kernel = b.finish();
  const std::string text = emit({&kernel});
  EXPECT_TRUE(contains(text,
                       "cold_cold_0_carried cold_cold_0(const float* __restrict__ x, float* y, float v,\n"
                       "    cold_cold_0_carried carried) {\n"
                       "  const int cluster_rank = blockIdx.x % 2;\n"
                       "  float sum = carried.sum;\n"))
      << text;
  EXPECT_TRUE(contains(text,
                       "  if (sum < 0.0f) {\n"
                       "    const auto cold_cold_0_end = cold_cold_0(x, y, v, {sum});\n"
                       "    sum = cold_cold_0_end.sum;\n"
                       "  }\n"))
      << text;
  EXPECT_TRUE(contains(text, "  return {sum};\n")) << text;
}

// Each branch is a function of its own, and variables keep their places on the way there and back.
TEST(CudaText, ColdBranchesOfOneKernelAreOneFunctionEach) {
  Builder b("cold", 32);
  const Memory x = b.input("x", Storage::F32), y = b.output("y", Storage::F32);
  std::vector<Value> sums;
  for (const char* name : {"one", "two", "three"})
    sums.push_back(b.variable(name, b.load("v", x[b.constant(static_cast<int>(sums.size()))])));
  for (int branch = 0; branch < 3; ++branch)
    b.if_cold(sums[0] < b.real(branch), [&] {
      for (int i = branch; i < 3; ++i)
        b.assign(sums[static_cast<std::size_t>(i)], sums[0] + b.real(i + 10 * branch));
    });
  b.store(y[b.thread()], sums[0] + sums[1] + sums[2]);
  const Kernel kernel = b.finish();
  const std::string text = emit({&kernel});
  const char* const names[] = {"one, two, three", "two, three", "three"};
  for (int branch = 0; branch < 3; ++branch) {
    const std::string function = "cold_cold_" + std::to_string(branch);
    const std::size_t begin = text.find("__noinline__ " + function + "_carried " + function + "(");
    ASSERT_NE(begin, std::string::npos) << text;
    const std::string body = text.substr(begin, text.find("\n}\n", begin) - begin);
    EXPECT_TRUE(contains(body, "  return {" + std::string(names[branch]) + "};")) << text;
    EXPECT_TRUE(contains(body, " = one + " + std::to_string(11 * branch) + ".0f;")) << text;
    EXPECT_TRUE(contains(text, "const auto " + function + "_end = " + function + "(")) << text;
    EXPECT_TRUE(contains(text, "{" + std::string(names[branch]) + "});")) << text;
  }
  EXPECT_TRUE(contains(text, "struct cold_cold_0_carried {\n  float one;\n  float two;\n  float three;\n}"))
      << text;
}

// What all other threads do stands where it stood.
TEST(CudaText, ColdBranchesWithAnotherWayKeepBoth) {
  Builder b("cold", 32);
  const Memory x = b.input("x", Storage::F32), y = b.output("y", Storage::F32);
  const Value v = b.load("v", x[b.thread()]);
  b.if_cold(
      v < b.real(0), [&] { b.store(y[b.thread()], b.real(3)); }, [&] { b.store(y[b.thread()], b.real(5)); });
  const Kernel kernel = b.finish();
  const std::string text = emit({&kernel});
  EXPECT_TRUE(contains(text, "y[thread_x] = 3.0f;")) << text;
  EXPECT_TRUE(contains(text, "y[thread_x] = 5.0f;")) << text;
}

TEST(CudaText, ColdBranchesInEachOtherAreOneFunction) {
  Builder b("cold", 32);
  const Memory x = b.input("x", Storage::F32), y = b.output("y", Storage::F32);
  const Value v = b.load("v", x[b.thread()]);
  b.if_cold(v < b.real(0), [&] {
    b.store(y[b.thread()], v);
    b.if_cold(v < b.real(-1), [&] { b.store(y[b.block()], v); });
  });
  const Kernel kernel = b.finish();
  const std::string text = emit({&kernel});
  EXPECT_TRUE(contains(text, "  if (v < -1.0f) y[block_x] = v;\n}\n")) << text;
  EXPECT_EQ(text.find("cold_cold_0("), text.rfind("void cold_cold_0(") + 5)
      << text;  // not called within itself
  EXPECT_FALSE(contains(text, "cold_cold_1")) << text;
}

TEST(CudaText, ColdBranchesThatShareMemoryStandInTheirKernel) {
  Builder b("cold", 32);
  const Memory x = b.input("x", Storage::F32), y = b.output("y", Storage::F32);
  const Memory shared = b.shared("kept", Storage::F32, 32);
  b.store(shared[b.thread()], b.load("v", x[b.thread()]));
  b.if_cold(b.thread() < 4, [&] { b.store(y[b.thread()], b.load("w", shared[b.thread()])); });
  const Kernel kernel = b.finish();
  const std::string text = emit({&kernel});
  EXPECT_FALSE(contains(text, "__noinline__")) << text;
  EXPECT_TRUE(contains(text, "if (thread_x < 4)")) << text;
}

// __ldcs does not say that it reads memory: the compiler could move it above a store to the same buffer.
TEST(CudaText, BuffersAlsoWrittenAreLoadedPlainly) {
  Builder b("k", 32);
  const Memory y = b.output("y", Storage::F32);
  b.store(y[b.thread()], b.real(1), CacheHint::Streaming);
  b.store(y[b.thread()], b.load("v", y[b.thread()], CacheHint::Streaming));
  const Kernel kernel = b.finish();
  EXPECT_TRUE(contains(emit({&kernel}), "const float v = y[thread_x];"));
  EXPECT_TRUE(contains(emit({&kernel}), "__stcs(&y[thread_x], 1.0f);"));
}

// One instruction for all who wait at a barrier, or one of any place where two roles wait.
TEST(CudaText, NamedBarriersOfOnePlaceAndOfTwo) {
  kernel::Builder b("k", 64);
  b.named_barrier(1, 64);
  b.if_(
      b.thread() < 32, [&] { b.named_barrier(2, 64), b.named_barrier(3, 64, false); },
      [&] { b.named_barrier(2, 64), b.named_barrier(3, 64); });
  const kernel::Kernel kernel = b.finish();
  const std::string text = emit({&kernel});
  for (const char* call : {" named_barrier<1, 64>();", " named_barrier_any<2, 64>();",
                           " named_barrier_arrive<3, 64>();", " named_barrier<3, 64>();"})
    EXPECT_NE(text.find(call), std::string::npos) << call;
  EXPECT_EQ(text.find("named_barrier<2"), std::string::npos);
}

}  // namespace
}  // namespace rondo::backend::cuda
