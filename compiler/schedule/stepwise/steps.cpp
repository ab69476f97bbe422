#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compiler/schedule/stepwise/body.h"
#include "compiler/schedule/stepwise/sweep.h"

namespace rondo::schedule {
namespace {

using kernel::Value;
using step::NodeId;

const char* direction(const Sweep& sweep) {
  return sweep.order == TimeOrder::Forward ? "forward" : "backward";
}

// The frame of both kernels: a builder with its signature, and the elementwise part.
struct Frame {
  Frame(const StepwiseSweep& of, const std::string& name, const std::string& comment)
      : sweep(of),
        b(fmt::format("{}_{}_{}_{}", of.cell.name, of.strategy, pass_name(of.problem.pass), name),
          of.tile.threads, of.problem.math,
          fmt::format("{}: {} {}, {}; {} in memory", of.cell.name, of.strategy, direction(of.sweep), comment,
                      kernel::storage_name(of.problem.storage))),
        signature(b, of.cell, of.problem),
        body(b, signature, of.cell, of.problem, of.tile, of.sweep, of.stages) {
    signature.set_scratch(of.sweep.scratch_rows);
  }

  Launch finish() {
    Launch launch;
    launch.arguments = signature.arguments();
    launch.blocks_fixed = 0;
    launch.blocks_per_batch = std::int64_t{sweep.tile.tiles} * sweep.problem.sizes.heads;
    launch.batch_tile = sweep.tile.batch;
    launch.kernel = b.finish();
    return launch;
  }

  std::size_t carries() const { return sweep.sweep.first.size(); }
  // The carry that the node reads, if it does.
  std::optional<std::size_t> carry_of(NodeId node) const {
    const auto source = sweep.sweep.sources.find(node);
    if (source == sweep.sweep.sources.end() || source->second.kind != SweepSource::Kind::Carry) return {};
    return static_cast<std::size_t>(source->second.carry);
  }
  // The root that becomes carry k.
  std::size_t root_of(std::size_t k) const {
    for (std::size_t root = 0; root < sweep.sweep.sinks.size(); ++root)
      for (const SweepSink& sink : sweep.sweep.sinks[root])
        if (sink.kind == SweepSink::Kind::Carry && sink.index == static_cast<int>(k)) return root;
    throw std::logic_error("stepwise: a state row that is never advanced");
  }

  const StepwiseSweep& sweep;
  kernel::Builder b;
  Signature signature;
  StepwiseBody body;
};

class FirstBuilder : Frame {
 public:
  explicit FirstBuilder(const StepwiseSweep& of)
      : Frame(of, "first", "carries at their beginning, and what the first step multiplies") {}

  Launch build() {
    StepwiseBody::Part part = body.declare(sweep.stages.stages.front(), false);
    body.declare_kept();
    body.declare_ends(true, false);
    const Value batch = signature.batch();
    body.place_threads(batch, signature.time());
    body.set_step(part, b.constant(0));
    body.clear_padding();
    body.for_rows([&] {
      body.read_ahead(part, {}, false, [&](NodeId node) { return carry_of(node).has_value(); });
      for (int turn = 0; turn < body.turns(); ++turn) {
        body.begin_shares(part, turn);
        body.if_exists(turn, [&] { start_turn(part, turn); });
        if (!body.row_by_row()) body.hand_on(part, turn, turn + 1);
      }
      if (body.row_by_row()) body.hand_on(part, 0, body.turns());
    });
    return finish();
  }

