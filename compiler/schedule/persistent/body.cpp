#include "compiler/schedule/persistent/body.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/schedule/analysis/carried.h"
#include "compiler/schedule/analysis/step_stages.h"
#include "compiler/schedule/sweep/input_vectors.h"

namespace rondo::schedule {

namespace {

// How often a value of the step is read.
std::ptrdiff_t uses(const step::StepGraph& step, step::NodeId id) {
  std::ptrdiff_t count = std::ranges::count(step.roots, id);
  for (const step::NodeId user : reachable(step.graph, step.roots)) {
    const std::vector<step::NodeId>& operands = step.graph.at(user).operands;
    count += std::ranges::count(operands, id);
  }
  return count;
}

}  // namespace

PersistentBody::PersistentBody(const Task& task, const PersistentParameters& parameters,
                               const std::string& name, const std::string& comment, TimeOrder order,
                               step::StepGraph step)
    : task_(task),
      kernel_(name, comment, task, parameters, order),
      step_(std::move(step)),
      groups_(product_groups(step_.graph, step_.roots)),
      sums_(product_sums(step_.graph, step_.roots, groups_)),
      order_(step_order(task, step_, groups_, adds_over_head(task.cell))),
      lowering_(kernel_.builder(), task, step_.graph, step_.roots),
      reductions_(kernel_, step_.graph, order_.reductions, !groups_.empty()),
      products_(step_products(kernel_, task, step_, groups_, sums_,
                              ReductionExchange::slot_words(kernel_.geometry(), reduction_words(order_)))) {
  std::vector<bool> reads;
  for (std::size_t group = 0; group < groups_.size(); ++group) reads.push_back(products_->reads(group));
  only_multiplied_ = schedule::only_multiplied(task.cell, step_, groups_, reads);
}

void PersistentBody::declare_params() {
  products_->declare();
  reductions_.declare();
  for (const TensorId id : task_.cell.of_kind(TensorKind::Param))
    for (int row = 0; row < tensor(id).rows; ++row)
      if (lowering_.uses(id, row) && params_.count(id) == 0)
        params_[id] = kernel_.signature().reads({Role::Param, id});
}

void PersistentBody::load_start(const std::string& prefix, const std::map<TensorId, KernelTensor>& first) {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = kernel_.geometry();
  b.comment("parameters and first carries into registers");
  for (const auto& [id, kernel_tensor] : params_)
    for (int row = 0; row < tensor(id).rows; ++row) {
      if (!lowering_.uses(id, row)) continue;
      for (int unit = 0; unit < g.p.unit_blocks; ++unit) {
        const std::string name = fmt::format("{}_{}", tensor(id).name, row);
        const kernel::Place from =
            kernel_tensor.memory[kernel_.threads().param_index(tensor(id), row, 2 * g.p.batch_tiles * unit)];
        const Value exists = kernel_.threads().unit_exists(unit);
        Value value;
        if (exists.valid()) {
          value = b.variable(name, b.real(0));
          b.if_(exists, [&] { b.assign(value, b.load("param", from)); });
        } else {
          value = b.load(name, from);
        }
        param_values_[{id, row}].push_back(value);
      }
    }
  for (std::size_t k = 0; k < task_.cell.next.size(); ++k)
    kernel_.threads().each_turn([&] {
      for (int channel = 0; channel < channels(); ++channel)
        carry_.push_back(holds(k, channel) ? b.variable(prefix + carried_name(task_.cell, k), b.real(0))
                                           : carry_[index(k, g.head_value_channel(channel))]);
    });
  kernel_.threads().each_turn([&] { load_first_carries(first); });
  products_->load_matrices();
  products_->expect_first();
  reductions_.begin(products_->ring());
  kernel_.threads().each_turn([&] {
    send_early(
        b.constant(kernel_.threads().turn()),
        early_vectors(b.constant(0), [&](std::size_t k, int channel) { return carry_[index(k, channel)]; }));
  });
  for (int channel = 0; channel < channels(); ++channel)
    lowering_.hoist(channel, [&](const step::Node& leaf) { return param(leaf, channel); });
  if (!looks_ahead()) return;
  early_.resize(static_cast<std::size_t>(channels()));
  for (auto& of_channel : early_)
    for (const step::NodeId id : order_.handed) {
      const std::string& label = step_.graph.at(id).label;
      of_channel.push_back(b.variable(label.empty() ? "early" : label, b.real(0)));
    }
}

void PersistentBody::load_first_carries(const std::map<TensorId, KernelTensor>& first) {
  auto& b = kernel_.builder();
  for (int channel = 0; channel < channels(); ++channel)
    kernel_.threads().if_exists(channel, [&] {
      for (std::size_t k = 0; k < task_.cell.next.size(); ++k) {
        const step::Row& row = task_.cell.next[k];
        if (is_head_value(row.tensor)) continue;
        const Value place = kernel_.threads().state_index(tensor(row.tensor).rows, row.row, channel);
        b.assign(carry_[index(k, channel)], b.load("first", first.at(row.tensor).memory[place]));
      }
    });
  if (!has_head_value_states()) return;
  kernel_.threads().each_head_value([&](int channel) {
    each_head_value_state([&](std::size_t k, const step::Row& row) {
      const Value place = kernel_.threads().head_value_index(tensor(row.tensor).rows, row.row, channel);
      b.assign(carry_[index(k, channel)], b.load("first", first.at(row.tensor).memory[place]));
    });
  });
}

void PersistentBody::store_carries(const std::map<TensorId, KernelTensor>& last, const std::string& what) {
  kernel_.builder().comment(what);
  kernel_.threads().each_turn([&] { store_carries(last); });
}

void PersistentBody::store_carries(const std::map<TensorId, KernelTensor>& last) {
  auto& b = kernel_.builder();
  for (int channel = 0; channel < channels(); ++channel)
    kernel_.threads().if_exists(channel, [&] {
      for (std::size_t k = 0; k < task_.cell.next.size(); ++k) {
        const step::Row& row = task_.cell.next[k];
        if (is_head_value(row.tensor)) continue;
        const Value place = kernel_.threads().state_index(tensor(row.tensor).rows, row.row, channel);
        b.store(last.at(row.tensor).memory[place], carry_[index(k, channel)]);
      }
    });
  if (!has_head_value_states()) return;
  kernel_.threads().each_stored_head_value([&](int channel) {
    each_head_value_state([&](std::size_t k, const step::Row& row) {
      const Value place = kernel_.threads().head_value_index(tensor(row.tensor).rows, row.row, channel);
      b.store(last.at(row.tensor).memory[place], carry_[index(k, channel)]);
    });
  });
}

bool PersistentBody::has_head_value_states() const {
  return std::ranges::any_of(task_.cell.next,
                             [&](const step::Row& row) { return is_head_value(row.tensor); });
}

void PersistentBody::each_head_value_state(
    const std::function<void(std::size_t, const step::Row&)>& body) const {
  for (std::size_t k = 0; k < task_.cell.next.size(); ++k)
    if (is_head_value(task_.cell.next[k].tensor)) body(k, task_.cell.next[k]);
}

void PersistentBody::emit_roles(const std::function<void()>& prepare, const std::function<void()>& finish,
                                const LeafOf& leaf, const Consume& consume) {
  using Step = PersistentKernel::Step;
  PersistentKernel::Roles roles;
  roles.prepare = prepare;
  if (looks_ahead()) roles.begin = [&](const Step& first) { compute_early(first, leaf); };
  roles.step = [&](const Step& now) { run_step(now, leaf, consume); };
  roles.finish = finish;
  roles.multiply = [&] { products_->multiply_role(); };
  kernel_.emit_roles(roles);
}

// A few sums are made in the step itself, before its products are waited for: to hand them over costs as
// much.
bool PersistentBody::looks_ahead() const {
  const auto is_function = [&](step::NodeId id) {
    return scalar::info(step_.graph.at(id).op).fast.special > 0;
  };
  return !order_.handed.empty() && levels_of(groups_) > 0 && std::ranges::any_of(order_.early, is_function);
}

void PersistentBody::compute_early(const PersistentKernel::Step& step, const LeafOf& leaf) {
  std::vector<GraphLowering::Values> of_channels;
  for (int c = 0; c < channels(); ++c) of_channels.push_back(lowering_.start(c));
  for (std::size_t stage = 0; stage < order_.reductions.size(); ++stage)
    if (order_.reductions[stage].early) reduce(stage, step, leaf, of_channels);
  for (int c = 0; c < channels(); ++c) {
    const std::vector<Value> handed =
        lowering_.emit_roots(of_channels[static_cast<std::size_t>(c)], order_.handed,
                             [&](const step::Node& node) { return leaf(node, step, c); });
    for (std::size_t i = 0; i < handed.size(); ++i)
      kernel_.builder().assign(early_[static_cast<std::size_t>(c)][i], handed[i]);
  }
}

void PersistentBody::publish_level(int level, const PersistentKernel::Step& now, const LeafOf& leaf,
                                   Progress& step) {
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    if (groups_[group].level != level || sent_early(groups_[group]) || products_->reads(group)) continue;
    std::vector<Value> vector;
    for (int c = 0; c < channels(); ++c)
      vector.push_back(lowering_.emit_roots(step.values[static_cast<std::size_t>(c)], {groups_[group].vector},
                                            [&](const step::Node& node) { return leaf(node, now, c); })[0]);
    products_->publish(group, now.tile_step, vector);
  }
  publish_chosen(level, now, leaf);
}

