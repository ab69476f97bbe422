#include "compiler/schedule/gemm/time_pointwise.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <stdexcept>

#include "compiler/schedule/lower/flags.h"
#include "compiler/schedule/lower/graph.h"
#include "compiler/schedule/plan/signature.h"

namespace rondo::schedule {
namespace {

using kernel::Value;
using step::Node;
using step::NodeId;
using step::NodeKind;
using step::TensorId;
using step::TensorKind;

constexpr int kThreads = TimeThreads::kThreads;
constexpr int kSteps = 16;  // of a thread or block that keeps its channels' parameters for so many
// Loads of a thread that are on their way at once, and the most steps that they are of: registers hold them.
constexpr int kLoads = 8, kMostAtOnce = 4;

class VectorBuilder {
 public:
  VectorBuilder(const step::Cell& cell, const Problem& problem, const BackwardSplit& split, NodeId node,
                const TimeAccess& access)
      : cell_(cell),
        problem_(problem),
        split_(split),
        node_(node),
        access_(access),
        graph_(detach_products(split.needs.step.graph, split.needs.step.forward_nodes)),
        builder_(fmt::format("{}_vector_{}", cell.name, split.vector_row.at(node)), kThreads, problem.math,
                 fmt::format("{}: a vector that the step multiplies, for all steps", cell.name)),
        signature_(builder_, cell, problem),
        flags_(signature_, cell) {
    signature_.set_scratch(scratch_rows(split));
    cut_reductions();
    for (const NodeId root : roots_)
      lowerings_.emplace_back(builder_, cell, problem, graph_, std::vector{root});
  }

  Launch build() {
    if (roots_.size() > 1) access_ = {};  // a thread has one channel at a time
    declare();
    return roots_.size() == 1 ? by_channel() : by_row();
  }

 private:
  // A step some constant number of steps after t, whose place is then a sum.
  struct When {
    Value t;
    std::int64_t later = 0;
    Value step() const { return later == 0 ? t : t + later; }
  };
  // What the vector is made of at a step, for the thread's channels.
  struct Step {
    When when;
    bool known_later;                             // than step 0
    std::map<NodeId, std::vector<Value>> values;  // by channel, or one for all of them
  };

  // Reductions are values that are given; what they reduce is a root before the vector's own. One may need
  // those before it.
  void cut_reductions() {
    for (const NodeId id : reachable(graph_, {node_})) {
      Node& node = graph_.nodes[static_cast<std::size_t>(id)];
      if (node.kind != NodeKind::ReduceSum && node.kind != NodeKind::ReduceMax) continue;
      reductions_.push_back({id, node.kind == NodeKind::ReduceMax ? scalar::Op::Max : scalar::Op::Add});
      roots_.push_back(node.operands[0]);
      node.kind = NodeKind::MatVec;
      node.operands.clear();
    }
    roots_.push_back(node_);
  }

  // A thread has neighbouring channels, for some steps.
  Launch by_channel() {
    auto& b = builder_;
    const int at_once = steps_at_once();
    const bool many = keeps_parameters() || !access_.folded;
    const TimeThreads threads(problem_.sizes, access_, many ? kSteps : at_once);
    const Value time = signature_.time();
    flags_.set_time(time);
    const TimeThreads::Place place = threads.place(b, time);
    head_ = place.head, batch_ = place.row, channel_ = place.channel;
    const auto walk = [&] {
      for (int c = 0; c < access_.vector; ++c)
        lowerings_.front().hoist(c, [&](const Node& node) { return param(node, c); });
      make_steps(place.first, b.let("end", min(place.end, time)), threads.abreast(), at_once);
    };
    place.exists.valid() ? b.if_(place.exists, walk) : walk();
    Launch launch{b.finish(), signature_.arguments(), 0, threads.blocks()};
    launch.time_tile = threads.span();
    return launch;
  }

