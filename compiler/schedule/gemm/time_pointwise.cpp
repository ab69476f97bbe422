#include "compiler/schedule/gemm/time_pointwise.h"

#include <fmt/format.h>

#include <algorithm>
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
        graph_(cut(split, node)),
        builder_(fmt::format("{}_vector_{}", cell.name, split.vector_row.at(node)), kThreads, problem.math,
                 fmt::format("{}: a vector that the step multiplies, for all steps", cell.name)),
        signature_(builder_, cell, problem),
        flags_(signature_, cell),
        lowering_(builder_, cell, problem, graph_, {node}) {
    signature_.set_scratch(scratch_rows(split));
  }

  Launch build() {
    auto& b = builder_;
    declare();
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
      lowering_.hoist(0, [&](const Node& node) { return param(node); });
      b.for_("t", first, min(first + kSteps, time), b.constant(1), 1, [&](Value t) {
        const Value value = lowering_.lower(0, [&](const Node& node) { return leaf(node, t); })[0];
        b.store(out_.memory[place(out_, split_.vector_row.at(node_), t)], value);
      });
    });
    Launch launch{b.finish(), signature_.arguments(), 0, tiles * problem_.sizes.heads};
    launch.time_tile = kSteps;
    return launch;
  }

 private:
  // The products are read, not made.
  static step::Graph cut(const BackwardSplit& split, NodeId) {
    return detach_products(split.needs.step.graph, split.needs.step.forward_nodes);
  }

  void declare() {
    for (const auto kind : {TensorKind::Input, TensorKind::Param})
      for (const TensorId id : tensors_read(cell_, graph_, {node_}, kind))
        given_[id] = signature_.reads({kind == TensorKind::Input ? Role::Input : Role::Param, id});
    for (const TensorId id : tensors_read(cell_, graph_, {node_}, TensorKind::State)) {
      first_[id] = signature_.reads({Role::InitialState, id});
      for (int row = 0; row < tensor(id).rows; ++row)
        if (lowering_.uses(id, row)) {
          const TensorRef ref = split_.needs.history.at({id, row}).tensor;
          if (before_.count(ref.tensor) == 0) before_[ref.tensor] = signature_.reads(ref);
        }
    }
    flags_.declare(graph_, {node_});
    for (const TensorRef& ref : products_read(split_, graph_, {node_}))
      products_.push_back(signature_.reads(ref));
    out_ = signature_.writes({Role::Scratch, kVectors});
  }

  const step::Tensor& tensor(TensorId id) const { return cell_.tensors[static_cast<std::size_t>(id)]; }

  Value place(const KernelTensor& tensor, int row, Value t) {
    const std::int64_t dim = problem_.sizes.dim;
    return builder_.wide(batch_) * tensor.stride_b + builder_.wide(t) * tensor.stride_t +
           builder_.wide(head_ * (tensor.rows * dim) + channel_ + row * dim);
  }

  Value param(const Node& node) {
    const step::Tensor& t = tensor(node.tensor);
    const std::int64_t dim = problem_.sizes.dim;
    const Value at = t.tail == step::Tail::Scalar ? head_ * t.rows + node.row
                                                  : head_ * (t.rows * dim) + channel_ + node.row * dim;
    return builder_.load("param", given_.at(node.tensor).memory[at]);
  }

  Value leaf(const Node& node, Value t) {
    auto& b = builder_;
    if (node.kind == NodeKind::Uniform) return lowering_.draw(node, 0, {batch_, t, head_, channel_});
    if (node.kind == NodeKind::MatVec) {
      const auto id = static_cast<NodeId>(&node - graph_.nodes.data());
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
          const Value at = (b.wide(batch_) * problem_.sizes.heads + b.wide(head_)) * (rows * dim) +
                           b.wide(channel_ + node.row * dim);
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
  GraphLowering lowering_;
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
