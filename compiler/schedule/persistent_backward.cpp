// The backward pass of a cell with matrices: what does not depend on the order of time is done for all steps
// at once, before and after a sweep that carries the gradients back (DESIGN, "persistent").
#include <fmt/format.h>

#include <set>

#include "compiler/schedule/matrix_gradient.h"
#include "compiler/schedule/persistent.h"
#include "compiler/schedule/persistent_body.h"
#include "compiler/schedule/persistent_plan.h"
#include "compiler/schedule/stream.h"
#include "compiler/schedule/time_pointwise.h"
#include "compiler/schedule/time_product.h"

namespace rondo::schedule {
namespace {

using kernel::Value;
using step::Node;
using step::NodeId;
using step::NodeKind;
using step::Row;
using step::TensorId;
using step::TensorKind;

class SweepBuilder : PersistentBody {
 public:
  SweepBuilder(const step::Cell& cell, const Problem& problem, const PersistentParameters& parameters,
               const BackwardSplit& split)
      : PersistentBody(cell, problem, parameters, fmt::format("{}_persistent_bw", cell.name),
                       fmt::format("{}: persistent backward sweep, {} in memory", cell.name,
                                   kernel::storage_name(problem.storage)),
                       TimeOrder::Backward, {split.sweep, split.sweep_roots}),
        split_(split),
        needs_(split.needs) {}

  Launch build() {
    kernel_.signature().set_scratch(scratch_rows(split_));
    declare();
    kernel_.place_threads();
    emit_roles([&] { prepare(); },
               [&] {
                 store_carries(grad_first_, "gradients of the initial states");
                 store_sums();
               },
               [&](const Node& node, const PersistentKernel::Step& step, int channel) {
                 return leaf(node, step, channel);
               },
               [&](const PersistentKernel::Step& now, std::size_t root, const std::vector<Value>& values) {
                 consume(now, root, values);
               });
    return kernel_.finish();
  }

 private:
  void declare() {
    for (const TensorId id : tensors_read(cell_, step_.graph, step_.roots, TensorKind::Input))
      inputs_[id] = kernel_.stage({Role::Input, id});
    if (!split_.product_row.empty()) products_at_ = kernel_.stage({Role::Scratch, kProducts});
    for (const TensorRef& ref : split_.histories) before_.push_back(kernel_.stage(ref, true));
    for (const TensorId id : cell_.of_kind(TensorKind::Output))
      grad_out_[id] = kernel_.stage({Role::OutputGradient, id});
    declare_params();
    for (const TensorId id : tensors_read(cell_, step_.graph, step_.roots, TensorKind::State))
      first_[id] = kernel_.signature().reads({Role::InitialState, id});
    for (const TensorId id : cell_.of_kind(TensorKind::State))
      grad_last_[id] = kernel_.signature().reads({Role::LastStateGradient, id});
    for (const TensorId id : cell_.of_kind(TensorKind::Input))
      grad_in_[id] = kernel_.write_each_step({Role::InputGradient, id});
    if (!split_.lefts.empty()) lefts_at_ = kernel_.write_each_step({Role::Scratch, kLefts});
    for (const TensorId id : cell_.of_kind(TensorKind::State))
      grad_first_[id] = kernel_.signature().writes({Role::InitialStateGradient, id});
    if (!needs_.step.params.empty()) workspace_ = kernel_.signature().writes({Role::Workspace, -1});
  }

  void prepare() {
    auto& b = kernel_.builder();
    load_start("grad_", grad_last_);
    for (std::size_t p = 0; p < needs_.step.params.size(); ++p)
      for (int channel = 0; channel < channels(); ++channel)
        sums_.push_back(b.variable(fmt::format("sum_{}", p), b.real(0)));
    load_first_states();
  }

  // Before the first step stand the initial states: fp32, and not part of the saved histories.
  void load_first_states() {
    auto& b = kernel_.builder();
    for (const auto& [id, kernel_tensor] : first_)
      for (int row = 0; row < tensor(id).rows; ++row) {
        if (!lowering_.uses(id, row)) continue;
        for (int channel = 0; channel < channels(); ++channel) {
          const Value value = b.variable(tensor(id).name + "_first", b.real(0));
          const Value place = kernel_.state_index(tensor(id).rows, row, channel);
          kernel_.if_exists(channel, [&] { b.assign(value, b.load("first", kernel_tensor.memory[place])); });
          first_values_[{id, row}].push_back(value);
        }
      }
  }

  Value leaf(const Node& node, const PersistentKernel::Step& now, int channel) {
    if (node.kind == NodeKind::MatVec) {
      const auto id = static_cast<NodeId>(&node - step_.graph.nodes.data());
      return now.load(products_at_, split_.product_row.at(id), channel);
    }
    if (node.kind == NodeKind::Gradient) {
      const step::GradientRef& g = node.gradient;
      if (g.of == step::GradientRef::Of::NextState) return carry(g.tensor, g.row, channel);
      return now.load(grad_out_.at(g.tensor), g.row, channel);
    }
    switch (tensor(node.tensor).kind) {
      case TensorKind::Input: return now.load(inputs_.at(node.tensor), node.row, channel);
      case TensorKind::State: {
        auto& b = kernel_.builder();
        const RowRef& where = needs_.history.at({node.tensor, node.row});
        const Value saved = now.load(before_of(where.tensor), where.row, channel);
        const Value first = first_values_.at({node.tensor, node.row})[static_cast<std::size_t>(channel)];
        return b.let("before", b.select(now.time == 0, first, saved));
      }
      default: return param(node, channel);
    }
  }

  int before_of(const TensorRef& ref) const {
    for (std::size_t i = 0; i < split_.histories.size(); ++i)
      if (split_.histories[i] == ref) return before_[i];
    throw std::logic_error("persistent: a previous state that is not stored");
  }

