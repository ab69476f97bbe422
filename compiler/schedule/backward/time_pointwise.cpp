#include "compiler/schedule/backward/time_pointwise.h"

#include <fmt/format.h>

#include <deque>
#include <limits>

#include "compiler/schedule/backward/time_values.h"

namespace rondo::schedule {
namespace {

constexpr int kThreads = TimeThreads::kThreads;
constexpr int kSteps = 16;  // of a thread or block that keeps its channels' parameters for so many
// Loads of a thread that are on their way at once, and the most steps that they are of: registers hold them.
constexpr int kLoads = 8, kMostAtOnce = 4;

class VectorBuilder {
 public:
  VectorBuilder(const Task& task, const BackwardSplit& split, NodeId node, const TimeAccess& access)
      : task_(task),
        split_(split),
        node_(node),
        access_(access),
        graph_(detach_products(split.needs.step.graph, split.needs.step.forward_nodes)),
        builder_(fmt::format("{}_vector_{}", task.cell.name, split.vector_row.at(node)), kThreads,
                 task.problem.math,
                 fmt::format("{}: a vector that the step multiplies, for all steps", task.cell.name)),
        signature_(builder_, task) {
    signature_.set_scratch(scratch_rows(split));
    cut_reductions();
    for (const NodeId root : roots_) lowerings_.emplace_back(builder_, task, graph_, std::vector{root});
  }

  Launch build() {
    if (roots_.size() > 1) access_ = {};  // a thread has one channel at a time
    values_.declare(roots_, access_.vector);
    out_ = signature_.writes({Role::Scratch, kVectors});
    return roots_.size() == 1 ? by_channel() : by_row();
  }

 private:
  using When = TimeValues::When;
  using Step = TimeValues::Step;

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
    const TimeThreads threads(task_.problem.sizes, access_, many ? kSteps : at_once);
    const Value time = signature_.time();
    values_.set_time(time);
    const TimeThreads::Place place = threads.place(b, time);
    signature_.set_head(place.head);
    values_.set_place({place.row, place.head, place.channel});
    const auto walk = [&] {
      for (int c = 0; c < access_.vector; ++c)
        lowerings_.front().hoist(c, [&](const Node& node) { return param(node, c); });
      make_steps(place.first, b.let("end", min(place.end, time)), threads.abreast(), at_once);
    };
    place.exists.valid() ? b.if_(place.exists, walk) : walk();
    Launch launch{b.kernel(), signature_.arguments(), 0, threads.blocks()};
    launch.time_tile = threads.span();
    return launch;
  }

