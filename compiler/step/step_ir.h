// StepIR: one step of a recurrence as a pure dataflow graph over hidden vectors.
//
// The frontend unrolls leading constant extents, so every value of the graph is either one value a head
// (Scalar) or one value a channel of the head (Vector, extent D). A tensor `x[4, D]` is four rows; the node
// Leaf{x, 2} is its third. Nodes are numbered in creation order, operands always before their users: the node
// list is a topological order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/scalar/ops.h"

namespace rondo::step {

// Where in the cell file something was written; 1-based, columns in characters. line 0: made by a pass.
struct Span {
  int line = 0;
  int column = 0;
  int length = 1;
};

using NodeId = std::int32_t;
inline constexpr NodeId kNoNode = -1;

enum class Extent { Scalar, Vector };

// What a declared tensor is for. Memory layouts, row-major, innermost last (H heads are implicit in the
// text):
//   Input  [B, T, H, rows, D]   Param vector [H, rows, D], matrix [H, rows, D(out), D(in)], scalar [H, rows]
//   An extent of the cell's own (InnerExtent) may stand in the place of any D.
//   State  [B, H, rows, D] as initial and last state, [B, T, H, rows, D] as saved history
//   Output [B, T, H, rows, D]
//   Reset  [B, T], bytes          Length [B], 32-bit integers
// A Scalar tensor has no D axis. No cell file declares a Reset or a Length: forms.h adds them. Their leaves
// are 1 or 0, the same for all heads and channels, and take no gradient: whether the byte of this step is
// set, and whether this step is one of the first `length` of its row.
enum class TensorKind { Input, Param, State, Output, Reset, Length };
// "input", "param", "state", "output" as a cell declares them, "reset", "length".
const char* tensor_kind_name(TensorKind kind);
inline bool is_flag(TensorKind kind) { return kind == TensorKind::Reset || kind == TensorKind::Length; }
enum class Tail { Scalar, Vector, Matrix };  // declared as x[k], x[k, D], x[k, D, D]; Matrix only for Param

inline constexpr int kMaxRows = 256;  // of one tensor

// A number in a declaration: a literal, or a constant of the cell, which a caller may override.
struct DeclaredNumber {
  double value = 0;  // of a literal, sign included
  int const_index = -1;
  bool negated = false;  // of a constant
  bool is_zero() const { return const_index < 0 && value == 0; }
  friend bool operator==(const DeclaredNumber&, const DeclaredNumber&) = default;
};

// The range of a tensor's numbers, as declared (ranges.h).
struct DeclaredRange {
  DeclaredNumber low, high;
  bool low_closed = false, high_closed = false;
  friend bool operator==(const DeclaredRange&, const DeclaredRange&) = default;
};

// An extent of the cell's own in the place of D (extents.h).
struct InnerExtent {
  int const_index = -1;   // the constant that names it, whose value it is; -1: it is D
  std::int64_t size = 0;  // that value
  explicit operator bool() const { return const_index >= 0; }
  friend bool operator==(const InnerExtent&, const InnerExtent&) = default;
};

struct Tensor {
  TensorKind kind = TensorKind::Input;
  std::string name;
  Tail tail = Tail::Vector;
  std::vector<int> lead;  // leading constant extents as declared, e.g. {4}; empty for x[D]
  int rows = 1;           // product of lead
  Span span;
  std::optional<DeclaredRange> range = {};
  DeclaredNumber first = {};  // State: what it begins with where the caller gives nothing
  InnerExtent inner = {};     // of a vector's channels, or of a matrix's input channels
  InnerExtent outer = {};     // of a matrix's output channels
  // Output: the caller's tensor is the sum of what rows of the walk's batch write. Input: so is its gradient,
  // and the input itself they share. Schedules make such (schedule/flatten/flattened_cell.h); no cell file
  // has one.
  bool summed = false;
};
using TensorId = int;  // index into Cell::tensors

enum class NodeKind {
  Constant,    // value
  NamedConst,  // a `const` of the cell that a caller may override: const_index
  Leaf,    // one row of an input, of a vector or scalar parameter, or of a state before the step: tensor, row
  Scalar,  // op over operands; a Scalar operand broadcasts along the head
  MatVec,  // operands[0] contracted with row `row` of matrix parameter `tensor`: y_i = sum_j R_ij v_j
  MatTVec,       // the same with the transpose: y_j = sum_i R_ij v_i (made by the backward pass)
  ReduceSum,     // sum over the channels of the head; Vector -> Scalar
  ReduceMax,     // maximum over the channels of the head; Vector -> Scalar. (mean is ReduceSum / D, see
                 // HeadSize)
  ReduceSpread,  // sum over the channels of the head, and over operands[1] and those after it, of the squared
                 // distance from the mean of them all; operands[0] is the ReduceSum of them all. Vectors ->
                 // Scalar. Schedules make it (schedule/rewrite/fewer_exchanges.h); no cell has it.
  HeadSize,      // D as a number
  Gradient,      // in a backward graph: the incoming gradient named by `gradient` (see GradientRef)
  Uniform,  // the draw named `draw`, in [0, 1), of every channel at this step (scalar/philox.h); operands[0]
            // is the seed, a Scalar. It is a function of its place, so a backward graph draws it again.
  StepIndex,   // how many steps the walk has made before this one; Scalar
  Shift,       // channel d has operands[0] of channel d - offset, 0 where the head has no such channel
  Rotate,      // the same, around the head: of channel (d - offset) mod D
  PrefixSum,   // channel d has the sum of operands[0] over the channels 0 to d of the head
  SuffixSum,   // channel d has the sum of operands[0] over the channels d to D - 1 (made by derivatives)
  SumRows,     // sum of operands[0] over the threads that a channel's rows are dealt to. Schedules make it
               // (schedule/rewrite/deal_rows.h); no cell has it.
  MaxPlus,     // MatVec over the semiring of max and plus: y_i = max_j (R_ij + v_j)
  ArgMaxPlus,  // the number of the first channel j that attains it, as a number (made by derivatives)
  ScatterSum,  // y_j = sum of operands[0] over the channels i whose operands[1] is j: the transpose of
               // choosing v_j for each i by an ArgMaxPlus, which operands[1] is (made by derivatives)
};

// An incoming gradient of the backward step.
struct GradientRef {
  enum class Of {
    Output,
    NextState
  } of = Of::Output;  // of an output row at this step, or of a state row after the step
  TensorId tensor = -1;
  int row = 0;
};

struct Node {
  NodeKind kind = NodeKind::Constant;
  scalar::Op op = scalar::Op::Add;  // NodeKind::Scalar
  Extent extent = Extent::Vector;
  std::vector<NodeId> operands;
  double value = 0;      // Constant
  int const_index = -1;  // NamedConst
  TensorId tensor = -1;  // Leaf, products with a matrix
  int row = 0;           // Leaf, products with a matrix
  GradientRef gradient;  // Gradient
  std::string draw;      // Uniform
  int offset = 0;        // Shift, Rotate: in channels, may be negative
  std::string label;     // the name it has in the cell file, "" if none; used in emitted code
  Span span;
};

// The number of a Uniform node's name among the streams of the generator (scalar/philox.h).
std::uint32_t draw_stream(const Node& node);

// What is a function of its place alone: of batch row, step, head and channel.
inline bool is_of_place(const Node& node) {
  return node.kind == NodeKind::Uniform || node.kind == NodeKind::StepIndex;
}

// A reduction over the channels of the head.
inline bool is_reduction(const Node& node) {
  return node.kind == NodeKind::ReduceSum || node.kind == NodeKind::ReduceMax ||
         node.kind == NodeKind::ReduceSpread;
}

// What gives each channel a value of other channels of the head, in their order.
inline bool is_along_head(const Node& node) {
  return node.kind == NodeKind::Shift || node.kind == NodeKind::Rotate || node.kind == NodeKind::PrefixSum ||
         node.kind == NodeKind::SuffixSum;
}
// What gives each channel a value of all channels of its vector, operands[0]: products with matrices of
// either semiring, and the sum that has chosen channels in place of a matrix.
inline bool is_product(const Node& node) {
  return node.kind == NodeKind::MatVec || node.kind == NodeKind::MatTVec || node.kind == NodeKind::MaxPlus ||
         node.kind == NodeKind::ArgMaxPlus || node.kind == NodeKind::ScatterSum;
}
// Of those the ones that read a matrix.
inline bool reads_matrix(const Node& node) { return is_product(node) && node.kind != NodeKind::ScatterSum; }

// What every channel waits for others of the head with, beside products.
inline bool crosses_head(const Node& node) { return is_reduction(node) || is_along_head(node); }

// Extents: a Vector has D channels, or those of an extent of the cell's own (extents.h), and elementwise
// operands have the same. An operand that is a Scalar stands for a vector of equal channels wherever a Vector
// is wanted, in operands as in the rows of next states, outputs and gradients; the simplifier makes such,
// e.g. when a vector folds to a constant.

// A pure graph. Append only; makers deduplicate nothing (the simplifier does).
struct Graph {
  std::vector<Node> nodes;

