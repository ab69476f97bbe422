#include "compiler/schedule/sweep/backward_split.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>

#include "compiler/schedule/analysis/saved_products.h"
#include "compiler/schedule/analysis/step_order.h"
#include "compiler/schedule/sweep/input_vectors.h"
#include "compiler/step/verify.h"

namespace rondo::schedule {

namespace {

bool is_head_value(const step::Cell& cell, TensorId id) { return cell.tensor(id).tail == step::Tail::Scalar; }

// The input row whose gradient this node is, channel by channel; not one that is added up over rows.
const step::Row* input_gradient(const step::Cell& cell, const step::BackwardStep& step, NodeId node) {
  const auto found = std::ranges::find_if(step.inputs, [&](const step::Row& row) {
    return row.value == node && !is_head_value(cell, row.tensor) && !cell.tensor(row.tensor).summed;
  });
  return found == step.inputs.end() ? nullptr : &*found;
}

// Products that are made before the sweep, but for those that are saved: of the forward step, and the
// channels that its max-plus products have chosen, where the sweep reads them, or a vector of such a product
// or of a matrix gradient does.
void multiply_before(BackwardSplit& split) {
  const step::BackwardStep& step = split.needs.step;
  const bool saved = !split.products.empty();
  const step::Graph graph = saved ? detach_products(step.graph, step.forward_nodes) : step.graph;
  std::vector<NodeId> wanted;
  for (const NodeId id : reachable(split.sweep, split.sweep_roots)) {
    const Node& node = step.graph.at(id);
    if (node.kind == NodeKind::ArgMaxPlus || (id < step.forward_nodes && step::is_product(node)))
      wanted.push_back(id);
  }
  for (const step::MatrixGradient& matrix : step.matrices) wanted.push_back(matrix.right);
  std::map<int, int> rows;  // by scratch tensor
  for (ProductGroup& group : product_groups(graph, wanted)) {
    const int tensor = group.kind == ProductKind::Channel ? kChosen : kProducts;
    for (const Product& product : group.products)
      split.products.emplace(product.node, RowRef{{Role::Scratch, tensor}, rows[tensor]++});
    split.forward.push_back(std::move(group));
  }
}

// Rows for the vectors of all steps that are neither inputs nor saved states.
void place_vectors(const step::Cell& cell, BackwardSplit& split) {
  const step::BackwardStep& step = split.needs.step;
  const auto keep = [&](NodeId vector) {
    const Node& node = step.graph.at(vector);
    const bool stored = node.kind == NodeKind::Leaf && node.extent == step::Extent::Vector &&
                        cell.tensor(node.tensor).kind != TensorKind::Param;
    if (!stored) split.vector_row.emplace(vector, static_cast<int>(split.vector_row.size()));
  };
  for (const ProductGroup& group : split.forward) keep(group.vector);
  for (const step::MatrixGradient& matrix : step.matrices)
    if (!matrix.chosen) keep(matrix.right);
}

}  // namespace

RowRef left_row(const step::Cell& cell, const BackwardSplit& split, NodeId left) {
  if (const step::Row* row = input_gradient(cell, split.needs.step, left))
    return {{Role::InputGradient, row->tensor}, row->row};
  const auto found = std::ranges::find(split.lefts, left);
  return {{Role::Scratch, kLefts}, static_cast<int>(found - split.lefts.begin())};
}

namespace {

BackwardSplit split_of(const Task& task, BackwardNeeds needs) {
  BackwardSplit split;
  split.needs = std::move(needs);
  const step::BackwardStep& step = split.needs.step;
  split.sweep = detach_chosen(detach_products(step.graph, step.forward_nodes));
  for (const auto* rows : {&step.previous_states, &step.inputs, &step.params})
    for (const step::Row& row : *rows) split.sweep_roots.push_back(row.value);
  // Neighbouring rows of a matrix get neighbouring rows, so that their gradients are one product.
  std::vector<step::MatrixGradient> matrices = step.matrices;
  std::ranges::stable_sort(matrices, [](const auto& a, const auto& b) {
    return std::pair{a.tensor, a.row} < std::pair{b.tensor, b.row};
  });
  for (const step::MatrixGradient& matrix : matrices)
    if (!input_gradient(task.cell, step, matrix.left) &&
        std::ranges::find(split.lefts, matrix.left) == split.lefts.end())
      split.lefts.push_back(matrix.left);
  split.sweep_roots.insert(split.sweep_roots.end(), split.lefts.begin(), split.lefts.end());

  for (const NodeId id : reachable(split.sweep, split.sweep_roots)) {
    const Node& node = split.sweep.at(id);
    const auto saved = split.needs.history.find({node.tensor, node.row});
    if (node.kind != NodeKind::Leaf || saved == split.needs.history.end()) continue;
    const TensorRef& ref = saved->second.tensor;
    if (std::ranges::find(split.histories, ref) == split.histories.end()) split.histories.push_back(ref);
  }

  if (passes_products(task.problem)) split.products = saved_products(task.cell);
  multiply_before(split);
  place_vectors(task.cell, split);
  return split;
}

}  // namespace

BackwardSplit backward_split(const Task& task) {
  BackwardNeeds needs = backward_needs(task);
  return pipeline::watched(
      task.watcher, pipeline::Pass::SplitBackward, [&] { return split_of(task, std::move(needs)); },
      [&](const BackwardSplit& split) {
        const auto sweep = [&] { return step::StepGraph{split.sweep, split.sweep_roots}; };
        return pipeline::Made{[&, sweep] { return step::print(task.cell, sweep()); },
                              [&, sweep] { return step::verify(task.cell, sweep()); }};
      });
}

std::vector<TensorRef> products_read(const BackwardSplit& split, const step::Graph& graph,
                                     const std::vector<NodeId>& roots) {
  std::vector<TensorRef> result;
  for (const NodeId id : reachable(graph, roots)) {
    const auto product = split.products.find(id);
    if (product == split.products.end()) continue;
    const TensorRef& tensor = product->second.tensor;
    if (std::ranges::find(result, tensor) == result.end()) result.push_back(tensor);
  }
  return result;
}

std::vector<int> scratch_rows(const BackwardSplit& split) {
  int again = 0, chosen = 0;
  for (const ProductGroup& group : split.forward)
    (group.kind == ProductKind::Channel ? chosen : again) += static_cast<int>(group.products.size());
  std::vector<int> rows{again, static_cast<int>(split.vector_row.size()),
                        static_cast<int>(split.lefts.size())};
  if (chosen == 0) return rows;
  rows.resize(kChosen + 1, 0);
  rows[kChosen] = chosen;
  return rows;
}

step::StepGraph sweep_graph(const Task& task) {
  if (task.problem.pass == Pass::Backward) {
    BackwardSplit split = backward_split(task);
    return {std::move(split.sweep), std::move(split.sweep_roots)};
  }
  return forward_step(task);
}

std::vector<bool> shares_of_channels(const step::Cell& cell, const step::BackwardStep& step, Steps steps) {
  std::vector<bool> shares(step.previous_states.size(), false);
  for (const step::Row& input : step.inputs)
    shares.push_back(steps == Steps::OfOneKernel && is_head_value(cell, input.tensor));
  for (const step::Row& param : step.params) shares.push_back(is_head_value(cell, param.tensor));
  return shares;
}

namespace {

RewrittenStep spread(const Task& task, step::StepGraph graph, const std::vector<bool>& shares, Steps steps) {
  const auto order = steps == Steps::OfOneKernel ? ExchangeOrder::Levels : ExchangeOrder::Chain;
  if (reduces_over_head(task.cell, graph, shares)) return fewer_exchanges(task, graph, shares, order);
  std::vector<NodeId> origin(graph.graph.nodes.size());
  std::iota(origin.begin(), origin.end(), 0);
  return {std::move(graph), std::move(origin)};
}

// Reductions of the sweep none of whose operands waits for a carried gradient, or for a product. What goes
// along the head stays in the sweep, and what waits for it.
std::vector<NodeId> without_carries(const step::StepGraph& step) {
  std::vector<bool> waits(step.graph.nodes.size(), false);
  std::vector<NodeId> found;
  for (const NodeId id : reachable(step.graph, step.roots)) {
    const Node& node = step.graph.at(id);
    const auto late = [&](NodeId operand) { return bool{waits[static_cast<std::size_t>(operand)]}; };
    const bool product = step::is_product(node) && !node.operands.empty();
    const bool carried =
        node.kind == NodeKind::Gradient && node.gradient.of == step::GradientRef::Of::NextState;
    waits[static_cast<std::size_t>(id)] =
        product || carried || step::is_along_head(node) || std::ranges::any_of(node.operands, late);
    if (step::is_reduction(node) && !waits[static_cast<std::size_t>(id)]) found.push_back(id);
  }
  return found;
}

}  // namespace

int SpreadSweep::head_value_row(NodeId node) const {
  const auto found = std::ranges::find(head_values, node);
  return found == head_values.end() ? -1 : static_cast<int>(found - head_values.begin());
}

std::vector<int> scratch_rows(const BackwardSplit& split, const SpreadSweep& sweep) {
  std::vector<int> rows = scratch_rows(split);
  if (sweep.head_values.empty()) return rows;
  rows.resize(std::max<std::size_t>(rows.size(), kHeadValues + 1), 0);
  rows[kHeadValues] = static_cast<int>(sweep.head_values.size());
  return rows;
}

SpreadSweep spread_sweep(const Task& task, Steps steps) {
  if (task.problem.pass == Pass::Backward) return spread_sweep(task, backward_split(task), steps);
  return {spread(task, forward_step(task), {}, steps), {}, {}};
}

SpreadSweep spread_sweep(const Task& task, const BackwardSplit& split, Steps steps) {
  const std::vector<bool> shares = shares_of_channels(task.cell, split.needs.step, steps);
  SpreadSweep sweep{spread(task, {split.sweep, split.sweep_roots}, shares, steps), {}, {}};
  if (steps == Steps::OfBlock || !adds_over_head(task.cell)) return sweep;
  const std::vector<NodeId> made = without_carries(sweep.step);
  if (made.empty()) return sweep;
  sweep.whole = sweep.step;
  for (const NodeId id : made) {
    Node& node = sweep.step.graph.nodes[static_cast<std::size_t>(id)];
    node.kind = NodeKind::MatVec;
    node.operands.clear();
  }
  const std::vector<NodeId> read =
      reachable(sweep.step.graph, sweep.step.roots);  // by more than other per-head values
  std::ranges::copy_if(made, std::back_inserter(sweep.head_values),
                       [&](NodeId id) { return std::ranges::find(read, id) != read.end(); });
  return sweep;
}

std::vector<TensorId> tensors_read(const step::Cell& cell, const step::Graph& graph,
                                   const std::vector<NodeId>& roots, TensorKind kind) {
  std::vector<TensorId> result;
  for (const NodeId id : reachable(graph, roots)) {
    const Node& node = graph.at(id);
    if (node.kind != NodeKind::Leaf || cell.tensor(node.tensor).kind != kind) continue;
    if (std::ranges::find(result, node.tensor) == result.end()) result.push_back(node.tensor);
  }
  return result;
}

namespace {

void count_products(const Task& task, const step::StepGraph& graph, const std::vector<ProductGroup>& groups,
                    SweepShape& shape) {
  for (const ProductGroup& group : groups) {
    shape.products.push_back(static_cast<int>(group.products.size()));
    shape.product_count += shape.products.back();
  }
  const std::vector<ProductSum> sums = product_sums(graph.graph, graph.roots, groups);
  for (const ProductSum& sum : sums) {
    shape.terms.push_back(static_cast<int>(sum.terms.size()));
    shape.scatters.push_back(static_cast<int>(std::ranges::count_if(
        sum.terms, [&](const auto& term) { return groups[term.group].kind == ProductKind::Scatter; })));
  }
  const std::vector<ProductSum> joined = product_rows(sums);
  shape.joined = static_cast<int>(joined.size());
  for (const ProductGroup& group : groups) {
    shape.level.push_back(group.level);
    shape.rows.push_back(static_cast<int>(std::ranges::count(joined, group.level, &ProductSum::level)));
    shape.of_input.push_back(input_of(task.cell, graph.graph, group) != nullptr);
    shape.max_plus = shape.max_plus || group.kind == ProductKind::Max;
  }
}

int rows_of(const step::Cell& cell, const std::vector<TensorId>& tensors, bool head_values) {
  int sum = 0;
  for (const TensorId id : tensors)
    if (is_head_value(cell, id) == head_values) sum += cell.tensor(id).rows;
  return sum;
}

// Of results that are added up over rows, which are fp32; none where all results are.
int summed_rows(const Task& task, TensorKind kind, bool head_values) {
  std::vector<TensorId> summed;
  for (const TensorId id : task.cell.of_kind(kind))
    if (kernel::storage_bytes(task.problem.storage) == 2 && task.cell.tensor(id).summed) summed.push_back(id);
  return rows_of(task.cell, summed, head_values);
}

SweepShape shape_of_sweep(const Task& task) {
  SweepShape shape;
  const SpreadSweep sweep = spread_sweep(task);
  const step::StepGraph& graph = sweep.step;
  shape.head_values_before = static_cast<int>(sweep.head_values.size());
  const std::vector<ProductGroup> groups = product_groups(graph.graph, graph.roots);
  count_products(task, graph, groups, shape);
  shape.levels = levels_of(groups);
  const StepOrder order = step_order(task, graph, groups, adds_over_head(task.cell));
  shape.handed = static_cast<int>(order.handed.size());
  const std::set<NodeId> early(order.early.begin(), order.early.end());
  std::set<NodeId> late;
  for (const NodeId id : reachable(graph.graph, graph.roots))
    if (!early.contains(id))
      for (const NodeId operand : graph.graph.at(id).operands)
        if (sweep.head_value_row(operand) >= 0) late.insert(operand);
  shape.head_values_late = static_cast<int>(late.size());
  shape.reductions = reduction_words(order);
  for (const step::Row& next : task.cell.next)
    ++(is_head_value(task.cell, next.tensor) ? shape.head_value_states : shape.states);
  shape.draws = task.cell.seed().has_value();
  const auto rows = [&](const std::vector<TensorId>& tensors) { return rows_of(task.cell, tensors, false); };
  const auto head_values = [&](const std::vector<TensorId>& tensors) {
    return rows_of(task.cell, tensors, true);
  };
  const auto wide = [&](const std::vector<TensorId>& histories) {
    int sum = 0;
    for (const TensorId id : histories)
      if (task.history_storage(id) != task.problem.storage) sum += rows({id});
    return sum;
  };
  const bool half = kernel::storage_bytes(task.problem.storage) == 2;
  for (const TensorId id : task.cell.of_kind(TensorKind::Param))
    if (task.cell.tensor(id).tail != step::Tail::Matrix) shape.param_rows += rows({id}) + head_values({id});
  if (task.problem.pass != Pass::Backward) {
    shape.rows_in = rows(task.cell.of_kind(TensorKind::Input));
    shape.rows_multiplied = rows(only_multiplied(task.cell, graph, groups, shape.of_input));
    shape.rows_out = rows(task.cell.of_kind(TensorKind::Output));
    shape.head_values_in = head_values(task.cell.of_kind(TensorKind::Input));
    shape.wide_out = shape.summed_out = summed_rows(task, TensorKind::Output, false);
    // One of fp32 has the room of two.
    shape.head_values_out =
        head_values(task.cell.of_kind(TensorKind::Output)) + summed_rows(task, TensorKind::Output, true);
    if (task.problem.pass == Pass::ForwardSave) {
      shape.rows_out += rows(stored_histories(task.cell));
      shape.wide_out += wide(stored_histories(task.cell));
      shape.head_values_out += head_values(stored_histories(task.cell));
    }
    if (passes_products(task.problem)) shape.rows_out += static_cast<int>(saved_products(task.cell).size());
    return shape;
  }
  const BackwardSplit split = backward_split(task);
  shape.rows_in = rows(tensors_read(task.cell, split.sweep, split.sweep_roots, TensorKind::Input)) +
                  rows(task.cell.of_kind(TensorKind::Output));
  for (const TensorRef& ref : products_read(split, split.sweep, split.sweep_roots)) {
    const int count = ref.role == Role::Scratch ? scratch_rows(split)[static_cast<std::size_t>(ref.tensor)]
                                                : tensor_in_role(ref, task.cell).rows;
    shape.rows_in += count;
    if (ref == TensorRef{Role::Scratch, kChosen} && half) shape.wide_in += count;
  }
  shape.head_values_in =
      head_values(tensors_read(task.cell, split.sweep, split.sweep_roots, TensorKind::Input)) +
      head_values(task.cell.of_kind(TensorKind::Output));
  for (const TensorRef& ref : split.histories) {
    shape.rows_in += rows({ref.tensor});
    if (ref.role == Role::History) shape.wide_in += wide({ref.tensor});
    shape.head_values_in += head_values({ref.tensor});
  }
  shape.shares = head_values(task.cell.of_kind(TensorKind::Input));
  shape.rows_out = rows(task.cell.of_kind(TensorKind::Input)) + static_cast<int>(split.lefts.size());
  shape.wide_out = shape.summed_out = summed_rows(task, TensorKind::Input, false);
  shape.sums = static_cast<int>(split.needs.step.params.size());
  return shape;
}

}  // namespace

SweepShape sweep_shape(const Task& task) {
  const std::string name = fmt::format("the shape of the sweep {} in {}", pass_key(task.problem),
                                       kernel::storage_name(task.problem.storage));
  return *task.fact<SweepShape>(name, [&] { return shape_of_sweep(task); });
}

}  // namespace rondo::schedule
