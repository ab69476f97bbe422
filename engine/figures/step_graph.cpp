#include "engine/figures/step_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "compiler/scalar/ops.h"
#include "compiler/support/units.h"
#include "engine/figures/layers.h"

namespace rondo::figures {
namespace {

using step::kNoNode;
using step::Node;
using step::NodeId;
using step::NodeKind;

constexpr double kBoxHeight = 24, kLayerHeight = 46, kGap = 14, kMargin = 8;
constexpr std::size_t kMostCharacters = 28;

struct Root {
  std::string name;  // "next h"
  NodeId node = kNoNode;
};

// What is drawn of a graph: its nodes from `begin` on that the roots need.
struct View {
  const step::Cell* cell;
  const step::Graph* graph;
  NodeId begin = 0;
  std::vector<Root> roots;
};

struct Box {
  std::string name;  // in the cell file; "" if none
  std::string text;  // "· + x[0]"
  std::string kind;  // its class
};

struct Drawing {
  std::vector<Box> boxes;
  LayeredGraph graph;
};

std::string row_name(const step::Cell& cell, step::TensorId id, int row) {
  const step::Tensor& tensor = cell.tensor(id);
  return tensor.lead.empty() ? tensor.name : fmt::format("{}[{}]", tensor.name, row);
}

bool is_state(const View& view, const Node& node) {
  return node.kind == NodeKind::Leaf && view.cell->tensor(node.tensor).kind == step::TensorKind::State;
}

// Nodes that stand within the boxes that read them.
bool is_inline(const View& view, NodeId id) {
  const Node& node = view.graph->at(id);
  switch (node.kind) {
    case NodeKind::Constant:
    case NodeKind::NamedConst:
    case NodeKind::HeadSize:
    case NodeKind::StepIndex: return true;
    case NodeKind::Leaf: return !is_state(view, node) || view.begin > 0;
    default: return id < view.begin;
  }
}

std::string inline_text(const View& view, NodeId id) {
  const Node& node = view.graph->at(id);
  switch (node.kind) {
    case NodeKind::Constant: return plain(node.value);
    case NodeKind::NamedConst: return view.cell->constants[static_cast<std::size_t>(node.const_index)].name;
    case NodeKind::HeadSize: return view.cell->dimension;
    case NodeKind::StepIndex: return "step";
    case NodeKind::Leaf: return row_name(*view.cell, node.tensor, node.row);
    default: return node.label.empty() ? fmt::format("%{}", id) : node.label;
  }
}

const char* infix(scalar::Op op) {
  switch (op) {
    case scalar::Op::Add: return "+";
    case scalar::Op::Sub: return "−";
    case scalar::Op::Mul: return "×";
    case scalar::Op::Div: return "÷";
    default: return nullptr;
  }
}

// The operands as text: what is inline by itself, and a dot for each of the others.
std::vector<std::string> operand_texts(const View& view, const Node& node) {
  std::vector<std::string> texts;
  for (const NodeId operand : node.operands)
    texts.push_back(is_inline(view, operand) ? inline_text(view, operand) : "·");
  return texts;
}

std::string applied(const std::string& function, const std::vector<std::string>& operands) {
  if (operands.empty()) return function;
  if (operands.size() == 1)
    return operands.front() == "·" ? function : fmt::format("{} {}", function, operands.front());
  std::string list;
  for (const std::string& operand : operands) list += (list.empty() ? "" : ", ") + operand;
  return fmt::format("{}({})", function, list);
}

std::string text_of(const View& view, NodeId id) {
  const Node& node = view.graph->at(id);
  const std::vector<std::string> operands = operand_texts(view, node);
  switch (node.kind) {
    case NodeKind::Scalar:
      if (const char* sign = infix(node.op); sign != nullptr && operands.size() == 2)
        return operands[0] == "·" && operands[1] == "·"
                   ? sign
                   : fmt::format("{} {} {}", operands[0], sign, operands[1]);
      return applied(std::string(scalar::info(node.op).name), operands);
    case NodeKind::MatVec:
    case NodeKind::MatTVec:
      return fmt::format("{}{} @ {}", row_name(*view.cell, node.tensor, node.row),
                         node.kind == NodeKind::MatTVec ? "ᵀ" : "",
                         operands.empty() ? "·" : operands.front());
    case NodeKind::MaxPlus:
    case NodeKind::ArgMaxPlus:
      return fmt::format("{}({}, {})", node.kind == NodeKind::MaxPlus ? "maxplus" : "argmaxplus",
                         row_name(*view.cell, node.tensor, node.row),
                         operands.empty() ? "·" : operands.front());
    case NodeKind::ScatterSum: return applied("scatter sum", operands);
    case NodeKind::ReduceSum: return applied("sum", operands);
    case NodeKind::ReduceMax: return applied("max over head", operands);
    case NodeKind::ReduceSpread: return applied("spread over head", operands);
    case NodeKind::Shift: return applied(fmt::format("shift by {} of", node.offset), operands);
    case NodeKind::Rotate: return applied(fmt::format("rotate by {} of", node.offset), operands);
    case NodeKind::PrefixSum: return applied("cumsum", operands);
    case NodeKind::SuffixSum: return applied("cumsum from last", operands);
    case NodeKind::SumRows: return applied("sum over rows", operands);
    case NodeKind::Uniform: return "uniform " + node.draw;
    case NodeKind::Gradient:
      return fmt::format("∂ {}{}", node.gradient.of == step::GradientRef::Of::Output ? "output " : "next ",
                         row_name(*view.cell, node.gradient.tensor, node.gradient.row));
    default: return inline_text(view, id);
  }
}

std::string kind_of(const View& view, const Node& node) {
  if (is_state(view, node) || node.kind == NodeKind::Gradient) return "state";
  if (step::is_product(node)) return "matrix";
  if (step::crosses_head(node)) return "reduction";
  return node.kind == NodeKind::Scalar && infix(node.op) == nullptr ? "function" : "plain";
}

double width_of(const Box& box) {
  return std::max(30.0, text_width(box.name.empty() ? box.text : box.name + " = " + box.text) + 14);
}

// Boxes of the roots' nodes and of all that these need, operands before their users, and below them one for
// each node that is a root.
Drawing drawing_of(const View& view) {
  std::vector<bool> needed(view.graph->nodes.size(), false);
  for (const Root& root : view.roots) needed[static_cast<std::size_t>(root.node)] = true;
  for (NodeId id = static_cast<NodeId>(view.graph->nodes.size()) - 1; id >= view.begin; --id)
    if (needed[static_cast<std::size_t>(id)])
      for (const NodeId operand : view.graph->at(id).operands)
        needed[static_cast<std::size_t>(operand)] = true;
  Drawing drawing;
  std::map<NodeId, std::size_t> box_of;
  const auto add = [&](Box box) {
    drawing.graph.widths.push_back(width_of(box));
    drawing.boxes.push_back(std::move(box));
    return drawing.boxes.size() - 1;
  };
  for (NodeId id = view.begin; id < static_cast<NodeId>(view.graph->nodes.size()); ++id) {
    if (!needed[static_cast<std::size_t>(id)] || is_inline(view, id)) continue;
    const Node& node = view.graph->at(id);
    const std::string text = shortened(text_of(view, id), kMostCharacters);
    const std::size_t box =
        add({text == node.label ? "" : shortened(node.label, 12), text, kind_of(view, node)});
    box_of[id] = box;
    for (const NodeId operand : node.operands)
      if (const auto from = box_of.find(operand); from != box_of.end())
        drawing.graph.edges.emplace_back(from->second, box);
  }
  std::map<NodeId, std::string> names;
  for (const Root& root : view.roots) names[root.node] += (names[root.node].empty() ? "" : ", ") + root.name;
  for (const auto& [node, name] : names) {
    const auto from = box_of.find(node);
    const std::string text =
        from == box_of.end() ? fmt::format("{} = {}", name, inline_text(view, node)) : name;
    const std::size_t box = add({"", shortened(text, kMostCharacters), "next"});
    drawing.graph.last.push_back(box);
    if (from != box_of.end()) drawing.graph.edges.emplace_back(from->second, box);
  }
  return drawing;
}

// From the bottom of one box through its places in the layers between to the top of the other.
std::string way_letters(const std::vector<Point>& points) {
  std::string letters = fmt::format("M{} {}", number(points[0].first), number(points[0].second));
  for (std::size_t i = 1; i < points.size(); ++i) {
    const double middle = (points[i - 1].second + points[i].second) / 2;
    letters += fmt::format("C{} {} {} {} {} {}", number(points[i - 1].first), number(middle),
                           number(points[i].first), number(middle), number(points[i].first),
                           number(points[i].second));
  }
  return letters;
}

Svg picture(const Drawing& drawing) {
  const LayeredPlaces places = places_of(drawing.graph, kGap);
  const double height =
      places.layers == 0 ? 0 : static_cast<double>(places.layers - 1) * kLayerHeight + kBoxHeight;
  Svg svg(places.width + 2 * kMargin, height + 2 * kMargin);
  const auto top = [](std::size_t layer) { return kMargin + static_cast<double>(layer) * kLayerHeight; };
  for (std::size_t i = 0; i < drawing.graph.edges.size(); ++i) {
    const auto [from, to] = drawing.graph.edges[i];
    std::vector<Point> points = {{places.x[from] + kMargin, top(places.layer[from]) + kBoxHeight}};
    for (std::size_t between = 0; between < places.ways[i].size(); ++between)
      points.emplace_back(places.ways[i][between] + kMargin,
                          top(places.layer[from] + 1 + between) + kBoxHeight / 2);
    points.emplace_back(places.x[to] + kMargin, top(places.layer[to]));
    svg.path(way_letters(points), "way");
  }
  for (std::size_t i = 0; i < drawing.boxes.size(); ++i) {
    const Box& box = drawing.boxes[i];
    const double width = drawing.graph.widths[i], x = places.x[i] + kMargin, y = top(places.layer[i]);
    svg.box({x - width / 2, y}, width, kBoxHeight, "node " + box.kind, "",
            box.kind == "state" || box.kind == "next" ? 12 : 4);
    svg.text({x, y + 16}, box.name.empty() ? box.text : box.name + " = " + box.text, Anchor::Middle);
  }
  return svg;
}

Figure figure_of(const View& view, const std::string& title, const std::string& about) {
  Figure figure;
  figure.title = title;
  figure.about = about;
  figure.fixed = true;
  const Drawing drawing = drawing_of(view);
  figure.table.head = {"value", "made of", "from"};
  std::vector<std::string> from(drawing.boxes.size());
  const auto called = [&](std::size_t box) {
    return drawing.boxes[box].name.empty() ? drawing.boxes[box].text : drawing.boxes[box].name;
  };
  for (const auto& [above, below] : drawing.graph.edges)
    from[below] += (from[below].empty() ? "" : "; ") + called(above);
  for (std::size_t i = 0; i < drawing.boxes.size(); ++i)
    figure.table.rows.push_back({drawing.boxes[i].name, drawing.boxes[i].text, from[i]});
  if (drawing.boxes.size() > kMostNodes)
    figure.about +=
        fmt::format(" It has {} boxes, too many for a picture: the table has them.", drawing.boxes.size());
  else
    figure.draw = [drawing](double) { return picture(drawing); };
  return figure;
}

void add_roots(const step::Cell& cell, const std::vector<step::Row>& rows, const std::string& word,
               std::vector<Root>& roots) {
  for (const step::Row& row : rows)
    if (row.value != kNoNode) roots.push_back({word + row_name(cell, row.tensor, row.row), row.value});
}

}  // namespace

Figure step_graph(const step::Cell& cell) {
  View view{&cell, &cell.graph, 0, {}};
  add_roots(cell, cell.next, "next ", view.roots);
  add_roots(cell, cell.outputs, "output ", view.roots);
  return figure_of(
      view, "One step of " + cell.name,
      "States before the step are at the top, and states after it and outputs at the bottom. Inputs, "
      "parameters and numbers stand in the boxes that read them; a dot stands for what comes from above.");
}

Figure backward_graph(const step::Cell& cell, const step::BackwardStep& step) {
  View view{&cell, &step.graph, step.forward_nodes, {}};
  add_roots(cell, step.previous_states, "∂ previous ", view.roots);
  add_roots(cell, step.inputs, "∂ ", view.roots);
  add_roots(cell, step.params, "∂ ", view.roots);
  return figure_of(
      view, "The backward step of " + cell.name,
      "The gradients that come in are at the top, and those that go out at the bottom. Values of the forward "
      "step stand in the boxes that read them, by name or by number; gradients of matrices, which are outer "
      "products of these over all steps, are left out.");
}

}  // namespace rondo::figures