  // Roots as BackwardSplit::sweep_roots has them.
  void consume(const PersistentKernel::Step& now, std::size_t root, const std::vector<Value>& values) {
    const step::BackwardStep& step = needs_.step;
    if (root < step.previous_states.size()) return;  // carried
    root -= step.previous_states.size();
    if (root < step.inputs.size())
      return now.store(grad_in_.at(step.inputs[root].tensor), step.inputs[root].row, values);
    root -= step.inputs.size();
    if (root >= step.params.size())
      return now.store(lefts_at_, static_cast<int>(root - step.params.size()), values);
    for (int channel = 0; channel < channels(); ++channel) {
      const Value sum = sums_[index(root, channel)];
      kernel_.builder().assign(sum, sum + values[static_cast<std::size_t>(channel)]);
    }
  }

  void store_sums() {
    auto& b = kernel_.builder();
    if (needs_.step.params.empty()) return;
    b.comment("parameter gradients of each batch row; a second kernel sums them over the batch");
    for (int channel = 0; channel < channels(); ++channel)
      kernel_.if_exists(channel, [&] {
        for (std::size_t p = 0; p < needs_.step.params.size(); ++p) {
          const Row& row = needs_.step.params[p];
          const int at = first_param_row(cell_, row.tensor) + row.row;
          b.store(workspace_.memory[kernel_.state_index(param_rows(cell_), at, channel)],
                  sums_[index(p, channel)]);
        }
      });
  }

  const BackwardSplit& split_;
  const BackwardNeeds& needs_;
  std::map<TensorId, int> inputs_, grad_out_, grad_in_;
  std::vector<int> before_;  // parallel to split_.histories
  int products_at_ = -1, lefts_at_ = -1;
  std::map<TensorId, KernelTensor> first_, grad_last_, grad_first_;
  std::map<std::pair<TensorId, int>, std::vector<Value>> first_values_;
  KernelTensor workspace_;
  std::vector<Value> sums_;
};

// Where a vector of all steps lies: an input, a saved state of the step before, or a scratch row.
TimeOperand operand(const step::Cell& cell, const BackwardSplit& split, NodeId id) {
  if (const auto row = split.vector_row.find(id); row != split.vector_row.end())
    return {{{Role::Scratch, kVectors}, row->second}, false, std::nullopt, 0};
  const Node& node = split.needs.step.graph.at(id);
  if (cell.tensors[static_cast<std::size_t>(node.tensor)].kind == TensorKind::Input)
    return {{{Role::Input, node.tensor}, node.row}, false, std::nullopt, 0};
  return {split.needs.history.at({node.tensor, node.row}), true, TensorRef{Role::InitialState, node.tensor},
          node.row};
}

// Copies no wider than the sweep's, which the plan's alignment stands for.
GemmParameters gemm_for(const Problem& problem, GemmUse use, int rows, const Parameters& sweep) {
  GemmParameters result = gemm_parameters(problem, use, rows);
  result.vector = std::min(result.vector, PersistentParameters::from(sweep).vector);
  return result;
}

void add_forward_products(const step::Cell& cell, const Problem& problem, const BackwardSplit& split,
                          const Parameters& parameters, KernelPlan& plan) {
  std::set<NodeId> made;
  const auto make_vector = [&](NodeId vector) {
    if (split.vector_row.count(vector) != 0 && made.insert(vector).second)
      plan.launches.push_back(time_vector(cell, problem, split, vector));
  };
  for (const ProductGroup& group : split.forward) {
    make_vector(group.vector);
    std::vector<TimeProduct> products;
    for (const Product& product : group.products)
      products.push_back({product.matrix,
                          product.row,
                          operand(cell, split, group.vector),
                          {{Role::Scratch, kProducts}, split.product_row.at(product.node)}});
    plan.launches.push_back(
        time_product(cell, problem, products, plan.scratch_rows,
                     gemm_for(problem, GemmUse::TimeProduct, static_cast<int>(products.size()), parameters)));
  }
  for (const step::MatrixGradient& matrix : split.needs.step.matrices) make_vector(matrix.right);
}

void add_matrix_gradients(const step::Cell& cell, const Problem& problem, const BackwardSplit& split,
                          const Parameters& parameters, KernelPlan& plan) {
  std::vector<MatrixTerm> terms;
  for (const step::MatrixGradient& matrix : split.needs.step.matrices)
    terms.push_back({matrix.tensor,
                     matrix.row,
                     {left_row(split, matrix.left), false, std::nullopt, 0},
                     operand(cell, split, matrix.right)});
  const GemmParameters gemm =
      gemm_for(problem, GemmUse::MatrixGradient, static_cast<int>(terms.size()), parameters);
  for (Launch& launch : matrix_gradients(cell, problem, terms, plan.scratch_rows, gemm))
    plan.launches.push_back(std::move(launch));
  plan.workspace_elements_fixed = matrix_gradient_workspace(cell, problem, terms, gemm);
}

}  // namespace

void persistent_backward(const step::Cell& cell, const Problem& problem, const Parameters& parameters,
                         KernelPlan& plan) {
  const BackwardSplit split = backward_split(cell);
  plan.scratch_rows = scratch_rows(split);
  add_forward_products(cell, problem, split, parameters, plan);
  plan.launches.push_back(SweepBuilder(cell, problem, PersistentParameters::from(parameters), split).build());
  for (Launch& launch : reduce_param_gradients(cell, problem)) plan.launches.push_back(std::move(launch));
  add_matrix_gradients(cell, problem, split, parameters, plan);
  plan.workspace_elements_per_batch = param_rows(cell) * problem.sizes.heads * problem.sizes.dim;
}

}  // namespace rondo::schedule
