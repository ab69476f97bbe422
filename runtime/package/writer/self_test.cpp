#include "runtime/package/writer/self_test.h"

#include <fmt/format.h>

#include <cmath>

#include "compiler/executable/serialise.h"
#include "compiler/scalar/storage.h"
#include "compiler/support/bytes.h"
#include "compiler/support/split_mix.h"
#include "runtime/package/index.h"

namespace rondo::package {
namespace {

constexpr std::size_t kLeastTensor = 1 + 4;

// In [-1, 1), as for the data of verifications.
double uniform(std::uint64_t& state) {
  return static_cast<double>(split_mix(state += kSplitMixStep) >> 11) * 0x1p-52 - 1.0;
}

constexpr auto kGiven = [](auto& archive, auto& given) {
  executable::kTensorRef(archive, given.tensor);
  archive(given.scale, given.seed);
  archive.list(given.values, 8, kValue);
};

constexpr auto kSample = [](auto& archive, auto& sample) {
  archive(sample.element, sample.value, sample.limit);
};

constexpr auto kExpected = [](auto& archive, auto& expected) {
  executable::kTensorRef(archive, expected.tensor);
  archive(expected.elements, expected.norm, expected.norm_limit);
  archive.list(expected.samples, 24, kSample);
};

constexpr auto kSelfTest = [](auto& archive, auto& test) {
  archive(test.batch, test.time);
  archive.list(test.given, kLeastTensor, kGiven);
  archive.list(test.expected, kLeastTensor, kExpected);
};

bool is_sound(const SelfTest& test) {
  for (const SelfTest::Expected& expected : test.expected)
    for (const SelfTest::Sample& sample : expected.samples)
      if (sample.element < 0 || sample.element >= expected.elements) return false;
  return test.batch >= 1 && test.time >= 1;
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

std::string to_bytes(const SelfTest& test) { return encoded(test, kSelfTest); }

Result<SelfTest> self_test_from_bytes(std::string_view bytes, const std::string& origin) {
  std::optional<SelfTest> test = decoded<SelfTest>(bytes, kSelfTest);
  if (!test || !is_sound(*test)) return refused(origin, "a self-test in it is none");
  return *std::move(test);
}

}  // namespace rondo::package
