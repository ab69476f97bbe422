// The graph under construction by the simplifier: makers that fold, apply identities and share equal nodes as
// they go.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/step/step_ir.h"

namespace rondo::step {

// Identities hold for every float but for the sign of a zero. In `derivative` mode a product with the
// constant 0 is 0 whatever the other factor, since the term is structurally zero, and factors move into a
// select that is 0 elsewhere.
class Rewriter {
 public:
  explicit Rewriter(bool derivative) : derivative_(derivative) {}

  Graph& graph() { return graph_; }
  // The simplest node that equals `node`, whose operands are ids of this graph.
  NodeId make(const Node& node);
  // Appends `node` unchanged; returns the first node equal to it (itself, if there is none).
  NodeId keep(const Node& node);

 private:
  struct Key {
    int kind, op, const_index, tensor, row, gradient_of, extent, offset;
    std::uint64_t value_bits;
    std::vector<NodeId> operands;
    std::string draw;
    // clang-tidy 14 takes the comparison that the compiler writes for a null pointer.
    auto operator<=>(const Key&) const = default;  // NOLINT(modernize-use-nullptr)
  };

  Key key_of(const Node& node) const;
  NodeId share(Node node);

  NodeId constant(double value);
  NodeId scalar(scalar::Op op, std::vector<NodeId> operands);
  std::optional<NodeId> identity(scalar::Op op, const std::vector<NodeId>& operands);
  std::optional<NodeId> fold_constants(scalar::Op op, const std::vector<NodeId>& operands);
  std::optional<NodeId> add(NodeId a, NodeId b);
  std::optional<NodeId> sub(NodeId a, NodeId b);
  std::optional<NodeId> mul(NodeId a, NodeId b);
  std::optional<NodeId> mul_by(NodeId factor, NodeId other);
  std::optional<NodeId> div(NodeId a, NodeId b);
  std::optional<NodeId> neg(NodeId a);
  std::optional<NodeId> fma(NodeId a, NodeId b, NodeId c);
  std::optional<NodeId> select(NodeId condition, NodeId a, NodeId b);
  std::optional<NodeId> pow(NodeId base, NodeId exponent);
  std::optional<NodeId> with_gradient(NodeId value, NodeId smooth);
  std::optional<NodeId> merge_selects(NodeId a, NodeId b);
  std::optional<NodeId> logic(scalar::Op op, NodeId a, NodeId b);
  NodeId head_wide(const Node& node);
  NodeId along_head(const Node& node);

  bool is(NodeId id, scalar::Op op) const;
  bool is_constant(NodeId id) const;
  bool is_number(NodeId id, double value) const;
  bool is_finite(NodeId id) const;
  bool is_truth(NodeId id) const;
  NodeId operand(NodeId id, std::size_t index) const { return graph_.at(id).operands[index]; }

  bool derivative_;
  Graph graph_;
  std::map<Key, NodeId> known_;
};

}  // namespace rondo::step
