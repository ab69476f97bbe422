// Evaluates a StepIR graph for one batch element and head at a time, all channels of a node at once. Internal
// to the reference executor.
#pragma once

#include <vector>

#include "compiler/step/reference.h"

namespace rondo::step::detail {

// Which nodes the roots need, split into those that only depend on parameters and constants and the rest.
// Shared by all threads of a run; cell, graph and constants must outlive it.
struct Program {
  Program(const Cell& cell_of_graph, const Graph& evaluated, const Sizes& run_sizes,
          std::vector<double> constant_values, const std::vector<NodeId>& roots);

  const Cell& cell;
  const Graph& graph;
  Sizes sizes;
  std::vector<double> constants;
  std::vector<TensorId> inputs, params, states, outputs;
  std::vector<NodeId> once;  // per head
  std::vector<NodeId> each_step;
};

// Where the leaves of one (batch, step, head) are, by TensorId: the first row of the tensor's block.
template <class Real>
struct Sources {
  explicit Sources(std::size_t tensors) : leaf(tensors), output_gradient(tensors), next_gradient(tensors) {}
  std::vector<const Real*> leaf;             // inputs, parameters (matrices too), states before the step
  std::vector<const Real*> output_gradient;  // incoming gradients, in backward graphs
  std::vector<const Real*> next_gradient;
};

template <class Real>
class Interpreter {
 public:
  // round_product, round_vector: RunOptions.
  Interpreter(const Program& program, Real (*round_product)(Real), Real (*round_vector)(Real));

  // Evaluates the nodes of Program::once, then, for every step, those of Program::each_step.
  void run_once(const Sources<Real>& sources) { run(program_->once, sources); }
  void run_step(const Sources<Real>& sources) { run(program_->each_step, sources); }

  // The channels of a node, D numbers; all equal if it is a Scalar. Valid until the next run.
  const Real* value(NodeId id) const { return values_[static_cast<std::size_t>(id)]; }

 private:
  void run(const std::vector<NodeId>& nodes, const Sources<Real>& sources);
  void evaluate(NodeId id, const Node& node, const Sources<Real>& sources);
  void load(NodeId id, const Node& node, const Real* block, int row);
  void apply(const Node& node, Real* result) const;
  // The product's vector, rounded if vectors or products are.
  const Real* factor(const Node& node);
  void multiply(const Real* matrix, const Real* vector, Real* result) const;
  void multiply_transposed(const Real* matrix, const Real* vector, Real* result) const;
  void round(Real* numbers, Real (*rounding)(Real)) const;
  void fill(Real* result, Real number) const;
  const Real* operand(const Node& node, std::size_t i) const { return value(node.operands[i]); }

  const Program* program_;
  std::size_t dim_;
  Real (*round_product_)(Real);
  Real (*round_vector_)(Real);
  std::vector<Real> factor_;         // D numbers
  std::vector<Real> storage_;        // D numbers for every node evaluated
  std::vector<Real*> buffers_;       // by NodeId, into storage_
  std::vector<const Real*> values_;  // by NodeId: its buffer, or the tensor's memory itself
};

}  // namespace rondo::step::detail
