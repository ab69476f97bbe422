#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>

#include "compiler/schedule/stepwise/body.h"
#include "compiler/schedule/stepwise/sweep.h"

namespace rondo::schedule {
namespace {

const char* direction(const Sweep& sweep) {
  return sweep.order == TimeOrder::Forward ? "forward" : "backward";
}

// The frame of both kernels: a builder with its signature, and the elementwise part.
struct Frame {
  Frame(const StepwiseSweep& of, const std::string& name, const std::string& comment)
      : sweep(of),
        b(fmt::format("{}_{}_{}_{}", of.task.cell.name, of.strategy, pass_name(of.task.problem.pass), name),
          of.tile.threads, of.task.problem.math,
          fmt::format("{}: {} {}, {}; {} in memory", of.task.cell.name, of.strategy, direction(of.sweep),
                      comment, kernel::storage_name(of.task.problem.storage))),
        signature(b, of.task),
        body(b, signature, of.task, of.tile, of.sweep, of.stages) {
    signature.set_scratch(of.sweep.scratch_rows);
  }

  Launch finish() {
    Launch launch;
    launch.arguments = signature.arguments();
    launch.blocks_fixed = 0;
    launch.blocks_per_batch = std::int64_t{sweep.tile.tiles} * sweep.task.problem.sizes.heads;
    launch.batch_tile = sweep.tile.batch;
    launch.kernel = b.kernel();
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
    return std::ranges::any_of(stage.roots, [&](std::size_t root) {
      const auto& sinks = sweep.sweep.sinks[root];
      return std::ranges::any_of(sinks, [&](const SweepSink& sink) {
        return sink.kind == SweepSink::Kind::Sum && sink.index == row;
      });
    });
  }
};

class StepBuilder : Frame {
 public:
  // Stages `stage` to `end`, of which those after the first read what this block alone has reduced.
  StepBuilder(const StepwiseSweep& of, std::size_t stage, std::size_t end)
      : Frame(of, fmt::format("step_{}", stage), fmt::format("part {} of a step", stage)),
        stage_(stage),
        end_(end),
        is_last_(end + 1 == of.stages.stages.size()),
        product_(of.product(b, of.stages.stages[stage].groups)) {}

  Launch build() {
    // A step without products is stage 0 alone, which the launch before has done.
    for (std::size_t stage = std::max<std::size_t>(1, stage_); stage <= end_; ++stage)
      own_.push_back(body.declare(sweep.stages.stages[stage], false));
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
    if (multiplies()) {
      StepProduct::Place place{body.tile(), body.head(), body.first_row(), body.batch(), parity_, any};
      place.count = step_, place.time = time_;
      product_->start(place);
    }
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
    for (const std::size_t group : own_.front().stage->groups) {
      const std::vector<Product>& products = sweep.stages.groups[group].products;
      for (std::size_t p = 0; p < products.size(); ++p)
        if (products[p].node == node) return At{group, p};
    }
    return {};
  }
  // Carry k of the next step is in this thread's registers.
  bool has_carry(std::size_t k) const {
    return !own_.empty() && sweep.stages.stage_of_root[root_of(k)] == static_cast<int>(end_);
  }

  // A stage may begin with what was reduced over the head alone.
  bool multiplies() const { return !own_.empty() && !own_.front().stage->groups.empty(); }

  // Those of steps past the end are products of the last states, which are saved too.
  bool saves_products() const {
    return sweep.task.problem.pass == Pass::ForwardSave && passes_products(sweep.task.problem);
  }

  void set_steps() {
    for (StepwiseBody::Part& part : own_) body.set_step(part, step_);
  }
  bool one_part() const { return own_.size() < 2; }

  void all_rows() {
    if (!own_.empty()) set_steps();
    if (!own_.empty())
      body.read_ahead(own_.front(), {}, true, [&](NodeId node) { return is_given_own(node); });
    if (next_) set_next();
    const auto read_next = [&] {
      if (!next_) return;
      body.read_ahead(*next_, next_->count < time_, true, [&](NodeId node) { return is_given_next(node); });
    };
    if (one_part()) read_next();
    if (multiplies()) product_->multiply();
    for (std::size_t i = 0; i == 0 || i < own_.size(); ++i) {
      const bool last = i + 1 >= own_.size();
      if (i > 0) {
        b.barrier();
        body.read_ahead(own_[i], {}, true, [](NodeId) { return false; });
        if (last) read_next();
      }
      for (int turn = 0; turn < body.turns(); ++turn) {
        begin_shares(i, turn);
        body.if_exists(turn, [&] { last ? finish_turn(turn) : (void)emit_own(i, turn); });
        hand_on(i, turn, turn + 1);
      }
    }
  }
  // Of the own part i, and with the last one of the next step's.
  void begin_shares(std::size_t i, int turn) {
    if (i < own_.size()) body.begin_shares(own_[i], turn);
    if (next_ && i + 1 >= own_.size()) body.begin_shares(*next_, turn);
  }
  void hand_on(std::size_t i, int first, int end) {
    if (i < own_.size()) body.hand_on(own_[i], first, end);
    if (next_ && i + 1 >= own_.size()) body.hand_on(*next_, first, end);
  }

