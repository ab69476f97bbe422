// Packed pairs and the matrix units: fragment layouts against plain loops, and what can go wrong.
#include <cmath>
#include <functional>

#include "tests/kernel/harness.h"

namespace rondo::kernel::test {
namespace {

using Kind = Fault::Kind;

constexpr int kM = 16, kN = 8, kK = 16, kPitch = 24;

class Halves : public ::testing::TestWithParam<Storage> {
 protected:
  Storage storage() const { return GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(Types, Halves, ::testing::Values(Storage::BF16, Storage::F16),
                         [](const auto& type) { return std::string(storage_name(type.param)); });

TEST_P(Halves, BitsAndValuesAreInverse) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = half_value(storage(), static_cast<std::uint16_t>(bits));
    if (std::isnan(value))
      ASSERT_TRUE(std::isnan(half_value(storage(), half_bits(storage(), value)))) << bits;
    else
      ASSERT_EQ(half_bits(storage(), value), bits) << value;
  }
}

TEST(HalfBits, KnownValues) {
  const auto f16 = [](float value) { return half_bits(Storage::F16, value); };
  EXPECT_EQ(f16(1.0f), 0x3C00);
  EXPECT_EQ(f16(-2.0f), 0xC000);
  EXPECT_EQ(f16(65504.0f), 0x7BFF);
  EXPECT_EQ(f16(65520.0f), 0x7C00);  // overflow to infinity
  EXPECT_EQ(f16(0x1p-24f), 0x0001);
  EXPECT_EQ(f16(0x1p-25f), 0x0000);  // tie to even
  EXPECT_EQ(f16(0x1.8p-24f), 0x0002);
  EXPECT_EQ(f16(-0.0f), 0x8000);
  EXPECT_EQ(half_value(Storage::F16, 0x0400), 0x1p-14f);
  EXPECT_EQ(half_value(Storage::F16, 0xFC00), -INFINITY);
  EXPECT_EQ(half_bits(Storage::BF16, 1.0f), 0x3F80);
  EXPECT_EQ(half_bits(Storage::BF16, 1.00390625f), 0x3F80);  // tie to even
  EXPECT_EQ(half_bits(Storage::BF16, 1.01171875f), 0x3F82);
  EXPECT_EQ(pack_pair(Storage::F16, 1.0f, -2.0f), static_cast<std::int32_t>(0xC0003C00));
  EXPECT_EQ(unpack_pair(Storage::F16, static_cast<std::int32_t>(0xC0003C00), false), 1.0f);
  EXPECT_EQ(unpack_pair(Storage::F16, static_cast<std::int32_t>(0xC0003C00), true), -2.0f);
}

// y: the pairs with their halves swapped, one third added to what was low; z: the low halves.
TEST_P(Halves, PackedPairsMoveAndCompute) {
  for (const int count : {1, 2, 4}) {
    Builder b("pairs", 8);
    auto x = b.input("x", storage()), y = b.output("y", storage());
    auto z = b.output("z", Storage::F32);
    auto tile = b.shared("tile", storage(), 64);
    const Value place = b.thread() * (2 * count);
    b.store_packed(tile[place], b.load_packed("p", x[place], count));
    std::vector<Value> swapped;
    for (const Value& pair : b.load_packed("q", tile[place], count))
      swapped.push_back(b.pack(storage(), b.unpack(storage(), pair, true),
                               b.unpack(storage(), pair, false) + b.real(1.0 / 3)));
    b.store_packed(y[place], swapped);
    for (int i = 0; i < count; ++i)
      b.store(z[b.thread() * count + i], b.unpack(storage(), swapped[static_cast<std::size_t>(i)], false));
    std::vector<GlobalBuffer> buffers{counting(storage(), 16 * count), output_buffer(storage(), 16 * count),
                                      output_buffer(Storage::F32, 8 * count)};
    expect_clean(run(b.finish(), 1, buffers));
    for (int i = 0; i < 8 * count; ++i) {
      const auto at = static_cast<std::size_t>(2 * i);
      EXPECT_EQ(buffers[1].values[at], static_cast<float>(2 * i + 1));
      EXPECT_EQ(buffers[1].values[at + 1],
                round_to(storage(), static_cast<float>(2 * i) + static_cast<float>(1.0 / 3)));
      EXPECT_EQ(buffers[2].values[at / 2], static_cast<float>(2 * i + 1));
    }
  }
}

TEST_P(Halves, PackedAccessesAreChecked) {
  const auto kernel = [&](int first) {
    Builder b("pairs", 2);
    auto x = b.input("x", storage()), y = b.output("y", storage());
    b.store_packed(y[b.thread() * 4], b.load_packed("p", x[b.thread() * 4 + first], 2));
    return b.finish();
  };
  std::vector<GlobalBuffer> buffers{counting(storage(), 16), output_buffer(storage(), 8)};
  expect_fault(run(kernel(2), 1, buffers), Kind::Misaligned, {"x[2]", "multiple of 4"});
  buffers[0] = counting(storage(), 8);
  expect_fault(run(kernel(4), 1, buffers), Kind::OutOfRange, {"x[8]", "4 elements at once, of 8"});
  buffers = {counting(storage(), 8), output_buffer(storage(), 8)};
  buffers[0].written[7] = false;
  expect_fault(run(kernel(0), 1, buffers), Kind::Unwritten, {"x[7]"});
}

// ---- products ----

enum class Source { Direct, Columns, Rows };

// Fragments by the layout of the PTX ISA, straight from global memory (Direct), or a and b through shared
// memory by ldmatrix: b stored by columns, or by rows and transposed on the way.
Kernel product(Storage storage, Source source) {
  Builder b("product", 32);
  auto a = b.input("a", storage), w = b.input("b", storage), c = b.input("c", Storage::F32);
  auto y = b.output("y", Storage::F32);
  const Value lane = b.thread(), g = b.let("g", lane / 4), q = b.let("q", lane % 4 * 2), zero = b.constant(0);
  auto left = b.array("left", Type::I32, 5), right = b.array("right", Type::I32, 2);
  auto acc = b.array("acc", Type::F32, 6);
  for (int r = 0; r < 4; ++r)
    b.write(acc, b.constant(r + 2), b.load("c", c[(g + r / 2 * 8) * kN + q + r % 2]));
  if (source == Source::Direct) {
    for (int r = 0; r < 4; ++r)
      b.write(left, b.constant(r + 1), b.load_packed("p", a[(g + r % 2 * 8) * kK + q + r / 2 * 8], 1)[0]);
    for (int r = 0; r < 2; ++r) {
      const Value row = q + r * 8;
      b.write(right, b.constant(r),
              b.pack(storage, b.load("v", w[row * kN + g]), b.load("v", w[(row + 1) * kN + g])));
    }
  } else {
    auto rows = b.shared("rows", storage, kM * kPitch), other = b.shared("other", storage, kK * kPitch);
    b.for_("i", 0, kM * kK / 32, 1, [&](Value i) {
      const Value at = b.let("at", i * 32 + lane);
      b.store(rows[at / kK * kPitch + at % kK], b.load("v", a[at]));
    });
    b.for_("i", 0, kK * kN / 32, 1, [&](Value i) {
      const Value at = b.let("at", i * 32 + lane), k = at / kN, n = at % kN;
      b.store(other[source == Source::Rows ? k * kPitch + n : n * kPitch + k], b.load("v", w[at]));
    });
    b.warp_sync();
    b.load_matrix(left, b.constant(1), 4, false, rows[lane % 16 * kPitch + lane / 16 * 8]);
    if (source == Source::Rows)
      b.load_matrix(right, zero, 2, true, other[lane % 16 * kPitch]);
    else
      for (int k = 0; k < 2; ++k)  // one matrix at a time: only lanes 0 to 7 give places
        b.load_matrix(right, b.constant(k), 1, false, other[lane % 8 * kPitch + k * 8]);
  }
  b.mma(storage, acc, b.constant(2), left, b.constant(1), right, zero);
  for (int r = 0; r < 4; ++r) b.store(y[(g + r / 2 * 8) * kN + q + r % 2], b.read(acc, b.constant(r + 2)));
  return b.finish();
}

TEST_P(Halves, ProductsOfIntegersAreExact) {
  std::vector<double> a, w, c;
  for (int i = 0; i < kM * kK; ++i) a.push_back(i * 7 % 23 - 11);
  for (int i = 0; i < kK * kN; ++i) w.push_back(i * 5 % 19 - 9);
  for (int i = 0; i < kM * kN; ++i) c.push_back(i * 1000);
  for (const Source source : {Source::Direct, Source::Columns, Source::Rows}) {
    std::vector<GlobalBuffer> buffers{input_buffer(storage(), a), input_buffer(storage(), w),
                                      input_buffer(Storage::F32, c), output_buffer(Storage::F32, kM * kN)};
    expect_clean(run(product(storage(), source), 1, buffers));
    for (int i = 0; i < kM; ++i)
      for (int j = 0; j < kN; ++j) {
        double sum = c[static_cast<std::size_t>(i * kN + j)];
        for (int k = 0; k < kK; ++k)
          sum += a[static_cast<std::size_t>(i * kK + k)] * w[static_cast<std::size_t>(k * kN + j)];
        ASSERT_EQ(buffers[3].values[static_cast<std::size_t>(i * kN + j)], sum)
            << static_cast<int>(source) << " " << i << " " << j;
      }
  }
}

// 2^24 + 1 + 1: float would lose each 1 by itself.
TEST_P(Halves, SumsAreRoundedOnce) {
  std::vector<double> a(kM * kK, 0), w(kK * kN, 1), c(kM * kN, 0x1p24);
  a[3] = a[9] = 1;
  std::vector<GlobalBuffer> buffers{input_buffer(storage(), a), input_buffer(storage(), w),
                                    input_buffer(Storage::F32, c), output_buffer(Storage::F32, kM * kN)};
  expect_clean(run(product(storage(), Source::Direct), 1, buffers));
  EXPECT_EQ(buffers[3].values[0], 0x1p24f + 2.0f);
  EXPECT_EQ(buffers[3].values[kN], 0x1p24f);
}

// ---- fp32 ----

// By the layouts of two m16n8k8 one after the other, straight from global memory.
Kernel product_of_reals(bool tf32x3, bool rounds) {
  Builder b("product", 32);
  auto a = b.input("a", Storage::F32), w = b.input("b", Storage::F32), c = b.input("c", Storage::F32);
  auto y = b.output("y", Storage::F32);
  const Value lane = b.thread(), g = b.let("g", lane / 4), q = b.let("q", lane % 4);
  auto left = b.array("left", Type::F32, 9), right = b.array("right", Type::F32, 4);
  auto acc = b.array("acc", Type::F32, 4);
  const auto operand = [&](Place place) {
    const Value value = b.load("v", place);
    return rounds ? b.round_tf32(value) : value;
  };
  for (int half = 0; half < 2; ++half) {
    for (int r = 0; r < 4; ++r)
      b.write(left, b.constant(1 + half * 4 + r),
              operand(a[(g + r % 2 * 8) * kK + (q + (half * 8 + r / 2 * 4))]));
    for (int r = 0; r < 2; ++r)
      b.write(right, b.constant(half * 2 + r), operand(w[(q + (half * 8 + r * 4)) * kN + g]));
  }
  const Value at = b.let("at", g * kN + q * 2);
  for (int r = 0; r < 4; ++r) b.write(acc, b.constant(r), b.load("c", c[at + (r / 2 * 8 * kN + r % 2)]));
  const Value zero = b.constant(0);
  b.mma(Storage::F32, acc, zero, left, b.constant(1), right, zero, tf32x3);
  for (int r = 0; r < 4; ++r) b.store(y[at + (r / 2 * 8 * kN + r % 2)], b.read(acc, b.constant(r)));
  return b.finish();
}

std::vector<GlobalBuffer> reals(const std::vector<double>& a, const std::vector<double>& w) {
  return {input_buffer(Storage::F32, a), input_buffer(Storage::F32, w),
          input_buffer(Storage::F32, std::vector<double>(kM * kN, 3)), output_buffer(Storage::F32, kM * kN)};
}

// Integers of 13 and 3 bits: three terms lose nothing, tf32 rounds the large ones.
TEST(SimulateMma, ProductsOfFp32InThreeTermsAndInTf32) {
  std::vector<double> a, w;
  for (int i = 0; i < kM * kK; ++i) a.push_back(i * 1237 % 16381 - 8190);
  for (int i = 0; i < kK * kN; ++i) w.push_back(i * 5 % 15 - 7);
  for (const bool tf32 : {false, true}) {
    std::vector<GlobalBuffer> buffers = reals(a, w);
    expect_clean(run(product_of_reals(!tf32, tf32), 1, buffers));
    for (std::size_t i = 0; i < kM * kN; ++i) {
      double sum = 3;
      for (std::size_t k = 0; k < kK; ++k) {
        const double left = a[i / kN * kK + k];
        sum += (tf32 ? static_cast<double>(scalar::round_tf32(static_cast<float>(left))) : left) *
               w[k * kN + i % kN];
      }
      ASSERT_EQ(buffers[3].values[i], sum) << tf32 << " " << i;
    }
  }
}

// small * small is what three terms leave out.
TEST(SimulateMma, ThreeTermsAreNearlyExact) {
  std::vector<double> a(kM * kK, 0), w(kK * kN, 0);
  const double x = 1 + 0x1p-12;  // parts 1 and 2^-12
  a[0] = w[0] = x;
  std::vector<GlobalBuffer> buffers = reals(a, w);
  buffers[2] = input_buffer(Storage::F32, std::vector<double>(kM * kN, 0));
  expect_clean(run(product_of_reals(true, false), 1, buffers));
  EXPECT_EQ(buffers[3].values[0], static_cast<float>(x * x - 0x1p-24));
  EXPECT_EQ(buffers[3].values[0], 1 + 0x1p-11f);
}

// Also where only one of the two operands was rounded.
TEST(SimulateMma, OperandsInTf32MustBeRounded) {
  std::vector<double> a(kM * kK, 1), w(kK * kN, 1);
  a[16] = 1 + 0x1p-11;  // row 1, column 0: lane 4, register 0
  std::vector<GlobalBuffer> buffers = reals(a, w);
  expect_fault(run(product_of_reals(false, false), 1, buffers), Kind::Protocol,
               {"thread 4 ", "register 0 of a", "no number of tf32"});
  buffers = reals(w, std::vector<double>(kK * kN, 1 + 0x1p-11));
  buffers[0] = input_buffer(Storage::F32, std::vector<double>(kM * kK, 1));
  expect_fault(run(product_of_reals(false, false), 1, buffers), Kind::Protocol, {"register 0 of b"});
  buffers = reals(a, w);
  expect_clean(run(product_of_reals(false, true), 1, buffers));
}

// ---- planted faults ----

// An mma whose operands are set in `set`; the arrays are acc, a and b.
Kernel bare(const std::function<void(Builder&, Array, Array, Array)>& set, int threads = 32) {
  Builder b("bare", threads);
  auto acc = b.array("acc", Type::F32, 4), left = b.array("left", Type::I32, 4);
  auto right = b.array("right", Type::I32, 2);
  for (int r = 0; r < 4; ++r) b.write(acc, b.constant(r), b.real(0));
  for (int r = 0; r < 4; ++r) b.write(left, b.constant(r), b.constant(0));
  b.write(right, b.constant(0), b.constant(0));
  set(b, acc, left, right);
  return raw(b);
}

TEST(SimulateMma, EveryLaneMustHoldItsOperands) {
  const auto kernel = [](int lanes) {
    return bare([&](Builder& b, Array acc, Array left, Array right) {
      const Value zero = b.constant(0);
      b.if_(b.thread() < lanes, [&] { b.write(right, b.constant(1), zero); });
      b.mma(Storage::BF16, acc, zero, left, zero, right, zero);
    });
  };
  std::vector<GlobalBuffer> none;
  expect_fault(run(kernel(31), 1, none), Kind::Unset, {"mma", "thread 31 ", "register 1 of b"});
  expect_clean(run(kernel(32), 1, none));
}

TEST(SimulateMma, TheWholeWarpTakesPart) {
  const auto kernel = [](int threads, int lanes) {
    return bare(
        [&](Builder& b, Array acc, Array left, Array right) {
          const Value zero = b.constant(0);
          b.write(right, b.constant(1), zero);
          b.if_(b.thread() < lanes, [&] { b.mma(Storage::F16, acc, zero, left, zero, right, zero); });
        },
        threads);
  };
  std::vector<GlobalBuffer> none;
  expect_fault(run(kernel(32, 8), 1, none), Kind::Deadlock, {"matrix product", "0x000000ff", "all 32"});
  expect_fault(run(kernel(16, 16), 1, none), Kind::Deadlock, {"matrix product", "all 32"});
  expect_clean(run(kernel(64, 32), 1, none));
}

TEST(SimulateMma, SlicesStayInsideTheirArrays) {
  const auto kernel = [](int first) {
    return bare([&](Builder& b, Array acc, Array left, Array right) {
      const Value zero = b.constant(0);
      b.write(right, b.constant(1), zero);
      b.mma(Storage::F16, acc, zero, left, b.constant(first), right, zero);
    });
  };
  std::vector<GlobalBuffer> none;
  expect_fault(run(kernel(1), 1, none), Kind::OutOfRange, {"4 elements of left[4] from 1"});
  expect_fault(run(kernel(-1), 1, none), Kind::OutOfRange, {"from -1"});
}

enum class MmaDefect { None, Offset, NoSync, Unwritten, Short };

// Each lane writes one row of eight and the warp loads four matrices.
Kernel rows_of(MmaDefect defect) {
  Builder b("rows", 32);
  auto y = b.output("y", Storage::I32);
  auto tile = b.shared("tile", Storage::F16, 32 * 8 + (defect == MmaDefect::Short ? 0 : 8));
  auto into = b.array("into", Type::I32, 4);
  const Value row = b.let("row", b.thread() * 8), zero = b.constant(0);
  const auto fill = [&] { b.store_packed(tile[row], std::vector<Value>(4, b.thread())); };
  if (defect == MmaDefect::Unwritten)
    b.if_(b.thread() < 31, fill);
  else
    fill();
  if (defect != MmaDefect::NoSync) b.warp_sync();
  // Other lanes' rows: each the next one's.
  const int shift = defect == MmaDefect::Offset ? 4 : defect == MmaDefect::Short ? 8 : 0;
  const Value next = (b.thread() + 1) % 32 * 8;
  b.load_matrix(into, zero, 4, false, tile[defect == MmaDefect::Short ? row + shift : next + shift]);
  for (int m = 0; m < 4; ++m) b.store(y[b.thread() * 4 + m], b.read(into, b.constant(m)));
  return b.finish();
}

TEST(SimulateMma, LoadsOfMatricesAreChecked) {
  std::vector<GlobalBuffer> buffers{output_buffer(Storage::I32, 128)};
  expect_clean(run(rows_of(MmaDefect::None), 1, buffers));
  for (int lane = 0; lane < 32; ++lane)
    for (int m = 0; m < 4; ++m)
      EXPECT_EQ(buffers[0].integers[static_cast<std::size_t>(lane * 4 + m)], (m * 8 + lane / 4 + 1) % 32);
  const auto faulty = [&](MmaDefect defect, Kind kind, const std::vector<std::string>& words) {
    buffers[0] = output_buffer(Storage::I32, 128);
    expect_fault(run(rows_of(defect), 1, buffers), kind, words);
  };
  faulty(MmaDefect::Offset, Kind::Misaligned, {"load_matrix", "tile[12]", "multiple of 8"});
  faulty(MmaDefect::NoSync, Kind::Race, {"load_matrix", "thread 0 ", "tile[8]", "written by thread 1 "});
  faulty(MmaDefect::Unwritten, Kind::Unwritten, {"thread 30 ", "tile[248]"});
  faulty(MmaDefect::Short, Kind::OutOfRange, {"thread 31 ", "tile[256]"});
}

// A row read by ldmatrix and then overwritten.
TEST(SimulateMma, OverwritingAMatrixNeedsASync) {
  const auto kernel = [](bool sync) {
    Builder b("overwrite", 64);
    auto tile = b.shared("tile", Storage::BF16, 64);
    auto into = b.array("into", Type::I32, 1);
    b.store(tile[b.thread()], b.real(1));
    b.barrier();
    b.if_(b.thread() < 32, [&] { b.load_matrix(into, b.constant(0), 1, false, tile[b.thread() % 8 * 8]); });
    if (sync) b.barrier();
    b.if_(b.thread() == 63, [&] { b.store(tile[b.constant(17)], b.real(2)); });
    return b.finish();
  };
  std::vector<GlobalBuffer> none;
  expect_fault(run(kernel(false), 1, none), Kind::Race, {"thread 63 ", "tile[17]", "read by thread 2 "});
  expect_clean(run(kernel(true), 1, none));
}

}  // namespace
}  // namespace rondo::kernel::test
