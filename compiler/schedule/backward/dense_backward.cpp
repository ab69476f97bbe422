// The backward pass of a cell with matrices: what does not depend on the order of time is done for all steps
// at once, before and after the sweep (docs/strategies/dense-backward.md).
#include "compiler/schedule/backward/dense_backward.h"

#include <algorithm>
#include <set>

#include "compiler/schedule/analysis/param_rows.h"
#include "compiler/schedule/backward/in_result.h"
#include "compiler/schedule/backward/time_pointwise.h"
#include "compiler/schedule/lower/param_gradient_sum.h"
#include "compiler/step/structure.h"

namespace rondo::schedule {

namespace {

// Whether a product's vector goes along the head since the last product.
bool multiplies_along(const step::Cell& cell) {
  std::vector<bool> along;
  for (const Node& node : cell.graph.nodes) {
    bool any = step::is_along_head(node);
    for (const NodeId operand : node.operands) any = any || along[static_cast<std::size_t>(operand)];
    const bool product = step::is_product(node);
    if (product && any) return true;
    along.push_back(any);
  }
  return false;
}

}  // namespace

Legality dense_legal(const step::Cell& cell) {
  if (!step::has_matrix(cell))
    return {
        false,
        "the step multiplies by no matrix: stream computes such cells, shoot those with few channels, and "
        "--arch cpu all of them"};
  if (multiplies_along(cell))
    return {
        false,
        "the step multiplies what a shift or a running sum along the channels has made: make that the next "
        "value of a state, and multiply the state"};
  return {};
}

Legality max_plus_legal(const Task& task) {
  if (!step::has_max_plus(task.cell)) return {};
  if (task.problem.math == kernel::Math::Tf32)
    return {false,
            "the step has a max-plus product (maxplus), whose terms are not rounded to tf32: alternating "
            "computes such cells, or --math accurate"};
  return {};
}

namespace {

// Rows of tensors that a vector of all steps is made of: products, states and inputs, by channel.
int rows_read(const BackwardSplit& split, const step::Cell& cell, NodeId vector) {
  const step::Graph graph = detach_products(split.needs.step.graph, split.needs.step.forward_nodes);
  int rows = 0;
  for (const NodeId id : reachable(graph, {vector})) {
    const Node& node = graph.at(id);
    const bool given = node.kind == step::NodeKind::Leaf && node.extent == step::Extent::Vector &&
                       cell.tensor(node.tensor).kind != TensorKind::Param;
    if (node.kind == step::NodeKind::MatVec || given) ++rows;
  }
  return rows;
}

}  // namespace

// A vector takes as long as a copy of as many bytes.
BeforeSweep before_sweep(const Task& task) {
  BeforeSweep before;
  if (task.problem.pass != Pass::Backward) return before;
  const step::Sizes& sizes = task.problem.sizes;
  const std::int64_t elements =
      sizes.batch * sizes.time * sizes.heads * sizes.dim;  // of a vector of all steps
  const auto row = static_cast<double>(elements) * kernel::storage_bytes(task.problem.storage);
  const BackwardSplit split = backward_split(task);
  for (const auto& [vector, place] : split.vector_row)
    before.seconds += task.profile.speeds.launch_s +
                      row * (rows_read(split, task.cell, vector) + 1) / task.profile.speeds.copy_bytes_per_s;
  for (const ProductGroup& group : split.forward) {
    const auto rows = static_cast<int>(group.products.size());
    before.seconds += seconds_of_time_product(task, rows, sizes.dim, group.kind);
    const kernel::Storage of_result =
        group.kind == ProductKind::Channel ? kernel::Storage::F32 : task.problem.storage;
    before.bytes += elements * rows * kernel::storage_bytes(of_result);
  }
  return before;
}

namespace {

// Where a vector of all steps lies: an input, a saved state of the step before, or a scratch row. So do the
// channels that a max-plus product has chosen.
TimeOperand operand(const step::Cell& cell, const BackwardSplit& split, NodeId id) {
  if (const auto row = split.vector_row.find(id); row != split.vector_row.end())
    return {{{Role::Scratch, kVectors}, row->second}, false, std::nullopt, 0};
  if (const auto product = split.products.find(id); product != split.products.end())
    return {product->second, false, std::nullopt, 0};
  const Node& node = split.needs.step.graph.at(id);
  if (cell.tensor(node.tensor).kind == TensorKind::Input)
    return {{{Role::Input, node.tensor}, node.row}, false, std::nullopt, 0};
  return {split.needs.history.at({node.tensor, node.row}), true, TensorRef{Role::InitialState, node.tensor},
          node.row};
}

void add_forward_products(const Task& task, const BackwardSplit& split, const TimeLaunches& launches,
                          KernelPlan& plan) {
  std::set<NodeId> made;
  const auto make_vector = [&](NodeId node) {
    if (split.vector_row.count(node) != 0 && made.insert(node).second)
      plan.launches.push_back(time_vector(task, split, node, launches.vectors));
  };
  for (std::size_t g = 0; g < split.forward.size(); ++g) {
    const ProductGroup& group = split.forward[g];
    make_vector(group.vector);
    std::vector<TimeProduct> products;
    for (const Product& product : group.products)
      products.push_back({product.matrix, product.row, operand(task.cell, split, group.vector),
                          split.products.at(product.node), group.kind});
    for (Launch& launch : launches.products(products, g)) plan.launches.push_back(std::move(launch));
  }
  for (const step::MatrixGradient& matrix : split.needs.step.matrices)
    if (!matrix.chosen) make_vector(matrix.right);
}

void add_matrix_gradients(const step::Cell& cell, const BackwardSplit& split, const TimeLaunches& launches,
                          KernelPlan& plan) {
  std::vector<MatrixTerm> terms;
  for (const step::MatrixGradient& matrix : split.needs.step.matrices)
    terms.push_back({matrix.tensor,
                     matrix.row,
                     {left_row(cell, split, matrix.left), false, std::nullopt, 0},
                     operand(cell, split, matrix.right),
                     matrix.chosen});
  for (Launch& launch : launches.gradients(terms)) plan.launches.push_back(std::move(launch));
  plan.workspace_elements_fixed = launches.workspace(terms);
}

}  // namespace

void dense_backward(const Task& task, const BackwardSplit& split, const TimeLaunches& launches,
                    const std::function<void()>& add_sweep, KernelPlan& plan) {
  plan.scratch_rows = scratch_rows(split);
  plan.in_result = products_in_gradient(task, split);
  add_forward_products(task, split, launches, plan);
  add_sweep();
  for (Launch& launch : sum_param_gradients(task)) plan.launches.push_back(std::move(launch));
  add_matrix_gradients(task.cell, split, launches, plan);
  plan.workspace_elements_per_batch =
      param_rows(task.cell) * task.problem.sizes.heads * task.problem.sizes.dim;
}

void dense_backward(const Task& task, const BackwardSplit& split, int vector,
                    const std::function<void()>& add_sweep, KernelPlan& plan) {
  const auto gemm = [&](GemmUse use, std::size_t count) {
    return gemm_parameters(task.problem, task.profile, use, static_cast<int>(count), vector);
  };
  const std::vector<int> rows = scratch_rows(split);
  const TimeLaunches launches{
      [&](const std::vector<TimeProduct>& products, std::size_t) {
        const ProductKind kind = products.front().kind;
        GemmParameters p =
            gemm(kind == ProductKind::Sum ? GemmUse::TimeProduct : GemmUse::MaxPlus, products.size());
        p.kind = kind;
        return std::vector<Launch>{time_product(task, products, rows, p)};
      },
      [&](const std::vector<MatrixTerm>& terms) {
        return matrix_gradients(task, terms, rows, gemm(GemmUse::MatrixGradient, terms.size()));
      },
      [&](const std::vector<MatrixTerm>& terms) {
        return matrix_gradient_workspace(task, terms, gemm(GemmUse::MatrixGradient, terms.size()));
      },
      {widest_access(task.problem, vector), true}};
  dense_backward(task, split, launches, add_sweep, plan);
}

}  // namespace rondo::schedule
