// StepIR graph -> KernelIR statements, for one channel held by one thread.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "compiler/kernel/builder/builder.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/step/step_ir.h"

namespace rondo::schedule {

// Gives the value of a Leaf or Gradient node, of one of its place (GraphLowering::draw), or of a product
// that stands for a value made elsewhere. Called once for each such node that is needed.
using LeafValue = std::function<kernel::Value(const step::Node&)>;

// Where a channel's value of its place stands: I32, of the whole problem, whatever the tiling.
struct DrawPlace {
  kernel::Value row, step, head, channel;
};

// Lowers elementwise graphs. What depends on numbers alone is a literal; what depends on parameters too is
// computed once, outside the time loop.
class GraphLowering {
 public:
  // `contract`: with fast math, x (1 - y) becomes a multiply-add.
  GraphLowering(kernel::Builder& builder, const Task& task, const step::Graph& graph,
                std::vector<step::NodeId> roots, bool contract = true);

  // Emits one channel's loop-invariant values where the builder stands now. `param` gives a parameter's
  // value.
  void hoist(int channel, const LeafValue& param);
  // What hoist() computes and the rest reads, but for constants.
  std::vector<step::NodeId> invariants_read() const;
  // Values of such nodes, in place of those that hoist() emitted for the channel.
  void set_hoisted(int channel, std::map<step::NodeId, kernel::Value> values) {
    hoisted_[channel] = std::move(values);
  }
  // Emits the rest for that channel; returns the values of the roots, in order. Call once for each step that
  // is emitted.
  std::vector<kernel::Value> lower(int channel, const LeafValue& leaf);

  // The same in parts: `values` collects what has been emitted for this channel and step. Call start() for an
  // empty one; between two calls of emit_roots the caller may set values of products itself.
  using Values = std::map<step::NodeId, kernel::Value>;
  Values start(int channel) const;
  std::vector<kernel::Value> emit_roots(Values& values, const std::vector<step::NodeId>& roots,
                                        const LeafValue& leaf) const;
  // Nodes that `roots` still need, ascending: neither among `values` nor needed by those alone.
  std::vector<step::NodeId> missing(const Values& values, const std::vector<step::NodeId>& roots) const;
  // Emits one missing node whose operands are there.
  void emit_node(Values& values, step::NodeId id, const LeafValue& leaf) const { emit(id, values, leaf); }
  // The nodes whose values emit_node() reads: the operands, but of x (1 - y) as a multiply-add x and y. A
  // caller whose registers change before a node is emitted has to keep these.
  std::vector<step::NodeId> read_by(step::NodeId id, const Values& values) const;

  // A root that hoist() has computed already; invalid if it changes from step to step.
  kernel::Value hoisted(int channel, step::NodeId root) const;

  // The value of a node of this graph that is one of its place: of a StepIndex, or of a Uniform, for the
  // thread's channel whose invariant values hoist() has emitted: the seed is one.
  kernel::Value draw(const step::Node& node, int channel, const DrawPlace& place) const;

  // Does any root depend on this leaf?
  bool uses(step::TensorId tensor, int row) const;

 private:
  bool emit(step::NodeId id, Values& values, const LeafValue& leaf) const;
  kernel::Value scalar(const step::Node& node, const Values& values) const;
  std::optional<step::NodeId> complement(step::NodeId id) const;
  // x (1 - y) that becomes a multiply-add.
  struct Contraction {
    step::NodeId x, y;
  };
  std::optional<Contraction> contraction(const step::Node& node, const Values& values) const;
  void leave_to_builder();
  // Whether the node is an operation that the kernel makes: none of numbers alone.
  bool is_computed(step::NodeId id) const;
  bool worth_a_name(step::NodeId id) const;

  kernel::Builder& builder_;
  const Task& task_;
  const step::Graph& graph_;
  std::vector<step::NodeId> roots_;
  bool contract_;
  std::vector<std::optional<double>> numbers_;  // by node: step::folded_numbers
  std::vector<step::NodeId> needed_;
  std::vector<int> uses_;        // by node: users among the needed nodes and roots
  std::vector<int> depth_;       // by node: nesting of the expression if written inline
  std::vector<bool> invariant_;  // by node: depends on parameters and constants only
  std::map<int, std::map<step::NodeId, kernel::Value>> hoisted_;  // by channel of the thread
};

}  // namespace rondo::schedule