// What a step has chosen is known before it begins, but is not what the step before could send.
void PersistentBody::publish_chosen(int level, const PersistentKernel::Step& now, const LeafOf& leaf) {
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    if (groups_[group].level != level || groups_[group].kind != ProductKind::Scatter) continue;
    for (std::size_t product = 0; product < groups_[group].products.size(); ++product) {
      const step::Node& node = step_.graph.at(groups_[group].products[product].chosen);
      std::vector<Value> chosen;
      for (int c = 0; c < channels(); ++c) chosen.push_back(leaf(node, now, c));
      products_->publish_chosen(group, static_cast<int>(product), now.tile_step, chosen);
    }
  }
}

void PersistentBody::reduce(std::size_t stage, const PersistentKernel::Step& step, const LeafOf& leaf,
                            std::vector<GraphLowering::Values>& values) {
  reductions_.reduce(stage, step.tile_step, [&](step::NodeId id, int c) {
    return lowering_.emit_roots(values[static_cast<std::size_t>(c)], {id},
                                [&](const step::Node& node) { return leaf(node, step, c); })[0];
  });
  for (const step::NodeId id : order_.reductions[stage].nodes)
    for (int c = 0; c < channels(); ++c) values[static_cast<std::size_t>(c)][id] = reductions_.value(id, c);
}

