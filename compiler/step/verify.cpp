#include "compiler/step/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/step/declared.h"
#include "compiler/step/extents.h"
#include "compiler/support/index.h"

namespace rondo::step {

namespace {

using Defects = std::vector<std::string>;

bool holds(std::size_t size, int index) { return index >= 0 && static_cast<std::size_t>(index) < size; }

Extent extent_of_tail(Tail tail) { return tail == Tail::Scalar ? Extent::Scalar : Extent::Vector; }

class GraphVerifier {
 public:
  GraphVerifier(const Cell& cell, const Graph& graph, bool gradients_allowed, Defects& defects,
                bool reads_allowed = false)
      : cell_(cell),
        graph_(graph),
        gradients_allowed_(gradients_allowed),
        reads_allowed_(reads_allowed),
        defects_(defects) {}

  void run() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      id_ = static_cast<NodeId>(i);
      const Node& node = graph_.nodes[i];
      if (check_operands(node)) check_kind(node);
    }
    if (defects_.empty()) check_inner_extents();
  }

 private:
  template <class... Args>
  void report(fmt::format_string<Args...> format, Args&&... args) {
    defects_.push_back(fmt::format("node {}: ", id_) + fmt::format(format, std::forward<Args>(args)...));
  }

  static std::size_t operands_wanted(const Node& node) {
    switch (node.kind) {
      case NodeKind::Scalar: return static_cast<std::size_t>(scalar::info(node.op).arity);
      case NodeKind::ReduceSpread: return std::max<std::size_t>(node.operands.size(), 2);
      case NodeKind::ScatterSum: return 2;
      case NodeKind::MatVec:
      case NodeKind::MatTVec:
      case NodeKind::MaxPlus:
      case NodeKind::ArgMaxPlus:
      case NodeKind::ReduceSum:
      case NodeKind::ReduceMax:
      case NodeKind::Shift:
      case NodeKind::Rotate:
      case NodeKind::PrefixSum:
      case NodeKind::SuffixSum:
      case NodeKind::SumRows:
      case NodeKind::Uniform: return 1;
      case NodeKind::Constant:
      case NodeKind::NamedConst:
      case NodeKind::Leaf:
      case NodeKind::HeadSize:
      case NodeKind::StepIndex:
      case NodeKind::Gradient: break;
    }
    return 0;
  }

  bool check_operands(const Node& node) {
    if (reads_allowed_ && node.kind == NodeKind::MatVec && node.operands.empty()) return false;
    const std::size_t wanted = operands_wanted(node);
    if (node.operands.size() != wanted) {
      report("has {} operands, needs {}", node.operands.size(), wanted);
      return false;
    }
    for (const NodeId operand : node.operands) {
      if (operand >= 0 && operand < id_) continue;
      report("operand {} does not come before it", operand);
      return false;
    }
    return true;
  }

  void check_kind(const Node& node) {
    switch (node.kind) {
      case NodeKind::NamedConst:
        if (!holds(cell_.constants.size(), node.const_index))
          report("names constant {}, which is not declared", node.const_index);
        return expect(node, Extent::Scalar);
      case NodeKind::Constant:
      case NodeKind::HeadSize:
      case NodeKind::StepIndex:
      case NodeKind::ReduceSum:
      case NodeKind::ReduceMax:
      case NodeKind::ReduceSpread: return expect(node, Extent::Scalar);
      case NodeKind::Leaf: return check_leaf(node);
      case NodeKind::MatVec:
      case NodeKind::MatTVec:
      case NodeKind::MaxPlus:
      case NodeKind::ArgMaxPlus: return check_product(node);
      case NodeKind::ScatterSum: return check_scatter(node);
      case NodeKind::Gradient: return check_gradient(node);
      case NodeKind::Scalar: return check_scalar(node);
      case NodeKind::Uniform: return check_draw(node);
      case NodeKind::Shift:
      case NodeKind::Rotate:
      case NodeKind::PrefixSum:
      case NodeKind::SuffixSum: return expect(node, Extent::Vector);
      case NodeKind::SumRows: return expect(node, graph_.at(node.operands[0]).extent);
    }
  }

