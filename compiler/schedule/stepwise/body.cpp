#include "compiler/schedule/stepwise/body.h"

#include <algorithm>
#include <stdexcept>

#include "compiler/schedule/analysis/history.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

StepwiseBody::StepwiseBody(kernel::Builder& builder, Signature& signature, const Task& task,
                           const StepTile& shape, const Sweep& sweep, const StepStages& stages)
    : builder_(builder),
      signature_(signature),
      task_(task),
      shape_(shape),
      sweep_(sweep),
      stages_(stages),
      flags_(signature, task.cell) {}

int StepwiseBody::carry_rows(const Sweep& sweep, const StepStages& stages) {
  const auto along = std::ranges::count_if(stages.reductions, &Reduction::along);
  return static_cast<int>(2 * sweep.first.size() + stages.kept.size() + 2 * at(along));
}

// What the part reads of memory, if nobody gives it: leaves, and what earlier stages have kept.
bool StepwiseBody::is_read(const Part& part, NodeId id) const {
  const Node& node = part.stage->graph.at(id);
  return node.kind == NodeKind::Leaf || node.kind == NodeKind::Gradient || step::is_product(node);
}

void StepwiseBody::declare_once(TensorRef ref, bool written) {
  const auto known = std::ranges::find_if(tensors_, [&](const KernelTensor& t) { return t.ref == ref; });
  if (known == tensors_.end()) tensors_.push_back(written ? signature_.writes(ref) : signature_.reads(ref));
}

StepwiseBody::Part StepwiseBody::declare(const StepStage& stage, bool next) {
  Part part{&stage, next, {}, {}, {}, {builder_, task_, stage.graph, stage.demand}, {}, {}, {}, false, {}};
  flags_.declare(stage.graph, stage.demand);
  const bool reduces = !stage.totals.empty() || !stage.partials.empty();
  if (reduces && shape_.row_by_row && !lanes_.valid())
    lanes_ = builder_.shared("lanes", kernel::Storage::F32, shape_.threads, "of a row");
  for (const NodeId id : reachable(stage.graph, stage.demand)) {
    const Node& node = stage.graph.at(id);
    if (node.kind == NodeKind::Leaf && tensor(node.tensor).kind == step::TensorKind::Param)
      declare_once({Role::Param, node.tensor}, false);
    const auto source = sweep_.sources.find(id);
    if (source == sweep_.sources.end() || source->second.kind == SweepSource::Kind::Carry ||
        source->second.kind == SweepSource::Kind::Flag)
      continue;
    declare_once(source->second.row.tensor, false);
    if (source->second.kind == SweepSource::Kind::Before) declare_once(source->second.first.tensor, false);
  }
  for (const std::size_t root : stage.roots)
    for (const SweepSink& sink : sweep_.sinks[root]) {
      if (sink.kind == SweepSink::Kind::Now) declare_once(sink.row.tensor, true);
      if (sink.kind == SweepSink::Kind::Sum && !sums_.memory.valid())
        sums_ = signature_.writes({Role::Workspace, -1});
    }
  return part;
}

void StepwiseBody::declare_kept() {
  carries_ = signature_.writes({Role::Carries, -1});
  vectors_ = signature_.writes({Role::Vectors, -1});
}

void StepwiseBody::declare_ends(bool first, bool last) {
  if (first)
    for (const RowRef& row : sweep_.first) declare_once(row.tensor, false);
  if (last)
    for (const RowRef& row : sweep_.last) declare_once(row.tensor, true);
  if (first && sweep_.sum_rows > 0 && !sums_.memory.valid()) sums_ = signature_.writes({Role::Workspace, -1});
}

const KernelTensor& StepwiseBody::declared(TensorRef ref) const {
  for (const KernelTensor& tensor : tensors_)
    if (tensor.ref == ref) return tensor;
  throw std::logic_error("stepwise: a tensor that was not declared");
}