  // Appends `node`. Its extent is set here where the kind and the operands determine it (all but Leaf and
  // Gradient).
  NodeId add(Node node);
  NodeId constant(double value);
  NodeId named_constant(int const_index);
  NodeId leaf(TensorId tensor, int row, Extent extent);
  NodeId scalar(scalar::Op op, std::vector<NodeId> operands);  // extent: Vector if any operand is
  NodeId matvec(TensorId matrix, int row, NodeId vector);
  NodeId mat_t_vec(TensorId matrix, int row, NodeId vector);
  NodeId max_plus(TensorId matrix, int row, NodeId vector);
  NodeId arg_max_plus(TensorId matrix, int row, NodeId vector);
  NodeId scatter_sum(NodeId vector, NodeId chosen);
  NodeId reduce_sum(NodeId vector);
  NodeId reduce_max(NodeId vector);
  NodeId head_size();
  NodeId gradient(GradientRef ref, Extent extent);
  NodeId uniform(const std::string& draw, NodeId seed);
  NodeId step_index();
  NodeId sum_rows(NodeId of_thread);
  NodeId along_head(NodeKind kind, NodeId vector, int offset = 0);  // of the kinds of is_along_head
  const Node& at(NodeId id) const { return nodes[static_cast<std::size_t>(id)]; }
};

// A graph and what is wanted of it: a forward step's next states and outputs, a backward step's gradients.
struct StepGraph {
  Graph graph;
  std::vector<NodeId> roots;
};

struct NamedConstant {
  std::string name;
  double value = 0;  // the default; callers override by name
  Span span;
};

// The value a tensor row takes after the step: next state rows and output rows.
struct Row {
  TensorId tensor = -1;
  int row = 0;
  NodeId value = kNoNode;
};

// Bounds on what the recurrence carries (clip.h), beyond what the text says. Part of the cell: kernels of one
// clipping are wrong for another.
struct Clip {
  std::optional<double> forward;   // already part of the graph; kept for messages
  std::optional<double> gradient;  // backward_step() applies it
  bool any() const { return forward || gradient; }
};

// Which way the heads walk over time (forms.h).
enum class Direction : std::uint8_t {
  Forward,   // all from the first step to the last
  Reversed,  // all from the last step to the first
  Halves,    // the first half of the heads forward, the second half reversed
};

// A typed, checked cell.
struct Cell {
  std::string name;
  std::string dimension = "D";  // the name the file gives the head dimension
  std::string source;           // text of the file
  std::string path;             // where it came from, for messages
  std::vector<Tensor> tensors;
  std::vector<NamedConstant> constants;
  Graph graph;
  std::vector<Row> next;     // one for every row of every State, in tensor then row order
  std::vector<Row> outputs;  // one for every row of every Output, in tensor then row order
  Clip clip;
  Direction direction = Direction::Forward;
  bool has_tangents = false;  // it is a tangent cell (tangent.h); for messages, the graph says it all

