#include "compiler/schedule/host/diagonal.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "compiler/schedule/channelwise/affine_transforms.h"
#include "compiler/schedule/host/affine_sweep.h"
#include "compiler/schedule/host/segments.h"
#include "compiler/schedule/host/sweep_tensors.h"
#include "compiler/schedule/lower/flags.h"
#include "compiler/schedule/lower/graph.h"
#include "compiler/schedule/plan/signature.h"
#include "compiler/support/index.h"
#include "compiler/support/integers.h"

namespace rondo::schedule {
namespace {

const char* launch_suffix(Segments segments) {
  switch (segments) {
    case Segments::Whole: return "";
    case Segments::First: return "_first";
    case Segments::Later: return "_later";
  }
  return "";
}

// What depends on parameters alone is computed again at each step where that is a sum of what memory has, and
// else kept. A product must be kept: with a sum that reads it a compiler would make one instruction of both,
// and one number of another, where registers kept it.
bool is_worth_memory(const step::Graph& graph, NodeId id) {
  const Node& node = graph.at(id);
  if (node.kind != step::NodeKind::Scalar) return false;
  const bool sum = node.op == scalar::Op::Add || node.op == scalar::Op::Sub || node.op == scalar::Op::Neg;
  return !sum || std::ranges::any_of(node.operands, [&](NodeId operand) {
    return graph.at(operand).kind == step::NodeKind::Scalar;
  });
}

class DiagonalBuilder {
 public:
  DiagonalBuilder(const Task& task, const AffineSweep& affine, const HostParameters& p, Segments segments)
      : task_(task),
        affine_(affine),
        sweep_(affine.sweep),
        p_(p),
        segments_(segments),
        builder_(fmt::format("{}_host_{}{}", task.cell.name, pass_name(task.problem.pass),
                             launch_suffix(segments)),
                 p.lanes, task.problem.math,
                 fmt::format("{}: on CPUs, {}; {} in memory", task.cell.name,
                             sweep_.order == TimeOrder::Forward ? "forward" : "backward",
                             kernel::storage_name(task.problem.storage))),
        signature_(builder_, task),
        flags_(signature_, task.cell),
        tensors_(signature_, task, sweep_),
        transforms_(signature_, task.problem, static_cast<int>(sweep_.first.size()), p.segments),
        lowering_(builder_, task, sweep_.step.graph, sweep_.step.roots),
        coefficients_(builder_, task, sweep_.step.graph, affine.coefficients) {
    for (const NodeId id : lowering_.invariants_read())
      if (is_worth_memory(sweep_.step.graph, id)) kept_.push_back(id);
  }

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
    launch.blocks_per_batch = tiles() * task_.problem.sizes.heads * parts();
    launch.kernel = b.kernel();
    return launch;
  }

  std::int64_t carried_elements() const { return transforms_.elements(); }

 private:
  std::int64_t dim() const { return task_.problem.sizes.dim; }
  std::int64_t tiles() const { return ceil_div(dim(), p_.channels()); }
  std::int64_t parts() const { return segments_ == Segments::Whole ? 1 : p_.segments - 1; }

  void declare() {
    const std::vector<NodeId> roots = segments_ == Segments::First ? affine_.all_roots() : sweep_.step.roots;
    flags_.declare(sweep_.step.graph, roots);
    tensors_.declare_reads(sweep_.step.graph, roots);
    tensors_.declare_ends();
    if (segments_ != Segments::Whole) transforms_.declare(segments_ == Segments::First);
    if (p_.rolled() && rows() > 0)
      memory_ =
          builder_.shared("own", kernel::Storage::F32, static_cast<std::int64_t>(rows()) * p_.channels(),
                          "[vector][row: carries, sums, of parameters][lane]");
  }

