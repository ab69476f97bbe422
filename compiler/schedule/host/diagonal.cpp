#include "compiler/schedule/host/diagonal.h"

#include <fmt/format.h>

#include <optional>
#include <stdexcept>

#include "compiler/schedule/host/affine_sweep.h"
#include "compiler/schedule/host/segments.h"
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

const char* launch_suffix(Segments segments) {
  switch (segments) {
    case Segments::Whole: return "";
    case Segments::First: return "_first";
    case Segments::Later: return "_later";
  }
  return "";
}

class DiagonalBuilder {
 public:
  DiagonalBuilder(const step::Cell& cell, const Problem& problem, const AffineSweep& affine,
                  const HostParameters& p, Segments segments)
      : cell_(cell),
        problem_(problem),
        affine_(affine),
        sweep_(affine.sweep),
        p_(p),
        segments_(segments),
        builder_(fmt::format("{}_host_{}{}", cell.name, pass_name(problem.pass), launch_suffix(segments)),
                 p.lanes, problem.math,
                 fmt::format("{}: on CPUs, {}; {} in memory", cell.name,
                             sweep_.order == TimeOrder::Forward ? "forward" : "backward",
                             kernel::storage_name(problem.storage))),
        signature_(builder_, cell, problem),
        flags_(signature_, cell),
        tensors_(signature_, cell, problem, sweep_),
        transforms_(signature_, problem, static_cast<int>(sweep_.first.size()), p.segments),
        lowering_(builder_, cell, problem, sweep_.step.graph, sweep_.step.roots),
        coefficients_(builder_, cell, problem, sweep_.step.graph, affine.coefficients) {}

  Launch build() {
    auto& b = builder_;
    declare();
    const Value batch = signature_.batch();
    (void)batch;
    time_ = signature_.time();
    flags_.set_time(time_);
    place();
    if (segments_ == Segments::First)
      b.if_(
          segment_ == 0, [&] { walk(); }, [&] { compose(); });
    else
      walk();
    Launch launch;
    launch.arguments = signature_.arguments();
    launch.blocks_fixed = 0;
    launch.blocks_per_batch = tiles() * problem_.sizes.heads * parts();
    launch.kernel = b.finish();
    return launch;
  }

  std::int64_t carried_elements() const { return transforms_.elements(); }

 private:
  std::int64_t dim() const { return problem_.sizes.dim; }
  std::int64_t tiles() const { return (dim() + p_.channels() - 1) / p_.channels(); }
  std::int64_t parts() const { return segments_ == Segments::Whole ? 1 : p_.segments - 1; }

  void declare() {
    const std::vector<NodeId> roots = segments_ == Segments::First ? affine_.all_roots() : sweep_.step.roots;
    flags_.declare(sweep_.step.graph, roots);
    tensors_.declare_reads(sweep_.step.graph, roots);
    tensors_.declare_ends();
    if (segments_ != Segments::Whole) transforms_.declare(segments_ == Segments::First);
  }

  // ---- places ----
  void place() {
    auto& b = builder_;
    b.named("kDim", dim(), "channels a head");
    const Value tile = b.let("tile", b.block() % tiles());
    head_ = b.let("head", b.block() / tiles() % problem_.sizes.heads);
    const std::int64_t of_part = tiles() * problem_.sizes.heads;
    row_ = b.let("batch_row", b.block() / (of_part * parts()));
    place_segment(of_part);
    for (int turn = 0; turn < p_.vectors; ++turn)
      channels_.push_back(b.let("channel", tile * p_.channels() + turn * p_.lanes + b.thread()));
  }
  // Which steps of the walk the block has. The first segments have as many as there can be; where there are
  // more segments than steps, the last have none.
  void place_segment(std::int64_t of_part) {
    auto& b = builder_;
    segment_ = first_step_ = b.constant(0);
    end_step_ = time_;
    if (segments_ == Segments::Whole) return;
    const Value part = b.block() / of_part % parts();
    segment_ = b.let("segment", segments_ == Segments::First ? part : part + 1);
    const Value steps = b.let("segment_steps", (time_ + (p_.segments - 1)) / p_.segments);
    first_step_ = b.let("first_step", min(segment_ * steps, time_));
    end_step_ = b.let("end_step", min(first_step_ + steps, time_));
  }
  void if_exists(int turn, const std::function<void()>& body) {
    if (dim() % p_.channels() == 0) return body();
    builder_.if_(channels_[at(turn)] < dim(), body);
  }
  SweepTensors::Place lane(int turn) const { return {row_, head_, channels_[at(turn)]}; }