void StepwiseBody::place_threads(Value batch, Value time) {
  auto& b = builder_;
  const StepTile& g = shape_;
  batch_ = batch;
  time_ = time;
  flags_.set_time(time);
  b.comment("this block's channels, head and batch rows; this thread's channel and batch row of each turn");
  b.named("kDim", g.dim, "channels a head");
  b.named("kUnits", g.units, "channels a block");
  tile_ = b.let("tile", b.block() % g.tiles);
  head_ = b.let("head", b.block() / g.tiles % task_.problem.sizes.heads);
  signature_.set_head(head_);
  first_row_ = b.let("first_row", b.block() / (g.tiles * task_.problem.sizes.heads) * g.batch);
  if (!g.row_by_row) place_turns({});
}

void StepwiseBody::for_rows(const std::function<void()>& body) {
  if (!shape_.row_by_row) return body();
  builder_.for_("row", 0, shape_.batch, 1, [&](Value row) {
    channels_.clear();
    place_turns(row);
    body();
  });
}

void StepwiseBody::place_turns(Value row) {
  auto& b = builder_;
  const StepTile& g = shape_;
  const Value dim = b.named("kDim", g.dim, "channels a head");
  const Value units = b.named("kUnits", g.units, "channels a block");
  for (int turn = 0; turn < turns(); ++turn) {
    Channel c;
    if (row.valid()) {
      c.unit = b.let("unit", b.thread() + turn * g.threads);
      c.row = row;
    } else {
      const Value index = b.thread() + turn * g.threads;
      c.unit = b.let("unit", index % units);
      c.row = b.let("row", index / units);
    }
    c.channel = b.let("channel", tile_ * units + c.unit);
    c.batch_row = b.let("batch_row", first_row_ + c.row);
    c.exists = c.batch_row < batch_;
    if (g.dim % g.units != 0) c.exists = c.exists && c.channel < dim;
    if (!row.valid() && (turn + 1) * g.threads > g.channels()) c.exists = c.exists && c.row < g.batch;
    channels_.push_back(c);
  }
}

Value StepwiseBody::time_of(Value count) {
  return sweep_.order == TimeOrder::Forward ? count : time_ - 1 - count;
}

Value StepwiseBody::any_within(Value count) {
  const Value end = min(first_row_ + shape_.batch, batch_);
  return builder_.let("any", flags_.within(flags_.longest(first_row_, end, shape_.batch), time_of(count)));
}

void StepwiseBody::set_step(Part& part, Value count) {
  auto& b = builder_;
  part.count = count;
  part.time = b.let(part.next ? "t_next" : "t", time_of(count));
  part.parity = b.let(part.next ? "parity_next" : "parity", count % 2);
}

void StepwiseBody::if_exists(int turn, const std::function<void()>& body) {
  builder_.if_(channels_[at(turn)].exists, body);
}

Value StepwiseBody::place(const KernelTensor& tensor, int row, Value time, int turn) {
  const Channel& c = channels_[at(turn)];
  if (is_head_value(tensor.ref))
    return tensor.row_begin(c.batch_row) + builder_.wide(time) * tensor.stride_t +
           builder_.wide(head_ * tensor.head_rows() + row);
  return tensor.row_begin(c.batch_row) + builder_.wide(time) * tensor.stride_t +
         builder_.wide(head_ * (tensor.head_rows() * shape_.dim) + c.channel + row * shape_.dim);
}

Value StepwiseBody::boundary(int rows, Value row, int turn) {
  auto& b = builder_;
  const Channel& c = channels_[at(turn)];
  return (b.wide(c.batch_row) * task_.problem.sizes.heads + b.wide(head_)) * (rows * shape_.dim) +
         b.wide(row * shape_.dim + c.channel);
}

// Of Role::Carries: what is reduced over the head lies behind the rows.
Value StepwiseBody::carry_place(Value row, int turn) {
  auto& b = builder_;
  const int rows = carry_rows(sweep_, stages_);
  if (stages_.reductions.empty()) return boundary(rows, row, turn);
  const Channel& c = channels_[at(turn)];
  return (b.wide(c.batch_row) * task_.problem.sizes.heads + b.wide(head_)) *
             carry_elements(sweep_, stages_, shape_) +
         b.wide(row * shape_.dim + c.channel);
}

