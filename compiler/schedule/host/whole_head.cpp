#include "compiler/schedule/host/whole_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>

#include "compiler/schedule/analysis/step_stages.h"
#include "compiler/schedule/host/sweep_tensors.h"
#include "compiler/schedule/lower/along_head.h"
#include "compiler/schedule/lower/flags.h"
#include "compiler/schedule/lower/graph.h"
#include "compiler/schedule/plan/signature.h"
#include "compiler/support/index.h"
#include "compiler/support/integers.h"

namespace rondo::schedule {
namespace {

Op reducer(const Reduction& reduction) { return reduction.kind == Reduction::Kind::Max ? Op::Max : Op::Add; }

class WholeHeadBuilder {
 public:
  WholeHeadBuilder(const Task& task, const Sweep& sweep, const HostParameters& p)
      : task_(task),
        sweep_(sweep),
        stages_(step_stages(task.cell, sweep.step.graph, sweep.step.roots, Spreads::AfterTheirSum)),
        p_(p),
        builder_(fmt::format("{}_host_{}", task.cell.name, pass_name(task.problem.pass)), p.lanes,
                 task.problem.math,
                 fmt::format("{}: on CPUs, {}; {} in memory", task.cell.name,
                             sweep.order == TimeOrder::Forward ? "forward" : "backward",
                             kernel::storage_name(task.problem.storage))),
        signature_(builder_, task),
        flags_(signature_, task.cell),
        tensors_(signature_, task, sweep) {
    for (const StepStage& stage : stages_.stages)
      lowerings_.emplace_back(builder_, task, stage.graph, stage.demand);
  }

  Launch build() {
    auto& b = builder_;
    declare();
    (void)signature_.batch();
    time_ = signature_.time();
    flags_.set_time(time_);
    b.named("kDim", dim(), "channels a head");
    head_ = b.let("head", b.block() % task_.problem.sizes.heads);
    signature_.set_head(head_);
    row_ = b.let("batch_row", b.block() / task_.problem.sizes.heads);
    for_channels([&] { begin(); });
    b.for_("step", b.constant(0), time_, b.constant(1), 1, [&](Value count) {
      t_ = b.let("t", sweep_.order == TimeOrder::Forward ? count : time_ - 1 - count);
      parity_ = b.let("parity", count % 2);
      for (std::size_t stage = 0; stage < stages_.stages.size(); ++stage) walk(stage);
    });
    parity_ = b.let("parity", time_ % 2);
    for_channels([&] { end(); });
    Launch launch;
    launch.arguments = signature_.arguments();
    launch.blocks_fixed = 0;
    launch.blocks_per_batch = task_.problem.sizes.heads;
    launch.kernel = b.kernel();
    return launch;
  }

 private:
  std::int64_t dim() const { return task_.problem.sizes.dim; }
  std::int64_t pitch() const { return round_up(dim(), p_.lanes); }

  // ---- tensors ----
  void declare() {
    for (const StepStage& stage : stages_.stages) {
      flags_.declare(stage.graph, stage.demand);
      tensors_.declare_reads(stage.graph, stage.demand);
    }
    tensors_.declare_ends();
    const auto own = [&](const char* name, std::size_t rows, const char* comment) {
      return builder_.shared(name, kernel::Storage::F32,
                             std::max<std::int64_t>(1, static_cast<std::int64_t>(rows)) * pitch(), comment);
    };
    carries_ = own("carries", 2 * sweep_.first.size(), "[state row][parity of the step][channel]");
    if (!stages_.kept.empty()) kept_ = own("kept", stages_.kept.size(), "[value][channel]");
    if (sweep_.sum_rows > 0) sums_ = own("sums", at(sweep_.sum_rows), "[parameter row][channel]");
    const auto along = std::ranges::count_if(stages_.reductions, &Reduction::along);
    if (along > 0) along_ = own("along", at(along), "what goes along the head: [vector][channel]");
    lanes_ = builder_.shared("lanes", kernel::Storage::F32, p_.lanes, "of what is reduced");
  }

  // ---- places ----
  void for_channels(const std::function<void()>& body) {
    auto& b = builder_;
    b.for_("first", b.constant(0), b.constant(dim()), b.constant(p_.lanes), 1, [&](Value first) {
      channel_ = b.let("channel", first + b.thread());
      if (dim() % p_.lanes == 0) return body();
      b.if_(channel_ < dim(), body);
    });
  }
  void once(bool per_head, const std::function<void()>& body) {
    if (!per_head) return body();
    builder_.if_(channel_ == 0, body);
  }
  SweepTensors::Place place() const { return {row_, head_, channel_}; }
  kernel::Place carry(std::size_t k, Value parity) {
    return carries_[(parity + static_cast<std::int64_t>(2 * k)) * pitch() + channel_];
  }
  kernel::Place of_channel(kernel::Memory memory, std::int64_t row) {
    return memory[channel_ + row * pitch()];
  }

