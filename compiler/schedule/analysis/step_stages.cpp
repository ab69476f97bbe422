#include "compiler/schedule/analysis/step_stages.h"

#include <algorithm>
#include <stdexcept>

#include "compiler/schedule/analysis/exchanges.h"
#include "compiler/schedule/analysis/history.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

namespace {

using step::is_product;

template <typename T>
void add_once(std::vector<T>& list, T element) {
  if (std::ranges::find(list, element) == list.end()) list.push_back(element);
}

class Cutter {
 public:
  Cutter(const step::Cell& cell, const step::Graph& graph, const std::vector<NodeId>& roots, Spreads spreads)
      : graph_(graph), roots_(roots), reduces_(adds_over_head(cell)), spreads_(spreads) {
    result_.groups = product_groups(graph, roots);
    made_.assign(graph.nodes.size(), kNever);
    find_levels(cell);
    int last = 0;
    for (ProductGroup& group : result_.groups) {
      group.level = level_[at(group.vector)];
      last = std::max(last, group.level + 1);
    }
    std::ranges::stable_sort(result_.groups,
                             [](const ProductGroup& a, const ProductGroup& b) { return a.level < b.level; });
    for (const Reduction& reduction : result_.reductions) last = std::max(last, reduction.known);
    result_.stages.resize(at(last) + 1);
  }

  StepStages cut() {
    for (std::size_t g = 0; g < result_.groups.size(); ++g) {
      const int level = result_.groups[g].level;
      result_.stages[at(level)].vectors.push_back(g);
      result_.stages[at(level + 1)].groups.push_back(g);
      for (const Product& product : result_.groups[g].products) made_[at(product.node)] = level + 1;
    }
    for (std::size_t i = 0; i < result_.reductions.size(); ++i)
      result_.stages[at(result_.reductions[i].made)].partials.push_back(i);
    for (std::size_t root = 0; root < roots_.size(); ++root) {
      result_.stage_of_root.push_back(level_[at(roots_[root])]);
      result_.stages[at(result_.stage_of_root.back())].roots.push_back(root);
    }
    for (stage_ = 0; stage_ < static_cast<int>(result_.stages.size()); ++stage_) cut_stage(now());
    for (const StepStage& stage : result_.stages)
      result_.kept.insert(result_.kept.end(), stage.kept_out.begin(), stage.kept_out.end());
    return std::move(result_);
  }

 private:
  static constexpr int kNever = -1;

  StepStage& now() { return result_.stages[at(stage_)]; }

  // By node: the products and reductions on the longest chain to it; and whether it is the same at all steps.
  void find_levels(const step::Cell& cell) {
    level_.assign(graph_.nodes.size(), 0);
    invariant_.assign(graph_.nodes.size(), true);
    std::vector<bool> needed(graph_.nodes.size(), false);
    for (const NodeId id : reachable(graph_, roots_)) needed[at(id)] = true;
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
      const Node& node = graph_.at(id);
      bool invariant = !is_product(node) && node.kind != NodeKind::Gradient && !step::is_of_place(node);
      if (node.kind == NodeKind::Leaf) invariant = cell.tensor(node.tensor).kind == step::TensorKind::Param;
      for (const NodeId operand : node.operands) {
        level_[at(id)] = std::max(level_[at(id)], level_[at(operand)]);
        invariant = invariant && invariant_[at(operand)];
      }
      if (is_product(node) && !node.operands.empty()) ++level_[at(id)];
      const bool reduces = reduces_ && crosses_head(node);
      invariant_[at(id)] = invariant && !reduces;
      if (reduces) level_[at(id)] = level_of_reduction(id, needed[at(id)]);
    }
  }

