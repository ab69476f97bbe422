// The errors of a perturbed run. Internal to the reference executor.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "compiler/scalar/storage.h"
#include "compiler/step/reference/perturbation.h"
#include "compiler/step/reference/vector_loops.h"
#include "compiler/support/split_mix.h"

namespace rondo::step::detail {

inline constexpr double kFp32Unit = 0x1p-24;  // unit roundoff
// Errors of a pass in fp64, in those of one in fp32. They are four times as large as the types' units say:
// the exact run rounds to fp64, too, and an error of less than half a unit of a number would leave it as it
// is.
inline constexpr double kErrorsInDouble = 4 * 0x1p-29;

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

  // Adds an error of at most bound(i), of a pass in fp32, to each of `count` numbers, and rounds them to
  // fp32; of a pass in fp64 one of that. `place` tells apart the places of the program whose steady errors
  // differ.
  template <class Real, class Bound>
  void add(Real* values, std::size_t count, std::uint64_t place, Bound bound) {
    double* const bounds = room(count);
    for (std::size_t i = 0; i < count; ++i) bounds[i] = bound(i);
    perturb(values, count, place);
  }
  // The same for sums of products of two factors each, of which `left` and right[i] are the norms, at any
  // time later: as if `after` numbers had been given errors since the last ones.
  template <class Real>
  void add_to_products(Real* values, std::size_t count, std::uint64_t place, std::uint64_t after, double left,
                       const double* right) const {
    add_errors_of_sums(values, kFp32Unit * left, right, count, amplitude(), first(place, after), sums());
  }
  // Rounds numbers to a type, which is off by up to one unit more. In a pass in fp64 nothing is rounded
  // further.
  template <class Real>
  void store(Real* values, std::size_t count, std::uint64_t place, scalar::Storage type) {
    if (sums() == Sums::InDouble) return;
    const double unit = scalar::unit_roundoff(type);
    double* const bounds = room(count);
    for (std::size_t i = 0; i < count; ++i) bounds[i] = unit * std::abs(static_cast<double>(values[i]));
    perturb(values, count, place);
    if (type == scalar::Storage::F32) return;
    for (std::size_t i = 0; i < count; ++i)
      values[i] = static_cast<Real>(scalar::round_to(type, static_cast<float>(values[i])));
  }

 private:
  double* room(std::size_t count) {
    if (bounds_.size() < count) bounds_.resize(count);
    return bounds_.data();
  }
  // By errors of at most what is in `bounds_`.
  template <class Real>
  void perturb(Real* values, std::size_t count, std::uint64_t place) {
    add_errors(values, bounds_.data(), count, amplitude(), start(place, count), sums());
  }
  Sums sums() const { return perturbation_->stored == scalar::Storage::F64 ? Sums::InDouble : Sums::InFp32; }
  double amplitude() const {
    return perturbation_->amplitude * (sums() == Sums::InDouble ? kErrorsInDouble : 1);
  }
  std::uint64_t start(std::uint64_t place, std::size_t count) {
    const std::uint64_t found = first(place, 0);
    next_ += count;
    return found;
  }
  std::uint64_t first(std::uint64_t place, std::uint64_t after) const {
    return perturbation_->steady ? split_mix(item_ ^ split_mix(place + 1)) : next_ + after;
  }

  const Perturbation* perturbation_;
  std::uint64_t item_ = 0, next_ = 0;
  std::vector<double> bounds_;
};

}  // namespace rondo::step::detail
