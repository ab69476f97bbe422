// Kernels of random structure as code of this machine, beside the simulator: which lanes do what in branches
// and loops within each other, what of it is kept, and the places that lanes read and write.
#ifdef RONDO_BUILT_LLVM
#include <random>

#include "compiler/kernel/builder/builder.h"
#include "compiler/kernel/simulator/simulate.h"
#include "compiler/support/index.h"
#include "tests/backend/llvm/host/run_kernel.h"

namespace rondo::backend {
namespace {

using kernel::Builder;
using kernel::Storage;
using kernel::Type;
using kernel::Value;

// What a statement may read and change: variables, and counters of the loops around it.
struct RandomKnown {
  std::vector<Value> reals, integers, counters;
};

class RandomKernel {
 public:
  static constexpr int kLanes = 8, kBlocks = 2, kInputs = 64;
  static constexpr int kReals = 3, kIntegers = 3;
  // Numbers that a thread writes, the last of them now and then.
  static constexpr int kKept = kReals + kIntegers + 1;
  static constexpr int kMost = 10;  // turns of a loop

  explicit RandomKernel(unsigned seed) : random_(seed) {}

  kernel::Kernel make() {
    RandomKnown known;
    for (int k = 0; k < kReals; ++k) known.reals.push_back(b_.variable("real", b_.real(k)));
    for (int k = 0; k < kIntegers; ++k) known.integers.push_back(b_.variable("integer", b_.constant(k)));
    const RandomKnown kept = known;
    b_.store(own(kKept - 1), b_.real(-1));
    body(4, known, 3);
    for (int k = 0; k < kReals; ++k) b_.store(own(k), kept.reals[at(k)]);
    for (int k = 0; k < kIntegers; ++k) b_.store(own(kReals + k), b_.to_real(kept.integers[at(k)]));
    return b_.finish();
  }

 private:
  int below(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }
  Value one_of(const std::vector<Value>& values) {
    return values[at(below(static_cast<int>(values.size())))];
  }
  kernel::Place own(int number) { return y_[(b_.block() * kLanes + b_.thread()) * kKept + number]; }

  // The same in all lanes, or some apart from lane to lane: from 0 to 21, so that it is a place of the input.
  Value place(const RandomKnown& known) {
    switch (below(known.counters.empty() ? 6 : 8)) {
      case 0: return b_.constant(below(20));
      case 1: return b_.block() + below(3);
      case 2: return b_.thread();
      case 3: return b_.thread() * (2 + below(2));
      case 4: return b_.constant(kLanes - 1) - b_.thread();
      case 5: return b_.constant(20) - b_.thread() * 2;
      default: return one_of(known.counters);
    }
  }
  Value real(const RandomKnown& known) {
    switch (below(4)) {
      case 0: return b_.real(below(9) - 4);
      case 1: return b_.to_real(place(known));
      case 2: return one_of(known.reals) * b_.real(0.5);
      default: return b_.load("input", x_[place(known)]);
    }
  }
  Value condition(const RandomKnown& known) {
    switch (below(5)) {
      case 0: return b_.block() == 1;
      case 1: return b_.thread() % (2 + below(3)) == 1;
      case 2: return b_.thread() < below(kLanes);
      case 3: return place(known) < one_of(known.integers);
      default: return b_.real(0) < one_of(known.reals);
    }
  }

  void body(int statements, RandomKnown known, int depth) {
    for (int i = 0; i < statements; ++i) statement(known, depth);
  }
  void statement(RandomKnown& known, int depth) {
    switch (below(depth > 0 ? 8 : 4)) {
      case 0:
      case 1: return b_.assign(one_of(known.reals), below(2) == 0 ? real(known) : real(known) + real(known));
      case 2: return b_.assign(one_of(known.integers), place(known));
      case 3:
        if (below(2) == 0) return b_.store(own(kKept - 1), real(known));
        return known.reals.push_back(b_.variable("inner", real(known)));
      case 4:
      case 5:
        return b_.if_(
            condition(known), [&] { body(1 + below(3), known, depth - 1); },
            [&] { body(below(3), known, depth - 1); });
      default: loop(known, depth);
    }
  }
  // From one place in all lanes, or from places apart.
  void loop(const RandomKnown& known, int depth) {
    const auto inner = [&](Value counter) {
      RandomKnown more = known;
      more.counters.push_back(counter);
      body(1 + below(3), more, depth - 1);
    };
    if (below(4) == 0) return b_.for_("k", 0, 3, kernel::kFullUnroll, inner);
    Value begin = b_.thread();
    if (const int kind = below(4); kind == 0)
      begin = b_.constant(below(3));
    else if (kind == 1)
      begin = b_.thread() * 2;
    const Value end = below(2) == 0 ? b_.constant(kMost - below(5)) : count_;
    b_.for_("k", begin, end, b_.constant(1 + below(4)), 1, inner);
  }

  std::mt19937 random_;
  Builder b_{"random", kLanes, kernel::Math::Accurate};
  const kernel::Memory x_ = b_.input("x", Storage::F32), y_ = b_.output("y", Storage::F32);
  const Value count_ = b_.argument("count", Type::I32);
};

TEST(HostLanes, RandomStructuresAreThoseOfTheSimulator) {
  constexpr int kCount = RandomKernel::kBlocks * RandomKernel::kLanes * RandomKernel::kKept;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const kernel::Kernel made = RandomKernel(seed).make();
    std::vector<float> x(RandomKernel::kInputs), y(kCount, 0);
    std::mt19937 random(seed);
    for (float& value : x) value = std::uniform_real_distribution<float>(-2, 2)(random);
    const int count = 3 + static_cast<int>(seed % 6);
    NativeKernel(made).run(RandomKernel::kBlocks,
                           {pointer_to(x.data()), pointer_to(y.data()), static_cast<std::uint64_t>(count)});

    kernel::GlobalBuffer in = kernel::output_buffer(Storage::F32, RandomKernel::kInputs);
    in.values = x;
    in.written.assign(RandomKernel::kInputs, true);
    std::vector<kernel::GlobalBuffer> buffers{in, kernel::output_buffer(Storage::F32, kCount)};
    std::vector<kernel::Argument> arguments(3);
    arguments[0].buffer = 0, arguments[1].buffer = 1, arguments[2].integer = count;
    const auto ran = kernel::simulate(made, RandomKernel::kBlocks, arguments, buffers, {});
    ASSERT_TRUE(ran.faults.empty()) << "seed " << seed << ": " << ran.faults[0].message;
    for (int i = 0; i < kCount; ++i)
      ASSERT_FLOAT_EQ(y[at(i)], buffers[1].values[at(i)])
          << "seed " << seed << ", thread " << i / RandomKernel::kKept << ", number "
          << i % RandomKernel::kKept;
  }
}

}  // namespace
}  // namespace rondo::backend
#endif
