// A self-test vector: what kernels are given and what they must make of it, small enough to travel with them.
//
// Inputs are drawn again from a seed where they can be; results are a few elements of each tensor, with how
// far each may lie from the reference's. A kernel that passes was compiled, loaded and launched as it should.
// It does not replace `rondo verify`, which compares every element in several shapes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/executable/tensor.h"
#include "compiler/support/result.h"

namespace rondo::package {

struct SelfTest {
  // A tensor that the caller gives, laid out densely. Those that are not listed are left unbound.
  struct Given {
    executable::TensorRef tensor;
    double scale = 0;  // uniform in [-scale, scale] from the seed, rounded to the tensor's type
    std::uint64_t seed = 0;
    std::vector<double> values;  // where the pass before made them: all elements, instead of a seed
    bool operator==(const Given&) const = default;
  };
  // An element of a result.
  struct Sample {
    std::int64_t element = 0;  // of the dense layout
    double value = 0;          // by the fp64 reference
    double limit = 0;          // most that a correct kernel may be away from it
    bool operator==(const Sample&) const = default;
  };
  struct Expected {
    executable::TensorRef tensor;
    std::int64_t elements = 0;        // in all
    double norm = 0, norm_limit = 0;  // Euclidean, of all elements, and how far off it may be
    std::vector<Sample> samples;
    bool operator==(const Expected&) const = default;
  };

  std::int64_t batch = 1, time = 1;
  std::vector<Given> given;
  std::vector<Expected> expected;
  bool operator==(const SelfTest&) const = default;
};

// The elements of a given tensor: `count` of them, rounded to `storage`.
std::vector<double> values_of(const SelfTest::Given& given, scalar::Storage storage, std::int64_t count);
// Why `values`, all elements of a result, are not what is expected; "" where they are.
std::string difference(const SelfTest::Expected& expected, const std::vector<double>& values);

std::string to_bytes(const SelfTest& test);
// Error Input where the bytes are none.
Result<SelfTest> self_test_from_bytes(std::string_view bytes, const std::string& origin);

}  // namespace rondo::package