  // What `at_once` steps need is loaded before the first of them is stored: memory's answers are waited for
  // once, not step by step. Compilers keep to that as long as these steps have no branch of their own. So
  // those of a thread that has step 0, whose states lie elsewhere, or fewer steps are made one by one.
  void make_steps(Value first, Value end, std::int64_t abreast, int at_once) {
    auto& b = builder_;
    const auto one_by_one = [&](Value from, Value to) {
      b.for_("t", from, to, b.constant(abreast), 1,
             [&](Value t) { store({values_.load(loaded_nodes(0), {t}, false)}); });
    };
    if (at_once == 1) return one_by_one(first, end);
    b.for_("t", first, end, b.constant(at_once * abreast), 1, [&](Value t) {
      const auto together = [&] {
        std::vector<Step> steps;
        for (int s = 0; s < at_once; ++s)
          steps.push_back(values_.load(loaded_nodes(0), {t, s * abreast}, true));
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

  bool keeps_parameters() const {
    return !tensors_read(task_.cell, graph_, roots_, TensorKind::Param).empty();
  }

  void store(std::vector<Step> steps) {
    GraphLowering& lowering = lowerings_.front();
    for (Step& step : steps) {
      values_.take_first_states(step);
      std::vector<Value> values;
      for (int c = 0; c < access_.vector; ++c)
        values.push_back(
            lowering.lower(c, [&](const Node& node) { return leaf(lowering, node, step, c); })[0]);
      builder_.store_vector(out_.memory[values_.place(out_, split_.vector_row.at(node_), step.when)], values);
    }
  }

  // A block has a head's row, for some steps: it reduces over the channels what the vector needs, and makes
  // what it needs of other values again for each of these.
  Launch by_row() {
    auto& b = builder_;
    tree_ = b.shared("tree", kernel::Storage::F32, kThreads, "[threads]");
    const Value time = signature_.time();
    values_.set_time(time);
    const Value spans = b.let("spans", ceil_div(time, kSteps));
    const Value head = b.let("head", b.block() % task_.problem.sizes.heads);
    signature_.set_head(head);
    const Value rest = b.let("rest", b.block() / task_.problem.sizes.heads);
    const Value row = b.let("row", rest / spans);
    const Value span = b.let("span", rest % spans), first = b.let("first", span * kSteps);
    values_.set_place({row, head, {}});
    b.for_("t", first, min(first + kSteps, time), b.constant(1), 1, [&](Value t) {
      for (std::size_t i = 0; i < reductions_.size(); ++i) {
        const scalar::Op op = reductions_[i].second;
        constexpr double kLeast = -static_cast<double>(std::numeric_limits<float>::max());
        const Value total = b.variable("total", b.real(op == scalar::Op::Max ? kLeast : 0));
        for_channels(i, t, [&](Value value) { b.assign(total, b.math(op, {total, value})); });
        totals_[reductions_[i].first] = over_threads(total, op);
      }
      for_channels(reductions_.size(), t, [&](Value value) {
        b.store(out_.memory[values_.place(out_, split_.vector_row.at(node_), {t})], value);
      });
    });
    Launch launch{b.kernel(), signature_.arguments(), 0, task_.problem.sizes.heads};
    launch.time_tile = kSteps;
    return launch;
  }

  // Root `root` at step t for each of the thread's channels.
  void for_channels(std::size_t root, Value t, const std::function<void(Value)>& body) {
    auto& b = builder_;
    b.for_("d", b.thread(), b.constant(task_.problem.sizes.dim), b.constant(kThreads), 1, [&](Value d) {
      values_.set_place({values_.at().row, values_.at().head, d});
      GraphLowering& lowering = lowerings_[root];
      lowering.hoist(0, [&](const Node& node) { return param(node, 0); });
      Step step = values_.load(loaded_nodes(root), {t}, false);
      values_.take_first_states(step);
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

  Value param(const Node& node, int c) { return values_.param(node, c); }

  std::vector<NodeId> loaded_nodes(std::size_t root) const {
    std::vector<NodeId> totals;
    for (const auto& total : totals_) totals.push_back(total.first);
    return values_.loaded_by({roots_[root]}, totals);
  }

  Value leaf(const GraphLowering& lowering, const Node& node, const Step& step, int c) {
    const auto total = totals_.find(values_.id_of(node));
    return total != totals_.end() ? total->second : values_.leaf(lowering, node, step, c);
  }

  const Task& task_;
  const BackwardSplit& split_;
  NodeId node_;
  TimeAccess access_;
  step::Graph graph_;
  kernel::Builder builder_;
  Signature signature_;
  std::vector<std::pair<NodeId, scalar::Op>> reductions_;
  std::vector<NodeId> roots_;            // what is reduced, in the same order, and the vector
  std::deque<GraphLowering> lowerings_;  // by root
  std::map<NodeId, Value> totals_;       // of the step that is emitted
  kernel::Memory tree_;
  TimeValues values_{builder_, signature_, task_, split_, graph_, split_.products};
  KernelTensor out_;
};

}  // namespace

Launch time_vector(const Task& task, const BackwardSplit& split, NodeId node, const TimeAccess& access) {
  return VectorBuilder(task, split, node, access).build();
}

}  // namespace rondo::schedule
