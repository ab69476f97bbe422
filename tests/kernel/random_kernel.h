// Random well-formed, fault-free kernels, full of what the simplifier looks for: small constants, decided
// conditions, loops of few turns, Lets nobody reads. Same seed, same kernel.
#pragma once

#include <random>
#include <vector>

#include "compiler/kernel/builder/builder.h"
#include "compiler/kernel/simulator/simulate.h"

namespace rondo::kernel::test {

class RandomKernel {
 public:
  static constexpr int kThreads = 40, kBlocks = 2, kSlots = 16;

  explicit RandomKernel(unsigned seed) : random_(seed), b_("random", kThreads) {}

  static std::vector<GlobalBuffer> buffers() {
    std::vector<double> reals, integers;
    for (int i = 0; i < kThreads * kBlocks; ++i) {
      reals.push_back(i % 7 == 0 ? -0.0 : 0.37 * i - 11);
      integers.push_back(i * 37 % 101 - 50);
    }
    return {input_buffer(Storage::F32, reals), input_buffer(Storage::I32, integers),
            output_buffer(Storage::F32, kThreads * kBlocks * kSlots),
            output_buffer(Storage::I32, kThreads * kBlocks * kSlots)};
  }

  Kernel build() {
    auto x = b_.input("x", Storage::F32), k = b_.input("k", Storage::I32);
    auto y = b_.output("y", Storage::F32), m = b_.output("m", Storage::I32);
    auto me = b_.let("me", b_.block() * kThreads + b_.thread());
    reals_ = {b_.load("xv", x[me])};
    integers_ = {b_.load("kv", k[me]), b_.thread()};
    real_ = b_.variable("real", b_.real(0.5));
    integer_ = b_.variable("integer", b_.constant(1));
    array_ = b_.array("array", Type::F32, 4);
    b_.for_("init", 0, 4, kFullUnroll, [&](Value i) { b_.write(array_, i, b_.to_real(i)); });
    body(3);
    for (int s = 0; s < 4; ++s) {
      b_.store(y[me * kSlots + s], real(3));
      b_.store(m[me * kSlots + s], integer(3));
    }
    b_.store(y[me * kSlots + 5], real_);
    b_.store(m[me * kSlots + 5], integer_);
    return b_.kernel();
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  template <class T>
  T pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(below(static_cast<int>(from.size())))];
  }

  Value integer(int depth) {
    if (depth == 0 || below(4) == 0) {
      const int kind = below(4);
      if (kind == 0) return b_.constant(below(4) - 1);
      if (kind == 1) return below(2) == 0 ? b_.named("ONE", 1) : b_.named("THREE", 3);
      if (kind == 2) return integer_;
      return pick(integers_);
    }
    const Value a = integer(depth - 1), c = integer(depth - 1);
    switch (below(7)) {
      case 0: return a + c;
      case 1: return a - c;
      case 2: return a * c;
      case 3: return bits(a, 1023) / b_.constant(below(3) + 1);
      case 4: return bits(a, 1023) % b_.constant(below(3) + 1);
      case 5: return min(a, c);
      default: return b_.select(condition(depth - 1), a, c);
    }
  }
  Value bits(Value a, int mask) {
    return {&b_, b_.add({Type::I32, IntExpr{IntOp::And, a.id(), b_.constant(mask).id()}})};
  }

  Value condition(int depth) {
    if (depth > 0 && below(3) == 0) {
      const Value a = condition(depth - 1), c = condition(depth - 1);
      return below(2) == 0 ? a && c : a || c;
    }
    if (below(4) == 0) return real(0) < real(0);
    const Value a = integer(0), c = integer(0);
    return below(2) == 0 ? a < c : a == c;
  }

  Value real(int depth) {
    using scalar::Op;
    if (depth == 0 || below(4) == 0) {
      const int kind = below(5);
      if (kind == 0)
        return b_.real(std::vector<double>{0, -0.0, 1, -1, 0.5, 3}[static_cast<std::size_t>(below(6))]);
      if (kind == 1) return real_;
      if (kind == 2) return b_.to_real(integer(0));
      if (kind == 3) return b_.read(array_, b_.constant(below(4)));
      return pick(reals_);
    }
    const Value a = real(depth - 1);
    static constexpr Op kUnary[] = {Op::Neg, Op::Abs, Op::Sigmoid, Op::Tanh, Op::Relu, Op::Square, Op::Not};
    static constexpr Op kBinary[] = {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Min, Op::Max, Op::Less, Op::And};
    switch (below(4)) {
      case 0: return b_.math(kUnary[below(7)], {a});
      case 1: return b_.math(below(2) == 0 ? Op::Fma : Op::Select, {a, real(depth - 1), real(depth - 1)});
      case 2: return b_.select(condition(depth - 1), a, real(depth - 1));
      default: return b_.math(kBinary[below(8)], {a, real(depth - 1)});
    }
  }

  // Names declared in `build` are out of scope after it.
  void scoped(const std::function<void()>& build) {
    const auto reals = reals_, integers = integers_;
    build();
    reals_ = reals, integers_ = integers;
  }

  void body(int depth) {
    for (int i = 2 + below(4); i > 0; --i) statement(depth);
  }

  void statement(int depth) {
    switch (below(depth > 0 ? 8 : 5)) {
      case 0: reals_.push_back(b_.let("r", real(2))); return;
      case 1: integers_.push_back(b_.let("n", integer(2))); return;
      case 2: return b_.assign(real_, real(2));
      case 3: return b_.assign(integer_, integer(2));
      case 4: return b_.write(array_, b_.constant(below(4)), real(2));
      case 5:
      case 6:
        return b_.if_(
            condition(1), [&] { scoped([&] { body(depth - 1); }); },
            [&] {
              if (below(2) == 0) scoped([&] { body(depth - 1); });
            });
      default: {
        const int begin = below(3);
        return b_.for_("i", begin, begin + below(4), below(3) == 0 ? kFullUnroll : 1, [&](Value i) {
          scoped([&] {
            integers_.push_back(i);
            body(depth - 1);
          });
        });
      }
    }
  }

  std::mt19937 random_;
  Builder b_;
  std::vector<Value> reals_, integers_;
  Value real_, integer_;
  Array array_;
};

}  // namespace rondo::kernel::test
