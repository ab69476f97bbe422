#include "compiler/schedule/backward/time_head_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "compiler/schedule/backward/time_values.h"
#include "compiler/support/index.h"
#include "compiler/support/integers.h"

namespace rondo::schedule {
namespace {

constexpr int kTeamSteps = 16;     // of a team of threads, which keeps its channels' parameters for so many
constexpr int kTeamChannels = 4;   // of a thread, at most, where a block has threads enough
constexpr int kBlock = 128;        // threads of a block that holds several teams
constexpr int kMostThreads = 512;  // of a team: more would leave each few registers
constexpr int kLanes = 32;

// A spread is made in two passes: the mean of its vectors is there first, so nothing cancels.
//
// A team of threads has a head of a batch row, for some steps: as many threads as leave each at most
// kTeamChannels channels, so that what a channel has made for one value is still there for the next one;
// heads of more than kMostThreads * kTeamChannels channels make it again. A warp adds up its lanes by
// shuffles, and the warps of a larger team meet in shared memory.
class HeadValuesBuilder {
 public:
  HeadValuesBuilder(const Task& task, const BackwardSplit& split, const SpreadSweep& sweep)
      : task_(task),
        head_values_(sweep.head_values),
        graph_(sweep.whole.graph),
        team_(team_of(task.problem.sizes.dim)),
        builder_(task.cell.name + "_numbers", std::max(kBlock, team_), task.problem.math,
                 fmt::format("{}: reductions over the head that wait for no carry, for all steps",
                             task.cell.name)),
        signature_(builder_, task),
        values_(builder_, signature_, task, split, graph_, products_of(split, sweep)) {
    signature_.set_scratch(scratch_rows(split, sweep));
    spreads_in_two_passes();
  }

  Launch build() {
    auto& b = builder_;
    values_.declare(operands_, 1);
    out_ = signature_.writes({Role::Scratch, kHeadValues});
    lowering_.emplace(b, task_, graph_, operands_);
    const Value time = signature_.time();
    values_.set_time(time);
    if (team_ > kLanes)
      lines_ = b.shared("lines", kernel::Storage::F32, 2 * std::int64_t(made_.size()) * (team_ / kLanes),
                        fmt::format("[2, numbers {}, warps {}]", made_.size(), team_ / kLanes));
    const int teams = b.kernel().threads / team_;
    const std::int64_t span = std::int64_t{teams} * kTeamSteps;
    const Value spans = b.let("spans", ceil_div(time, span));
    head_ = b.let("head", b.block() % task_.problem.sizes.heads);
    signature_.set_head(head_);
    const Value rest = b.let("rest", b.block() / task_.problem.sizes.heads);
    row_ = b.let("row", rest / spans);
    const Value first =
        b.let("first", rest % spans * span + (teams > 1 ? b.thread() / team_ * kTeamSteps : b.constant(0)));
    thread_ = b.let("member", teams > 1 ? b.thread() % team_ : b.thread());
    for (int c = 0; keeps() && c < channels(); ++c) {
      set_channel(c);
      lowering_->hoist(c, [&](const Node& node) { return values_.param(node, 0); });
    }
    b.for_("t", first, min(first + kTeamSteps, time), b.constant(1), 1,
           [&](Value t) { make_step(t, first); });
    Launch launch{b.kernel(), signature_.arguments(), 0, task_.problem.sizes.heads};
    launch.time_tile = span;
    return launch;
  }

 private:
  static int team_of(std::int64_t dim) {
    int team = kLanes;
    while (team < kMostThreads && std::int64_t{team} * kTeamChannels < dim) team *= 2;
    return team == kLanes || team >= kBlock ? team : kBlock;
  }

  static std::map<NodeId, RowRef> products_of(const BackwardSplit& split, const SpreadSweep& sweep) {
    std::map<NodeId, RowRef> products;
    for (std::size_t id = 0; id < sweep.origin.size(); ++id)
      if (const auto product = split.products.find(sweep.origin[id]); product != split.products.end())
        products.emplace(static_cast<NodeId>(id), product->second);
    return products;
  }

