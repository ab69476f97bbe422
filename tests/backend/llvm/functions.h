// Functions of one number over all numbers of a type: what they are compared with, how far they are off, and
// how far docs/numerics.md says that they are.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/scalar/ops.h"
#include "compiler/scalar/roundoff.h"
#include "compiler/scalar/storage.h"

namespace rondo::backend::testing {

inline constexpr scalar::Op kFunctions[] = {
    scalar::Op::Exp,  scalar::Op::Expm1, scalar::Op::Log,   scalar::Op::Log1p,
    scalar::Op::Sqrt, scalar::Op::Rsqrt, scalar::Op::Recip, scalar::Op::Sigmoid,
    scalar::Op::Tanh, scalar::Op::Silu,  scalar::Op::Gelu,  scalar::Op::Softplus,
    scalar::Op::Erf,  scalar::Op::Sin,   scalar::Op::Cos,   scalar::Op::Exp2};

// All 2^16 numbers of a 16-bit type, as fp32.
inline std::vector<float> all_numbers(scalar::Storage storage) {
  std::vector<float> numbers(1 << 16);
  for (std::size_t bits = 0; bits < numbers.size(); ++bits)
    numbers[bits] = scalar::half_value(storage, static_cast<std::uint16_t>(bits));
  return numbers;
}

// Every `step`-th of all 2^32 numbers of fp32 from the bits `first` on, 2^16 of them; `first` moves on.
inline std::vector<float> some_numbers(std::uint64_t& first, std::uint64_t step) {
  std::vector<float> numbers(1 << 16, 0);
  for (float& number : numbers) {
    if (first >> 32 != 0) break;
    number = std::bit_cast<float>(static_cast<std::uint32_t>(first));
    first += step;
  }
  return numbers;
}

// Whether all 2^32 numbers of fp32 are asked for.
inline bool all_floats() { return std::getenv("RONDO_ALL_FLOATS") != nullptr; }

inline std::vector<double> exact_results(scalar::Op op, const std::vector<float>& numbers) {
  std::vector<double> results;
  results.reserve(numbers.size());
  for (const float number : numbers)
    results.push_back(scalar::evaluate(op, std::array{static_cast<double>(number)}));
  return results;
}

// The columns of the table in docs/numerics.md.
enum class Column { CpuAccurate, CpuFast, GpuLlvm, GpuNvrtc, CpuDouble };

// What the table says of a function: units of the last place of accurate functions, the share of
// scalar/roundoff.h's bound of fast ones.
inline double documented(scalar::Op op, Column column) {
  static const std::map<std::string, std::vector<double>> table = [] {
    const char* moved = std::getenv("RONDO_SOURCE_DIR");
    std::ifstream page(std::string(moved != nullptr ? moved : RONDO_SOURCE_DIR) + "/docs/numerics.md");
    std::map<std::string, std::vector<double>> rows;
    for (std::string line; std::getline(page, line);) {
      std::erase_if(line, [](char c) { return c == '`' || c == '|'; });
      std::istringstream words(line);
      std::string name;
      words >> name;
      std::vector<double> values;
      for (double value = 0; words >> value;) values.push_back(value);
      if (values.size() == 5) rows[name] = values;
    }
    return rows;
  }();
  const auto row = table.find(std::string(scalar::info(op).name));
  EXPECT_NE(row, table.end()) << "docs/numerics.md has no row of " << scalar::info(op).name;
  return row == table.end() ? 0 : row->second[static_cast<std::size_t>(column)];
}

// The function that a helper of kernels' text computes: "gelu" of accurate_gelu, "exp" of precise_exp.
inline std::optional<scalar::Op> function_of_helper(const std::string& helper) {
  for (const scalar::Op op : kFunctions)
    for (const char* const kind : {"accurate_", "precise_"})
      if (helper == kind + std::string(scalar::info(op).name)) return op;
  return std::nullopt;
}

// The largest errors of a function, and where.
struct Worst {
  double ulps = 0;      // of the result's last place; of results that fp32 has no normal number for, 2^-149
  double of_bound = 0;  // of what scalar/roundoff.h lets a kernel err
  float ulps_at = 0, bound_at = 0;
  std::string wrong;  // a result of the wrong kind: "" if there is none
};

inline void merge(Worst& into, const Worst& other) {
  if (other.ulps > into.ulps) into.ulps = other.ulps, into.ulps_at = other.ulps_at;
  if (other.of_bound > into.of_bound) into.of_bound = other.of_bound, into.bound_at = other.bound_at;
  if (into.wrong.empty()) into.wrong = other.wrong;
}

// Compares the results of one function.
class Comparison {
 public:
  // `flushes`: what is below 2^-126 may be 0, in arguments and in results, as instructions of GPUs have it.
  Comparison(scalar::Op op, bool fast, bool flushes)
      : op_(op), off_(scalar::roundoff(op, fast)), flushes_(flushes) {}