  // ---- places ----
  void place() {
    auto& b = builder_;
    b.named("kDim", dim(), "channels a head");
    const Value tile = b.let("tile", b.block() % tiles());
    head_ = b.let("head", b.block() / tiles() % task_.problem.sizes.heads);
    signature_.set_head(head_);
    const std::int64_t of_part = tiles() * task_.problem.sizes.heads;
    row_ = b.let("batch_row", b.block() / (of_part * parts()));
    place_segment(of_part);
    first_channel_ = tile * p_.channels();
    if (!p_.rolled()) place_vectors(first_channel_);
  }
  void place_vectors(Value first) {
    auto& b = builder_;
    vectors_.clear();
    channels_.clear();
    for (int turn = 0; turn < p_.vectors_a_turn(); ++turn) {
      vectors_.push_back(first + turn * p_.lanes);
      channels_.push_back(b.let("channel", vectors_.back() + b.thread()));
    }
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
    const Value steps = b.let("segment_steps", ceil_div(time_, p_.segments));
    first_step_ = b.let("first_step", min(segment_ * steps, time_));
    end_step_ = b.let("end_step", min(first_step_ + steps, time_));
  }
  void if_exists(int turn, const std::function<void()>& body) {
    if (dim() % (p_.vectors_a_turn() * p_.lanes) == 0) return body();
    // A vector that is there as a whole, or not at all, needs no mask.
    builder_.if_((dim() % p_.lanes == 0 ? vectors_ : channels_)[at(turn)] < dim(), body);
  }
  SweepTensors::Place lane(int turn) const { return {row_, head_, channels_[at(turn)]}; }

  void each_step(const std::function<void(int)>& body) {
    auto& b = builder_;
    b.for_("step", first_step_, end_step_, b.constant(1), 1, [&](Value count) {
      t_ = b.let("t", sweep_.order == TimeOrder::Forward ? count : time_ - 1 - count);
      each_vector([&](int turn) { if_exists(turn, [&] { body(turn); }); });
    });
  }
  // All vectors of the block: one after the other in the code, or in a loop.
  void each_vector(const std::function<void(int)>& body) {
    auto& b = builder_;
    const auto in_code = [&] {
      for (int turn = 0; turn < p_.vectors_a_turn(); ++turn) body(turn);
    };
    if (!p_.rolled()) return in_code();
    const Value end = dim() % p_.channels() == 0 ? first_channel_ + p_.channels()
                                                 : min(first_channel_ + p_.channels(), b.constant(dim()));
    b.for_("first", first_channel_, end, b.constant(p_.lanes), 1, [&](Value first) {
      place_vectors(first);
      in_code();
    });
  }

  // Segments: from their first step to their last, with all that is written; or their transforms alone.
  void walk() {
    each_vector([&](int turn) {
      if (!p_.rolled()) return begin(turn);
      if_exists(turn, [&] { begin_in_memory(turn); });
    });
    each_step([&](int turn) { advance(turn); });
    each_vector([&](int turn) { if_exists(turn, [&] { end(turn); }); });
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

  // ---- what stays from step to step: rows of carries, sums, and in memory what depends on parameters ----
  std::size_t carries() const { return sweep_.first.size(); }
  std::vector<Value> carried(int turn) const {
    const auto& all = registers_[at(turn)];
    return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(carries())};
  }
  std::size_t first_kept() const { return carries() + at(sweep_.sum_rows); }
  std::size_t rows() const { return first_kept() + kept_.size(); }
  // The rows of a vector lie side by side, so that a step reads them in one go.
  kernel::Place in_memory(int turn, std::size_t row) {
    auto& b = builder_;
    const Value channel = vectors_[at(turn)] - first_channel_;
    return memory_[channel * static_cast<std::int64_t>(rows()) + static_cast<std::int64_t>(row) * p_.lanes +
                   b.thread()];
  }
  Value recall(int turn, std::size_t row) {
    if (!p_.rolled()) return registers_[at(turn)][row];
    return builder_.load("own", in_memory(turn, row));
  }
  void keep(int turn, std::size_t row, Value value) {
    if (!p_.rolled()) return builder_.assign(registers_[at(turn)][row], value);
    builder_.store(in_memory(turn, row), value);
  }