  // What has an extent of its own is multiplied by a matrix that has it, or is one of equals in what goes
  // from channel to channel, and nothing else.
  void check_inner_extents() {
    const std::vector<InnerExtent> inner = inner_extents(cell_, graph_);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      id_ = static_cast<NodeId>(i);
      const Node& node = graph_.nodes[i];
      for (const NodeId operand : node.operands) {
        if (graph_.at(operand).extent == Extent::Scalar) continue;
        const InnerExtent wanted = node.kind == NodeKind::Scalar    ? inner[i]
                                   : node.kind == NodeKind::MatVec  ? cell_.tensor(node.tensor).inner
                                   : node.kind == NodeKind::MatTVec ? cell_.tensor(node.tensor).outer
                                                                    : InnerExtent{};
        if (inner[at(operand)] != wanted) report("has operand {} of another extent", operand);
      }
      if (step::is_product(node) && node.kind != NodeKind::MatVec && node.kind != NodeKind::MatTVec &&
          node.tensor >= 0 && (cell_.tensor(node.tensor).inner || cell_.tensor(node.tensor).outer))
        report("is no sum of products, but its matrix has an extent of its own");
    }
  }

  void expect(const Node& node, Extent extent) {
    if (node.extent != extent)
      report("has the wrong extent, {} is meant", extent == Extent::Scalar ? "Scalar" : "Vector");
  }

  void check_scalar(const Node& node) {
    bool vector = false;
    for (const NodeId operand : node.operands) vector = vector || graph_.at(operand).extent == Extent::Vector;
    expect(node, vector ? Extent::Vector : Extent::Scalar);
  }

  void check_draw(const Node& node) {
    if (node.draw.empty()) report("is a draw without a name");
    const Node& seed = graph_.at(node.operands[0]);
    const bool known = seed.kind == NodeKind::Leaf && holds(cell_.tensors.size(), seed.tensor);
    if (!known || cell_.tensor(seed.tensor).kind != TensorKind::Param || seed.extent != Extent::Scalar)
      report("has a seed that is no parameter of one value a head");
    expect(node, Extent::Vector);
  }

  // The tensor named by a node, or nullptr after a report.
  const Tensor* tensor_row(TensorId id, int row) {
    if (!holds(cell_.tensors.size(), id)) {
      report("names tensor {}, which is not declared", id);
      return nullptr;
    }
    const Tensor& tensor = cell_.tensor(id);
    if (row < 0 || row >= tensor.rows) {
      report("row {} of {}, which has {} rows", row, tensor.name, tensor.rows);
      return nullptr;
    }
    return &tensor;
  }

  void check_leaf(const Node& node) {
    const Tensor* tensor = tensor_row(node.tensor, node.row);
    if (tensor == nullptr) return;
    if (tensor->kind == TensorKind::Output) report("reads the output {}", tensor->name);
    if (tensor->tail == Tail::Matrix)
      report("reads the matrix {} as a vector", tensor->name);
    else
      expect(node, extent_of_tail(tensor->tail));
  }

  void check_product(const Node& node) {
    const Tensor* tensor = tensor_row(node.tensor, node.row);
    if (tensor == nullptr) return;
    if (tensor->kind != TensorKind::Param || tensor->tail != Tail::Matrix)
      report("multiplies by {}, which is no matrix parameter", tensor->name);
    expect(node, Extent::Vector);
  }

  // Its second operand is read where a schedule has made it before.
  void check_scatter(const Node& node) {
    const Node& chosen = graph_.at(node.operands[1]);
    const bool read = reads_allowed_ && chosen.kind == NodeKind::MatVec && chosen.operands.empty();
    if (chosen.kind != NodeKind::ArgMaxPlus && !read) report("is scattered by what chooses no channels");
    expect(node, Extent::Vector);
  }

  void check_gradient(const Node& node) {
    if (!gradients_allowed_) return report("is an incoming gradient outside a backward step");
    const Tensor* tensor = tensor_row(node.gradient.tensor, node.gradient.row);
    if (tensor == nullptr) return;
    const TensorKind wanted =
        node.gradient.of == GradientRef::Of::Output ? TensorKind::Output : TensorKind::State;
    if (tensor->kind != wanted)
      report("is an incoming gradient of {}, which is of another kind", tensor->name);
    expect(node, extent_of_tail(tensor->tail));
  }

  const Cell& cell_;
  const Graph& graph_;
  bool gradients_allowed_;
  bool reads_allowed_;  // of values that something else made: products without an operand
  Defects& defects_;
  NodeId id_ = 0;
};

// The rows of a tensor by its leading extents; 0 where one is not positive or they give more than kMaxRows.
int rows_of(const std::vector<int>& lead) {
  int rows = 1;
  for (const int extent : lead) {
    if (extent < 1 || extent > kMaxRows / rows) return 0;
    rows *= extent;
  }
  return rows;
}

