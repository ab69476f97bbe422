// Evaluates a StepIR graph for one batch element and head at a time, all channels of a node at once; several
// runs over the same matrices together. Internal to the reference executor.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "compiler/step/reference/executor.h"
#include "compiler/step/reference/noise.h"

namespace rondo::step::detail {

// Which nodes the roots need, split into those that only depend on parameters and constants and the rest.
// Shared by all threads of a run; cell and graph must outlive it.
struct Program {
  Program(const Cell& cell_of_graph, const Graph& evaluated, const Sizes& run_sizes,
          const std::vector<double>& constant_values, const std::vector<NodeId>& roots);

  const Cell& cell;
  const Graph& graph;
  Sizes sizes;
  std::vector<std::optional<double>> numbers;  // by node: folded_numbers
  std::vector<std::size_t> channels;           // by node: D, or an extent of its own
  std::size_t widest;  // of these, and of what a number may stand for: any tensor's rows
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
  // In the batch, in time, among the heads: draws follow them, and the head tells the matrices.
  std::int64_t row = 0, step = 0, head = 0;
};

template <class Real>
class Interpreter {
 public:
  // `options`, which name the matrices, and `sources` outlive the interpreter.
  Interpreter(const Program& program, const RunOptions<Real>& options, const Sources<Real>& sources);

  // The errors of a perturbed run: begun by the caller for each item of work, before run_once.
  Noise& noise() { return noise_; }

  // The channels of a node, D numbers or those of its extent; all equal if it is a Scalar, and as many as the
  // widest node has. Valid until the next run.
  const Real* value(NodeId id) const { return values_[static_cast<std::size_t>(id)]; }

 private:
  template <class>
  friend class Together;
  // Evaluates a node that is no product of a matrix, with its errors.
  void run(NodeId id);
  void evaluate(NodeId id, const Node& node);
  void load(NodeId id, const Node& node, const Real* block, int row);
  void apply(NodeId id, const Node& node, Real* result) const;
  void draw(const Node& node, Real* result) const;
  Real spread(const Node& node) const;
  void move_along(const Node& node, Real* result) const;
  void sum_along(const Real* values, std::size_t first, std::ptrdiff_t way, Real* result) const;
  void scatter(const Real* values, const Real* chosen, Real* result) const;
  // Adds to a node's value the errors that a kernel may make.
  void perturb(NodeId id, const Node& node);
  void perturb_scalar(NodeId id, const Node& node);
  void perturb_product(NodeId id, const Node& node);
  void perturb_max_plus(NodeId id);
  void perturb_scatter(NodeId id, const Node& node);
  void store_product(NodeId id);
  // The product's vector, rounded if vectors or products are, with its errors in a perturbed run.
  const Real* factor(NodeId id, const Node& node);
  void round(Real* numbers, std::size_t count, Real (*rounding)(Real)) const;
  void fill(Real* result, Real number) const;
  const Real* operand(const Node& node, std::size_t i) const { return value(node.operands[i]); }
  std::size_t channels(NodeId id) const { return program_->channels[static_cast<std::size_t>(id)]; }
  // Of the vector that a product multiplies.
  std::size_t factor_channels(const Node& node) const;

  const Program* program_;
  std::size_t dim_;
  const RunOptions<Real>& options_;
  const Sources<Real>& sources_;
  Noise noise_;
  std::vector<const typename Matrices<Real>::Tensor*> matrices_;  // by TensorId
  std::vector<Real> factor_;                                      // of the widest node
  std::vector<double> largest_;                                   // the same, of operands
  std::vector<Real> storage_;                                     // the same for every node evaluated
  std::vector<Real*> buffers_;                                    // by NodeId, into storage_
  std::vector<const Real*> values_;  // by NodeId: its buffer, or the tensor's memory itself
};

// Interpreters of one program for runs that read the same matrices. They go from node to node together, so
// that a product reads its matrix once for all of them.
template <class Real>
class Together {
 public:
  // At least one; they outlive this.
  explicit Together(std::vector<Interpreter<Real>*> all)
      : all_(std::move(all)), vectors_(all_.size()), results_(all_.size()) {}
  // Evaluates the nodes of Program::once, then, for every step, those of Program::each_step. The sources of
  // all are of the same head.
  void run_once() { run(program().once); }
  void run_step() { run(program().each_step); }

 private:
  const Program& program() const { return *all_.front()->program_; }
  void run(const std::vector<NodeId>& nodes);
  void multiply_matrix(NodeId id, const Node& node);

  std::vector<Interpreter<Real>*> all_;
  std::vector<const Real*> vectors_;
  std::vector<Real*> results_;
};

// Those of lanes: what holds one of several runs.
template <class Real, class Lanes>
std::vector<Interpreter<Real>*> interpreters_of(Lanes& lanes) {
  std::vector<Interpreter<Real>*> all;
  for (auto& lane : lanes) all.push_back(&lane.interpreter());
  return all;
}

}  // namespace rondo::step::detail