  void each_step(const std::function<void(int)>& body) {
    auto& b = builder_;
    b.for_("step", first_step_, end_step_, b.constant(1), 1, [&](Value count) {
      t_ = b.let("t", sweep_.order == TimeOrder::Forward ? count : time_ - 1 - count);
      for (int turn = 0; turn < p_.vectors; ++turn) if_exists(turn, [&] { body(turn); });
    });
  }

  // Segments: from their first step to their last, with all that is written; or their transforms alone.
  void walk() {
    for (int turn = 0; turn < p_.vectors; ++turn) begin(turn);
    each_step([&](int turn) { advance(turn); });
    for (int turn = 0; turn < p_.vectors; ++turn) if_exists(turn, [&] { end(turn); });
  }
  void compose() {
    auto& b = builder_;
    std::vector<std::vector<TransformColumn>> columns;
    for (int turn = 0; turn < p_.vectors; ++turn) {
      columns.push_back(identity_transform(b, static_cast<int>(sweep_.first.size()), "map"));
      coefficients_.hoist(turn, [&](const Node& node) { return param(node, turn); });
    }
    each_step([&](int turn) {
      const std::vector<Value> values =
          coefficients_.lower(turn, [&](const Node& node) { return leaf(coefficients_, node, turn); });
      transforms_.compose(affine_, values, columns[at(turn)]);
    });
    for (int turn = 0; turn < p_.vectors; ++turn)
      if_exists(turn, [&] { transforms_.store(segment_, lane(turn), columns[at(turn)]); });
  }

