// The check at the full shape of results too large to be compared whole: made-up ones, without a kernel.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "engine/check/at_shape.h"
#include "engine/check/plain.h"
#include "engine/check/rows_apart.h"
#include "engine/measure/measure.h"
#include "tests/engine/plan/cells.h"

namespace rondo::engine {
namespace {

using schedule::Role;
using schedule::TensorRef;

// Results are functions of their place, and of the run: the plain kernel's first run has none of its noise.
class MadeUp final : public ShapeRuns {
 public:
  MadeUp(const step::Cell& cell, const schedule::Problem& problem) {
    for (const TensorRef ref : tensors_of_pass({cell, problem, {}}))
      tensors_.push_back(shape_tensor(ref, {cell, problem, {}}));
  }
  std::function<double(TensorRef ref, std::int64_t element)> kernel_off;  // relative

  // What the plain kernels were given of the inputs, run by run: the first elements.
  std::vector<std::vector<double>> inputs;

  const std::vector<ShapeTensor>& tensors() const override { return tensors_; }
  Status fill(Side side, TensorRef ref, std::span<const double> values) override {
    if (side == Side::Plain && ref.role == Role::Input)
      inputs.emplace_back(values.begin(), values.begin() + kKept);
    return success();
  }
  Status reach_initial_states(std::int64_t) override { return success(); }
  Status save() override { return success(); }
  Status run(Side) override { return success(); }
  Status run_perturbed(double /*seed*/, double /*amplitude*/) override {
    ++run_;
    return success();
  }
  Status read(Side side, TensorRef ref, std::span<const std::int64_t> rows, std::span<double> into) override {
    read_ += static_cast<std::int64_t>(into.size());
    const auto unit = static_cast<std::int64_t>(into.size() / rows.size());
    std::size_t i = 0;
    for (const std::int64_t row : rows)
      for (std::int64_t element = row * unit; element < (row + 1) * unit; ++element) {
        const double value = 1 + 0.5 * std::sin(static_cast<double>(element));
        const double noise = side == Side::Kernel
                                 ? 1e-6 * std::sin(3.7 * static_cast<double>(element)) + off(ref, element)
                                 : 1e-6 * std::sin((1.3 + run_) * static_cast<double>(element)) * (run_ > 0);
        into[i++] = static_cast<float>(value * (1 + noise));
      }
    return success();
  }
  std::int64_t elements_read() const { return read_; }