Value StepwiseBody::end_place(const KernelTensor& tensor, int row, int turn) {
  auto& b = builder_;
  if (!is_head_value(tensor.ref)) return boundary(tensor.rows, b.constant(row), turn);
  const Channel& c = channels_[at(turn)];
  return (b.wide(c.batch_row) * task_.problem.sizes.heads + b.wide(head_)) * tensor.rows +
         b.wide(b.constant(row));
}

Value StepwiseBody::param(const Node& leaf, int turn) {
  const step::Tensor& t = tensor(leaf.tensor);
  const Value place = t.tail == step::Tail::Scalar ? head_ * t.rows + leaf.row
                                                   : head_ * (t.rows * shape_.dim) +
                                                         channels_[at(turn)].channel + leaf.row * shape_.dim;
  return builder_.load("param", declared({Role::Param, leaf.tensor}).memory[place]);
}

Value StepwiseBody::first_carry(int turn, std::size_t k) {
  const RowRef& row = sweep_.first[k];
  const KernelTensor& first = declared(row.tensor);
  return builder_.load("first", first.memory[end_place(first, row.row, turn)]);
}

Value StepwiseBody::carry(int turn, std::size_t k, Value parity) {
  return builder_.load("carry",
                       carries_.memory[carry_place(parity + static_cast<std::int64_t>(2 * k), turn)]);
}

void StepwiseBody::store_carry(int turn, std::size_t k, Value parity, Value value) {
  builder_.store(carries_.memory[carry_place(parity + static_cast<std::int64_t>(2 * k), turn)], value);
}

void StepwiseBody::store_last(int turn, std::size_t k, Value value) {
  const RowRef& row = sweep_.last[k];
  const KernelTensor& last = declared(row.tensor);
  once(is_head_value(row.tensor), turn,
       [&] { builder_.store(last.memory[end_place(last, row.row, turn)], value); });
}

void StepwiseBody::clear_sum(int turn, int row) {
  builder_.store(sums_.memory[boundary(sweep_.sum_rows, builder_.constant(row), turn)], builder_.real(0));
}

Value StepwiseBody::read(const Part& part, NodeId id, int turn) {
  auto& b = builder_;
  const Node& node = part.stage->graph.at(id);
  if (const int row = stages_.row_of_kept(id); row < static_cast<int>(stages_.kept.size())) {
    const auto first = static_cast<std::int64_t>(2 * sweep_.first.size());
    return b.load("kept", carries_.memory[carry_place(b.constant(first + row), turn)]);
  }
  const auto found = sweep_.sources.find(id);
  if (found == sweep_.sources.end()) return param(node, turn);
  const SweepSource& source = found->second;
  if (source.kind == SweepSource::Kind::Carry) return carry(turn, at(source.carry), part.parity);
  if (source.kind == SweepSource::Kind::Flag)
    return flags_.read(node.tensor, channels_[at(turn)].batch_row, part.time);
  const KernelTensor& here = declared(source.row.tensor);
  if (source.kind == SweepSource::Kind::Now)
    return b.load(here.name, here.memory[place(here, source.row.row, part.time, turn)]);
  const Value before = b.variable("before", b.real(0));
  b.if_(
      part.time == 0,
      [&] {
        const KernelTensor& first = declared(source.first.tensor);
        b.assign(before, b.load("first", first.memory[end_place(first, source.first.row, turn)]));
      },
      [&] {
        b.assign(before, b.load("saved", here.memory[place(here, source.row.row, part.time - 1, turn)]));
      });
  return before;
}

std::string StepwiseBody::read_name(const Node& node, NodeId id) const {
  if (!node.label.empty()) return node.label;
  if (stages_.row_of_kept(id) < static_cast<int>(stages_.kept.size())) return "kept";
  const auto source = sweep_.sources.find(id);
  if (source == sweep_.sources.end()) return tensor(node.tensor).name;
  if (source->second.kind == SweepSource::Kind::Carry)
    return tensor(sweep_.first[at(source->second.carry)].tensor.tensor).name + "_before";
  return name_of(source->second.row.tensor, task_.cell);
}

