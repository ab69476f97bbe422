// Which bytes tensors share, against counting them one by one.
#include "compiler/executable/footprint.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <set>

namespace rondo::executable {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

struct Walk {
  Tensor tensor;
  Address pointer = 0;
  Strides strides;
  std::int64_t batch = 1, time = 1;

  std::optional<Footprint> footprint() const { return footprint_of(tensor, pointer, strides, batch, time); }
  // Every byte, and whether one of them came twice.
  std::set<Address> bytes(bool& twice) const {
    std::set<Address> result;
    const std::int64_t element = scalar::storage_bytes(tensor.storage);
    twice = false;
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t t = 0; t < time; ++t)
        for (std::int64_t k = 0; k < tensor.unit * element; ++k) {
          const std::int64_t at = (b * strides.b + t * strides.t) * element + k;
          twice |= !result.insert(pointer + static_cast<Address>(at)).second;
        }
    return result;
  }
};

Walk walk(Role role, Address pointer, std::int64_t unit, Strides strides, std::int64_t batch,
          std::int64_t time, scalar::Storage storage = scalar::Storage::F32) {
  Walk result{{}, pointer, strides, batch, time};
  result.tensor.ref.role = role;
  result.tensor.storage = storage;
  result.tensor.unit = unit;
  result.tensor.size = {0, unit, 1, has_time_axis(role) ? 1 : 0};
  return result;
}

class RandomWalks {
 public:
  explicit RandomWalks(std::uint32_t seed) : random_(seed) {}
  std::int64_t number(std::int64_t from, std::int64_t to) {
    return std::uniform_int_distribution<std::int64_t>(from, to)(random_);
  }
  Walk next(std::int64_t batch, std::int64_t time) {
    const auto storage = number(0, 1) == 0 ? scalar::Storage::F32 : scalar::Storage::BF16;
    return walk(Role::Output, static_cast<Address>(10'000 + 2 * number(0, 60)), number(1, 4),
                {number(-12, 12), number(-12, 12)}, batch, time, storage);
  }

 private:
  std::mt19937 random_;
};

TEST(Footprint, ATensorMeetsItselfWhereTwoOfItsBytesAreOne) {
  RandomWalks walks(1);
  int met = 0;
  for (int i = 0; i < 20'000; ++i) {
    Walk w = walks.next(walks.number(1, 6), walks.number(1, 6));
    if (w.strides.b == 0 || w.strides.t == 0) continue;  // the launcher asks for a step at least before
    bool twice = false;
    const std::set<Address> bytes = w.bytes(twice);
    const Footprint f = w.footprint().value();
    ASSERT_EQ(f.begin, *bytes.begin());
    ASSERT_EQ(f.end, *bytes.rbegin() + 1);
    ASSERT_EQ(meets_itself(f), twice) << w.strides.b << " " << w.strides.t << " unit " << w.tensor.unit
                                      << " B " << w.batch << " T " << w.time;
    met += twice;
  }
  EXPECT_GT(met, 1000);
  EXPECT_LT(met, 18'000);
}

TEST(Footprint, TwoTensorsMeetWhereTheyShareAByte) {
  RandomWalks walks(2);
  int met = 0, interleaved = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::int64_t batch = walks.number(1, 5), time = walks.number(1, 5);
    const Walk a = walks.next(batch, time);
    Walk b = walks.next(batch, time);
    // Slices of one buffer have the strides of the buffer; the others need not be told apart exactly.
    const bool slices = i % 4 != 0;
    if (slices) {
      b.tensor.storage = a.tensor.storage;
      b.strides = a.strides;
    }
    bool twice = false;
    const std::set<Address> in_a = a.bytes(twice), in_b = b.bytes(twice);
    bool shared = false;
    for (const Address byte : in_a) shared |= in_b.contains(byte);
    const Footprint f = a.footprint().value(), g = b.footprint().value();
    const bool told = meet(f, g);
    ASSERT_EQ(told, meet(g, f));
    if (slices)
      ASSERT_EQ(told, shared) << i;
    else
      ASSERT_TRUE(told || !shared) << i;
    met += shared;
    interleaved += !told && f.begin < g.end && g.begin < f.end;
  }
  EXPECT_GT(met, 1000);
  EXPECT_GT(interleaved, 500);
}

TEST(Footprint, ADenseTensorMayLieBetweenTheRowsOfAnother) {
  // Rows of 8 floats of which 6 are used, and a dense tensor of 2 floats in a gap.
  const Walk rows = walk(Role::Output, 0x1000, 6, {32, 8}, 3, 4);
  const Walk gap = walk(Role::LastState, 0x1000 + 24, 2, {}, 1, 1);
  EXPECT_FALSE(meet(rows.footprint().value(), gap.footprint().value()));
  const Walk wide = walk(Role::LastState, 0x1000 + 24, 3, {}, 1, 1);
  EXPECT_TRUE(meet(rows.footprint().value(), wide.footprint().value()));
}

TEST(Footprint, ReachesThatNoMemoryHasAreNone) {
  EXPECT_TRUE(walk(Role::Input, 1 << 20, 4, {64, 4}, 8, 16).footprint().has_value());
  EXPECT_FALSE(walk(Role::Input, 1 << 20, 4, {kMost, 4}, 8, 16).footprint().has_value());
  EXPECT_FALSE(walk(Role::Input, 1 << 20, 4, {-kMost, 4}, 8, 16).footprint().has_value());
  EXPECT_FALSE(walk(Role::Input, 1 << 20, 4, {kMost / 64, 4}, 8, 16).footprint().has_value());
  EXPECT_FALSE(walk(Role::Input, 1 << 20, 4, {-(1 << 20), 4}, 8, 16).footprint().has_value()) << "below 0";
  EXPECT_FALSE(walk(Role::Input, ~Address{0} - 100, 4, {64, 4}, 8, 16).footprint().has_value());
  EXPECT_FALSE(walk(Role::Param, 1 << 20, SizeRule::kMost, {}, 8, 16).footprint().has_value());
  // A stride that multiplies nothing may be anything.
  EXPECT_TRUE(walk(Role::Input, 1 << 20, 4, {kMost, -kMost}, 1, 1).footprint().has_value());
}

TEST(Footprint, StridesThatTakeLongToFollowCountAsMeeting) {
  const std::int64_t many = 1 << 20;
  const Walk tangled = walk(Role::Output, 1 << 20, 1, {2 * many + 1, 2 * many - 1}, many, many);
  EXPECT_TRUE(meets_itself(tangled.footprint().value()));
  const Walk nested = walk(Role::Output, 1 << 20, 1, {many * 3, 3}, many, many);
  EXPECT_FALSE(meets_itself(nested.footprint().value()));
}

}  // namespace
}  // namespace rondo::executable
