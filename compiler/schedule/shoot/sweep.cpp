#include "compiler/schedule/shoot/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "compiler/schedule/analysis/carried.h"
#include "compiler/schedule/analysis/history.h"
#include "compiler/schedule/channelwise/remembered_rounding.h"
#include "compiler/schedule/rewrite/rewrite_step.h"
#include "compiler/step/verify.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

step::StepGraph shoot_step(const Task& task, bool newton) {
  const step::Cell& cell = task.cell;
  if (!newton) return forward_step(cell);
  return *task.fact<step::StepGraph>("the step with its Jacobian", [&] {
    step::JacobianStep jacobian = pipeline::watched(
        task.watcher, pipeline::Pass::Jacobian, [&] { return step::jacobian_step(cell); },
        [&](const step::JacobianStep& step) { return step::made(cell, step); });
    std::vector<step::NodeId> roots = forward_roots(cell);
    roots.insert(roots.end(), jacobian.entries.begin(), jacobian.entries.end());
    return step::StepGraph{std::move(jacobian.graph), std::move(roots)};
  });
}

TransformPattern shoot_pattern(const Task& task) {
  const auto states = static_cast<int>(task.cell.next.size());
  if (RememberedRounding::known(states)) return states;
  const step::StepGraph step = shoot_step(task, true);
  const std::size_t first = task.cell.next.size() + task.cell.outputs.size();
  return TransformPattern::composed(states, [&](int row, int column) {
    return step.roots[first + at(row * states + column)] != step::kNoNode;
  });
}

SegmentSweep::SegmentSweep(ShootKernel& kernel, const Task& task, const ShootParameters& parameters)
    : kernel_(kernel),
      cell_(task.cell),
      parameters_(parameters),
      pattern_(shoot_pattern(task)),
      step_(rewritten(task, shoot_step(task, parameters.newton), parameters.rewrite)),
      lowering_(kernel.builder(), task, step_.graph, step_.roots, parameters.rewrite == Rewrite::Throughput),
      save_(task.problem.pass == Pass::ForwardSave) {}

void SegmentSweep::declare() {
  for (const TensorId id : cell_.of_kind(TensorKind::Input))
    staged_[id] =
        is_head_value(id) ? kernel_.values().add({Role::Input, id}) : kernel_.stage({Role::Input, id});
  params_.declare(kernel_.threads(), cell_, lowering_);
  kernel_.threads().flags().declare(step_.graph, step_.roots);
  for (const TensorId id : cell_.of_kind(TensorKind::State))
    first_[id] = kernel_.signature().reads({Role::InitialState, id});
  for (const TensorId id : cell_.of_kind(TensorKind::Output))
    outputs_[id] = kernel_.written().add({Role::Output, id});
  if (save_)
    for (const TensorId id : stored_histories(cell_))
      histories_[id] = kernel_.written().add({Role::History, id});
  for (const TensorId id : cell_.of_kind(TensorKind::State))
    last_[id] = kernel_.signature().writes({Role::LastState, id});
}

std::vector<Value> SegmentSweep::registers(const std::string& suffix) {
  std::vector<Value> made;
  for (int k = 0; k < states(); ++k)
    for (int c = 0; c < parameters_.per_thread; ++c)
      made.push_back(
          kernel_.builder().variable(carried_name(cell_, at(k)) + suffix, kernel_.builder().real(0)));
  return made;
}

void SegmentSweep::start() {
  auto& b = kernel_.builder();
  b.comment("parameters and initial states into registers");
  params_.make_registers(kernel_.threads(), cell_, lowering_, parameters_.per_thread);
  initial_ = registers("_first");
  state_ = registers("");
  beginning_ = registers("_start");
  scale_ = registers("_scale");
  for (int i = 0; parameters_.newton && i < states(); ++i)
    for (int j = 0; j < states(); ++j)
      for (int c = 0; c < parameters_.per_thread; ++c)
        product_.push_back(pattern_.has(i, j)
                               ? b.variable(fmt::format("jacobian_{}{}", i, j), b.real(i == j ? 1 : 0))
                               : Value{});
  kernel_.threads().if_all({kernel_.threads().channel_exists()}, [&] {
    params_.load(kernel_.threads());
    for (int k = 0; k < states(); ++k)
      for (int c = 0; c < parameters_.per_thread; ++c) {
        const step::Row& row = cell_.next[at(k)];
        b.assign(initial(k, c), kernel_.threads().first_carry(first_.at(row.tensor), row,
                                                              kernel_.threads().channel_index(c)));
      }
  });
  b.comment("the first guess: zero, or the initial state where the walk begins at t = 0");
  b.if_(kernel_.own().first == kernel_.own().lead * parameters_.steps, [&] {
    for (std::size_t i = 0; i < state_.size(); ++i) b.assign(state_[i], initial_[i]);
  });
  for (int channel = 0; channel < parameters_.per_thread; ++channel)
    lowering_.hoist(channel, [&](const step::Node& leaf) { return params_.value(leaf, channel); });
}