  const Tensor& tensor(TensorId id) const { return tensors[static_cast<std::size_t>(id)]; }
  // Whether head `head` of `heads` walks from the last step to the first.
  bool walks_back(std::int64_t head, std::int64_t heads) const {
    return direction == Direction::Reversed || (direction == Direction::Halves && head >= heads / 2);
  }
  bool is_head_value(TensorId id) const { return tensor(id).tail == Tail::Scalar; }  // one value a head
  std::vector<TensorId> of_kind(TensorKind kind) const;
  std::optional<TensorId> find(const std::string& name) const;
  std::optional<TensorId> first_of_kind(TensorKind kind) const;
  // The parameter whose bits the draws of the graph follow: one value a head, whose gradient is zero.
  std::optional<TensorId> seed() const;
  // If output row `output` is the same node as a next-state row, that state (its history need not be stored
  // twice).
  std::optional<Row> state_behind(const Row& output) const;
};

// Canonical text of the cell's meaning (names of values, comments and layout of the file do not matter;
// tensor names, defaults of constants, structure and clipping do), and its SHA-256: the key of the database.
std::string canonical_text(const Cell& cell);
std::string canonical_hash(const Cell& cell);

// Every defect found, in plain words; empty if the cell is well formed (operands before users, extents, every
// state advanced, tensors in range ...). Passes are checked with it on entry and exit in tests.
std::vector<std::string> verify(const Cell& cell);

// One line a node, for `rondo emit --stage step` and golden files.
std::string print(const Cell& cell);
// The same of a graph over the cell's tensors, with what is wanted of it as results in order.
std::string print(const Cell& cell, const StepGraph& step);

}  // namespace rondo::step
