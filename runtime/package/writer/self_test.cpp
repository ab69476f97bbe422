#include "runtime/package/writer/self_test.h"

#include <fmt/format.h>

#include <cmath>

#include "compiler/scalar/storage.h"
#include "compiler/support/bytes.h"
#include "runtime/package/index.h"

namespace rondo::package {
namespace {

constexpr std::size_t kLeastTensor = 1 + 4;

// SplitMix64 (Steele, Lea, Flood 2014), as for the data of verifications.
double uniform(std::uint64_t& state) {
  state += 0x9E3779B97F4A7C15U;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-52 - 1.0;
}

void write_ref(ByteWriter& out, executable::TensorRef ref) {
  out.u8(static_cast<std::uint8_t>(ref.role));
  out.i32(ref.tensor);
}

executable::TensorRef read_ref(ByteReader& in) {
  executable::TensorRef ref;
  ref.role = in.one_of(executable::Role::Lengths);
  ref.tensor = in.i32();
  return ref;
}

SelfTest::Given read_given(ByteReader& in) {
  SelfTest::Given given;
  given.tensor = read_ref(in);
  given.scale = in.f64();
  given.seed = in.u64();
  given.values.resize(in.count(8));
  for (double& value : given.values) value = in.f64();
  return given;
}

SelfTest::Expected read_expected(ByteReader& in) {
  SelfTest::Expected expected;
  expected.tensor = read_ref(in);
  expected.elements = in.i64();
  expected.norm = in.f64();
  expected.norm_limit = in.f64();
  expected.samples.resize(in.count(24));
  for (SelfTest::Sample& sample : expected.samples) {
    sample.element = in.i64();
    sample.value = in.f64();
    sample.limit = in.f64();
    if (sample.element < 0 || sample.element >= expected.elements) in.fail();
  }
  return expected;
}

}  // namespace

std::vector<double> values_of(const SelfTest::Given& given, scalar::Storage storage, std::int64_t count) {
  if (!given.values.empty()) return given.values;
  std::uint64_t state = given.seed;
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values)
    value = static_cast<double>(scalar::round_to(storage, static_cast<float>(uniform(state) * given.scale)));
  return values;
}

std::string difference(const SelfTest::Expected& expected, const std::vector<double>& values) {
  if (static_cast<std::int64_t>(values.size()) != expected.elements)
    return fmt::format("{} elements, not {}", values.size(), expected.elements);
  for (const SelfTest::Sample& sample : expected.samples) {
    const double value = values[static_cast<std::size_t>(sample.element)];
    if (!(std::abs(value - sample.value) <= sample.limit))
      return fmt::format("element {} is {:.6g}, not {:.6g} (within {:.2g})", sample.element, value,
                         sample.value, sample.limit);
  }
  double sum = 0;
  for (const double value : values) sum += value * value;
  const double norm = std::sqrt(sum);
  if (!(std::abs(norm - expected.norm) <= expected.norm_limit))
    return fmt::format("its norm is {:.6g}, not {:.6g} (within {:.2g})", norm, expected.norm,
                       expected.norm_limit);
  return "";
}

std::string to_bytes(const SelfTest& test) {
  ByteWriter out;
  out.i64(test.batch);
  out.i64(test.time);
  out.count(test.given.size());
  for (const SelfTest::Given& given : test.given) {
    write_ref(out, given.tensor);
    out.f64(given.scale);
    out.u64(given.seed);
    out.count(given.values.size());
    for (const double value : given.values) out.f64(value);
  }
  out.count(test.expected.size());
  for (const SelfTest::Expected& expected : test.expected) {
    write_ref(out, expected.tensor);
    out.i64(expected.elements);
    out.f64(expected.norm);
    out.f64(expected.norm_limit);
    out.count(expected.samples.size());
    for (const SelfTest::Sample& sample : expected.samples) {
      out.i64(sample.element);
      out.f64(sample.value);
      out.f64(sample.limit);
    }
  }
  return out.take();
}

Result<SelfTest> self_test_from_bytes(std::string_view bytes, const std::string& origin) {
  ByteReader in(bytes);
  SelfTest test;
  test.batch = in.i64();
  test.time = in.i64();
  test.given.resize(in.count(kLeastTensor));
  for (SelfTest::Given& given : test.given) given = read_given(in);
  test.expected.resize(in.count(kLeastTensor));
  for (SelfTest::Expected& expected : test.expected) expected = read_expected(in);
  if (!in.done() || test.batch < 1 || test.time < 1) return refused(origin, "a self-test in it is none");
  return test;
}

}  // namespace rondo::package