  // ---- values ----
  void begin() {
    auto& b = builder_;
    for (std::size_t k = 0; k < sweep_.first.size(); ++k)
      b.store(carry(k, b.constant(0)), tensors_.first(sweep_.first[k], place()));
    for (int row = 0; row < sweep_.sum_rows; ++row) b.store(of_channel(sums_, row), b.real(0));
  }

  // One stage of the step for all channels; what it reduces is known to those after it.
  void walk(std::size_t number) {
    auto& b = builder_;
    const StepStage& stage = stages_.stages[number];
    std::vector<Value> shares;          // of each lane, by reduction
    if (any_along(stage)) b.barrier();  // those of the step before have been read
    for (const std::size_t i : stage.partials) {
      constexpr double kLeast = -static_cast<double>(std::numeric_limits<float>::max());
      const Reduction& reduction = stages_.reductions[i];
      if (reduction.along()) {
        shares.emplace_back();
        continue;
      }
      shares.push_back(b.variable("share", b.real(reduction.kind == Reduction::Kind::Max ? kLeast : 0)));
      if (reduction.kind != Reduction::Kind::Spread) continue;
      const double count = static_cast<double>(reduction.vectors.size()) * static_cast<double>(dim());
      means_[reduction.node] = b.let("mean", totals_.at(reduction.sum) * b.real(1 / count));
    }
    for_channels([&] { emit(stage, lowerings_[number], shares); });
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const Reduction& reduction = stages_.reductions[stage.partials[i]];
      if (reduction.along())
        sum_along(reduction);
      else
        totals_[reduction.node] = over_lanes(shares[i], reducer(reduction));
    }
    if (any_along(stage)) b.barrier();
  }

  // ---- along the head ----
  bool any_along(const StepStage& stage) const {
    return std::ranges::any_of(stage.partials, [&](std::size_t i) { return stages_.reductions[i].along(); });
  }
  std::int64_t along_row(const Reduction& of) const {
    return std::count_if(stages_.reductions.data(), &of, [](const Reduction& r) { return r.along(); });
  }
  // Running sums in the place of the vector that lies there.
  void sum_along(const Reduction& reduction) {
    if (!reduction.runs()) return;
    auto& b = builder_;
    const bool up = reduction.kind == Reduction::Kind::Prefix;
    const std::int64_t row = along_row(reduction), last = (dim() - 1) / p_.lanes * p_.lanes;
    const Value total = b.variable("running", b.real(0));
    b.for_("first", b.constant(0), b.constant(dim()), b.constant(p_.lanes), 1, [&](Value first) {
      channel_ = b.let("channel", (up ? first : b.constant(last) - first) + b.thread());
      const Value exists = dim() % p_.lanes == 0 ? Value{} : b.let("exists", channel_ < dim());
      const Value own = b.variable("own", b.real(0));
      const auto load = [&] { b.assign(own, b.load("value", of_channel(along_, row))); };
      exists.valid() ? b.if_(exists, load) : load();
      const auto sums = sums_of_lanes(b, lanes_, p_.lanes, own, up);
      const auto store = [&] { b.store(of_channel(along_, row), total + (sums.first + own)); };
      exists.valid() ? b.if_(exists, store) : store();
      b.assign(total, total + sums.second);
    });
  }
  Value read_along(const Reduction& reduction) {
    auto& b = builder_;
    const std::int64_t row = along_row(reduction);
    if (reduction.runs()) return b.load("running_sum", of_channel(along_, row));
    const HeadMove move(sweep_.step.graph.at(reduction.node), dim());
    const Value moved = b.load("moved", along_[move.source(channel_) + row * pitch()]);
    const Value gets = move.gets(channel_);
    return gets.valid() ? b.select(gets, moved, b.real(0)) : moved;
  }

  Value over_lanes(Value share, Op op) {
    auto& b = builder_;
    b.barrier();
    b.store(lanes_[b.thread()], share);
    b.barrier();
    std::vector<Value> values;
    for (int lane = 0; lane < p_.lanes; ++lane) values.push_back(b.load("lane", lanes_[b.constant(lane)]));
    for (; values.size() > 1; values.resize(values.size() / 2))
      for (std::size_t i = 0; i < values.size() / 2; ++i)
        values[i] = b.math(op, {values[2 * i], values[2 * i + 1]});
    return b.let("total", values.front());
  }

