// The canonical form of a cell. Two cells share a hash only if kernels made for one are right for the other,
// so names and order of tensors and constants (they are the kernel's arguments) belong to it, and names of
// values, spans, the cell's own name and the numbering of nodes do not. The graph is simplified, operands of
// commutative ops are ordered by the hash of what they compute, and nodes are numbered by a walk from the
// roots.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "compiler/step/ranges.h"
#include "compiler/step/simplify.h"
#include "compiler/step/step_ir.h"
#include "compiler/support/hash.h"

namespace rondo::step {

namespace {

// FNV-1a over words with a final avalanche (SplitMix64): only orders operands, identity is left to SHA-256 of
// the text.
class Mixer {
 public:
  Mixer& add(std::uint64_t word) {
    state_ = (state_ ^ word) * 0x9e3779b97f4a7c15ULL;
    state_ ^= state_ >> 29;
    state_ *= 0xbf58476d1ce4e5b9ULL;
    state_ ^= state_ >> 32;
    return *this;
  }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325ULL;
};

bool commutes(const Node& node) { return node.kind == NodeKind::Scalar && scalar::info(node.op).commutative; }

class CanonicalWriter {
 public:
  explicit CanonicalWriter(const Cell& cell) : cell_(cell) {
    for (const Node& node : cell_.graph.nodes) hashes_.push_back(hash(node));
  }

  std::string text() {
    std::string text = "rondo step 1\n";
    // An extent of its own, range and first value only where there is one, so that cells without keep their
    // hash. The value of an extent is that of its constant.
    for (const Tensor& tensor : cell_.tensors)
      text += fmt::format("tensor {} {} {} [{}]{}{}{}\n", static_cast<int>(tensor.kind), tensor.name,
                          static_cast<int>(tensor.tail), fmt::join(tensor.lead, ","),
                          tensor.outer ? fmt::format(" to {}", tensor.outer.const_index) : "",
                          tensor.inner ? fmt::format(" over {}", tensor.inner.const_index) : "",
                          declared_text(cell_, tensor));
    for (const NamedConstant& constant : cell_.constants)
      text += fmt::format("const {} {}\n", constant.name, constant.value);
    // Only where there is one, so that cells without keep their hash. The forward clip is in the graph.
    if (cell_.clip.gradient) text += fmt::format("clip gradient {}\n", *cell_.clip.gradient);
    if (cell_.direction == Direction::Reversed) text += "reversed\n";
    if (cell_.direction == Direction::Halves) text += "directions\n";
    const std::string roots = rows("next", cell_.next) + rows("output", cell_.outputs);
    return text + nodes_ + roots;
  }

 private:
  std::uint64_t hash(const Node& node) const {
    Mixer mixer;
    mixer.add(static_cast<std::uint64_t>(node.kind)).add(static_cast<std::uint64_t>(node.op));
    mixer.add(std::bit_cast<std::uint64_t>(node.value));
    for (const int field : {node.const_index, node.tensor, node.row})
      mixer.add(static_cast<std::uint64_t>(field));
    if (node.kind == NodeKind::Uniform) mixer.add(draw_stream(node));
    if (node.offset != 0) mixer.add(static_cast<std::uint64_t>(node.offset));
    std::vector<std::uint64_t> operands;
    for (const NodeId operand : node.operands) operands.push_back(hash_of(operand));
    if (commutes(node)) std::ranges::sort(operands);
    for (const std::uint64_t operand : operands) mixer.add(operand);
    return mixer.value();
  }

  std::string rows(const char* word, const std::vector<Row>& rows) {
    std::string text;
    for (const Row& row : rows) {
      walk(row.value);
      text += fmt::format("{} {} {} %{}\n", word, row.tensor, row.row, numbers_.at(row.value));
    }
    return text;
  }

  // Depth first with a stack of its own: graphs may be deep.
  void walk(NodeId root) {
    std::vector<std::pair<NodeId, bool>> stack{{root, false}};
    while (!stack.empty()) {
      const auto [id, operands_done] = stack.back();
      stack.pop_back();
      if (numbers_.count(id) != 0) continue;
      if (operands_done) {
        write(id);
        continue;
      }
      stack.emplace_back(id, true);
      const std::vector<NodeId> operands = ordered_operands(id);
      for (auto operand = operands.rbegin(); operand != operands.rend(); ++operand)
        stack.emplace_back(*operand, false);
    }
  }

  std::vector<NodeId> ordered_operands(NodeId id) const {
    const Node& node = cell_.graph.at(id);
    std::vector<NodeId> operands = node.operands;
    if (commutes(node))
      std::ranges::stable_sort(operands, [&](NodeId a, NodeId b) { return hash_of(a) < hash_of(b); });
    return operands;
  }

  void write(NodeId id) {
    const Node& node = cell_.graph.at(id);
    nodes_ += fmt::format("%{} = {}", numbers_.size(), static_cast<int>(node.kind));
    if (node.kind == NodeKind::Scalar) nodes_ += fmt::format(" {}", scalar::info(node.op).name);
    if (node.kind == NodeKind::Constant) nodes_ += fmt::format(" {}", node.value);
    if (node.kind == NodeKind::NamedConst) nodes_ += fmt::format(" {}", node.const_index);
    if (node.kind == NodeKind::Uniform) nodes_ += " " + node.draw;
    if (node.offset != 0) nodes_ += fmt::format(" by {}", node.offset);
    if (node.tensor >= 0) nodes_ += fmt::format(" {}[{}]", node.tensor, node.row);
    for (const NodeId operand : ordered_operands(id)) nodes_ += fmt::format(" %{}", numbers_.at(operand));
    nodes_ += '\n';
    numbers_.emplace(id, numbers_.size());
  }

  std::uint64_t hash_of(NodeId id) const { return hashes_[static_cast<std::size_t>(id)]; }

  const Cell& cell_;
  std::vector<std::uint64_t> hashes_;
  std::map<NodeId, std::size_t> numbers_;
  std::string nodes_;
};

}  // namespace

std::string canonical_text(const Cell& cell) {
  const Cell simplified = simplify(cell);
  return CanonicalWriter(simplified).text();
}

std::string canonical_hash(const Cell& cell) { return sha256_hex(canonical_text(cell)); }

}  // namespace rondo::step
