#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "compiler/step/clip.h"
#include "compiler/step/simplify.h"
#include "compiler/support/index.h"
#include "tests/step/cell_builder.h"
#include "tests/step/random_cell.h"

namespace rondo::step::testing {
namespace {

// The same cell written differently: other numbering, labels, spans, name; commutative operands the other way
// round; duplicated and useless nodes.
Cell disguised(const Cell& cell, Random& random) {
  Cell result = cell;
  result.name = "another";
  result.path = "elsewhere.cell";
  result.source = cell.source + "# a comment";
  result.graph = {};
  std::vector<NodeId> renumbered(cell.graph.nodes.size(), kNoNode);
  std::vector<NodeId> waiting(cell.graph.nodes.size());
  for (std::size_t i = 0; i < waiting.size(); ++i) waiting[i] = static_cast<NodeId>(i);
  while (!waiting.empty()) {
    std::shuffle(waiting.begin(), waiting.end(), random);
    const auto ready = std::find_if(waiting.begin(), waiting.end(), [&](NodeId id) {
      const auto& operands = cell.graph.at(id).operands;
      return std::all_of(operands.begin(), operands.end(),
                         [&](NodeId operand) { return renumbered[at(operand)] != kNoNode; });
    });
    Node node = cell.graph.at(*ready);
    for (NodeId& operand : node.operands) operand = renumbered[at(operand)];
    if (node.kind == NodeKind::Scalar && scalar::info(node.op).commutative && random() % 2 == 0)
      std::swap(node.operands[0], node.operands[1]);
    node.label = std::to_string(random() % 100);
    node.span = {static_cast<int>(random() % 50), 1, 1};
    if (random() % 4 == 0) result.graph.add(node);
    renumbered[at(*ready)] = result.graph.add(node);
    waiting.erase(ready);
  }
  for (std::vector<Row>* rows : {&result.next, &result.outputs})
    for (Row& row : *rows) row.value = renumbered[at(row.value)];
  return result;
}

TEST(Canonical, HashSeesThroughDisguise) {
  for (int seed = 0; seed < random_cell_count(); ++seed) {
    const Cell cell = random_cell_of_seed(static_cast<std::uint64_t>(seed));
    Random random(static_cast<std::uint64_t>(seed) + 3000000);
    const Cell other = disguised(cell, random);
    ASSERT_EQ(canonical_text(cell), canonical_text(other)) << provenance(seed, cell);
    ASSERT_EQ(canonical_hash(cell), canonical_hash(other));
    ASSERT_EQ(canonical_hash(cell), canonical_hash(simplify(cell)));
  }
}

TEST(Canonical, HashIsASha256) {
  EXPECT_EQ(canonical_hash(lstm()).size(), 64U);
  EXPECT_NE(canonical_hash(lstm()), canonical_hash(mingru()));
}

TEST(Canonical, EveryRealChangeChangesTheHash) {
  const Cell original = simplify(normalised());
  const auto node_of = [](Cell& cell, NodeKind kind) -> Node& {
    return *std::find_if(cell.graph.nodes.begin(), cell.graph.nodes.end(),
                         [&](const Node& node) { return node.kind == kind; });
  };
  const std::vector<std::pair<const char*, std::function<void(Cell&)>>> changes{
      {"tensor name", [](Cell& cell) { cell.tensors[0].name += "u"; }},
      {"tensor kind", [](Cell& cell) { cell.tensors[0].kind = TensorKind::Param; }},
      {"tail",
       [](Cell& cell) {
         cell.tensors[0].tail = Tail::Scalar;
         cell.graph.nodes[0].extent = Extent::Scalar;
       }},
      {"leading extent", [](Cell& cell) { cell.tensors[0].lead = {1}; }},
      {"constant's name", [](Cell& cell) { cell.constants[0].name = "epsilon"; }},
      {"constant's default", [](Cell& cell) { cell.constants[0].value *= 1 + 1e-15; }},
      {"op",
       [](Cell& cell) {
         for (Node& node : cell.graph.nodes)
           if (node.op == scalar::Op::Rsqrt) node.op = scalar::Op::Recip;
       }},
      {"reduction", [&](Cell& cell) { node_of(cell, NodeKind::ReduceSum).kind = NodeKind::ReduceMax; }},
      {"leaf",
       [](Cell& cell) {
         for (Node& node : cell.graph.nodes)
           if (node.kind == NodeKind::Leaf) node.tensor = cell.next[0].tensor;
       }},
      {"next value", [](Cell& cell) { cell.next[0].value = 0; }},
      {"output value", [](Cell& cell) { cell.outputs[0].value = 0; }},
      {"another constant",
       [](Cell& cell) {
         cell.constants.push_back({"unused", 1, {}});
       }},
      {"clip of the gradient", [](Cell& cell) { cell.clip.gradient = 1; }},
      {"clip of the carries",
       [](Cell& cell) {
         cell = clipped(cell, {1.0, {}}).value();
       }},
      {"order of tensors", [](Cell& cell) { std::swap(cell.tensors[0].name, cell.tensors[1].name); }},
  };
  for (const auto& [what, change] : changes) {
    Cell changed = original;
    change(changed);
    EXPECT_NE(canonical_hash(changed), canonical_hash(original)) << what;
  }
}

TEST(Canonical, EveryClipIsAnotherCell) {
  const std::vector<Clip> clips{{}, {1.0, {}}, {2.0, {}}, {{}, 1.0}, {{}, 2.0}, {1.0, 1.0}, {1.0, 2.0}};
  for (const Cell& cell : {lstm(), mingru()}) {
    std::set<std::string> hashes;
    for (const Clip& clip : clips) {
      hashes.insert(canonical_hash(clipped(cell, clip).value()));
      EXPECT_EQ(canonical_hash(clipped(cell, clip).value()), canonical_hash(clipped(cell, clip).value()));
    }
    EXPECT_EQ(hashes.size(), clips.size()) << cell.name;
    EXPECT_EQ(hashes.count(canonical_hash(cell)), 1U) << "no clip is no change";
  }
}

TEST(Canonical, OperandOrderMattersWhereItDoes) {
  const auto cell_with = [](scalar::Op op, bool swapped) {
    CellBuilder b("c");
    const TensorId x = b.input("x"), h = b.state("h");
    const NodeId a = b.read(x).id, c = b.read(h).id;
    b.next(h, 0, {&b.graph(), b.graph().scalar(op, swapped ? std::vector{c, a} : std::vector{a, c})});
    return b.cell();
  };
  EXPECT_NE(canonical_hash(cell_with(scalar::Op::Sub, false)),
            canonical_hash(cell_with(scalar::Op::Sub, true)));
  EXPECT_EQ(canonical_hash(cell_with(scalar::Op::Mul, false)),
            canonical_hash(cell_with(scalar::Op::Mul, true)));
}

}  // namespace
}  // namespace rondo::step::testing