void PersistentBody::reduce_before(int level, bool before_vectors, const PersistentKernel::Step& now,
                                   const LeafOf& leaf, Progress& step) {
  for (std::size_t stage = 0; stage < order_.reductions.size(); ++stage) {
    const ReductionStage& of = order_.reductions[stage];
    if (of.level != level || of.before_vectors != before_vectors) continue;
    if (of.early && looks_ahead()) continue;
    reduce(stage, now, leaf, step.values);
    ++step.exchanges;
    if (!before_vectors) emit_ready(now, leaf, step);
  }
}

// All that the step needs and that waits for no exchange that is still to come.
void PersistentBody::emit_ready(const PersistentKernel::Step& now, const LeafOf& leaf, Progress& step) {
  for (int c = 0; c < channels(); ++c) {
    GraphLowering::Values& values = step.values[static_cast<std::size_t>(c)];
    for (const step::NodeId id : lowering_.missing(values, step_.roots))
      if (order_.after[static_cast<std::size_t>(id)] <= step.exchanges && !only_multiplied(id))
        lowering_.emit_node(values, id, [&](const step::Node& node) { return leaf(node, now, c); });
  }
}

void PersistentBody::consume_ready(const PersistentKernel::Step& now, const Consume& consume,
                                   Progress& step) {
  for (std::size_t root = 0; root < step_.roots.size(); ++root) {
    const step::NodeId id = step_.roots[root];
    if (step.consumed[root] || step.values[0].count(id) == 0) continue;
    std::vector<Value> of_channels;
    for (GraphLowering::Values& values : step.values) {
      if (root < task_.cell.next.size())
        values[id] = settled(values[id], "next_" + carried_name(task_.cell, root));
      of_channels.push_back(values[id]);
    }
    consume(now, root, of_channels);
    step.consumed[root] = true;
  }
}

void PersistentBody::take_products(int level, Progress& step) {
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    if (groups_[group].level != level) continue;
    for (std::size_t p = 0; p < groups_[group].products.size(); ++p)
      for (int c = 0; c < channels(); ++c) {
        const step::NodeId node = groups_[group].products[p].node;
        const std::string& label = step_.graph.at(node).label;
        Value value = products_->value(group, static_cast<int>(p), c);
        if (!label.empty() || uses(step_, node) > 1)
          value = kernel_.builder().let(label.empty() ? "product" : label, value);
        step.values[static_cast<std::size_t>(c)][node] = value;
      }
  }
}

