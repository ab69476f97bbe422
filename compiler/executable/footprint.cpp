#include "compiler/executable/footprint.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace rondo::executable {

namespace {

constexpr std::int64_t kMostTried = 1 << 16;  // turns of the outer axis that are looked at one by one

// i * stride with i in [first, last].
struct Term {
  std::int64_t stride = 1, first = 0, last = 0;
};

std::int64_t divide_down(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

// Whether low < offset + outer + inner < high for some turns of both; outer.stride >= inner.stride > 0.
// Nested strides leave only a few outer turns to try.
bool comes_between(std::int64_t low, std::int64_t high, std::int64_t offset, const Term& outer,
                   const Term& inner) {
  const std::int64_t p = outer.stride, q = inner.stride;
  const std::int64_t first = std::max(outer.first, divide_down(low - offset - inner.last * q, p));
  const std::int64_t last = std::min(outer.last, divide_down(high - offset - inner.first * q, p) + 1);
  if (last - first >= kMostTried) return true;
  for (std::int64_t i = first; i <= last; ++i) {
    const std::int64_t rest = offset + i * p;
    const std::int64_t j = std::max(inner.first, divide_down(low - rest, q) + 1);  // the least above `low`
    if (j <= inner.last && rest + j * q < high) return true;
  }
  return false;
}

// The same with rows that lie without a gap taken as one.
Footprint merged(Footprint f) {
  if (f.axes[0].stride < f.axes[1].stride) std::swap(f.axes[0], f.axes[1]);
  for (const std::size_t k : {1, 0})
    if (f.axes[k].count > 1 && f.axes[k].stride == f.bytes) {
      f.bytes *= f.axes[k].count;
      f.axes[k] = {};
    }
  return f;
}

// The differences between turns of `a` and of `b`, as at most two terms; none where there are more.
class Differences {
 public:
  bool add(std::int64_t stride, std::int64_t first, std::int64_t last) {
    for (std::size_t k = 0; k < count_; ++k)
      if (terms_[k].stride == stride) {
        terms_[k].first += first;
        terms_[k].last += last;
        return true;
      }
    if (count_ == terms_.size()) return false;
    terms_[count_++] = {stride, first, last};
    return true;
  }
  const Term& outer() const { return terms_[terms_[0].stride < terms_[1].stride ? 1 : 0]; }
  const Term& inner() const { return terms_[terms_[0].stride < terms_[1].stride ? 0 : 1]; }

 private:
  std::array<Term, 2> terms_;
  std::size_t count_ = 0;
};

}  // namespace

std::optional<Footprint> footprint_of(const Tensor& tensor, Address pointer, const Strides& strides,
                                      std::int64_t batch, std::int64_t time) {
  const std::int64_t element = scalar::storage_bytes(tensor.storage);
  const bool timed = has_time_axis(tensor.ref.role);
  const std::int64_t elements = timed ? tensor.unit : tensor.size.at(batch, time);
  if (elements >= SizeRule::kMost) return std::nullopt;
  Footprint f;
  f.bytes = elements * element;
  std::int64_t below = 0, above = f.bytes;
  const auto walk = [&](Footprint::Axis& axis, std::int64_t stride, std::int64_t count) {
    if (count <= 1 || stride == 0) return true;
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(stride, element, &axis.stride) ||
        __builtin_mul_overflow(axis.stride, count - 1, &reach) || reach > kMostReach || reach < -kMostReach)
      return false;
    (reach < 0 ? below : above) += reach;
    axis = {axis.stride < 0 ? -axis.stride : axis.stride, count};
    return true;
  };
  if (timed && !(walk(f.axes[0], strides.b, batch) && walk(f.axes[1], strides.t, time))) return std::nullopt;
  if (above - below > kMostReach || pointer < static_cast<Address>(-below) ||
      pointer > std::numeric_limits<Address>::max() - static_cast<Address>(above))
    return std::nullopt;
  f.begin = pointer - static_cast<Address>(-below);
  f.end = pointer + static_cast<Address>(above);
  return f;
}

bool meets_itself(const Footprint& f) {
  for (const Footprint::Axis& axis : f.axes)
    if (axis.count > 1 && axis.stride < f.bytes) return true;
  if (f.axes[0].count == 1 || f.axes[1].count == 1) return false;
  const bool b_outside = f.axes[0].stride >= f.axes[1].stride;
  const Footprint::Axis &outer = f.axes[b_outside ? 0 : 1], &inner = f.axes[b_outside ? 1 : 0];
  return comes_between(-f.bytes, f.bytes, 0, {outer.stride, 1, outer.count - 1},
                       {inner.stride, 1 - inner.count, inner.count - 1});
}

bool meet(const Footprint& a, const Footprint& b) {
  if (a.end <= b.begin || b.end <= a.begin) return false;
  const Footprint x = merged(a), y = merged(b);
  Differences differences;
  for (const Footprint::Axis& axis : x.axes)
    if (axis.count > 1 && !differences.add(axis.stride, 1 - axis.count, 0)) return true;
  for (const Footprint::Axis& axis : y.axes)
    if (axis.count > 1 && !differences.add(axis.stride, 0, axis.count - 1)) return true;
  // They overlap by less than kMostReach, so that the difference has a sign.
  const auto offset = static_cast<std::int64_t>(y.begin - x.begin);
  return comes_between(-y.bytes, x.bytes, offset, differences.outer(), differences.inner());
}

}  // namespace rondo::executable