  // What `at_once` steps need is loaded before the first of them is stored: memory's answers are waited for
  // once, not step by step. Compilers keep to that as long as these steps have no branch of their own. So
  // those of a thread that has step 0, whose states lie elsewhere, or fewer steps are made one by one.
  void make_steps(Value first, Value end, std::int64_t abreast, int at_once) {
    auto& b = builder_;
    const auto one_by_one = [&](Value from, Value to) {
      b.for_("t", from, to, b.constant(abreast), 1, [&](Value t) { store({load(0, {t}, false)}); });
    };
    if (at_once == 1) return one_by_one(first, end);
    b.for_("t", first, end, b.constant(at_once * abreast), 1, [&](Value t) {
      const auto together = [&] {
        std::vector<Step> steps;
        for (int s = 0; s < at_once; ++s) steps.push_back(load(0, {t, s * abreast}, true));
        store(std::move(steps));
      };
      b.if_(t >= 1 && t + (at_once - 1) * abreast < end, together,
            [&] { one_by_one(t, min(t + at_once * abreast, end)); });
    });
  }

  // A power of two, so that it divides kSteps. On CPUs the lanes of a block are loads enough.
  int steps_at_once() const {
    const std::size_t loads = loaded_nodes(0).size();
    int steps = access_.folded ? kMostAtOnce : 1;
    while (steps > 1 && loads * static_cast<std::size_t>(steps) > kLoads) steps /= 2;
    return steps;
  }

  bool keeps_parameters() const { return !tensors_read(cell_, graph_, roots_, TensorKind::Param).empty(); }

  void store(std::vector<Step> steps) {
    GraphLowering& lowering = lowerings_.front();
    for (Step& step : steps) {
      take_first_states(0, step);
      std::vector<Value> values;
      for (int c = 0; c < access_.vector; ++c)
        values.push_back(
            lowering.lower(c, [&](const Node& node) { return leaf(lowering, node, step, c); })[0]);
      builder_.store_vector(out_.memory[place(out_, split_.vector_row.at(node_), step.when)], values);
    }
  }

  // A block has a head's row, for some steps: it reduces over the channels what the vector needs, and makes
  // what it needs of other values again for each of these.
  Launch by_row() {
    auto& b = builder_;
    tree_ = b.shared("tree", kernel::Storage::F32, kThreads, "[threads]");
    const Value time = signature_.time();
    flags_.set_time(time);
    const Value spans = b.let("spans", (time + (kSteps - 1)) / kSteps);
    head_ = b.let("head", b.block() % problem_.sizes.heads);
    const Value rest = b.let("rest", b.block() / problem_.sizes.heads);
    batch_ = b.let("row", rest / spans);
    const Value span = b.let("span", rest % spans), first = b.let("first", span * kSteps);
    b.for_("t", first, min(first + kSteps, time), b.constant(1), 1, [&](Value t) {
      for (std::size_t i = 0; i < reductions_.size(); ++i) {
        const scalar::Op op = reductions_[i].second;
        constexpr double kLeast = -static_cast<double>(std::numeric_limits<float>::max());
        const Value total = b.variable("total", b.real(op == scalar::Op::Max ? kLeast : 0));
        for_channels(i, t, [&](Value value) { b.assign(total, b.math(op, {total, value})); });
        totals_[reductions_[i].first] = over_threads(total, op);
      }
      for_channels(reductions_.size(), t, [&](Value value) {
        b.store(out_.memory[place(out_, split_.vector_row.at(node_), {t})], value);
      });
    });
    Launch launch{b.finish(), signature_.arguments(), 0, problem_.sizes.heads};
    launch.time_tile = kSteps;
    return launch;
  }

  // Root `root` at step t for each of the thread's channels.
  void for_channels(std::size_t root, Value t, const std::function<void(Value)>& body) {
    auto& b = builder_;
    b.for_("d", b.thread(), b.constant(problem_.sizes.dim), b.constant(kThreads), 1, [&](Value d) {
      channel_ = d;
      GraphLowering& lowering = lowerings_[root];
      lowering.hoist(0, [&](const Node& node) { return param(node, 0); });
      Step step = load(root, {t}, false);
      take_first_states(root, step);
      body(lowering.lower(0, [&](const Node& node) { return leaf(lowering, node, step, 0); })[0]);
    });
  }