// A cell has one tensor of each kind of flags, of one number a row or step.
void check_flag(const Cell& cell, const Tensor& tensor, Defects& defects) {
  if (cell.of_kind(tensor.kind).size() > 1)
    defects.push_back(
        fmt::format("tensor {} is not the only one of {}s", tensor.name, tensor_kind_name(tensor.kind)));
  if (tensor.tail != Tail::Scalar || tensor.rows != 1)
    defects.push_back(fmt::format("tensor {} is of {}s, and has a head, rows or channels", tensor.name,
                                  tensor_kind_name(tensor.kind)));
}

void check_inner(const Cell& cell, const Tensor& tensor, Defects& defects) {
  const auto check = [&](const InnerExtent& extent, bool may) {
    if (extent == InnerExtent{}) return;
    if (!may || !holds(cell.constants.size(), extent.const_index) ||
        !is_extent(static_cast<double>(extent.size)))
      defects.push_back(fmt::format("tensor {} cannot have the extent {}", tensor.name, extent.size));
  };
  check(tensor.inner, tensor.tail != Tail::Scalar);
  check(tensor.outer, tensor.tail == Tail::Matrix);
}

void check_number(const Cell& cell, const Tensor& tensor, const DeclaredNumber& number, Defects& defects) {
  if (std::isnan(number.value) ||
      (number.const_index != -1 && !holds(cell.constants.size(), number.const_index)))
    defects.push_back(fmt::format("tensor {} declares what is no number", tensor.name));
}

void check_tensors(const Cell& cell, Defects& defects) {
  std::set<std::string> names, output_names;
  for (const Tensor& tensor : cell.tensors) {
    // `output h` publishes the state h: outputs have a name space of their own.
    auto& used = tensor.kind == TensorKind::Output ? output_names : names;
    if (tensor.name.empty()) defects.emplace_back("a tensor has no name");
    if (!used.insert(tensor.name).second)
      defects.push_back(fmt::format("tensor {} is declared twice", tensor.name));
    if (tensor.tail == Tail::Matrix && tensor.kind != TensorKind::Param)
      defects.push_back(fmt::format("tensor {} is a matrix but no parameter", tensor.name));
    if (is_flag(tensor.kind)) check_flag(cell, tensor, defects);
    check_inner(cell, tensor, defects);
    for (const DeclaredNumber& number : {tensor.first, tensor.range.value_or(DeclaredRange{}).low,
                                         tensor.range.value_or(DeclaredRange{}).high})
      check_number(cell, tensor, number, defects);
    const int rows = rows_of(tensor.lead);
    if (rows == 0)
      defects.push_back(
          fmt::format("tensor {} has leading extents below 1, or more than {} rows", tensor.name, kMaxRows));
    else if (rows != tensor.rows)
      defects.push_back(
          fmt::format("tensor {} has {} rows, its leading extents give {}", tensor.name, tensor.rows, rows));
  }
  for (const NamedConstant& constant : cell.constants)
    if (!names.insert(constant.name).second)
      defects.push_back(fmt::format("constant {} is declared twice", constant.name));
}

// Rows must name every row of every tensor of `kind`, in order, with a value that fits.
void check_rows(const Cell& cell, const Graph& graph, TensorKind kind, const std::vector<Row>& rows,
                const char* what, Defects& defects) {
  std::size_t k = 0;
  const std::vector<InnerExtent> inner =
      defects.empty() ? inner_extents(cell, graph) : std::vector<InnerExtent>();
  for (const TensorId id : cell.of_kind(kind)) {
    const Tensor& tensor = cell.tensor(id);
    if (tensor.tail == Tail::Matrix) continue;
    for (int row = 0; row < tensor.rows; ++row, ++k) {
      const std::string place = fmt::format("{} of {}[{}]", what, tensor.name, row);
      if (k >= rows.size() || rows[k].tensor != id || rows[k].row != row)
        return defects.push_back(place + " is missing or out of order");
      const NodeId value = rows[k].value;
      if (!holds(graph.nodes.size(), value))
        defects.push_back(fmt::format("{} is node {}, which does not exist", place, value));
      else if (tensor.tail == Tail::Scalar && graph.at(value).extent != Extent::Scalar)
        defects.push_back(place + " is a vector, the tensor is a scalar");
      else if (!inner.empty() && graph.at(value).extent == Extent::Vector && inner[at(value)] != tensor.inner)
        defects.push_back(place + " has another extent than the tensor");
    }
  }
  if (k != rows.size())
    defects.push_back(fmt::format("{}: {} rows, the tensors have {}", what, rows.size(), k));
}