  // ---- values ----
  void begin_in_memory(int turn) {
    auto& b = builder_;
    for (std::size_t k = 0; k < carries(); ++k) keep(turn, k, tensors_.first(sweep_.first[k], lane(turn)));
    for (std::size_t row = carries(); row < first_kept(); ++row) keep(turn, row, b.real(0));
    GraphLowering::Values values;
    const auto found =
        lowering_.emit_roots(values, kept_, [&](const Node& node) { return param(node, turn); });
    for (std::size_t i = 0; i < found.size(); ++i) keep(turn, first_kept() + i, found[i]);
  }
  // Brings what depends on parameters to registers.
  void recall_invariants(int turn) {
    GraphLowering::Values values;
    for (std::size_t i = 0; i < kept_.size(); ++i) values[kept_[i]] = recall(turn, first_kept() + i);
    lowering_.emit_roots(values, lowering_.invariants_read(),
                         [&](const Node& node) { return param(node, turn); });
    lowering_.set_hoisted(turn, std::move(values));
  }
  void begin(int turn) {
    auto& b = builder_;
    registers_.emplace_back();
    for (std::size_t row = 0; row < first_kept(); ++row)
      registers_.back().push_back(b.variable(row < carries() ? "carry" : "sum", b.real(0)));
    if_exists(turn, [&] {
      if (segments_ == Segments::Later) return transforms_.start(segment_, lane(turn), carried(turn));
      for (std::size_t k = 0; k < carries(); ++k) keep(turn, k, tensors_.first(sweep_.first[k], lane(turn)));
    });
    // Lanes without a channel compute what does not change with those of the head's first.
    lowering_.hoist(turn, [&](const Node& node) { return param(node, turn); });
    if (segments_ == Segments::Later) if_exists(turn, [&] { begin_in_order(turn); });
  }
  // Where a carry is not finite the walk in order tells, from the end of segment 0 on (if_not_finite()).
  void begin_in_order(int turn) {
    auto& b = builder_;
    if_not_finite(b, carried(turn), [&] {
      transforms_.start_after_first(lane(turn), carried(turn));
      const Value steps = min(ceil_div(time_, p_.segments), time_);
      b.for_("ordered", steps, first_step_, b.constant(1), 1, [&](Value count) {
        t_ = b.let("t", sweep_.order == TimeOrder::Forward ? count : time_ - 1 - count);
        const std::vector<Value> results =
            lowering_.lower(turn, [&](const Node& node) { return leaf(lowering_, node, turn); });
        for (const auto& [row, value] : rows_after(turn, results, false)) keep(turn, row, value);
      });
    });
  }
  Value param(const Node& leaf, int turn) {
    SweepTensors::Place place = lane(turn);
    if (dim() % p_.channels() != 0) place.channel = min(place.channel, builder_.constant(dim() - 1));
    return tensors_.param(leaf, place);
  }
  Value leaf(const GraphLowering& lowering, const Node& node, int turn) {
    if (step::is_of_place(node)) return lowering.draw(node, turn, {row_, t_, head_, channels_[at(turn)]});
    const auto id = static_cast<NodeId>(&node - sweep_.step.graph.nodes.data());
    const auto found = sweep_.sources.find(id);
    if (found == sweep_.sources.end()) return param(node, turn);
    const SweepSource& source = found->second;
    if (source.kind == SweepSource::Kind::Carry) return recall(turn, at(source.carry));
    if (source.kind == SweepSource::Kind::Flag) return flags_.read(node.tensor, row_, t_);
    return tensors_.read(source, t_, lane(turn));
  }