  // ---- values ----
  void begin(int turn) {
    auto& b = builder_;
    carries_.emplace_back();
    sums_.emplace_back();
    for (std::size_t k = 0; k < sweep_.first.size(); ++k)
      carries_.back().push_back(b.variable("carry", b.real(0)));
    for (int row = 0; row < sweep_.sum_rows; ++row) sums_.back().push_back(b.variable("sum", b.real(0)));
    if_exists(turn, [&] {
      if (segments_ == Segments::Later) return transforms_.start(segment_, lane(turn), carries_.back());
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
  Value leaf(const GraphLowering& lowering, const Node& node, int turn) {
    if (node.kind == step::NodeKind::Uniform)
      return lowering.draw(node, turn, {row_, t_, head_, channels_[at(turn)]});
    const auto id = static_cast<NodeId>(&node - sweep_.step.graph.nodes.data());
    const auto found = sweep_.sources.find(id);
    if (found == sweep_.sources.end()) return param(node, turn);
    const SweepSource& source = found->second;
    if (source.kind == SweepSource::Kind::Carry) return carries_[at(turn)][at(source.carry)];
    if (source.kind == SweepSource::Kind::Flag) return flags_.read(node.tensor, row_, t_);
    return tensors_.read(source, t_, lane(turn));
  }

  // Asks for what the step so many steps later reads of the channels.
  void ask_ahead(int turn) {
    auto& b = builder_;
    const Value later = sweep_.order == TimeOrder::Forward ? t_ + p_.ahead : t_ - p_.ahead;
    for (const NodeId id : reachable(sweep_.step.graph, sweep_.step.roots)) {
      const auto found = sweep_.sources.find(id);
      if (found == sweep_.sources.end()) continue;
      const SweepSource& source = found->second;
      if (source.kind != SweepSource::Kind::Now && source.kind != SweepSource::Kind::Before) continue;
      const KernelTensor& from = tensors_.declared(source.row.tensor);
      const Value time = source.kind == SweepSource::Kind::Now ? later : later - 1;
      b.prefetch(from.memory[tensors_.at_step(from, source.row.row, time, lane(turn))]);
    }
  }

  void each_sink(const std::function<void(const SweepSink&, std::size_t root)>& body) const {
    for (std::size_t root = 0; root < sweep_.sinks.size(); ++root)
      for (const SweepSink& sink : sweep_.sinks[root]) body(sink, root);
  }

  void advance(int turn) {
    auto& b = builder_;
    if (p_.ahead > 0) ask_ahead(turn);
    const std::vector<Value> results =
        lowering_.lower(turn, [&](const Node& node) { return leaf(lowering_, node, turn); });
    // A carry may be read until all are computed.
    std::vector<std::pair<Value, Value>> assigned;
    each_sink([&](const SweepSink& sink, std::size_t root) {
      if (sink.kind == SweepSink::Kind::Carry) {
        assigned.emplace_back(carries_[at(turn)][at(sink.index)], b.let("next", results[root]));
      } else if (sink.kind == SweepSink::Kind::Sum) {
        const Value sum = sums_[at(turn)][at(sink.index)];
        assigned.emplace_back(sum, b.let("more", sum + results[root]));
      }
    });
    // Stores come last: one past the caches is a branch in the code, and a compiler makes one instruction of
    // a product and a sum only where none lies between them. So the bits do not depend on `stream_stores`.
    each_sink([&](const SweepSink& sink, std::size_t root) {
      if (sink.kind != SweepSink::Kind::Now) return;
      const KernelTensor& to = tensors_.declared(sink.row.tensor);
      b.store(to.memory[tensors_.at_step(to, sink.row.row, t_, lane(turn))], results[root], p_.writing());
    });
    for (const auto& [variable, value] : assigned) b.assign(variable, value);
  }

  void end(int turn) {
    auto& b = builder_;
    for (int row = 0; row < sweep_.sum_rows; ++row)
      b.store(tensors_.sum(row, lane(turn), segment_, p_.segments), sums_[at(turn)][at(row)]);
    if (segments_ == Segments::First) return transforms_.store_states(lane(turn), carries_[at(turn)]);
    if (segments_ == Segments::Whole) return store_last(turn);
    b.if_(segment_ == p_.segments - 1, [&] { store_last(turn); });
  }
  void store_last(int turn) {
    for (std::size_t k = 0; k < sweep_.last.size(); ++k) {
      const RowRef& row = sweep_.last[k];
      const KernelTensor& last = tensors_.declared(row.tensor);
      builder_.store(last.memory[tensors_.boundary(last, row.row, lane(turn))], carries_[at(turn)][k]);
    }
  }

  const step::Cell& cell_;
  const Problem& problem_;
  const AffineSweep& affine_;
  const Sweep& sweep_;
  const HostParameters p_;
  const Segments segments_;
  kernel::Builder builder_;
  Signature signature_;
  FlagReader flags_;
  SweepTensors tensors_;
  SegmentTransforms transforms_;
  GraphLowering lowering_, coefficients_;
  Value time_, t_, head_, row_, segment_, first_step_, end_step_;
  std::vector<Value> channels_;                     // by turn
  std::vector<std::vector<Value>> carries_, sums_;  // by turn
};

}  // namespace

void host_diagonal(const step::Cell& cell, const Problem& problem, const Sweep& sweep,
                   const HostParameters& parameters, KernelPlan& plan) {
  const auto add = [&](const AffineSweep& affine, Segments segments) {
    DiagonalBuilder builder(cell, problem, affine, parameters, segments);
    plan.launches.push_back(builder.build());
    if (segments != Segments::Whole) plan.carries = {0, builder.carried_elements(), 1, 0};
  };
  if (parameters.segments == 1) return add({sweep, {}, {}, {}}, Segments::Whole);
  const std::optional<AffineSweep> affine = affine_sweep(cell, problem, sweep);
  if (!affine)
    throw std::invalid_argument("host: segments of time for a step that is not affine in its states");
  add(*affine, Segments::First);
  add(*affine, Segments::Later);
}

}  // namespace rondo::schedule
