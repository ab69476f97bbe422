#include "engine/check/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/scalar/storage.h"

namespace rondo::engine {

using kernel::Storage;

namespace {

// Elements that must be of a shorter type before that is called a fault.
constexpr std::int64_t kEnough = 32;
constexpr double kFarFromShort = 64;  // units of roundoff of fp32
// Of the elements that are so far, how many must be farther than rounding moved them in any perturbed run:
// few of them are where a right result has few bits, those for which all runs were lucky.
constexpr double kBeyondNoise = 0.25;
// A limit of more than this share of a tensor's norm says nothing of it.
constexpr double kLargestLimit = 0.1;
// Of its spread by its norm, from which on not even an error beyond the limit says anything.
constexpr double kTorn = 0.25;
// Times an element's limit, where the pass has decisions and the tensor's limit says nothing. What jumps is
// not distributed as a bell: one element of thousands may lie far beyond all the runs. The norms of slices
// hold there as elsewhere, since they are sums over many.
constexpr double kHeavyTail = 16;
// Roundings to the problem's type. A result as near to the exact one agrees, however far rounding might have
// moved it.
constexpr double kNear = 16;
// Times the norm of what storing adds: nothing but the summation of the norm itself errs.
constexpr double kStored = 1.01;

// What storing a result adds: rounding to the storage type. fp32 and fp64: the result's last operation, and
// those that the reference does not have (a product with 1, a sum that begins at 0).
double unit_of(Storage storage) {
  return (scalar::is_half(storage) ? 1 : 4) * scalar::unit_roundoff(storage);
}

// The same of two results that were both stored: an ulp is two units.
double stored_unit(const Tolerance& tolerance) {
  const bool both = tolerance.with_stored && scalar::is_half(tolerance.stored);
  return (both ? 2 : 1) * unit_of(tolerance.stored);
}

// Below the smallest normal number spacing no longer shrinks, and hardware may flush to zero.
double smallest_of(Storage storage) {
  return storage == Storage::F16 ? 0x1p-24 : storage == Storage::F64 ? 0x1p-1022 : 0x1p-126;
}

// The unit of roundoff of what a pass computes in.
double inside(const Tolerance& tolerance) {
  return scalar::unit_roundoff(scalar::computed_in(tolerance.problem));
}

struct Findings {
  double ratio = 0;
  std::string worst;
  void see(double error, double limit, const auto& name) {
    const double found = error <= 0 ? 0 : limit > 0 ? error / limit : HUGE_VAL;
    if (found > ratio || worst.empty()) {
      ratio = std::max(ratio, found);
      worst = name();
    }
  }
};

// What storing adds to each element. A kernel that stores a value which differs by d from the exact one errs
// by at most 2 d more than this.
std::vector<double> stored_errors(const Tolerance& tolerance, std::span<const double> exact) {
  const Storage storage = tolerance.stored;
  std::vector<double> errors(exact.size());
  for (std::size_t i = 0; i < exact.size(); ++i)
    errors[i] = scalar::is_half(storage) && !tolerance.with_stored
                    ? scalar::nearest(storage, exact[i]) - exact[i]
                    : stored_unit(tolerance) * exact[i];
  return errors;
}

// Of the norm of a slice of `elements`. `size`: the norm of the whole; `stored`: what storing adds to the
// slice.
double slice_limit(const Tolerance& tolerance, std::size_t slice, std::int64_t elements, std::int64_t all,
                   double size, double stored) {
  const auto count = static_cast<double>(elements);
  const double spread = tolerance.spread->slice_limit(slice, elements, tolerance.decisions);
  return spread * (1 + unit_of(tolerance.stored)) + kStored * stored +
         smallest_of(tolerance.stored) * std::sqrt(count) +
         2 * inside(tolerance) * size * std::sqrt(count / static_cast<double>(all));
}

double largest_of(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

// `largest`: of all exact values. What is stored is not the exact value but one that is off by the spread.
double limit_of(const Tolerance& tolerance, std::size_t element, double exact, double largest) {
  const double spread = tolerance.spread->element_limit(element, tolerance.decisions);
  return spread + stored_unit(tolerance) * (std::abs(exact) + spread) + smallest_of(tolerance.stored) +
         2 * inside(tolerance) * largest;
}

double norm_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

// Whether every slice is as near to the exact one as a few roundings of its values, or of average ones, are.
bool is_near(const Tolerance& tolerance, std::span<const double> error, std::span<const double> size,
             std::int64_t all) {
  const double share = kNear * scalar::unit_roundoff(tolerance.problem);
  std::size_t slice = 0;
  const auto within = [&](std::int64_t elements) {
    const double average = size[0] * std::sqrt(static_cast<double>(elements) / static_cast<double>(all));
    const bool near = error[slice] <= share * std::max(size[slice], average);
    ++slice;
    return near;
  };
  if (!within(all)) return false;
  for (const schedule::Axis& axis : tolerance.spread->axes())
    for (std::int64_t i = 0; i < axis.extent; ++i)
      if (!within(all / axis.extent)) return false;
  return true;
}

// Sets error, spread and limit; returns whether all slices are near.
bool check_slices(const Tolerance& tolerance, std::span<const double> errors, std::span<const double> exact,
                  TensorCheck& check, Findings& findings) {
  const Spread& spread = *tolerance.spread;
  const std::vector<double> error = slice_norms(spread.axes(), errors);
  const std::vector<double> size = slice_norms(spread.axes(), exact);
  const std::vector<double> stored = slice_norms(spread.axes(), stored_errors(tolerance, exact));
  const auto all = static_cast<std::int64_t>(exact.size());
  std::size_t slice = 0;
  const auto see = [&](std::int64_t elements) {
    const double limit = slice_limit(tolerance, slice, elements, all, size[0], stored[slice]);
    if (slice == 0) check.limit = limit;
    findings.see(error[slice], limit, [&] { return slice_name(spread.axes(), slice); });
    ++slice;
  };
  see(all);
  for (const schedule::Axis& axis : spread.axes())
    for (std::int64_t i = 0; i < axis.extent; ++i) see(all / axis.extent);
  const double whole = size[0] > 0 ? size[0] : 1;
  check.error = error[0] / whole;
  check.spread = spread.norm() / whole;
  check.limit /= whole;
  return is_near(tolerance, error, size, all);
}

// Whether values have lost the precision that their tensor has and the exact ones use: elements tell that
// which are far from any 16-bit number, on the scale of the whole and of what rounding does to them. After a
// cancellation (1 - tanh(x)^2) or where a function saturates a right result has few bits itself, and its
// error is as large; a carry that is rounded at each step is then found by its error.
bool is_shortened(const Tolerance& tolerance, std::span<const double> out, std::span<const double> exact,
                  double largest) {
  if (tolerance.stored != Storage::F32 || !scalar::is_half(tolerance.problem)) return false;
  const double far =
      kFarFromShort * scalar::unit_roundoff(Storage::F32) * largest + smallest_of(Storage::F32);
  std::int64_t seen = 0, telling = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const auto shorter = [&](double value) {
      return static_cast<double>(scalar::round_to(tolerance.problem, static_cast<float>(value)));
    };
    if (shorter(out[i]) != out[i]) return false;
    const double distance = std::abs(shorter(exact[i]) - exact[i]);
    if (distance <= far) continue;
    ++seen;
    telling += distance > tolerance.spread->element_error(i);
  }
  return telling >= kEnough && static_cast<double>(telling) >= kBeyondNoise * static_cast<double>(seen);
}

TensorCheck compare_within(const Tolerance& tolerance, std::span<const double> out,
                           std::span<const double> exact) {
  TensorCheck check;
  for (const double value : out) check.not_finite += !std::isfinite(value);
  if (out.size() != exact.size()) return check;
  std::vector<double> errors(exact.size());
  for (std::size_t i = 0; i < exact.size(); ++i) errors[i] = std::abs(out[i] - exact[i]);
  Findings slices, elements;
  const bool near = check_slices(tolerance, errors, exact, check, slices);
  const double largest = largest_of(exact);
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const double limit = limit_of(tolerance, i, exact[i], largest);
    elements.see(errors[i], limit, [&] { return "element " + element_name(tolerance.spread->axes(), i); });
  }
  const bool wide = !(check.limit <= kLargestLimit);
  check.ratio = std::max(slices.ratio, elements.ratio);
  check.worst = std::move(slices.ratio >= elements.ratio ? slices.worst : elements.worst);
  check.ill_conditioned = wide && !(near && check.ratio <= 1);
  const bool torn = check.spread > kTorn;
  const double most = wide && tolerance.decisions ? kHeavyTail : 1;
  check.shortened = !torn && is_shortened(tolerance, out, exact, largest);
  check.passed =
      check.not_finite == 0 && (torn || (slices.ratio <= 1 && elements.ratio <= most)) && !check.shortened;
  return check;
}

}  // namespace

