// Products on matrix tiles as machine code, beside the simulator, to the bit: numbers of rows and columns
// that take all of the registers, few of them, and several rounds.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "compiler/kernel/builder/builder.h"
#include "compiler/kernel/simulator/simulate.h"
#include "compiler/scalar/storage.h"
#include "tests/backend/llvm/host/run_kernel.h"

namespace rondo::backend {
namespace {

using namespace kernel;

constexpr target::Target kWithTiles{target::Target::Kind::X86_64, 5};

struct Shape {
  int rows, columns, steps;
  bool adds;
};

// All steps but the last `left_out`, which is an argument, so that the loop is one.
Kernel product(const Shape& shape) {
  const int sum = shape.steps * kTileStep;
  Builder b("product", 16);
  const Memory left = b.input("left", Storage::BF16), right = b.input("right", Storage::BF16);
  const Memory sums = b.output("sums", Storage::F32), transposed = b.output("transposed", Storage::BF16);
  const Value left_out = b.argument("left_out", Type::I32);
  const Memory own = b.shared("own", Storage::F32, std::int64_t{shape.rows} * shape.columns);
  const Memory rows = b.shared("rows", Storage::BF16, std::int64_t{shape.rows} * sum);
  b.for_("i", 0, shape.rows * sum / 32, 1, [&](Value i) {
    const Value at = b.let("at", i * 32 + b.thread() * 2);
    b.store_packed(rows[at], b.load_packed("v", left[at], 1));
  });
  b.for_("i", 0, shape.rows * shape.columns / 16, 1,
         [&](Value i) { b.store(own[i * 16 + b.thread()], b.real(0.25)); });
  b.barrier();
  b.tile_mma(shape.rows, shape.columns, b.constant(shape.steps) - left_out, shape.adds,
             {own[b.constant(0)], shape.columns}, {rows[b.constant(0)], sum}, right[b.constant(0)]);
  b.barrier();
  b.for_("i", 0, shape.rows * shape.columns / 16, 1,
         [&](Value i) { b.store(sums[i * 16 + b.thread()], b.load("sum", own[i * 16 + b.thread()])); });
  b.pack_tile({transposed[b.constant(0)], kTileStep}, {right[b.constant(0)], kTileRows}, true);
  b.pack_tile({transposed[b.constant(kTileElements)], kTileStep}, {right[b.constant(0)], kTileRows}, false);
  return b.finish();
}

std::vector<float> drawn(std::mt19937& random, std::size_t count) {
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  // Among them numbers below fp32's normal ones, and those whose products are.
  for (float& value : values) {
    const float scale = random() % 8 != 0 ? 1.0F : random() % 2 == 0 ? 1e-39F : 1e-19F;
    value = scalar::round_to(Storage::BF16, normal(random) * scale);
  }
  return values;
}

std::vector<std::uint16_t> bits(const std::vector<float>& values) {
  std::vector<std::uint16_t> result;
  for (const float value : values) result.push_back(scalar::half_bits(Storage::BF16, value));
  return result;
}

void compare(const Shape& shape, int left_out) {
  std::mt19937 random(7);
  const auto sum = static_cast<std::size_t>(shape.steps) * kTileStep;
  const std::vector<float> left = drawn(random, static_cast<std::size_t>(shape.rows) * sum);
  const std::vector<float> right = drawn(random, static_cast<std::size_t>(shape.columns) * sum);
  const std::size_t results = static_cast<std::size_t>(shape.rows) * static_cast<std::size_t>(shape.columns);
  const Kernel kernel = product(shape);
  std::vector<GlobalBuffer> buffers = {
      input_buffer(Storage::BF16, std::vector<double>(left.begin(), left.end())),
      input_buffer(Storage::BF16, std::vector<double>(right.begin(), right.end())),
      output_buffer(Storage::F32, static_cast<std::int64_t>(results)),
      output_buffer(Storage::BF16, 2 * kTileElements)};
  const auto simulated =
      simulate(kernel, 1, {{.buffer = 0}, {.buffer = 1}, {.buffer = 2}, {.buffer = 3}, {.integer = left_out}},
               buffers);
  ASSERT_TRUE(simulated.faults.empty()) << simulated.faults.front().message;
  const std::vector<std::uint16_t> left_bits = bits(left), right_bits = bits(right);
  std::vector<float> sums(results);
  std::vector<std::uint16_t> packed(2 * kTileElements);
  NativeKernel(kernel, kWithTiles)
      .run(1, {pointer_to(left_bits.data()), pointer_to(right_bits.data()), pointer_to(sums.data()),
               pointer_to(packed.data()), static_cast<std::uint64_t>(left_out)});
  EXPECT_EQ(std::memcmp(sums.data(), buffers[2].values.data(), results * sizeof(float)), 0)
      << shape.rows << " rows, " << shape.columns << " columns";
  EXPECT_EQ(packed, bits(buffers[3].values));
}

TEST(HostTiles, GiveTheBitsOfTheSimulator) {
  if (!target::host_target()->has_matrix_tiles()) GTEST_SKIP() << "these CPUs have no matrix tiles";
  ASSERT_TRUE(target::allow_matrix_tiles()) << "the system keeps no registers of theirs for this process";
  for (const int rows : {1, 5, 16, 32})
    for (const int columns : {16, 32, 80, 96, 112}) {
      const Shape shape{rows, columns, 3, columns % 32 == 0};
      for (const int left_out : {0, 3}) compare(shape, left_out);
    }
}

// Whatever CPUs are here: the code is made, and not for those that have no tiles.
TEST(HostTiles, AreForCpusThatHaveThem) {
  const Kernel kernel = product({16, 64, 2, false});
  const Source source = llvm_backend().lower({&kernel}, kWithTiles);
  const auto compiled =
      llvm_backend().compile({"llvm", source.text, kernel.name, kWithTiles, llvm_backend().flags()});
  EXPECT_TRUE(compiled.ok()) << compiled.error().message;
  EXPECT_EQ(target_for(kWithTiles, source.features), kWithTiles);
  EXPECT_THROW(llvm_backend().lower({&kernel}, {target::Target::Kind::X86_64, 4}), std::logic_error);
}

TEST(HostTiles, CodeWithoutThemIsForAllCpusOfItsLevel) {
  EXPECT_EQ(target_for(kWithTiles, {}).name(), "x86-64-v4");
}

}  // namespace
}  // namespace rondo::backend
