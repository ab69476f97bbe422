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

constexpr int kThreads = 128;
constexpr int kSteps = 16;  // of a block: a thread keeps its channel's parameters for so many

class VectorBuilder {
 public:
  VectorBuilder(const step::Cell& cell, const Problem& problem, const BackwardSplit& split, NodeId node)
      : cell_(cell),
        problem_(problem),
        split_(split),
        node_(node),
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
    declare();
    return roots_.size() == 1 ? by_channel() : by_row();
  }

 private:
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

  // A thread has a channel, for some steps.
  Launch by_channel() {
    auto& b = builder_;
    GraphLowering& lowering = lowerings_.front();
    const std::int64_t dim = problem_.sizes.dim;
    const std::int64_t tiles = (dim + kThreads - 1) / kThreads;
    const Value time = signature_.time();
    flags_.set_time(time);
    const Value spans = b.let("spans", (time + (kSteps - 1)) / kSteps);
    const Value channel = b.let("channel", b.block() % tiles * kThreads + b.thread());
    head_ = b.let("head", b.block() / tiles % problem_.sizes.heads);
    const Value rest = b.let("rest", b.block() / (tiles * problem_.sizes.heads));
    batch_ = b.let("row", rest / spans);
    const Value first = b.let("first", rest % spans * kSteps);
    channel_ = channel;
    b.if_(channel < dim, [&] {
      lowering.hoist(0, [&](const Node& node) { return param(node); });
      b.for_("t", first, min(first + kSteps, time), b.constant(1), 1, [&](Value t) {
        const Value value = lowering.lower(0, [&](const Node& node) { return leaf(lowering, node, t); })[0];
        b.store(out_.memory[place(out_, split_.vector_row.at(node_), t)], value);
      });
    });
    Launch launch{b.finish(), signature_.arguments(), 0, tiles * problem_.sizes.heads};
    launch.time_tile = kSteps;
    return launch;
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
        b.store(out_.memory[place(out_, split_.vector_row.at(node_), t)], value);
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
      lowering.hoist(0, [&](const Node& node) { return param(node); });
      body(lowering.lower(0, [&](const Node& node) { return leaf(lowering, node, t); })[0]);
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

  Value place(const KernelTensor& tensor, int row, Value t) {
    const std::int64_t dim = problem_.sizes.dim;
    const Value step = builder_.wide(batch_) * tensor.stride_b + builder_.wide(t) * tensor.stride_t;
    if (tensor.number) return step + builder_.wide(head_ * tensor.rows + row);
    return step + builder_.wide(head_ * (tensor.rows * dim) + channel_ + row * dim);
  }

  Value param(const Node& node) {
    const step::Tensor& t = tensor(node.tensor);
    const std::int64_t dim = problem_.sizes.dim;
    const Value at = t.tail == step::Tail::Scalar ? head_ * t.rows + node.row
                                                  : head_ * (t.rows * dim) + channel_ + node.row * dim;
    return builder_.load("param", given_.at(node.tensor).memory[at]);
  }

  Value leaf(const GraphLowering& lowering, const Node& node, Value t) {
    auto& b = builder_;
    if (node.kind == NodeKind::Uniform) return lowering.draw(node, 0, {batch_, t, head_, channel_});
    if (node.kind == NodeKind::MatVec) {
      const auto id = static_cast<NodeId>(&node - graph_.nodes.data());
      if (const auto total = totals_.find(id); total != totals_.end()) return total->second;
      const RowRef& where = split_.products.at(id);
      const auto from = std::find_if(products_.begin(), products_.end(),
                                     [&](const KernelTensor& tensor) { return tensor.ref == where.tensor; });
      return b.load("product", from->memory[place(*from, where.row, t)]);
    }
    if (tensor(node.tensor).kind == TensorKind::Input)
      return b.load(tensor(node.tensor).name,
                    given_.at(node.tensor).memory[place(given_.at(node.tensor), node.row, t)]);
    if (step::is_flag(tensor(node.tensor).kind)) return flags_.read(node.tensor, batch_, t);
    if (tensor(node.tensor).kind != TensorKind::State)
      throw std::logic_error("time_vector: a parameter that was not hoisted");
    const RowRef& where = split_.needs.history.at({node.tensor, node.row});
    const std::int64_t dim = problem_.sizes.dim;
    const int rows = tensor(node.tensor).rows;
    const Value value = b.variable("before", b.real(0));
    b.if_(
        t == 0,
        [&] {
          const Value team = b.wide(batch_) * problem_.sizes.heads + b.wide(head_);
          const bool number = tensor(node.tensor).tail == step::Tail::Scalar;
          const Value at = number ? team * rows + b.wide(b.constant(node.row))
                                  : team * (rows * dim) + b.wide(channel_ + node.row * dim);
          b.assign(value, b.load("first", first_.at(node.tensor).memory[at]));
        },
        [&] {
          const KernelTensor& saved = before_.at(where.tensor.tensor);
          b.assign(value, b.load("saved", saved.memory[place(saved, where.row, t - 1)]));
        });
    return value;
  }

  const step::Cell& cell_;
  const Problem& problem_;
  const BackwardSplit& split_;
  NodeId node_;
  step::Graph graph_;
  kernel::Builder builder_;
  Signature signature_;
  FlagReader flags_;
  std::vector<std::pair<NodeId, scalar::Op>> reductions_;
  std::vector<NodeId> roots_;            // what is reduced, in the same order, and the vector
  std::deque<GraphLowering> lowerings_;  // by root
  std::map<NodeId, Value> totals_;
  kernel::Memory tree_;
  std::map<TensorId, KernelTensor> given_, first_, before_;  // before_: by the history's or output's tensor
  std::vector<KernelTensor> products_;
  KernelTensor out_;
  Value head_, batch_, channel_;
};

}  // namespace

Launch time_vector(const step::Cell& cell, const Problem& problem, const BackwardSplit& split, NodeId node) {
  return VectorBuilder(cell, problem, split, node).build();
}

}  // namespace rondo::schedule