const char* said_name(Said said) {
  return said == Said::Agrees ? "agrees" : said == Said::Wrong ? "wrong" : "cannot tell";
}

double element_limit(const Tolerance& tolerance, std::size_t element, std::span<const double> exact) {
  return limit_of(tolerance, element, exact[element], largest_of(exact));
}

double norm_limit(const Tolerance& tolerance, std::span<const double> exact) {
  const auto all = static_cast<std::int64_t>(exact.size());
  return slice_limit(tolerance, 0, all, all, norm_of(exact), norm_of(stored_errors(tolerance, exact)));
}

// Where the pass has decisions, far runs widen the limits for those who take another side. Who is within the
// limits of those who do not has taken none, and needs no others.
TensorCheck compare(std::string name, const Tolerance& tolerance, std::span<const double> out,
                    std::span<const double> exact) {
  TensorCheck check = compare_within(tolerance, out, exact);
  if (tolerance.decisions && check.said() == Said::CannotTell) {
    Tolerance firm = tolerance;
    firm.decisions = false;
    if (TensorCheck closer = compare_within(firm, out, exact); closer.said() == Said::Agrees)
      check = std::move(closer);
  }
  check.name = std::move(name);
  return check;
}

std::string TensorCheck::text() const {
  std::string result =
      fmt::format("{}: error {:.2e} (limit {:.2e}, by rounding {:.2e})", name, error, limit, spread);
  if (unwritten > 0) result += fmt::format(", {} elements never written", unwritten);
  if (not_finite > unwritten) result += fmt::format(", {} elements not finite", not_finite - unwritten);
  if (gap_writes > 0) result += fmt::format(", {} elements written outside the tensor", gap_writes);
  if (ill_conditioned)
    result += ", cannot tell: the limit is above a tenth of its values, so nothing can be said of it";
  if (shortened) result += ", all values are rounded to 16 bits although they are stored in fp32";
  if (!(ratio <= 1) && !passed) result += fmt::format(", {:.3g} times the limit of {}", ratio, worst);
  return result + (where.empty() ? "" : " at " + where) + (passed ? "" : ": WRONG");
}

}  // namespace rondo::engine