  // Nothing is read before the products are there, for it would need registers meanwhile. Rows are asked for
  // a little ahead: many of them, a power of two of bytes apart, would push each other out of the cache.
  void row_by_row() {
    constexpr int kAhead = 2;
    if (!own_.empty()) set_steps();
    if (next_) set_next();
    b.for_("row", 0, kAhead, 1, [&](Value row) { ask_for(row); });
    if (multiplies()) product_->multiply();
    body.for_rows([&] {
      ask_for(body.row_of_block(0) + kAhead);
      for (std::size_t i = 0; i == 0 || i < own_.size(); ++i) {
        if (i > 0) b.barrier();
        for (int turn = 0; turn < body.turns(); ++turn) row_turn(i, turn);
        hand_on(i, 0, body.turns());
      }
    });
  }
  void row_turn(std::size_t i, int turn) {
    const bool last = i + 1 >= own_.size();
    if (i < own_.size())
      body.read_turn(own_[i], turn, {}, true, [&](NodeId node) { return i == 0 && is_given_own(node); });
    if (next_ && last)
      body.read_turn(*next_, turn, next_->count < time_, true,
                     [&](NodeId node) { return is_given_next(node); });
    begin_shares(i, turn);
    body.if_exists(turn, [&] { last ? finish_turn(turn) : (void)emit_own(i, turn); });
  }
  void ask_for(Value row) {
    for (const StepwiseBody::Part& part : own_) body.ask_for_row(part, row);
    if (next_) body.ask_for_row(*next_, row);
  }

  void set_next() { body.set_step(*next_, b.let("next_step", step_ + 1)); }
  bool is_given_own(NodeId node) const { return product_of(node).has_value(); }
  bool is_given_next(NodeId node) const {
    const auto carry = carry_of(node);
    return carry.has_value() && has_carry(*carry);
  }

  std::vector<Value> emit_own(std::size_t i, int turn) {
    return body.emit(own_[i], turn, [&](NodeId node) {
      const At at = product_of(node).value();
      const std::string& label = own_[i].stage->graph.at(node).label;
      return b.let(
          label.empty() ? "product" : label,
          product_->sum(at.group, at.product, turn, body.unit_of_block(turn), body.row_of_block(turn)));
    });
  }

  void finish_turn(int turn) {
    std::vector<Value> results;
    if (!own_.empty()) results = emit_own(own_.size() - 1, turn);
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

  std::size_t stage_, end_;
  bool is_last_;
  std::unique_ptr<StepProduct> product_;
  std::deque<StepwiseBody::Part> own_;  // of this step, in the order of its stages
  std::optional<StepwiseBody::Part> next_;
  Value time_, step_, parity_;
};

}  // namespace

bool continues(const StepTile& tile, const StepStage& stage) {
  return tile.tiles == 1 && stage.groups.empty();
}

Launch stepwise_first(const StepwiseSweep& sweep) { return FirstBuilder(sweep).build(); }

std::vector<Launch> stepwise_steps(const StepwiseSweep& sweep) {
  std::vector<Launch> launches;
  const std::vector<StepStage>& stages = sweep.stages.stages;
  std::size_t stage = std::min<std::size_t>(1, stages.size() - 1);
  while (stage < stages.size()) {
    std::size_t end = stage;
    while (end + 1 < stages.size() && continues(sweep.tile, stages[end + 1])) ++end;
    launches.push_back(StepBuilder(sweep, stage, end).build());
    stage = end + 1;
  }
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
  // What is read at its use may be read after other results were stored.
  if (plan.in_result && (sweep.tile.reads_at_use || !reads_before_writing(sweep, *plan.in_result)))
    plan.in_result.reset();
  const step::Sizes& sizes = sweep.task.problem.sizes;
  plan.vectors.each =
      sizes.heads * static_cast<std::int64_t>(2 * sweep.stages.groups.size()) * sweep.tile.padded;
  plan.carries.each = sizes.heads * StepwiseBody::carry_elements(sweep.sweep, sweep.stages, sweep.tile);
}

}  // namespace rondo::schedule
