// What expressions, register arrays, shuffles and control flow compute, against the same thing written in
// C++.
#include <bit>
#include <cmath>
#include <random>

#include "compiler/kernel/passes/integer.h"
#include "compiler/kernel/verify/verify.h"
#include "compiler/support/index.h"
#include "tests/kernel/harness.h"

namespace rondo::kernel::test {
namespace {

// The result of f(lane) for the 32 lanes of a warp, F32 or I32.
std::vector<std::int32_t> integers(const std::function<Value(Builder&)>& f, int threads = 32) {
  Builder b("integers", threads);
  auto y = b.output("y", Storage::I32);
  b.store(y[b.thread()], f(b));
  std::vector<GlobalBuffer> buffers{output_buffer(Storage::I32, threads)};
  expect_clean(run(b.finish(), 1, buffers));
  return buffers[0].integers;
}

constexpr std::array kIntOps{IntOp::Add, IntOp::Sub, IntOp::Mul, IntOp::Div, IntOp::Mod, IntOp::Min,
                             IntOp::Max, IntOp::Shl, IntOp::Shr, IntOp::And, IntOp::Or,  IntOp::Xor};

// Modulo 2^64 and then, for I32, modulo 2^32: sums, products and left shifts depend on the low bits only.
std::int64_t expected(IntOp op, bool wide, std::int64_t a, std::int64_t b) {
  const auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
  std::uint64_t bits = 0;
  switch (op) {
    case IntOp::Add: bits = ua + ub; break;
    case IntOp::Sub: bits = ua - ub; break;
    case IntOp::Mul: bits = ua * ub; break;
    case IntOp::Div: bits = ua / ub; break;
    case IntOp::Mod: bits = ua % ub; break;
    case IntOp::Min: bits = a < b ? ua : ub; break;
    case IntOp::Max: bits = a > b ? ua : ub; break;
    case IntOp::Shl: bits = ua << ub; break;
    case IntOp::Shr: bits = static_cast<std::uint64_t>(a >> b); break;
    case IntOp::And: bits = ua & ub; break;
    case IntOp::Or: bits = ua | ub; break;
    case IntOp::Xor: bits = ua ^ ub; break;
  }
  return wide ? static_cast<std::int64_t>(bits) : static_cast<std::int32_t>(static_cast<std::uint32_t>(bits));
}

TEST(SimulateValues, IntegerOpsOfBothWidths) {
  std::mt19937_64 random(3);
  for (const IntOp op : kIntOps)
    for (const bool wide : {false, true}) {
      const bool natural = op == IntOp::Div || op == IntOp::Mod, shift = op == IntOp::Shl || op == IntOp::Shr;
      Builder b("ints", 32);
      auto x = b.input("x", Storage::I32), y = b.input("y", Storage::I32),
           low = b.output("low", Storage::I32);
      auto high = b.output("high", Storage::I32);
      Value p = b.load("p", x[b.thread()]), q = b.load("q", y[b.thread()]);
      if (wide) p = b.wide(p) * b.constant(shift ? 65537 : 1'000'000'007, Type::I64), q = b.wide(q);
      Value r{&b, b.add({wide ? Type::I64 : Type::I32, IntExpr{op, p.id(), q.id()}})};
      const auto narrow = [&](Value v) { return wide ? Value{&b, b.add({Type::I32, CastExpr{v.id()}})} : v; };
      b.store(low[b.thread()], narrow(r));
      if (wide) r = {&b, b.add({Type::I64, IntExpr{IntOp::Shr, r.id(), b.constant(32, Type::I64).id()}})};
      b.store(high[b.thread()], narrow(r));
      std::vector<GlobalBuffer> buffers{counting(Storage::I32, 32), counting(Storage::I32, 32),
                                        output_buffer(Storage::I32, 32), output_buffer(Storage::I32, 32)};
      for (std::size_t l = 0; l < 32; ++l) {
        auto u = static_cast<std::int32_t>(random()), v = static_cast<std::int32_t>(random());
        if (natural) u &= 0x7FFFFFFF, v = (v & 0xFFFF) + 1;
        if (shift) v &= wide ? 63 : 31;
        buffers[0].integers[l] = u, buffers[1].integers[l] = v;
      }
      expect_clean(run(b.finish(), 1, buffers));
      for (std::size_t l = 0; l < 32; ++l) {
        const std::int64_t u =
            buffers[0].integers[l] * (wide ? (shift ? 65537 : 1'000'000'007) : std::int64_t{1});
        const std::int64_t v = buffers[1].integers[l], want = expected(op, wide, u, v);
        ASSERT_EQ(buffers[2].integers[l], static_cast<std::int32_t>(want))
            << static_cast<int>(op) << " " << u << " " << v;
        if (wide) {
          ASSERT_EQ(buffers[3].integers[l], static_cast<std::int32_t>(want >> 32));
        }
        EXPECT_EQ(fold(op, wide ? Type::I64 : Type::I32, u, v), want);
      }
    }
}

TEST(SimulateValues, EveryScalarOpIsEvaluateInFullAndPartialWarps) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal(0, 3);
  std::array<std::vector<double>, 3> inputs;
  for (auto& values : inputs)
    for (int i = 0; i < 48; ++i) values.push_back(normal(random));
  inputs[0][1] = inputs[0][2] = 0, inputs[1][2] = 0;
  inputs[0][3] = std::nan(""), inputs[1][4] = std::nan(""), inputs[0][5] = INFINITY, inputs[1][6] = -INFINITY;
  for (int code = 0; code < scalar::kKernelOpCount; ++code) {
    const auto op = static_cast<scalar::Op>(code);
    Builder b("math", 48);  // the second warp has 16 lanes
    std::vector<Value> args;
    std::vector<GlobalBuffer> buffers;
    for (int k = 0; k < 3; ++k) {
      auto x = b.input("x", Storage::F32);
      if (k < scalar::info(op).arity) args.push_back(b.load("v", x[b.thread()]));
      buffers.push_back(input_buffer(Storage::F32, inputs[at(k)]));
    }
    auto y = b.output("y", Storage::F32);
    buffers.push_back(output_buffer(Storage::F32, 48));
    b.store(y[b.thread()], b.math(op, args));
    expect_clean(run(b.finish(), 1, buffers));
    for (std::size_t i = 0; i < 48; ++i) {
      const std::array all{buffers[0].values[i], buffers[1].values[i], buffers[2].values[i]};
      const float want = scalar::evaluate(op, std::span<const float>(all).first(args.size()));
      const float got = buffers[3].values[i];
      if (std::isnan(want))
        EXPECT_TRUE(std::isnan(got)) << scalar::info(op).name;
      else
        EXPECT_EQ(std::bit_cast<std::uint32_t>(got), std::bit_cast<std::uint32_t>(want))
            << scalar::info(op).name << i;
    }
  }
}

TEST(SimulateValues, ComparisonsLogicCastsAndSelect) {
  constexpr std::array kCompares{Compare::Less,         Compare::LessEqual, Compare::Greater,
                                 Compare::GreaterEqual, Compare::Equal,     Compare::NotEqual};
  for (const Compare op : kCompares) {
    const auto pick = [&](bool real) {
      return integers([&](Builder& b) {
        const Value a = real ? b.to_real(b.thread()) : b.thread(), limit = real ? b.real(7) : b.constant(7);
        const Value c{&b, b.add({Type::Pred, CompareExpr{op, a.id(), limit.id()}})};
        return b.select(c, b.thread(), b.constant(-1));
      });
    };
    for (int l = 0; l < 32; ++l) {
      const std::int32_t want = fold(op, l, 7) ? l : -1;
      EXPECT_EQ(pick(false)[at(l)], want);
      EXPECT_EQ(pick(true)[at(l)], want);
    }
  }
  const auto logic = integers([](Builder& b) {
    const Value low = b.thread() < 16, odd = b.thread() % 2 == 1;
    const Value neither{&b, b.add({Type::Pred, LogicExpr{Logic::Not, (low || odd).id(), -1}})};
    return b.select(low && odd, b.constant(3), b.select(neither, b.constant(4), b.constant(5)));
  });
  for (int l = 0; l < 32; ++l)
    EXPECT_EQ(logic[at(l)], l < 16 && l % 2 == 1 ? 3 : l >= 16 && l % 2 == 0 ? 4 : 5);
}

TEST(SimulateValues, Shuffles) {
  const auto shuffled = [](ShuffleMode mode, int lane) {
    return integers([&](Builder& b) { return b.shuffle("v", b.thread() * 10, mode, b.constant(lane)); });
  };
  for (int l = 0; l < 32; ++l) {
    EXPECT_EQ(shuffled(ShuffleMode::Up, 3)[at(l)], (l < 3 ? l : l - 3) * 10);
    EXPECT_EQ(shuffled(ShuffleMode::Down, 5)[at(l)], (l + 5 > 31 ? l : l + 5) * 10);
    EXPECT_EQ(shuffled(ShuffleMode::Xor, 9)[at(l)], (l ^ 9) * 10);
    EXPECT_EQ(shuffled(ShuffleMode::Index, 35)[at(l)], 30);
  }
}

// Bit l is the predicate of lane l, also the sign's, and every lane of a warp has its own warp's word.
TEST(SimulateValues, Ballot) {
  const auto votes = integers([](Builder& b) { return b.ballot("v", b.thread() % 5 == 1); });
  std::uint32_t expected = 0;
  for (int l = 1; l < 32; l += 5) expected |= 1u << l;
  for (int l = 0; l < 32; ++l) EXPECT_EQ(votes[at(l)], static_cast<std::int32_t>(expected));
  const auto of_two = integers([](Builder& b) { return b.ballot("v", b.thread() == 40); }, 64);
  for (int l = 0; l < 64; ++l) EXPECT_EQ(of_two[at(l)], l < 32 ? 0 : 1 << 8);
  EXPECT_EQ(integers([](Builder& b) { return b.ballot("v", b.thread() >= 0); })[7], -1);
}

TEST(SimulateValues, WarpSumByShuffles) {
  Builder b("sum", 32);
  auto x = b.input("x", Storage::F32), y = b.output("y", Storage::F32);
  auto sum = b.variable("sum", b.load("v", x[b.thread()]));
  for (int lane = 16; lane > 0; lane /= 2)
    b.assign(sum, sum + b.shuffle("other", sum, ShuffleMode::Xor, b.constant(lane)));
  b.store(y[b.thread()], sum);
  std::vector<GlobalBuffer> buffers{counting(Storage::F32, 32), output_buffer(Storage::F32, 32)};
  expect_clean(run(b.finish(), 1, buffers));
  EXPECT_EQ(buffers[1].values, std::vector<float>(32, 496));
}

TEST(SimulateValues, RegisterArrays) {
  Builder b("arrays", 32);
  auto y = b.output("y", Storage::F32);
  auto a = b.array("a", Type::F32, 4);
  b.for_("i", 0, 4, kFullUnroll, [&](Value i) { b.write(a, i, b.to_real(b.thread() * 4 + i)); });
  b.for_("i", 0, 3, kFullUnroll, [&](Value i) {
    b.if_(b.thread() < 10, [&] { b.write(a, i, b.read(a, i + 1)); });  // shifts in lanes 0 to 9
  });
  b.for_("i", 0, 4, kFullUnroll, [&](Value i) { b.store(y[b.thread() * 4 + i], b.read(a, i)); });
  std::vector<GlobalBuffer> buffers{output_buffer(Storage::F32, 128)};
  expect_clean(run(b.finish(), 1, buffers));
  for (int l = 0; l < 32; ++l)
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(buffers[0].values[at(l * 4 + i)], l < 10 ? l * 4 + std::min(i + 1, 3) : l * 4 + i);
}

TEST(SimulateValues, StoresRoundAndIntegersStay) {
  for (const Storage storage : {Storage::F32, Storage::BF16, Storage::F16}) {
    Builder b("round", 32);
    auto x = b.input("x", Storage::F32), y = b.output("y", storage);
    auto tile = b.shared("tile", storage, 32);
    b.store(tile[b.thread()], b.load("v", x[b.thread()]));
    b.store(y[b.thread()], b.load("w", tile[b.thread()]));
    std::vector<double> values;
    for (int i = 0; i < 32; ++i) values.push_back(std::exp(i - 16) / 3);
    std::vector<GlobalBuffer> buffers{input_buffer(Storage::F32, values), output_buffer(storage, 32)};
    expect_clean(run(b.finish(), 1, buffers));
    for (std::size_t i = 0; i < 32; ++i)
      EXPECT_EQ(buffers[1].values[i], round_to(storage, buffers[0].values[i]));
  }
}

// y = x^2 in doubles, through shared memory, an asynchronous copy and a shuffle.
TEST(SimulateFp64, NothingIsRounded) {
  Builder b("fp64", 32);
  auto x = b.input("x", Storage::F32);
  auto y = b.output("y", Storage::F32);
  auto staged = b.shared("staged", Storage::F32, 32);
  b.copy_async(staged[b.thread()], x[b.thread()], 1);
  b.commit_copies();
  b.wait_copies(0);
  const Value value = b.load("value", staged[b.thread()]);
  const Value other = b.shuffle("other", value, ShuffleMode::Xor, b.constant(1));
  const Value least = b.select(value < other, value, other);
  b.store(y[b.thread()], least * least + b.to_real(b.thread()) + b.real(0.1));
  SimulationOptions options;
  options.fp64 = true;
  std::vector<GlobalBuffer> buffers{output_buffer(Storage::F32, 32, true),
                                    output_buffer(Storage::F32, 32, true)};
  for (int l = 0; l < 32; ++l) {
    buffers[0].doubles[at(l)] = 1 + l * std::exp2(-40);
    buffers[0].written[at(l)] = true;
  }
  expect_clean(run(b.finish(), 1, buffers, options));
  for (int l = 0; l < 32; ++l) {
    const double least_of_two = 1 + (l - l % 2) * std::exp2(-40);
    EXPECT_EQ(buffers[1].doubles[at(l)], least_of_two * least_of_two + l + 0.1) << l;
  }
}

TEST(SimulateFp64, RefusesWhatHasNoMeaningInIt) {
  Builder b("pairs", 32);
  auto y = b.output("y", Storage::I32);
  b.store(y[b.thread()], b.pack(Storage::BF16, b.real(1), b.real(2)));
  SimulationOptions options;
  options.fp64 = true;
  std::vector<GlobalBuffer> buffers{output_buffer(Storage::I32, 32)};
  EXPECT_THROW(run(b.finish(), 1, buffers, options), std::logic_error);
}

TEST(SimulateControl, NestedDivergence) {
  const auto got = integers([](Builder& b) {
    auto x = b.variable("x", b.constant(0));
    b.if_(
        b.thread() < 20,
        [&] {
          b.assign(x, x + 1);
          b.if_(
              b.thread() % 2 == 0, [&] { b.assign(x, x + 10); },
              [&] {
                b.if_(b.thread() < 8, [&] { b.assign(x, x + 100); });
                b.assign(x, x + 1000);
              });
          b.assign(x, x + 10000);
        },
        [&] { b.assign(x, b.constant(-1)); });
    b.assign(x, x * 2);
    return x;
  });
  for (int l = 0; l < 32; ++l) {
    int x = -1;
    if (l < 20) x = 1 + (l % 2 == 0 ? 10 : (l < 8 ? 100 : 0) + 1000) + 10000;
    EXPECT_EQ(got[at(l)], x * 2);
  }
}

TEST(SimulateControl, EachLaneItsOwnTripCount) {
  const auto got = integers([](Builder& b) {
    auto x = b.variable("x", b.constant(0));
    b.for_("i", b.thread() / 4, b.thread(), b.thread() % 3 + 1, 1, [&](Value i) {
      b.for_("j", b.constant(0), i % 5, b.constant(1), 1, [&](Value j) {
        b.if_(
            j == 2, [&] { b.assign(x, x + 100); }, [&] { b.assign(x, x + i); });
      });
      b.assign(x, x + 1);
    });
    return x;
  });
  for (int l = 0; l < 32; ++l) {
    int x = 0;
    for (int i = l / 4; i < l; i += l % 3 + 1) {
      for (int j = 0; j < i % 5; ++j) x += j == 2 ? 100 : i;
      ++x;
    }
    EXPECT_EQ(got[at(l)], x) << l;
  }
}

TEST(SimulateControl, BoundsAreEvaluatedAtEveryTest) {
  const auto got = integers([](Builder& b) {
    auto end = b.variable("end", b.constant(10));
    auto turns = b.variable("turns", b.constant(0));
    b.for_("i", b.constant(0), end, b.constant(1), 1, [&](Value) {
      b.assign(end, end - 1);
      b.assign(turns, turns + 1);
    });
    return turns;
  });
  EXPECT_EQ(got[0], 5);
}

TEST(SimulateControl, BlocksBuiltinsAndScalarArguments) {
  Builder b("builtins", 40);
  auto y = b.output("y", Storage::F32);
  auto n = b.argument("n", Type::I64);
  auto scale = b.argument("scale", Type::F32);
  auto i = b.let("i", b.block() * 40 + b.thread());
  b.if_(b.wide(i) < n, [&] { b.store(y[i], b.to_real(i + b.builtin(Builtin::GridX) * 1000) * scale); });
  std::vector<GlobalBuffer> buffers{output_buffer(Storage::F32, 130)};
  const Kernel kernel = b.finish();
  EXPECT_TRUE(verify(kernel).empty());
  expect_clean(simulate(kernel, 4, {{.buffer = 0}, {.integer = 130}, {.real = 0.5}}, buffers));
  for (int k = 0; k < 130; ++k) EXPECT_EQ(buffers[0].values[at(k)], static_cast<float>(k + 4000) * 0.5f);
}

}  // namespace
}  // namespace rondo::kernel::test