 private:
  void start_turn(StepwiseBody::Part& part, int turn) {
    std::vector<Value> first;
    for (std::size_t k = 0; k < carries(); ++k) {
      first.push_back(body.first_carry(turn, k));
      body.store_carry(turn, k, b.constant(0), first.back());
    }
    for (int row = 0; row < sweep.sweep.sum_rows; ++row)
      if (!summed_here(row)) body.clear_sum(turn, row);
    body.emit(part, turn, [&](NodeId node) { return first.at(carry_of(node).value()); });
  }
  bool summed_here(int row) const {
    const StepStage& stage = sweep.stages.stages.front();
    return std::any_of(stage.roots.begin(), stage.roots.end(), [&](std::size_t root) {
      const auto& sinks = sweep.sweep.sinks[root];
      return std::any_of(sinks.begin(), sinks.end(), [&](const SweepSink& sink) {
        return sink.kind == SweepSink::Kind::Sum && sink.index == row;
      });
    });
  }
};

class StepBuilder : Frame {
 public:
  StepBuilder(const StepwiseSweep& of, std::size_t stage)
      : Frame(of, fmt::format("step_{}", stage), fmt::format("part {} of a step", stage)),
        stage_(stage),
        is_last_(stage + 1 == of.stages.stages.size()),
        product_(of.product(b, of.stages.stages[stage].groups)) {}

  Launch build() {
    // A step without products is stage 0 alone, which the launch before has done.
    if (stage_ > 0) own_.emplace(body.declare(sweep.stages.stages[stage_], false));
    if (is_last_) next_.emplace(body.declare(sweep.stages.stages.front(), true));
    body.declare_kept();
    body.declare_ends(false, is_last_);
    const bool stops = multiplies() && !saves_products() && body.declare_lengths();
    if (multiplies()) product_->declare(signature, body.vectors());
    const Value batch = signature.batch();
    time_ = signature.time();
    step_ = signature.step_count();
    body.place_threads(batch, time_);
    parity_ = b.let("step_parity", step_ % 2);
    const Value any = stops ? body.any_within(step_) : Value{};
    if (multiplies())
      product_->start({body.tile(), body.head(), body.first_row(), body.batch(), parity_, any});
    if (body.row_by_row())
      row_by_row();
    else
      all_rows();
    Launch launch = finish();
    launch.repetition.kind = executable::Repetition::Kind::EachStep;
    return launch;
  }

 private:
  struct At {
    std::size_t group, product;
  };
  std::optional<At> product_of(NodeId node) const {
    for (const std::size_t group : own_->stage->groups) {
      const std::vector<Product>& products = sweep.stages.groups[group].products;
      for (std::size_t p = 0; p < products.size(); ++p)
        if (products[p].node == node) return At{group, p};
    }
    return {};
  }
  // Carry k of the next step is in this thread's registers.
  bool has_carry(std::size_t k) const {
    return own_ && sweep.stages.stage_of_root[root_of(k)] == static_cast<int>(stage_);
  }

  // A stage may begin with what was reduced over the head alone.
  bool multiplies() const { return own_ && !own_->stage->groups.empty(); }

  // Those of steps past the end are products of the last states, which are saved too.
  bool saves_products() const {
    return sweep.problem.pass == Pass::ForwardSave && passes_products(sweep.problem);
  }

  void all_rows() {
    if (own_) body.set_step(*own_, step_);
    if (own_) body.read_ahead(*own_, {}, true, [&](NodeId node) { return is_given_own(node); });
    if (next_) set_next();
    if (next_)
      body.read_ahead(*next_, next_->count < time_, true, [&](NodeId node) { return is_given_next(node); });
    if (multiplies()) product_->multiply();
    for (int turn = 0; turn < body.turns(); ++turn) {
      begin_shares(turn);
      body.if_exists(turn, [&] { finish_turn(turn); });
      hand_on(turn, turn + 1);
    }
  }
  void begin_shares(int turn) {
    if (own_) body.begin_shares(*own_, turn);
    if (next_) body.begin_shares(*next_, turn);
  }
  void hand_on(int first, int end) {
    if (own_) body.hand_on(*own_, first, end);
    if (next_) body.hand_on(*next_, first, end);
  }