Value SegmentSweep::leaf(const step::Node& node, const ShootKernel::Staged& staged, int channel) const {
  if (step::is_of_place(node))
    return lowering_.draw(
        node, channel,
        {kernel_.threads().here().batch_row, kernel_.threads().walked().among_all(kernel_.step()),
         kernel_.threads().here().head, kernel_.threads().channel_index(channel)});
  switch (tensor(node.tensor).kind) {
    case TensorKind::Input:
      if (is_head_value(node.tensor)) return kernel_.values().value(staged_.at(node.tensor), node.row);
      return staged(staged_.at(node.tensor), node.row, channel);
    case TensorKind::State:
      return state(static_cast<int>(carried_row(cell_, node.tensor, node.row)), channel);
    case TensorKind::Reset:
    case TensorKind::Length: return kernel_.values().flag(node.tensor);
    default: return params_.value(node, channel);
  }
}

std::vector<std::vector<Value>> SegmentSweep::values(const ShootKernel::Staged& staged, std::size_t count) {
  std::vector<std::vector<Value>> result;
  const std::vector<step::NodeId> roots(step_.roots.begin(),
                                        step_.roots.begin() + static_cast<std::ptrdiff_t>(count));
  for (int channel = 0; channel < parameters_.per_thread; ++channel) {
    GraphLowering::Values known = lowering_.start(channel);
    result.push_back(lowering_.emit_roots(
        known, roots, [&](const step::Node& node) { return leaf(node, staged, channel); }));
  }
  return result;
}

// The new states are all known before the first of them changes.
void SegmentSweep::advance(const std::vector<std::vector<Value>>& values) {
  auto& b = kernel_.builder();
  std::vector<Value> next;
  for (int k = 0; k < states(); ++k)
    for (int c = 0; c < parameters_.per_thread; ++c)
      next.push_back(states() == 1 && parameters_.per_thread == 1
                         ? values[at(c)][at(k)]
                         : b.let("next_" + carried_name(cell_, at(k)), values[at(c)][at(k)]));
  for (std::size_t i = 0; i < next.size(); ++i) b.assign(state_[i], next[i]);
}

void SegmentSweep::enter() {
  auto& b = kernel_.builder();
  for (std::size_t i = 0; i < state_.size(); ++i) {
    b.assign(beginning_[i], state_[i]);
    b.assign(scale_[i], b.math(scalar::Op::Abs, {state_[i]}));
  }
  for (int i = 0; parameters_.newton && i < states(); ++i)
    for (int j = 0; j < states(); ++j)
      for (int c = 0; pattern_.has(i, j) && c < parameters_.per_thread; ++c)
        b.assign(product_[entry(i, j, c)], b.real(i == j ? 1 : 0));
}

void SegmentSweep::step(const ShootKernel::Staged& staged) {
  std::vector<std::vector<Value>> now = values(staged, step_.roots.size());
  const auto column = [&](std::size_t root) {
    std::vector<Value> of_root;
    for (const auto& results : now) of_root.push_back(results[root]);
    return of_root;
  };
  for (std::size_t o = 0; o < cell_.outputs.size(); ++o)
    kernel_.written().store(outputs_.at(cell_.outputs[o].tensor), cell_.outputs[o].row,
                            column(cell_.next.size() + o));
  for (std::size_t k = 0; k < cell_.next.size(); ++k)
    if (const auto kept = histories_.find(cell_.next[k].tensor); kept != histories_.end())
      kernel_.written().store(kept->second, cell_.next[k].row, column(k));
  for (int c = 0; parameters_.newton && c < parameters_.per_thread; ++c) multiply(c, now[at(c)]);
  advance(now);
}

// product = Jacobian of the step * product.
void SegmentSweep::multiply(int channel, const std::vector<Value>& values) {
  auto& b = kernel_.builder();
  const std::size_t first = cell_.next.size() + cell_.outputs.size();
  std::vector<Value> next;
  for (int i = 0; i < states(); ++i)
    for (int j = 0; j < states(); ++j) {
      Value sum;
      for (int k = 0; k < states(); ++k) {
        const std::size_t root = first + at(i * states() + k);
        if (step_.roots[root] == step::kNoNode || !pattern_.has(k, j)) continue;
        const Value factor = product_[entry(k, j, channel)];
        sum = sum.valid() ? b.math(scalar::Op::Fma, {values[root], factor, sum}) : values[root] * factor;
      }
      next.push_back(sum.valid() ? b.let("chained", sum) : b.real(0));
    }
  for (int i = 0; i < states(); ++i)
    for (int j = 0; j < states(); ++j)
      if (pattern_.has(i, j)) b.assign(product_[entry(i, j, channel)], next[at(i * states() + j)]);
}