  void emit(const StepStage& stage, GraphLowering& lowering, const std::vector<Value>& shares) {
    auto& b = builder_;
    const auto leaf = [&](const Node& node) {
      if (step::is_of_place(node)) return lowering.draw(node, 0, {row_, t_, head_, channel_});
      return read(node, static_cast<NodeId>(&node - stage.graph.nodes.data()));
    };
    lowering.hoist(0, leaf);
    GraphLowering::Values values = lowering.start(0);
    lowering.emit_roots(values, stage.demand, leaf);
    for (const NodeId id : stage.kept_out) b.store(of_channel(kept_, stages_.row_of_kept(id)), values.at(id));
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const Reduction& reduction = stages_.reductions[stage.partials[i]];
      if (reduction.along()) {
        b.store(of_channel(along_, along_row(reduction)), values.at(reduction.vectors.front()));
        continue;
      }
      for (const NodeId vector : reduction.vectors)
        b.assign(shares[i], b.math(reducer(reduction), {shares[i], term(reduction, values.at(vector))}));
    }
    // What goes to memory past the caches comes last, as in diagonal.cpp.
    for (const bool now : {false, true})
      for (const std::size_t root : stage.roots)
        for (const SweepSink& sink : sweep_.sinks[root])
          if (now == (sink.kind == SweepSink::Kind::Now)) store(sink, values.at(sweep_.step.roots[root]));
  }

  // What a channel's value of a vector counts in a reduction.
  Value term(const Reduction& reduction, Value value) {
    if (reduction.kind != Reduction::Kind::Spread) return value;
    const Value off = builder_.let("off_mean", value - means_.at(reduction.node));
    return off * off;
  }

  Value read(const Node& node, NodeId id) {
    auto& b = builder_;
    if (const auto total = totals_.find(id); total != totals_.end()) return total->second;
    if (const Reduction* reduction = stages_.reduction_of(id)) return read_along(*reduction);
    if (const int row = stages_.row_of_kept(id); row < static_cast<int>(stages_.kept.size()))
      return b.load("kept", of_channel(kept_, row));
    const auto found = sweep_.sources.find(id);
    if (found == sweep_.sources.end()) return tensors_.param(node, place());
    const SweepSource& source = found->second;
    if (source.kind == SweepSource::Kind::Carry) return b.load("carry", carry(at(source.carry), parity_));
    if (source.kind == SweepSource::Kind::Flag) return flags_.read(node.tensor, row_, t_);
    return tensors_.read(source, t_, place());
  }

  void store(const SweepSink& sink, Value value) {
    auto& b = builder_;
    if (sink.kind == SweepSink::Kind::Carry)
      return b.store(carry(at(sink.index), b.constant(1) - parity_), value);
    if (sink.kind == SweepSink::Kind::Now) {
      const KernelTensor& to = tensors_.declared(sink.row.tensor);
      return once(tensors_.is_head_value(to.ref), [&] {
        b.store(to.memory[tensors_.at_step(to, sink.row.row, t_, place())], value, p_.writing());
      });
    }
    b.store(of_channel(sums_, sink.index), b.load("sum", of_channel(sums_, sink.index)) + value);
  }

  void end() {
    auto& b = builder_;
    for (std::size_t k = 0; k < sweep_.last.size(); ++k) {
      const RowRef& row = sweep_.last[k];
      const KernelTensor& last = tensors_.declared(row.tensor);
      const Value value = b.load("carry", carry(k, parity_));
      once(tensors_.is_head_value(row.tensor),
           [&] { b.store(last.memory[tensors_.boundary(last, row.row, place())], value); });
    }
    for (int row = 0; row < sweep_.sum_rows; ++row)
      b.store(tensors_.sum(row, place()), b.load("sum", of_channel(sums_, row)));
  }

  const Task& task_;
  const Sweep& sweep_;
  const StepStages stages_;
  const HostParameters p_;
  kernel::Builder builder_;
  Signature signature_;
  FlagReader flags_;
  SweepTensors tensors_;
  std::deque<GraphLowering> lowerings_;  // by stage
  kernel::Memory carries_, kept_, sums_, along_, lanes_;
  std::map<NodeId, Value> totals_, means_;  // by node of a reduction, of the step so far
  Value time_, t_, parity_, head_, row_, channel_;
};

}  // namespace

Launch host_whole_head(const Task& task, const Sweep& sweep, const HostParameters& parameters) {
  return WholeHeadBuilder(task, sweep, parameters).build();
}

}  // namespace rondo::schedule
