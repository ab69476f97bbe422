// Warp: products that the tensor cores make for a warpgroup while it goes on. Each warp of the four works out
// its own rows. The product is made when it is waited for, the latest that the language allows: what was
// overwritten too early shows as a race.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/kernel/simulator/warp.h"

namespace rondo::kernel::simulator {

namespace {

constexpr int kRows = 16;      // of a warp
constexpr int kStep = 16;      // elements of the sum
constexpr int kPanelRow = 64;  // elements
constexpr int kPattern = 8 * kPanelRow;

// Where the element for place `extent` of the result and `k` of the sum stands.
std::int64_t place(const PanelOperand& operand, std::int64_t first, int extent, int k) {
  const std::int64_t flat =
      operand.mn_major ? first + extent / kPanelRow * operand.panel + k * kPanelRow + extent % kPanelRow
                       : first + extent * kPanelRow + k;
  return flat ^ (flat / kPanelRow % 8 * 8);
}

bool begins_well(const PanelOperand& operand, std::int64_t first) {
  const std::int64_t in_pattern = first % kPattern;
  return operand.mn_major ? in_pattern == 0 : in_pattern < kPanelRow && in_pattern % kStep == 0;
}

}  // namespace

// Calls f(row or column, k, place) for the elements of the operand that this warp needs.
template <class F>
void Warp::each_element(const PanelOperand& operand, std::int64_t first, int from, int count, int steps,
                        F&& f) const {
  for (int extent = 0; extent < count; ++extent)
    for (int k = 0; k < steps * kStep; ++k) f(extent, k, place(operand, first, from + extent, k));
}

void Warp::act(const StartProduct& a, GroupContext& context) {
  require_fp32(lanes_.fp64(), "multiplies matrices");
  if (!all_lanes("a product of a warpgroup", context)) return;
  const WarpgroupMma& mma = *a.mma;
  Lanes* acc = slice(mma.acc, a.acc, mma.columns / 2, context);
  if (acc == nullptr) return;
  const bool in_flight = std::ranges::any_of(products_, [&](const Product& p) { return p.acc == acc; });
  if (!in_flight && !holds_values("the accumulator", acc, mma.columns / 2, context)) return;
  Product product{
      &mma, source_, acc, lanes_[a.a].i[0], lanes_[a.b].i[0], static_cast<std::uint64_t>(context.steps)};
  for (int l = 0; l < kLanes; ++l)
    if (lanes_[a.a].i[l] != product.a || lanes_[a.b].i[l] != product.b) {
      context.log.report(
          Fault::Kind::Protocol, source_,
          fmt::format("{} names other operands than {}", describe(thread(l)), describe(thread(0))));
      return;
    }
  if (!begins_well(mma.a, product.a) || !begins_well(mma.b, product.b)) {
    context.log.report(Fault::Kind::Misaligned, source_,
                       fmt::format("operands from elements {} and {} on", product.a, product.b));
    return;
  }
  const auto check = [&](const PanelOperand& operand, std::int64_t first, int from, int count) {
    each_element(operand, first, from, count, mma.steps, [&](int, int, std::int64_t at) {
      context.memory.check_operand(span(operand.first, at, 1), thread(0), context.publications);
    });
  };
  check(mma.a, product.a, rows_of_group(), kRows);
  check(mma.b, product.b, 0, mma.columns);
  for (int r = 0; r < mma.columns / 2; ++r) acc[r].undefined = kAllLanes;
  products_.push_back(product);
}

void Warp::act(const AwaitProducts& a, GroupContext& context) {
  if (!all_lanes("a wait for products", context)) return;
  while (products_.size() > static_cast<std::size_t>(a.pending)) {
    const Product product = products_.front();
    products_.pop_front();
    finish(product, context);
  }
}

void Warp::act(const PublishShared&, GroupContext& context) {
  context.publications.publish(agent_, active_, static_cast<std::uint64_t>(context.steps),
                               context.clocks.now(agent_));
}

// Sums in double, rounded to float after each step, as for Mma (tensor.h).
void Warp::finish(const Product& product, GroupContext& context) {
  const WarpgroupMma& mma = *product.mma;
  const std::size_t sum = static_cast<std::size_t>(mma.steps) * kStep;
  const auto gather = [&](const PanelOperand& operand, std::int64_t first, int from, int count) {
    std::vector<double> values(static_cast<std::size_t>(count) * sum);
    each_element(operand, first, from, count, mma.steps, [&](int extent, int k, std::int64_t at) {
      const Span one = span(operand.first, at, 1);
      if (!context.memory.read_operand(one, thread(0), product.started)) return;
      values[static_cast<std::size_t>(extent) * sum + static_cast<std::size_t>(k)] =
          static_cast<double>(context.memory.data(one).values[static_cast<std::size_t>(at)]);
    });
    return values;
  };
  const std::vector<double> left = gather(mma.a, product.a, rows_of_group(), kRows);
  const std::vector<double> right = gather(mma.b, product.b, 0, mma.columns);
  const bool more = std::ranges::any_of(products_, [&](const Product& p) { return p.acc == product.acc; });
  for (int r = 0; r < mma.columns / 2; ++r) {
    Lanes& acc = product.acc[r];
    if (acc.undefined != kAllLanes)
      context.log.report(
          Fault::Kind::Protocol, product.source,
          fmt::format("warp {} of block {} touched register {} of the accumulator while the product was "
                      "under way",
                      index_, block_, r));
    for (int l = 0; l < kLanes; ++l) {
      const int row = l / 4 + r / 2 % 2 * 8, column = r / 4 * 8 + l % 4 * 2 + r % 2;
      const double* x = &left[static_cast<std::size_t>(row) * sum];
      const double* y = &right[static_cast<std::size_t>(column) * sum];
      for (int step = 0; step < mma.steps; ++step) {
        double total = static_cast<double>(acc.f[l]);
        for (int k = step * kStep; k < (step + 1) * kStep; ++k) total += x[k] * y[k];
        acc.f[l] = static_cast<float>(total);
      }
    }
    acc.undefined = more ? kAllLanes : 0;
  }
}

}  // namespace rondo::kernel::simulator
