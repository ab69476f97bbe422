#include "compiler/schedule/host/diagonal.h"

#include <fmt/format.h>

#include "compiler/schedule/host/sweep_tensors.h"
#include "compiler/schedule/lower/flags.h"
#include "compiler/schedule/lower/graph.h"
#include "compiler/schedule/plan/signature.h"
#include "compiler/support/index.h"

namespace rondo::schedule {
namespace {

using kernel::Value;
using step::Node;
using step::NodeId;

class DiagonalBuilder {
 public:
  DiagonalBuilder(const step::Cell& cell, const Problem& problem, const Sweep& sweep, const HostParameters& p)
      : cell_(cell),
        problem_(problem),
        sweep_(sweep),
        p_(p),
        builder_(fmt::format("{}_host_{}", cell.name, pass_name(problem.pass)), p.lanes, problem.math,
                 fmt::format("{}: on CPUs, {}; {} in memory", cell.name,
                             sweep.order == TimeOrder::Forward ? "forward" : "backward",
                             kernel::storage_name(problem.storage))),
        signature_(builder_, cell, problem),
        flags_(signature_, cell),
        tensors_(signature_, cell, problem, sweep),
        lowering_(builder_, cell, problem, sweep.step.graph, sweep.step.roots) {}

  Launch build() {
    auto& b = builder_;
    declare();
    const Value batch = signature_.batch();
    (void)batch;
    time_ = signature_.time();
    flags_.set_time(time_);
    place();
    for (int turn = 0; turn < p_.vectors; ++turn) begin(turn);
    b.for_("step", b.constant(0), time_, b.constant(1), 1, [&](Value count) {
      t_ = b.let("t", sweep_.order == TimeOrder::Forward ? count : time_ - 1 - count);
      for (int turn = 0; turn < p_.vectors; ++turn) if_exists(turn, [&] { advance(turn); });
    });
    for (int turn = 0; turn < p_.vectors; ++turn) if_exists(turn, [&] { end(turn); });
    Launch launch;
    launch.arguments = signature_.arguments();
    launch.blocks_fixed = 0;
    launch.blocks_per_batch = tiles() * problem_.sizes.heads;
    launch.kernel = b.finish();
    return launch;
  }

 private:
  std::int64_t dim() const { return problem_.sizes.dim; }
  std::int64_t tiles() const { return (dim() + p_.channels() - 1) / p_.channels(); }

  void declare() {
    flags_.declare(sweep_.step.graph, sweep_.step.roots);
    tensors_.declare_reads(sweep_.step.graph, sweep_.step.roots);
    tensors_.declare_ends();
  }

  // ---- places ----
  void place() {
    auto& b = builder_;
    b.named("kDim", dim(), "channels a head");
    const Value tile = b.let("tile", b.block() % tiles());
    head_ = b.let("head", b.block() / tiles() % problem_.sizes.heads);
    row_ = b.let("batch_row", b.block() / (tiles() * problem_.sizes.heads));
    for (int turn = 0; turn < p_.vectors; ++turn)
      channels_.push_back(b.let("channel", tile * p_.channels() + turn * p_.lanes + b.thread()));
  }
  void if_exists(int turn, const std::function<void()>& body) {
    if (dim() % p_.channels() == 0) return body();
    builder_.if_(channels_[at(turn)] < dim(), body);
  }
  SweepTensors::Place lane(int turn) const { return {row_, head_, channels_[at(turn)]}; }

  // ---- values ----
  void begin(int turn) {
    auto& b = builder_;
    carries_.emplace_back();
    sums_.emplace_back();
    for (std::size_t k = 0; k < sweep_.first.size(); ++k)
      carries_.back().push_back(b.variable("carry", b.real(0)));
    for (int row = 0; row < sweep_.sum_rows; ++row) sums_.back().push_back(b.variable("sum", b.real(0)));
    if_exists(turn, [&] {
      for (std::size_t k = 0; k < sweep_.first.size(); ++k)
        b.assign(carries_.back()[k], tensors_.first(sweep_.first[k], lane(turn)));
    });
    // Lanes without a channel compute what does not change with those of the head's first.
    lowering_.hoist(turn, [&](const Node& node) { return param(node, turn); });
  }
  Value param(const Node& leaf, int turn) {
    SweepTensors::Place place = lane(turn);
    if (dim() % p_.channels() != 0) place.channel = min(place.channel, builder_.constant(dim() - 1));
    return tensors_.param(leaf, place);
  }
  Value leaf(const Node& node, int turn) {
    if (node.kind == step::NodeKind::Uniform)
      return lowering_.draw(node, turn, {row_, t_, head_, channels_[at(turn)]});
    const auto id = static_cast<NodeId>(&node - sweep_.step.graph.nodes.data());
    const auto found = sweep_.sources.find(id);
    if (found == sweep_.sources.end()) return param(node, turn);
    const SweepSource& source = found->second;
    if (source.kind == SweepSource::Kind::Carry) return carries_[at(turn)][at(source.carry)];
    if (source.kind == SweepSource::Kind::Flag) return flags_.read(node.tensor, row_, t_);
    return tensors_.read(source, t_, lane(turn));
  }

  void advance(int turn) {
    auto& b = builder_;
    const std::vector<Value> results =
        lowering_.lower(turn, [&](const Node& node) { return leaf(node, turn); });
    // A carry may be read until all are computed.
    std::vector<std::pair<Value, Value>> assigned;
    for (std::size_t root = 0; root < results.size(); ++root)
      for (const SweepSink& sink : sweep_.sinks[root]) {
        if (sink.kind == SweepSink::Kind::Now) {
          const KernelTensor& to = tensors_.declared(sink.row.tensor);
          b.store(to.memory[tensors_.at_step(to, sink.row.row, t_, lane(turn))], results[root]);
        } else if (sink.kind == SweepSink::Kind::Carry) {
          assigned.emplace_back(carries_[at(turn)][at(sink.index)], b.let("next", results[root]));
        } else {
          const Value sum = sums_[at(turn)][at(sink.index)];
          assigned.emplace_back(sum, b.let("more", sum + results[root]));
        }
      }
    for (const auto& [variable, value] : assigned) b.assign(variable, value);
  }

  void end(int turn) {
    auto& b = builder_;
    for (std::size_t k = 0; k < sweep_.last.size(); ++k) {
      const RowRef& row = sweep_.last[k];
      const KernelTensor& last = tensors_.declared(row.tensor);
      b.store(last.memory[tensors_.boundary(last, row.row, lane(turn))], carries_[at(turn)][k]);
    }
    for (int row = 0; row < sweep_.sum_rows; ++row)
      b.store(tensors_.sum(row, lane(turn)), sums_[at(turn)][at(row)]);
  }

  const step::Cell& cell_;
  const Problem& problem_;
  const Sweep& sweep_;
  const HostParameters p_;
  kernel::Builder builder_;
  Signature signature_;
  FlagReader flags_;
  SweepTensors tensors_;
  GraphLowering lowering_;
  Value time_, t_, head_, row_;
  std::vector<Value> channels_;                     // by turn
  std::vector<std::vector<Value>> carries_, sums_;  // by turn
};

}  // namespace

Launch host_diagonal(const step::Cell& cell, const Problem& problem, const Sweep& sweep,
                     const HostParameters& parameters) {
  return DiagonalBuilder(cell, problem, sweep, parameters).build();
}

}  // namespace rondo::schedule