// Whether the factors of a matrix's gradient have its extents; a number is as long as is wanted.
bool factors_fit(const Cell& cell, const Graph& graph, const MatrixGradient& matrix) {
  const std::vector<InnerExtent> inner = inner_extents(cell, graph);
  const auto fits = [&](NodeId factor, const InnerExtent& wanted) {
    return graph.at(factor).extent == Extent::Scalar || inner[at(factor)] == wanted;
  };
  const Tensor& tensor = cell.tensor(matrix.tensor);
  return fits(matrix.left, tensor.outer) && fits(matrix.right, tensor.inner);
}

bool same_node(const Node& a, const Node& b) {
  return a.kind == b.kind && a.op == b.op && a.extent == b.extent && a.operands == b.operands &&
         a.tensor == b.tensor && a.row == b.row && a.const_index == b.const_index && a.draw == b.draw &&
         a.offset == b.offset;
}

void check_prefix(const Cell& cell, const Graph& graph, NodeId forward_nodes, Defects& defects) {
  const Graph forward = values_only(cell.graph);
  if (static_cast<std::size_t>(forward_nodes) != forward.nodes.size() ||
      graph.nodes.size() < forward.nodes.size())
    return defects.push_back("the forward prefix has another length than the cell's graph");
  for (NodeId id = 0; id < forward_nodes; ++id)
    if (!same_node(forward.at(id), graph.at(id)))
      defects.push_back(fmt::format("node {} differs from the forward graph", id));
}

}  // namespace

std::vector<std::string> verify(const Cell& cell) {
  Defects defects;
  check_tensors(cell, defects);
  GraphVerifier(cell, cell.graph, false, defects).run();
  check_rows(cell, cell.graph, TensorKind::State, cell.next, "the next value", defects);
  check_rows(cell, cell.graph, TensorKind::Output, cell.outputs, "the value", defects);
  return defects;
}

std::vector<std::string> verify(const Cell& cell, const BackwardStep& step) {
  Defects defects;
  check_prefix(cell, step.graph, step.forward_nodes, defects);
  GraphVerifier(cell, step.graph, true, defects).run();
  check_rows(cell, step.graph, TensorKind::State, step.previous_states, "the gradient", defects);
  check_rows(cell, step.graph, TensorKind::Input, step.inputs, "the gradient", defects);
  check_rows(cell, step.graph, TensorKind::Param, step.params, "the gradient", defects);
  for (const MatrixGradient& matrix : step.matrices) {
    const bool known = holds(cell.tensors.size(), matrix.tensor) &&
                       cell.tensor(matrix.tensor).tail == Tail::Matrix &&
                       holds(static_cast<std::size_t>(cell.tensor(matrix.tensor).rows), matrix.row);
    if (!known)
      defects.push_back(
          fmt::format("a matrix gradient names row {} of tensor {}", matrix.row, matrix.tensor));
    if (!holds(step.graph.nodes.size(), matrix.left) || !holds(step.graph.nodes.size(), matrix.right))
      defects.emplace_back("a matrix gradient names a node that does not exist");
    else if (known && defects.empty() && !factors_fit(cell, step.graph, matrix))
      defects.push_back(
          fmt::format("a gradient of {} has a factor of another extent", cell.tensor(matrix.tensor).name));
  }
  return defects;
}

std::vector<std::string> verify(const Cell& cell, const JacobianStep& step) {
  Defects defects;
  check_prefix(cell, step.graph, step.forward_nodes, defects);
  GraphVerifier(cell, step.graph, false, defects).run();
  const std::size_t states = cell.next.size();
  if (static_cast<std::size_t>(step.states) != states || step.entries.size() != states * states)
    defects.emplace_back("the Jacobian has another size than the states");
  for (const NodeId entry : step.entries)
    if (entry != kNoNode && !holds(step.graph.nodes.size(), entry))
      defects.push_back(fmt::format("entry {} does not exist", entry));
  return defects;
}

std::vector<std::string> verify(const Cell& cell, const StepGraph& step) {
  Defects defects;
  GraphVerifier(cell, step.graph, true, defects, true).run();
  for (const NodeId root : step.roots)
    if (root != kNoNode && !holds(step.graph.nodes.size(), root))
      defects.push_back(fmt::format("a result is node {}, which does not exist", root));
  return defects;
}

}  // namespace rondo::step