  // Nothing is read before the products are there, for it would need registers meanwhile. Rows are asked for
  // a little ahead: many of them, a power of two of bytes apart, would push each other out of the cache.
  void row_by_row() {
    constexpr int kAhead = 2;
    if (own_) body.set_step(*own_, step_);
    if (next_) set_next();
    b.for_("row", 0, kAhead, 1, [&](Value row) { ask_for(row); });
    if (multiplies()) product_->multiply();
    body.for_rows([&] {
      ask_for(body.row_of_block(0) + kAhead);
      for (int turn = 0; turn < body.turns(); ++turn) {
        if (own_) body.read_turn(*own_, turn, {}, true, [&](NodeId node) { return is_given_own(node); });
        if (next_)
          body.read_turn(*next_, turn, next_->count < time_, true,
                         [&](NodeId node) { return is_given_next(node); });
        begin_shares(turn);
        body.if_exists(turn, [&] { finish_turn(turn); });
      }
      hand_on(0, body.turns());
    });
  }
  void ask_for(Value row) {
    if (own_) body.ask_for_row(*own_, row);
    if (next_) body.ask_for_row(*next_, row);
  }

  void set_next() { body.set_step(*next_, b.let("next_step", step_ + 1)); }
  bool is_given_own(NodeId node) const { return product_of(node).has_value(); }
  bool is_given_next(NodeId node) const {
    const auto carry = carry_of(node);
    return carry.has_value() && has_carry(*carry);
  }

  void finish_turn(int turn) {
    std::vector<Value> results;
    if (own_)
      results = body.emit(*own_, turn, [&](NodeId node) {
        const At at = product_of(node).value();
        const std::string& label = own_->stage->graph.at(node).label;
        return b.let(
            label.empty() ? "product" : label,
            product_->sum(at.group, at.product, turn, body.unit_of_block(turn), body.row_of_block(turn)));
      });
    if (!is_last_) return;
    const auto carry = [&](std::size_t k) {
      return has_carry(k) ? results[root_of(k)] : body.carry(turn, k, next_->parity);
    };
    b.if_(
        next_->count < time_,
        [&] { body.emit(*next_, turn, [&](NodeId node) { return carry(carry_of(node).value()); }); },
        [&] {
          for (std::size_t k = 0; k < carries(); ++k) body.store_last(turn, k, carry(k));
        });
  }

  std::size_t stage_;
  bool is_last_;
  std::unique_ptr<StepProduct> product_;
  std::optional<StepwiseBody::Part> own_, next_;
  Value time_, step_, parity_;
};

}  // namespace

Launch stepwise_first(const StepwiseSweep& sweep) { return FirstBuilder(sweep).build(); }

std::vector<Launch> stepwise_steps(const StepwiseSweep& sweep) {
  std::vector<Launch> launches;
  const std::size_t stages = sweep.stages.stages.size();
  for (std::size_t stage = std::min<std::size_t>(1, stages - 1); stage < stages; ++stage)
    launches.push_back(StepBuilder(sweep, stage).build());
  return launches;
}

kernel::Value vector_row(const Problem& problem, const StepTile& tile, std::size_t groups, Value batch_row,
                         Value head, std::size_t group, Value parity) {
  kernel::Builder& b = *batch_row.builder();
  const auto all = static_cast<std::int64_t>(groups);
  const Value team = b.wide(batch_row) * problem.sizes.heads + b.wide(head);
  return team * (all * 2 * tile.padded) +
         b.wide((parity + static_cast<std::int64_t>(2 * group)) * tile.padded);
}

void add_extents(const StepwiseSweep& sweep, KernelPlan& plan) {
  const step::Sizes& sizes = sweep.problem.sizes;
  plan.vectors.each =
      sizes.heads * static_cast<std::int64_t>(2 * sweep.stages.groups.size()) * sweep.tile.padded;
  plan.carries.each = sizes.heads * StepwiseBody::carry_elements(sweep.sweep, sweep.stages, sweep.tile);
}

}  // namespace rondo::schedule