  void compare(float x, double exact, float got, Worst& worst) const {
    if (flushes_ && std::abs(x) < kLeastNormal && x != 0) return;
    if (!std::isfinite(exact) || !std::isfinite(got) || std::abs(exact) > kLargest) {
      if (worst.wrong.empty() && !right_kind(x, exact, got))
        worst.wrong = std::to_string(x) + " gives " + std::to_string(got) + ", not " + std::to_string(exact);
      return;
    }
    const double error = std::abs(static_cast<double>(got) - exact), size = std::abs(exact);
    const double power = std::bit_cast<double>(std::bit_cast<std::uint64_t>(size) & (0x7ffULL << 52));
    const double ulps = error / std::max(power * 0x1p-23, 0x1p-149);
    const bool flushed = flushes_ && got == 0 && size < kLeastNormal;
    if (ulps > worst.ulps && !flushed) worst.ulps = ulps, worst.ulps_at = x;
    const double of_operand = std::abs(static_cast<double>(x));
    const double allowed = off_.value * size + off_.scaled * of_operand * size + off_.operand * of_operand +
                           off_.absolute + (flushes_ ? kLeastNormal : 0x1p-149);
    if (error > worst.of_bound * allowed) worst.of_bound = error / allowed, worst.bound_at = x;
  }

 private:
  static constexpr double kLeastNormal = 0x1p-126;
  static constexpr double kLargest = static_cast<double>(std::numeric_limits<float>::max());

  // Of results that are infinite or no number: where they are to be. Next to the largest number a rounding
  // decides. Of minus infinity silu and gelu are minus infinity by 0, or the limit.
  bool right_kind(float x, double exact, float got) const {
    if (std::isnan(exact) && x == -std::numeric_limits<float>::infinity() && got == 0)
      return op_ == scalar::Op::Silu || op_ == scalar::Op::Gelu;
    if (std::isnan(exact) || std::isnan(got)) return std::isnan(exact) && std::isnan(got);
    const bool near_largest = std::abs(exact) > 0.999 * kLargest && std::abs(exact) < 1.001 * kLargest;
    return static_cast<float>(exact) == got || near_largest;
  }

  scalar::Op op_;
  scalar::Roundoff off_;
  bool flushes_;
};

// Pairs of numbers, four times `count`: of any bits, of sizes near 1, and all pairs of those that have
// special results.
template <class Visit>
void for_each_pair(int count, Visit&& visit) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> near(-12, 12);
  for (int i = 0; i < count; ++i) {
    visit(std::bit_cast<float>(static_cast<std::uint32_t>(random())),
          std::bit_cast<float>(static_cast<std::uint32_t>(random())));
    visit(std::abs(near(random)), near(random));
    visit(near(random), std::round(near(random)));
    visit(1 + 0x1p-10f * near(random), 100 * near(random));
  }
  constexpr float kEndless = std::numeric_limits<float>::infinity();
  constexpr float kSpecial[] = {0,
                                0.5f,
                                1,
                                2,
                                3,
                                2.5f,
                                0x1p24f + 2,
                                64,
                                1e30f,
                                kEndless,
                                0x1p-149f,
                                1e-38f,
                                std::numeric_limits<float>::quiet_NaN()};
  for (const float a : kSpecial)
    for (const float b : kSpecial)
      for (const float sign : {1.0f, -1.0f})
        for (const float other : {1.0f, -1.0f}) visit(sign * a, other * b);
}

// A value beside the exact one: the same kind of number, and `worst` is at least the error in units of the
// last place, of 2^-149 below 2^-126.
inline void expect_right(float got, double exact, const std::string& what, double& worst) {
  const auto nearest = static_cast<float>(exact);
  if (std::isnan(exact) || std::isinf(nearest) || std::isnan(got) || std::isinf(got)) {
    const bool largest = std::abs(exact) > 0x1.fffffdp127 && std::abs(exact) < 0x1.000002p128;
    EXPECT_TRUE((std::isnan(exact) && std::isnan(got)) || nearest == got || largest)
        << what << " is " << got << ", not " << exact;
    return;
  }
  if (exact == 0 && got == 0) {
    EXPECT_EQ(std::signbit(got), std::signbit(exact)) << what;
  }
  const double power =
      std::bit_cast<double>(std::bit_cast<std::uint64_t>(std::abs(exact)) & (0x7ffULL << 52));
  worst = std::max(worst, std::abs(static_cast<double>(got) - exact) / std::max(power * 0x1p-23, 0x1p-149));
}

// Fails the test where errors are larger than documented, or the documented figure than what a run over all
// numbers found. The documented share of a fast function's bound may be of another machine's rounding: 2%
// more are let by.
inline void expect_documented(const Worst& worst, scalar::Op op, bool fast, Column column,
                              const std::string& of) {
  std::printf("%-40s %.3g ulp at %.9g, %.3g of the bound at %.9g\n", of.c_str(), worst.ulps,
              static_cast<double>(worst.ulps_at), worst.of_bound, static_cast<double>(worst.bound_at));
  EXPECT_EQ(worst.wrong, "") << of;
  EXPECT_LE(worst.of_bound, 1) << of << " at " << worst.bound_at;
  const double largest = documented(op, column), found = fast ? worst.of_bound : worst.ulps;
  EXPECT_LE(found, fast ? largest * 1.02 + 0.01 : largest) << of << ", against docs/numerics.md";
}

}  // namespace rondo::backend::testing