  Value over_threads(Value share, scalar::Op op) {
    auto& b = builder_;
    b.barrier();
    b.store(tree_[b.thread()], share);
    b.barrier();
    for (int half = kThreads / 2; half > 0; half /= 2) {
      b.if_(b.thread() < half, [&] {
        const Value mine = b.load("mine", tree_[b.thread()]);
        b.store(tree_[b.thread()], b.math(op, {mine, b.load("other", tree_[b.thread() + half])}));
      });
      b.barrier();
    }
    return b.load("all", tree_[b.constant(0)]);
  }

  bool uses(TensorId id, int row) const {
    return std::any_of(lowerings_.begin(), lowerings_.end(),
                       [&](const GraphLowering& lowering) { return lowering.uses(id, row); });
  }

  void declare() {
    for (const auto kind : {TensorKind::Input, TensorKind::Param})
      for (const TensorId id : tensors_read(cell_, graph_, roots_, kind))
        given_[id] = signature_.reads({kind == TensorKind::Input ? Role::Input : Role::Param, id});
    for (const TensorId id : tensors_read(cell_, graph_, roots_, TensorKind::State)) {
      first_[id] = signature_.reads({Role::InitialState, id});
      for (int row = 0; row < tensor(id).rows; ++row)
        if (uses(id, row)) {
          const TensorRef ref = split_.needs.history.at({id, row}).tensor;
          if (before_.count(ref.tensor) == 0) before_[ref.tensor] = signature_.reads(ref);
        }
    }
    flags_.declare(graph_, roots_);
    for (const TensorRef& ref : products_read(split_, graph_, roots_))
      products_.push_back(signature_.reads(ref));
    out_ = signature_.writes({Role::Scratch, kVectors});
  }

  const step::Tensor& tensor(TensorId id) const { return cell_.tensors[static_cast<std::size_t>(id)]; }

  Value place(const KernelTensor& tensor, int row, const When& when) {
    const std::int64_t dim = problem_.sizes.dim;
    Value step = builder_.wide(batch_) * tensor.stride_b + builder_.wide(when.t) * tensor.stride_t;
    if (when.later != 0) step = step + tensor.stride_t * when.later;
    if (tensor.number) return step + builder_.wide(head_ * tensor.rows + row);
    return step + builder_.wide(head_ * (tensor.rows * dim) + channel_ + row * dim);
  }

  Value param(const Node& node, int c) {
    const step::Tensor& t = tensor(node.tensor);
    const std::int64_t dim = problem_.sizes.dim;
    const Value at = t.tail == step::Tail::Scalar ? head_ * t.rows + node.row
                                                  : head_ * (t.rows * dim) + channel_ + (node.row * dim + c);
    return builder_.load("param", given_.at(node.tensor).memory[at]);
  }

  bool is_state(NodeId id) const {
    const Node& node = graph_.at(id);
    return node.kind == NodeKind::Leaf && tensor(node.tensor).kind == TensorKind::State;
  }

  // What a root needs of each step: products, inputs, flags and states, but no totals.
  std::vector<NodeId> loaded_nodes(std::size_t root) const {
    std::vector<NodeId> nodes;
    for (const NodeId id : reachable(graph_, {roots_[root]})) {
      const Node& node = graph_.at(id);
      const bool product = node.kind == NodeKind::MatVec && totals_.count(id) == 0;
      const bool given = node.kind == NodeKind::Leaf && tensor(node.tensor).kind != TensorKind::Param;
      if (product || given) nodes.push_back(id);
    }
    return nodes;
  }