  // Asks for what the step so many steps later reads of the channels. It comes to the core's second cache: it
  // is more than the first one keeps, and was faster (docs/strategies/host-memory.md).
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
      b.prefetch(from.memory[tensors_.at_step(from, source.row.row, time, lane(turn))], 2);
    }
  }

  void each_sink(const std::function<void(const SweepSink&, std::size_t root)>& body) const {
    for (std::size_t root = 0; root < sweep_.sinks.size(); ++root)
      for (const SweepSink& sink : sweep_.sinks[root]) body(sink, root);
  }

  // The carries that a step leaves, and with `sums` what it adds up. A carry may be read until all are
  // computed.
  std::vector<std::pair<std::size_t, Value>> rows_after(int turn, const std::vector<Value>& results,
                                                        bool sums) {
    std::vector<std::pair<std::size_t, Value>> rows;
    each_sink([&](const SweepSink& sink, std::size_t root) {
      if (sink.kind == SweepSink::Kind::Carry) {
        rows.emplace_back(at(sink.index), builder_.let("next", results[root]));
      } else if (sums && sink.kind == SweepSink::Kind::Sum) {
        const std::size_t row = carries() + at(sink.index);
        rows.emplace_back(row, builder_.let("more", recall(turn, row) + results[root]));
      }
    });
    return rows;
  }

  void advance(int turn) {
    auto& b = builder_;
    if (p_.ahead > 0) ask_ahead(turn);
    if (p_.rolled()) recall_invariants(turn);
    const std::vector<Value> results =
        lowering_.lower(turn, [&](const Node& node) { return leaf(lowering_, node, turn); });
    const auto kept = rows_after(turn, results, true);
    // Stores come last: one past the caches is a branch in the code, and a compiler makes one instruction of
    // a product and a sum only where none lies between them. So the bits do not depend on `stream_stores`.
    each_sink([&](const SweepSink& sink, std::size_t root) {
      if (sink.kind != SweepSink::Kind::Now) return;
      const KernelTensor& to = tensors_.declared(sink.row.tensor);
      b.store(to.memory[tensors_.at_step(to, sink.row.row, t_, lane(turn))], results[root], p_.writing());
    });
    for (const auto& [row, value] : kept) keep(turn, row, value);
  }

  void end(int turn) {
    auto& b = builder_;
    for (int row = 0; row < sweep_.sum_rows; ++row)
      b.store(tensors_.sum(row, lane(turn), segment_, p_.segments), recall(turn, carries() + at(row)));
    if (segments_ == Segments::First) return transforms_.store_states(lane(turn), carried(turn));
    if (segments_ == Segments::Whole) return store_last(turn);
    b.if_(segment_ == p_.segments - 1, [&] { store_last(turn); });
  }
  void store_last(int turn) {
    for (std::size_t k = 0; k < sweep_.last.size(); ++k) {
      const RowRef& row = sweep_.last[k];
      const KernelTensor& last = tensors_.declared(row.tensor);
      builder_.store(last.memory[tensors_.boundary(last, row.row, lane(turn))], recall(turn, k));
    }
  }

  const Task& task_;
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
  std::vector<NodeId> kept_;  // of the step, that depend on parameters alone, and that memory holds
  Value time_, t_, head_, row_, segment_, first_step_, end_step_, first_channel_;
  std::vector<Value> vectors_, channels_;      // by turn: the vector's first channel, and the lane's
  std::vector<std::vector<Value>> registers_;  // by turn and row
  kernel::Memory memory_;                      // [vector][row][lane]
};

}  // namespace

void host_diagonal(const Task& task, const Sweep& sweep, const HostParameters& parameters, KernelPlan& plan) {
  const auto add = [&](const AffineSweep& affine, Segments segments) {
    DiagonalBuilder builder(task, affine, parameters, segments);
    plan.launches.push_back(builder.build());
    if (segments != Segments::Whole) plan.carries = {0, builder.carried_elements(), 1, 0};
  };
  if (parameters.segments == 1) return add({sweep, {}, {}, {}}, Segments::Whole);
  if (parameters.rolled())
    throw std::invalid_argument("host: segments of time need all vectors of a block in registers");
  const std::optional<AffineSweep> affine = affine_sweep(task, sweep);
  if (!affine)
    throw std::invalid_argument("host: segments of time for a step that is not affine in its states");
  add(*affine, Segments::First);
  add(*affine, Segments::Later);
}

}  // namespace rondo::schedule