  int level_of_reduction(NodeId id, bool needed) {
    const Node& node = graph_.at(id);
    Reduction reduction;
    reduction.node = id;
    reduction.vectors = node.operands;
    if (node.kind == NodeKind::ReduceMax) reduction.kind = Reduction::Kind::Max;
    if (node.kind == NodeKind::PrefixSum) reduction.kind = Reduction::Kind::Prefix;
    if (node.kind == NodeKind::SuffixSum) reduction.kind = Reduction::Kind::Suffix;
    if (node.kind == NodeKind::Shift || node.kind == NodeKind::Rotate) reduction.kind = Reduction::Kind::Move;
    if (node.kind == NodeKind::ReduceSpread) {
      reduction.kind = Reduction::Kind::Spread;
      reduction.sum = node.operands.front();
      reduction.vectors.erase(reduction.vectors.begin());
      if (spreads_ == Spreads::AfterTheirSum) reduction.made = level_[at(reduction.sum)];
    }
    for (const NodeId vector : reduction.vectors)
      reduction.made = std::max(reduction.made, level_[at(vector)]);
    reduction.known = reduction.made + 1;
    if (needed) result_.reductions.push_back(reduction);
    return reduction.known;
  }

  void cut_stage(StepStage& stage) {
    for (const std::size_t group : stage.vectors) add_once(stage.demand, result_.groups[group].vector);
    for (const std::size_t root : stage.roots) add_once(stage.demand, roots_[root]);
    for (const std::size_t i : stage.partials)
      for (const NodeId vector : result_.reductions[i].vectors) add_once(stage.demand, vector);
    for (const NodeId node : stage.demand) visit(node);
    stage.graph = graph_;
    for (Node& node : stage.graph.nodes)
      if (is_product(node)) node.operands.clear();
    for (const std::size_t i : stage.totals) {
      Node& node = stage.graph.nodes[at(result_.reductions[i].node)];
      node.kind = NodeKind::MatVec;
      node.operands.clear();
    }
    for (const NodeId kept : stage.kept_in) {
      Node& node = stage.graph.nodes[at(kept)];
      node.kind = NodeKind::MatVec;
      node.operands.clear();
    }
  }

  void visit(NodeId id) {
    const Node& node = graph_.at(id);
    if (invariant_[at(id)] || node.kind == NodeKind::Leaf || node.kind == NodeKind::Gradient) return;
    if (step::is_of_place(node)) return;                    // made where it is needed: nothing is stored
    if (is_product(node) && node.operands.empty()) return;  // read from memory, like a leaf
    if (const Reduction* reduction = result_.reduction_of(id)) {
      if (reduction->known > stage_) throw std::logic_error("a reduction is asked for before it is known");
      if (reduction->kind == Reduction::Kind::Spread) visit(reduction->sum);
      add_once(now().totals, at(reduction - result_.reductions.data()));
      return;
    }
    if (made_[at(id)] == stage_) return;
    if (made_[at(id)] != kNever) {
      if (made_[at(id)] > stage_) throw std::logic_error("a step's value is asked for before it is made");
      add_once(now().kept_in, id);
      add_once(result_.stages[at(made_[at(id)])].kept_out, id);
      return;
    }
    for (const NodeId operand : node.operands) visit(operand);
    made_[at(id)] = stage_;
  }

  const step::Graph& graph_;
  const std::vector<NodeId>& roots_;
  const bool reduces_;
  const Spreads spreads_;
  StepStages result_;
  std::vector<int> level_;
  std::vector<bool> invariant_;
  std::vector<int> made_;  // by node: the stage that makes it
  int stage_ = 0;
};

}  // namespace

int StepStages::row_of_kept(NodeId node) const {
  return static_cast<int>(std::ranges::find(kept, node) - kept.begin());
}

const Reduction* StepStages::reduction_of(NodeId node) const {
  const auto found =
      std::ranges::find_if(reductions, [&](const Reduction& reduction) { return reduction.node == node; });
  return found == reductions.end() ? nullptr : &*found;
}

StepStages step_stages(const step::Cell& cell, const step::Graph& graph, const std::vector<NodeId>& roots,
                       Spreads spreads) {
  return Cutter(cell, graph, roots, spreads).cut();
}

}  // namespace rondo::schedule