void StepwiseBody::read_ahead(Part& part, Value condition, bool sums_exist,
                              const std::function<bool(NodeId)>& given) {
  part.is_given = given;
  if (!reads(part, sums_exist, given).any() && part.stage->totals.empty()) return;
  if (!shape_.reads_at_use)
    builder_.comment(part.next ? "values of the next step, far ahead of their use" : "values of this step");
  for (int turn = 0; turn < turns(); ++turn) read_turn(part, turn, condition, sums_exist, given);
}

StepwiseBody::Reads StepwiseBody::reads(const Part& part, bool sums_exist,
                                        const std::function<bool(NodeId)>& given) const {
  Reads result;
  for (const NodeId id : reachable(part.stage->graph, part.stage->demand))
    if (is_read(part, id) && stages_.reduction_of(id) == nullptr && !given(id)) result.nodes.push_back(id);
  for (const std::size_t root : part.stage->roots)
    for (const SweepSink& sink : sweep_.sinks[root])
      if (sink.kind == SweepSink::Kind::Sum && sums_exist) result.sums.emplace_back(root, sink.index);
  return result;
}

void StepwiseBody::read_turn(Part& part, int turn, Value condition, bool sums_exist,
                             const std::function<bool(NodeId)>& given) {
  auto& b = builder_;
  bring_totals(part, turn);
  if (shape_.reads_at_use) {
    part.is_given = given;
    part.adds_to_sums = sums_exist;
    return;
  }
  const Reads own = reads(part, sums_exist, given);
  if (!own.any()) return;
  for (const NodeId id : own.nodes)
    part.reads[id].push_back(b.variable(read_name(part.stage->graph.at(id), id), b.real(0)));
  for (const auto& [root, row] : own.sums) part.sums[root].push_back(b.variable("sum_before", b.real(0)));
  Value exists = channels_[at(turn)].exists;
  if (condition.valid()) exists = condition && exists;
  b.if_(exists, [&] {
    for (const NodeId id : own.nodes) b.assign(part.reads[id].back(), read(part, id, turn));
    for (const auto& [root, row] : own.sums)
      b.assign(part.sums[root].back(),
               b.load("sum", sums_.memory[boundary(sweep_.sum_rows, b.constant(row), turn)]));
  });
}

void StepwiseBody::ask_for_row(const Part& part, Value row) {
  auto& b = builder_;
  const std::vector<Channel> before = std::exchange(channels_, {});
  place_turns(row);
  for (const NodeId id : reachable(part.stage->graph, part.stage->demand)) {
    const auto found = sweep_.sources.find(id);
    if (found == sweep_.sources.end() || stages_.row_of_kept(id) < static_cast<int>(stages_.kept.size()))
      continue;
    const SweepSource& source = found->second;
    if (source.kind != SweepSource::Kind::Now && source.kind != SweepSource::Kind::Before) continue;
    const KernelTensor& here = declared(source.row.tensor);
    const Value time = source.kind == SweepSource::Kind::Now ? part.time : part.time - 1;
    for (int turn = 0; turn < turns(); ++turn)
      b.prefetch(here.memory[place(here, source.row.row, time, turn)]);
  }
  channels_ = before;
}