  // A reduction is a value that is given; `operands_` has what the channels contribute to it. The mean that a
  // spread is measured from is that of a sum before it.
  void spreads_in_two_passes() {
    for (const NodeId id : reachable(graph_, head_values_)) {
      const Node of = graph_.at(id);
      if (!step::is_reduction(of)) continue;
      made_.push_back(id);
      operands_.push_back(of.kind == NodeKind::ReduceSpread ? distances(of) : of.operands[0]);
      ops_.push_back(of.kind == NodeKind::ReduceMax ? Op::Max : Op::Add);
      Node& node = graph_.nodes[at(id)];
      node.kind = NodeKind::MatVec;
      node.operands.clear();
    }
  }

  NodeId distances(const Node& spread) {
    const auto scalar = [&](Op op, std::vector<NodeId> operands, step::Extent extent) {
      Node node;
      node.kind = NodeKind::Scalar, node.op = op, node.operands = std::move(operands), node.extent = extent;
      graph_.nodes.push_back(node);
      return static_cast<NodeId>(graph_.nodes.size()) - 1;
    };
    Node count;
    count.kind = NodeKind::Constant, count.extent = step::Extent::Scalar;
    count.value =
        1 / (static_cast<double>(task_.problem.sizes.dim) * static_cast<double>(spread.operands.size() - 1));
    graph_.nodes.push_back(count);
    const auto share = static_cast<NodeId>(graph_.nodes.size()) - 1;
    const NodeId mean = scalar(Op::Mul, {spread.operands[0], share}, step::Extent::Scalar);
    NodeId sum = step::kNoNode;
    for (std::size_t vector = 1; vector < spread.operands.size(); ++vector) {
      const NodeId apart = scalar(Op::Sub, {spread.operands[vector], mean}, step::Extent::Vector);
      const NodeId squared = scalar(Op::Square, {apart}, step::Extent::Vector);
      sum = sum == step::kNoNode ? squared : scalar(Op::Add, {sum, squared}, step::Extent::Vector);
    }
    return sum;
  }

  int channels() const { return static_cast<int>(ceil_div(task_.problem.sizes.dim, team_)); }
  bool exact() const { return task_.problem.sizes.dim % team_ == 0; }

  // A thread past the head's end reads the last channel, and contributes nothing.
  Value channel(int c) const { return thread_ + c * team_; }
  Value exists(int c) { return channel(c) < builder_.constant(task_.problem.sizes.dim); }
  void set_channel(int c) {
    const Value last = builder_.constant(task_.problem.sizes.dim - 1);
    values_.set_place({row_, head_, exact() ? channel(c) : min(channel(c), last)});
  }

  void make_step(Value t, Value first) {
    auto& b = builder_;
    keeps() ? make_of_kept(t, first) : make_anew(t, first);
    set_channel(0);
    b.if_(thread_ == 0, [&] {
      for (std::size_t head_value = 0; head_value < head_values_.size(); ++head_value)
        b.store(out_.memory[values_.place(out_, static_cast<int>(head_value), {t})],
                totals_.at(head_values_[head_value]));
    });
  }

  // Whether a thread has few enough channels to hold what it has made of them.
  bool keeps() const { return channels() <= kTeamChannels; }

  void make_of_kept(Value t, Value first) {
    const std::vector<NodeId> read = values_.loaded_by(operands_, made_);
    std::vector<TimeValues::Step> steps;
    for (int c = 0; c < channels(); ++c) {
      set_channel(c);
      steps.push_back(values_.load(read, {t}, false));
    }
    std::vector<GraphLowering::Values> of_channels;
    for (int c = 0; c < channels(); ++c) {
      set_channel(c);
      values_.take_first_states(steps[at(c)]);
      of_channels.push_back(lowering_->start(c));
    }
    for (std::size_t head_value = 0; head_value < made_.size(); ++head_value) {
      Value share;
      for (int c = 0; c < channels(); ++c) {
        const Value own = contribution(head_value, c, steps[at(c)], of_channels[at(c)]);
        share = share.valid() ? builder_.math(ops_[head_value], {share, own}) : own;
      }
      const Value total = totals_[made_[head_value]] = over_team(share, head_value, t, first);
      for (GraphLowering::Values& values : of_channels) values[made_[head_value]] = total;
    }
  }

  Value contribution(std::size_t head_value, int c, const TimeValues::Step& step,
                     GraphLowering::Values& values) {
    set_channel(c);
    const auto leaf = [&](const Node& node) { return values_.leaf(*lowering_, node, step, 0); };
    const Value own = lowering_->emit_roots(values, {operands_[head_value]}, leaf)[0];
    return exact() ? own : builder_.select(exists(c), own, neutral(head_value));
  }