 private:
  static constexpr std::ptrdiff_t kKept = 1000;
  double off(TensorRef ref, std::int64_t element) const { return kernel_off ? kernel_off(ref, element) : 0; }
  std::vector<ShapeTensor> tensors_;
  int run_ = 0;
  std::int64_t read_ = 0;
};

constexpr step::Sizes kLarge{8, 1024, 1, 512};  // 4 million elements

class LargeShape : public ::testing::Test {
 protected:
  void SetUp() override {
    problem_ = rondo::testing::problem_of(schedule::Pass::Forward, kLarge.dim, kernel::Storage::F32);
    problem_.sizes = kLarge;
  }
  Verification checked(MadeUp& runs) {
    const Result<Verification> result = check_at_shape({cell_, problem_, {}}, runs, 1);
    EXPECT_TRUE(result.ok()) << result.error().message;
    return *result;
  }
  step::Cell cell_ = rondo::testing::library_cell("mingru");
  schedule::Problem problem_;
};

TEST_F(LargeShape, IsLookedAtWholeAndComparedInPart) {
  MadeUp runs(cell_, problem_);
  const Verification found = checked(runs);
  EXPECT_TRUE(found.passed) << found.summary();
  ASSERT_EQ(found.covered.size(), 1u);
  EXPECT_NE(found.covered[0].find("2048 of 8192 rows of h_out"), std::string::npos) << found.covered[0];
  EXPECT_NE(found.covered[0].find("h_last"), std::string::npos) << found.covered[0];
  const std::int64_t all = kLarge.batch * kLarge.time * kLarge.dim;
  EXPECT_GE(runs.elements_read(), 2 * all);
  EXPECT_LT(runs.elements_read(), 8 * all);
}

// One element of four million, wherever it lies.
TEST_F(LargeShape, OneWrongElementIsFound) {
  const std::int64_t all = kLarge.batch * kLarge.time * kLarge.dim;
  for (const std::int64_t wrong : {std::int64_t{0}, std::int64_t{123'457}, all / 2 + 7, all - 1}) {
    MadeUp runs(cell_, problem_);
    runs.kernel_off = [&](TensorRef ref, std::int64_t element) {
      return ref.role == Role::Output && element == wrong ? 1e-3 : 0.0;
    };
    const Verification found = checked(runs);
    EXPECT_FALSE(found.passed) << wrong;
    const std::int64_t row = wrong / kLarge.dim;
    const std::string where = fmt::format("element B={} T={} H=0 row=0 D={}", row / kLarge.time,
                                          row % kLarge.time, wrong % kLarge.dim);
    EXPECT_NE(found.summary().find(where), std::string::npos) << found.summary() << ", not " << where;
  }
}

// A little off in all of a late part: no element tells, its norm does.
TEST_F(LargeShape, ASlightErrorOfALatePartIsFound) {
  MadeUp runs(cell_, problem_);
  runs.kernel_off = [](TensorRef ref, std::int64_t element) {
    return ref.role == Role::Output && element / kLarge.dim % kLarge.time >= 1000 ? 1e-5 : 0.0;
  };
  const Verification found = checked(runs);
  EXPECT_FALSE(found.passed);
}

// In more rows than are compared: all are counted.
TEST_F(LargeShape, WhatIsNoNumberIsFoundAnywhere) {
  MadeUp runs(cell_, problem_);
  runs.kernel_off = [](TensorRef ref, std::int64_t element) {
    return ref.role == Role::Output && element % kLarge.dim == 77 ? std::nan("") : 0.0;
  };
  const Verification found = checked(runs);
  EXPECT_FALSE(found.passed);
  EXPECT_NE(found.summary().find("8192 elements not finite"), std::string::npos) << found.summary();
}

// Of ten runs half draw an error for every step, and half keep one; of each half one errs 16 times as far.
TEST_F(LargeShape, RunsErrAtRandomSteadilyAndFar) {
  MadeUp runs(cell_, problem_);
  checked(runs);
  ASSERT_EQ(runs.inputs.size(), 11u);
  int at_random = 0, steady = 0, far = 0;
  for (std::size_t run = 1; run < runs.inputs.size(); ++run) {
    int up = 0;
    double most = 0;
    for (std::size_t i = 0; i < runs.inputs[run].size(); ++i) {
      const double given = runs.inputs[0][i], error = runs.inputs[run][i] - given;
      up += error > 0;
      most = std::max(most, std::abs(error) / ((std::abs(given) + 1) / 2));
    }
    most /= rounding_inside({cell_, problem_, {}});
    EXPECT_GT(most, 0) << run;
    EXPECT_LE(most, kFar * 1.001) << run;
    const bool keeps_its_sign = up == 0 || up == 1000;
    ++(keeps_its_sign ? steady : at_random);
    if (keeps_its_sign) continue;
    EXPECT_TRUE((most > 0.95 && most < 1.001) || most > 0.95 * kFar) << most;
    far += most > 2;
  }
  EXPECT_EQ(at_random, 5);
  EXPECT_EQ(steady, 5);
  EXPECT_EQ(far, 1);
}

TEST_F(LargeShape, TakesTheFurthestRowsAndTheEnds) {
  const ShapeTensor tensor = shape_tensor({Role::Output, *cell_.find("h") + 1}, {cell_, problem_, {}});
  ShapeTensor rows{tensor.ref, true, false, kLarge.batch * kLarge.time, kLarge.dim};
  rows.ref.role = Role::Output;
  RowsApart apart;
  apart.difference.assign(static_cast<std::size_t>(rows.rows), 1e-3F);
  apart.size.assign(apart.difference.size(), 1.0F);
  apart.difference[4321] = 1.0F;  // absolutely
  apart.size[1234] = 1e-6F;       // relatively
  apart.difference[777] = std::nanf("");
  const std::vector<std::int64_t> chosen = rows_to_compare(rows, apart, kLarge, 1);
  EXPECT_EQ(chosen.size(), 2048u);
  EXPECT_TRUE(std::is_sorted(chosen.begin(), chosen.end()));
  EXPECT_EQ(std::set<std::int64_t>(chosen.begin(), chosen.end()).size(), chosen.size());
  std::vector<std::int64_t> wanted = {0, 4321, 1234, 777};
  for (std::int64_t b = 1; b <= kLarge.batch; ++b) wanted.push_back(b * kLarge.time - 1);
  for (const std::int64_t row : wanted)
    EXPECT_TRUE(std::binary_search(chosen.begin(), chosen.end(), row)) << row;
}

}  // namespace
}  // namespace rondo::engine