std::vector<Value> StepwiseBody::emit(Part& part, int turn, const Given& given) {
  auto& b = builder_;
  const StepStage& stage = *part.stage;
  GraphLowering::Values values;
  const auto leaf = [&](const Node& node) {
    if (step::is_of_place(node)) {
      const Channel& c = channels_[at(turn)];
      return part.lowering.draw(node, turn, {c.batch_row, part.time, head_, c.channel});
    }
    const auto id = static_cast<NodeId>(&node - stage.graph.nodes.data());
    const auto known = part.reads.find(id);
    if (known != part.reads.end()) return known->second[at(turn)];
    return shape_.reads_at_use && !part.is_given(id) ? read(part, id, turn) : given(id);
  };
  part.lowering.hoist(turn, leaf);
  values = part.lowering.start(turn);
  // One after the other, each stored before the next is made, where not all fit in registers.
  const auto want = [&](NodeId id) {
    if (shape_.reads_at_use && std::ranges::find(stage.demand, id) != stage.demand.end())
      part.lowering.emit_roots(values, {id}, leaf);
  };
  if (!shape_.reads_at_use) part.lowering.emit_roots(values, stage.demand, leaf);
  if (!shape_.reads_at_use) keep(part, turn, values, given);
  for (const std::size_t group : stage.vectors) {
    want(stages_.groups[group].vector);
    const Channel& c = channels_[at(turn)];
    const Value row =
        vector_row(task_.problem, shape_, stages_.groups.size(), c.batch_row, head_, group, part.parity);
    b.store(vectors_.memory[row + b.wide(c.channel)], values.at(stages_.groups[group].vector));
  }
  for (auto& [vector, shares] : part.shares) {
    want(vector);
    b.assign(shares[at(turn)], values.at(vector));
  }
  std::vector<Value> results(sweep_.step.roots.size());
  for (const std::size_t root : stage.roots) {
    want(sweep_.step.roots[root]);
    results[root] = values.at(sweep_.step.roots[root]);
    for (const SweepSink& sink : sweep_.sinks[root]) store(part, sink, turn, root, results[root]);
  }
  if (shape_.reads_at_use) keep(part, turn, values, given);  // what the others have made on their way
  return results;
}

void StepwiseBody::keep(const Part& part, int turn, GraphLowering::Values& values, const Given& given) {
  auto& b = builder_;
  const auto first_kept = static_cast<std::int64_t>(2 * sweep_.first.size());
  for (const NodeId id : part.stage->kept_out) {
    if (values.count(id) == 0) values[id] = given(id);  // a product that only later stages ask for
    const Value row = b.constant(first_kept + stages_.row_of_kept(id));
    b.store(carries_.memory[carry_place(row, turn)], values.at(id));
  }
}

void StepwiseBody::store(const Part& part, const SweepSink& sink, int turn, std::size_t root, Value value) {
  auto& b = builder_;
  switch (sink.kind) {
    case SweepSink::Kind::Carry: return store_carry(turn, at(sink.index), b.constant(1) - part.parity, value);
    case SweepSink::Kind::Now: {
      const KernelTensor& to = declared(sink.row.tensor);
      return once(is_head_value(to.ref), turn,
                  [&] { b.store(to.memory[place(to, sink.row.row, part.time, turn)], value); });
    }
    case SweepSink::Kind::Sum: {
      const auto before = part.sums.find(root);
      const kernel::Place to = sums_.memory[boundary(sweep_.sum_rows, b.constant(sink.index), turn)];
      if (part.adds_to_sums) return b.store(to, b.load("sum", to) + value);
      const Value sum = before == part.sums.end() ? value : before->second[at(turn)] + value;
      return b.store(to, sum);
    }
  }
}

void StepwiseBody::clear_padding() {
  auto& b = builder_;
  const StepTile& g = shape_;
  const std::int64_t padding = g.padded - g.dim;
  const std::size_t groups = stages_.groups.size();
  if (padding == 0 || groups == 0) return;
  b.comment("columns past the head's end are zero at all steps");
  b.if_(tile_ == g.tiles - 1, [&] {
    b.for_("i", b.thread(), b.constant(g.batch * padding), b.constant(g.threads), 1, [&](Value i) {
      const Value row = b.let("padded_row", first_row_ + i / padding);
      b.if_(row < batch_, [&] {
        for (std::size_t group = 0; group < groups; ++group)
          for (int parity = 0; parity < 2; ++parity)
            b.store(
                vectors_.memory[vector_row(task_.problem, g, groups, row, head_, group, b.constant(parity)) +
                                b.wide(i % padding + g.dim)],
                b.real(0));
      });
    });
  });
}

}  // namespace rondo::schedule
