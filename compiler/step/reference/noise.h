// The errors of a perturbed run. Internal to the reference executor.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "compiler/scalar/storage.h"
#include "compiler/step/reference/perturbation.h"
#include "compiler/support/split_mix.h"

namespace rondo::step::detail {

inline constexpr double kFp32Unit = 0x1p-24;  // unit roundoff

// Errors for the numbers of one (batch, head): the same whatever the number of threads.
class Noise {
 public:
  // `perturbation` null: no errors. It must outlive this.
  explicit Noise(const Perturbation* perturbation) : perturbation_(perturbation) {}

  explicit operator bool() const { return perturbation_ != nullptr; }
  const Perturbation& perturbation() const { return *perturbation_; }

  // Begins the errors of an item of work.
  void begin(std::int64_t item) {
    if (perturbation_ == nullptr) return;
    item_ = split_mix(perturbation_->seed * kSplitMixStep + static_cast<std::uint64_t>(item));
    next_ = item_;
  }

  // Adds an error of at most bound(i) to each of `count` numbers, and rounds them to fp32. `place` tells
  // apart the places of the program whose steady errors differ.
  template <class Real, class Bound>
  void add(Real* values, std::size_t count, std::uint64_t place, Bound bound) {
    perturb(values, count, place, bound, [](float value) { return value; });
  }
  // Rounds numbers to a type, which is off by up to one unit more.
  template <class Real>
  void store(Real* values, std::size_t count, std::uint64_t place, scalar::Storage type) {
    const double unit = scalar::unit_roundoff(type);
    perturb(
        values, count, place, [=](std::size_t i) { return unit * std::abs(static_cast<double>(values[i])); },
        [=](float value) { return scalar::round_to(type, value); });
  }

 private:
  static double draw(std::uint64_t counter) {
    return static_cast<double>(static_cast<std::int64_t>(split_mix(counter * kSplitMixStep))) * 0x1p-63;
  }
  template <class Real, class Bound, class Round>
  void perturb(Real* values, std::size_t count, std::uint64_t place, Bound bound, Round round) {
    const std::uint64_t first = start(place, count);
    for (std::size_t i = 0; i < count; ++i) {
      const double error = perturbation_->amplitude * static_cast<double>(bound(i)) * draw(first + i);
      values[i] = static_cast<Real>(round(static_cast<float>(static_cast<double>(values[i]) + error)));
    }
  }
  std::uint64_t start(std::uint64_t place, std::size_t count) {
    if (perturbation_->steady) return split_mix(item_ ^ split_mix(place + 1));
    next_ += count;
    return next_ - count;
  }

  const Perturbation* perturbation_;
  std::uint64_t item_ = 0, next_ = 0;
};

}  // namespace rondo::step::detail
