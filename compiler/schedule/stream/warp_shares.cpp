#include "compiler/schedule/stream/warp_shares.h"

#include "compiler/schedule/lower/head_gradient_sum.h"
#include "compiler/schedule/stream/head_exchange.h"
#include "compiler/schedule/stream/lane_sums.h"
#include "compiler/support/integers.h"

namespace rondo::schedule {

namespace {

constexpr int kVector = 4;  // numbers of fp32

int channels_of_warp(const StreamParameters& p) { return kWarpLanes / p.row_lanes * p.per_thread; }

}  // namespace

int warps_of_head(const Problem& problem, const StreamParameters& parameters) {
  if (parameters.row_lanes == 1) return 0;
  return static_cast<int>(ceil_div(problem.sizes.dim, channels_of_warp(parameters)));
}

int rows_of_share(int rows, const StreamParameters& parameters) {
  return parameters.row_lanes == 1 ? rows : round_up(rows, kVector);
}

WarpShares::WarpShares(StreamKernel& stream, const StreamParameters& parameters)
    : stream_(stream),
      parameters_(parameters),
      shares_(stream.signature().writes({Role::Scratch, kShares})) {}

void WarpShares::place() {
  auto& b = stream_.builder();
  StreamThreads& threads = stream_.threads();
  const int of_warp = channels_of_warp(parameters_);
  warps_ = ceil_div(threads.dim(), of_warp);
  b.comment("the warp's share of gradients of values of the head");
  const Value own = threads.here().tile_channel + b.thread() / parameters_.row_lanes * parameters_.per_thread;
  const Value of_head = (threads.here().head * warps_ + own / of_warp) * shares_.rows;
  base_ = b.let(shares_.name + "_own", threads.row_base(shares_) + b.wide(of_head));
  const Value first = b.thread() % kWarpLanes < parameters_.row_lanes;
  leads_ =
      b.let("leads_warp", threads.channels_divide() ? first : first && own < b.named("kDim", threads.dim()));
}

void WarpShares::add(const Place& place, const std::vector<Value>& values) {
  auto& b = stream_.builder();
  const Value owns = stream_.threads().here().owns;
  const Value sum = folded(b, scalar::Op::Add, values);
  step_.push_back({place, owns.valid() ? b.select(owns, sum, b.real(0)) : sum});
}

std::size_t WarpShares::together(std::size_t i) const {
  const Place& at = step_[i].place;
  const bool whole = at.dealt_rows > 0 && at.dealt_rows % kVector == 0 && at.first % kVector == 0;
  return whole && at.row % kVector == 0 ? kVector : 1;
}

void WarpShares::store() {
  auto& b = stream_.builder();
  std::vector<std::vector<Value>> values;
  for (const Share& share : step_) values.push_back({share.value});
  values = summed_over_lanes(b, std::move(values), parameters_.row_lanes, kWarpLanes);
  const Value place = b.let("shares_at", base_ + b.wide(stream_.step()) * shares_.stride_t);
  b.if_(leads_, [&] {
    for (std::size_t i = 0; i < step_.size();) {
      const Place& at = step_[i].place;
      std::vector<Value> some;
      for (const std::size_t end = i + together(i); i < end; ++i) some.push_back(values[i].front());
      stream_.threads().if_all({at.dealt_rows > 0 ? Value{} : stream_.threads().first_of_rows()}, [&] {
        const kernel::Place to = shares_.memory[place + b.wide(at.in_share)];
        some.size() == 1 ? b.store(to, some.front(), parameters_.writing())
                         : b.store_vector(to, some, parameters_.writing());
      });
    }
  });
  step_.clear();
}

void WarpShares::write_past_end(int rows) {
  StreamThreads& threads = stream_.threads();
  if (!threads.stops_early()) return;
  auto& b = stream_.builder();
  b.comment("shares of steps past the end of this row");
  threads.if_all({leads_, threads.first_of_rows()}, [&] {
    threads.each_past_end([&](Value t) {
      const Value place = b.let("shares_at", base_ + b.wide(t) * shares_.stride_t);
      for (int row = 0; row < rows; ++row)
        b.store(shares_.memory[place + row], b.real(0), parameters_.writing());
    });
  });
}

}  // namespace rondo::schedule