void SegmentSweep::measure() {
  auto& b = kernel_.builder();
  for (std::size_t i = 0; i < state_.size(); ++i)
    b.assign(scale_[i], b.math(scalar::Op::Max, {scale_[i], b.math(scalar::Op::Abs, {state_[i]})}));
}

void SegmentSweep::run(Value lead) {
  ShootKernel::Walk walk;
  walk.lead_in = [&](const ShootKernel::Staged& staged) { advance(values(staged, cell_.next.size())); };
  walk.enter = [&] { enter(); };
  walk.step = [&](const ShootKernel::Staged& staged) { step(staged); };
  walk.leave_stage = [&] { measure(); };
  kernel_.walk(lead, walk);
}

std::vector<Value> SegmentSweep::past_end(int written, int row) const {
  std::vector<Value> values;
  for (const auto& [tensor, history] : histories_)
    for (int k = 0; history == written && k < states(); ++k)
      if (cell_.next[at(k)].tensor == tensor && cell_.next[at(k)].row == row)
        for (int c = 0; c < parameters_.per_thread; ++c) values.push_back(initial(k, c));
  return values;
}

std::vector<AffineTransform> SegmentSweep::transforms(double most) {
  auto& b = kernel_.builder();
  std::vector<AffineTransform> all;
  for (int c = 0; c < parameters_.per_thread; ++c) {
    AffineTransform& transform = all.emplace_back();
    for (int i = 0; i < states(); ++i) {
      Value bounded;  // false for NaN too
      for (int j = 0; parameters_.newton && j < states(); ++j) {
        if (!pattern_.has(i, j)) continue;
        const Value small = b.math(scalar::Op::Abs, {product_[entry(i, j, c)]}) <= b.real(most);
        bounded = bounded.valid() ? bounded && small : small;
      }
      Value constant = state(i, c);
      for (int j = 0; j < states(); ++j) {
        if (!parameters_.newton || !pattern_.has(i, j)) {
          transform.push_back(pattern_.has(i, j) ? b.real(0) : Value{});
          continue;
        }
        const Value slope = b.let("slope", b.select(bounded, product_[entry(i, j, c)], b.real(0)));
        transform.push_back(slope);
        const Value less =
            b.math(scalar::Op::Fma, {b.math(scalar::Op::Neg, {slope}), beginning(j, c), constant});
        constant = b.select(slope == b.real(0), constant, less);  // not 0 times infinity
      }
      transform.push_back(b.let("offset", constant));
    }
  }
  return all;
}

Value SegmentSweep::growth(int state, int channel) {
  auto& b = kernel_.builder();
  Value most = b.real(1);
  for (int j = 0; j < states(); ++j)
    if (pattern_.has(state, j))
      most = b.math(scalar::Op::Max, {most, b.math(scalar::Op::Abs, {product_[entry(state, j, channel)]})});
  return most;
}

std::vector<Value> SegmentSweep::kept() const {
  std::vector<Value> all;
  for (const auto* some : {&state_, &beginning_, &scale_, &product_})
    std::copy_if(some->begin(), some->end(), std::back_inserter(all),
                 [](const Value& value) { return value.valid(); });
  return all;
}

void SegmentSweep::settle() {
  for (const Value& entry : product_)
    if (entry.valid()) kernel_.builder().assign(entry, kernel_.builder().real(0));
}

void SegmentSweep::store_last() {
  auto& b = kernel_.builder();
  b.comment("last states");
  ChannelThreads& threads = kernel_.threads();
  b.if_(kernel_.exists() && kernel_.own().end == threads.time(), [&] {
    for (int k = 0; k < states(); ++k) {
      const step::Row& row = cell_.next[at(k)];
      const int rows = tensor(row.tensor).rows;
      const kernel::Memory& last = last_.at(row.tensor).memory;
      if (is_head_value(row.tensor)) {
        b.if_(threads.leads(),
              [&] { b.store(last[threads.head_value_index(rows, b.constant(row.row))], state(k, 0)); });
        continue;
      }
      for (int c = 0; c < parameters_.per_thread; ++c)
        b.store(last[threads.state_index(rows, row.row, c)], state(k, c));
    }
  });
}

}  // namespace rondo::schedule