// What the rest of the step reads must not change when the next step is looked at.
void PersistentBody::keep_for_later(Progress& step) {
  for (GraphLowering::Values& values : step.values) {
    std::set<step::NodeId> read;
    for (const step::NodeId id : lowering_.missing(values, step_.roots))
      for (const step::NodeId other : lowering_.read_by(id, values)) read.insert(other);
    for (std::size_t k = 0; k < task_.cell.next.size(); ++k) read.insert(step_.roots[k]);
    for (const step::NodeId id : read)
      if (const auto value = values.find(id); value != values.end())
        value->second = settled(value->second, "kept");
  }
}

void PersistentBody::run_step(const PersistentKernel::Step& now, const LeafOf& leaf, const Consume& consume) {
  Progress step{{}, std::vector<bool>(step_.roots.size(), false), 0};
  for (int c = 0; c < channels(); ++c) {
    step.values.push_back(lowering_.start(c));
    for (std::size_t i = 0; looks_ahead() && i < order_.handed.size(); ++i)
      step.values.back()[order_.handed[i]] = early_[static_cast<std::size_t>(c)][i];
  }
  for (const ReductionStage& stage : order_.reductions)
    step.exchanges += stage.early && looks_ahead() ? 1 : 0;
  const int levels = levels_of(groups_);
  for (int level = 0; level < levels; ++level) {
    reduce_before(level, true, now, leaf, step);
    publish_level(level, now, leaf, step);
    products_->start(level, now.tile_step);
    emit_ready(now, leaf, step);
    reduce_before(level, false, now, leaf, step);
    consume_ready(now, consume, step);
    if (level + 1 == levels && looks_ahead()) {
      keep_for_later(step);
      now.next([&](const PersistentKernel::Step& next) { compute_early(next, leaf); });
    }
    products_->finish(level, now.tile_step);
    take_products(level, step);
    ++step.exchanges;
  }
  reduce_before(levels, false, now, leaf, step);
  emit_ready(now, leaf, step);
  finish_step(now, consume, step);
}

void PersistentBody::finish_step(const PersistentKernel::Step& now, const Consume& consume, Progress& step) {
  std::vector<std::vector<Value>> next(task_.cell.next.size());
  for (std::size_t k = 0; k < task_.cell.next.size(); ++k)
    for (GraphLowering::Values& values : step.values) {
      Value& value = values.at(step_.roots[k]);
      next[k].push_back(value = settled(value, "next_" + carried_name(task_.cell, k)));
    }
  send_next(now, next);
  consume_ready(now, consume, step);
  for (int level = 0; level < levels_of(groups_); ++level) products_->rearm(level, now.tile_step);
  reductions_.clear_sent(now.tile_step, !products_->rearming_fences());
  for (std::size_t k = 0; k < task_.cell.next.size(); ++k)
    for (int c = 0; c < channels() && holds(k, c); ++c)
      kernel_.builder().assign(carry_[index(k, c)], next[k][static_cast<std::size_t>(c)]);
}

// The value in a register that the coming assignments, to carries and to what the next step is handed, cannot
// change.
Value PersistentBody::settled(Value value, const std::string& name) {
  const auto reads = [](Value v) {
    return std::get_if<kernel::RegRead>(&v.builder()->kernel().expr(v.id()).node);
  };
  const kernel::RegRead* read = reads(value);
  if (read == nullptr) return kernel_.builder().let(name, value);
  const auto is_read = [&](Value variable) { return reads(variable)->reg == read->reg; };
  bool changes = std::ranges::any_of(carry_, is_read);
  for (const auto& of_channel : early_) changes = changes || std::ranges::any_of(of_channel, is_read);
  return changes ? kernel_.builder().let(name, value) : value;
}

bool PersistentBody::only_multiplied(step::NodeId id) const {
  const step::Node& node = step_.graph.at(id);
  return node.kind == step::NodeKind::Leaf && !stages(node.tensor);
}

bool PersistentBody::stages(TensorId input) const {
  return std::ranges::find(only_multiplied_, input) == only_multiplied_.end();
}

Value PersistentBody::param(const step::Node& leaf, int channel) const {
  const int unit = kernel_.geometry().unit_of(channel);
  return param_values_.at({leaf.tensor, leaf.row})[static_cast<std::size_t>(unit)];
}

Value PersistentBody::draw(const step::Node& node, const PersistentKernel::Step& now, int channel) {
  const Value unit = kernel_.threads().unit_index(kernel_.geometry().unit_of(channel));
  return lowering_.draw(node, channel,
                        {kernel_.threads().batch_row(channel), kernel_.threads().walked().among_all(now.time),
                         kernel_.here().head, unit});
}

Value PersistentBody::carry(TensorId id, int row, int channel) const {
  return carry_[index(carried_row(task_.cell, id, row), channel)];
}

}  // namespace rondo::schedule