  // Its states are those of the step before; of step 0, any.
  Step load(std::size_t root, const When& when, bool known_later) {
    When before{when.t, when.later - 1};
    if (!known_later) before = {builder_.let("before", builder_.select(when.t == 0, when.t, when.t - 1))};
    Step step{when, known_later, {}};
    for (const NodeId id : loaded_nodes(root)) {
      const Node& node = graph_.at(id);
      if (node.kind == NodeKind::MatVec) {
        const RowRef& where = split_.products.at(id);
        step.values[id] = load_channels("product", product_tensor(where.tensor), where.row, when);
      } else if (is_state(id)) {
        const RowRef& where = split_.needs.history.at({node.tensor, node.row});
        step.values[id] = load_channels("saved", before_.at(where.tensor.tensor), where.row, before);
      } else if (step::is_flag(tensor(node.tensor).kind)) {
        step.values[id] = {flags_.read(node.tensor, batch_, when.step())};
      } else {
        step.values[id] = load_channels(tensor(node.tensor).name, given_.at(node.tensor), node.row, when);
      }
    }
    return step;
  }

  const KernelTensor& product_tensor(const TensorRef& ref) const {
    return *std::find_if(products_.begin(), products_.end(),
                         [&](const KernelTensor& tensor) { return tensor.ref == ref; });
  }

  // One number if that is all a head has.
  std::vector<Value> load_channels(const std::string& name, const KernelTensor& from, int row,
                                   const When& when) {
    return builder_.load_vector(name, from.memory[place(from, row, when)], from.number ? 1 : access_.vector);
  }

  // At step 0 the initial states stand for those of the step before. One by one: no more than the alignment
  // of its elements is asked of a state.
  void take_first_states(std::size_t root, Step& step) {
    auto& b = builder_;
    if (step.known_later) return;
    std::vector<NodeId> states;
    for (const NodeId id : loaded_nodes(root))
      if (is_state(id)) states.push_back(id);
    if (states.empty()) return;
    for (const NodeId id : states)
      for (Value& value : step.values.at(id)) value = b.variable("state", value);
    b.if_(step.when.t == 0, [&] {
      for (const NodeId id : states)
        for (std::size_t c = 0; c < step.values.at(id).size(); ++c)
          b.assign(step.values.at(id)[c], first_state(graph_.at(id), static_cast<int>(c)));
    });
  }

  Value first_state(const Node& node, int c) {
    auto& b = builder_;
    const step::Tensor& state = tensor(node.tensor);
    const std::int64_t dim = problem_.sizes.dim;
    const Value team = b.wide(batch_) * problem_.sizes.heads + b.wide(head_);
    const Value at = state.tail == step::Tail::Scalar
                         ? team * state.rows + b.wide(b.constant(node.row))
                         : team * (state.rows * dim) + b.wide(channel_ + (node.row * dim + c));
    return b.load("first", first_.at(node.tensor).memory[at]);
  }

  Value leaf(const GraphLowering& lowering, const Node& node, const Step& step, int c) {
    if (node.kind == NodeKind::Uniform)
      return lowering.draw(node, c, {batch_, step.when.step(), head_, channel_ + c});
    const auto id = static_cast<NodeId>(&node - graph_.nodes.data());
    if (const auto total = totals_.find(id); total != totals_.end()) return total->second;
    const std::vector<Value>& values = step.values.at(id);
    return values[values.size() == 1 ? 0 : static_cast<std::size_t>(c)];
  }

  const step::Cell& cell_;
  const Problem& problem_;
  const BackwardSplit& split_;
  NodeId node_;
  TimeAccess access_;
  step::Graph graph_;
  kernel::Builder builder_;
  Signature signature_;
  FlagReader flags_;
  std::vector<std::pair<NodeId, scalar::Op>> reductions_;
  std::vector<NodeId> roots_;            // what is reduced, in the same order, and the vector
  std::deque<GraphLowering> lowerings_;  // by root
  std::map<NodeId, Value> totals_;       // of the step that is emitted
  kernel::Memory tree_;
  std::map<TensorId, KernelTensor> given_, first_, before_;  // before_: by the history's or output's tensor
  std::vector<KernelTensor> products_;
  KernelTensor out_;
  Value head_, batch_, channel_;
};

}  // namespace

Launch time_vector(const step::Cell& cell, const Problem& problem, const BackwardSplit& split, NodeId node,
                   const TimeAccess& access) {
  return VectorBuilder(cell, problem, split, node, access).build();
}

}  // namespace rondo::schedule