  Value neutral(std::size_t head_value) {
    constexpr double kLeast = -static_cast<double>(std::numeric_limits<float>::max());
    return builder_.real(ops_[head_value] == Op::Max ? kLeast : 0);
  }

  // In a large head every value walks over the thread's channels, and makes of them what it needs.
  void make_anew(Value t, Value first) {
    auto& b = builder_;
    for (std::size_t head_value = 0; head_value < made_.size(); ++head_value) {
      const Value share = b.variable("share", neutral(head_value));
      b.for_("d", thread_, b.constant(task_.problem.sizes.dim), b.constant(team_), 1, [&](Value d) {
        values_.set_place({row_, head_, d});
        GraphLowering lowering(b, task_, graph_, {operands_[head_value]});
        lowering.hoist(0, [&](const Node& node) { return values_.param(node, 0); });
        TimeValues::Step step = values_.load(values_.loaded_by({operands_[head_value]}, made_), {t}, false);
        values_.take_first_states(step);
        GraphLowering::Values values = lowering.start(0);
        values.insert(totals_.begin(), totals_.end());
        const auto leaf = [&](const Node& node) { return values_.leaf(lowering, node, step, 0); };
        const Value own = lowering.emit_roots(values, {operands_[head_value]}, leaf)[0];
        b.assign(share, b.math(ops_[head_value], {share, own}));
      });
      totals_[made_[head_value]] = over_team(share, head_value, t, first);
    }
  }

  // Between two uses of a place of `lines_` all threads of the team have met once.
  Value over_team(Value share, std::size_t head_value, Value t, Value first) {
    auto& b = builder_;
    share = b.let("share", share);
    for (int apart = 1; apart < kLanes; apart *= 2)
      share = b.let("share",
                    b.math(ops_[head_value],
                           {share, b.shuffle("other", share, kernel::ShuffleMode::Xor, b.constant(apart))}));
    if (team_ == kLanes) return share;
    const int warps = team_ / kLanes;
    const Value line =
        ((t - first) % 2 * static_cast<std::int64_t>(made_.size()) + static_cast<std::int64_t>(head_value)) *
        warps;
    b.if_(b.thread() % kLanes == 0, [&] { b.store(lines_[line + b.thread() / kLanes], share); });
    b.barrier();
    Value total;
    for (int warp = 0; warp < warps; ++warp) {
      const Value other = b.load("of_warp", lines_[line + warp]);
      total = total.valid() ? b.math(ops_[head_value], {total, other}) : other;
    }
    return b.let("total", total);
  }

  const Task& task_;
  const std::vector<NodeId>& head_values_;
  step::Graph graph_;
  int team_;  // threads; more than a warp: a block's
  kernel::Builder builder_;
  Signature signature_;
  TimeValues values_;
  std::vector<NodeId> made_;      // the per-head values, and what they are made of
  std::vector<NodeId> operands_;  // of each of these: what channels contribute
  std::vector<Op> ops_;
  std::optional<GraphLowering> lowering_;
  std::map<NodeId, Value> totals_;  // of the step that is emitted
  kernel::Memory lines_;
  KernelTensor out_;
  Value head_, row_, thread_;
};

}  // namespace

double seconds_of_head_values(const Task& task, const SpreadSweep& sweep, const target::Speeds& speeds) {
  if (sweep.head_values.empty()) return 0;
  int rows = 0;
  for (const NodeId id : reachable(sweep.whole.graph, sweep.head_values)) {
    const Node& node = sweep.whole.graph.at(id);
    const bool leaf = node.kind == NodeKind::Leaf && node.extent == step::Extent::Vector &&
                      task.cell.tensor(node.tensor).kind != step::TensorKind::Param;
    if (leaf || node.kind == NodeKind::MatVec || node.kind == NodeKind::Gradient) ++rows;
  }
  const step::Sizes& sizes = task.problem.sizes;
  const auto elements = static_cast<double>(sizes.batch * sizes.time * sizes.heads * sizes.dim);
  return speeds.launch_s +
         2 * rows * elements * kernel::storage_bytes(task.problem.storage) / speeds.copy_bytes_per_s;
}

Launch time_head_values(const Task& task, const BackwardSplit& split, const SpreadSweep& sweep) {
  return HeadValuesBuilder(task, split, sweep).build();
}

}  // namespace rondo::schedule
