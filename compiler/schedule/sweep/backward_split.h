// Which part of a backward pass is computed in the sweep over time, and which in launches before and after
// it.
#pragma once

#include <map>
#include <vector>

#include "compiler/schedule/analysis/history.h"
#include "compiler/schedule/analysis/product_groups.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/schedule/rewrite/fewer_exchanges.h"

namespace rondo::schedule {

// The parts of a backward pass. Before the sweep, the products of the forward step are computed again for all
// steps at once, level by level (they need only the saved states), unless they were saved. So are their
// operands that are neither states nor inputs. The sweep reads these products and stores the left factors of
// the matrix gradients.
struct BackwardSplit {
  BackwardNeeds needs;
  step::Graph sweep;                      // the graph with the forward products cut off
  std::vector<step::NodeId> sweep_roots;  // carries, inputs, params (needs.step's order), then `lefts`
  std::vector<ProductGroup> forward;      // groups of products to make before the sweep, by level
  // Forward product -> where it lies: a row of scratch tensor kProducts, or saved; of a max-plus product also
  // the channels that it has chosen, a row of kChosen.
  std::map<step::NodeId, RowRef> products;
  std::map<step::NodeId, int> vector_row;  // vector that is no leaf -> row of kVectors
  std::vector<TensorRef> histories;        // saved states that the sweep reads
  // Left factors of matrix gradients that are no gradient of an input: row i of kLefts. The others are read
  // where the sweep stores them.
  std::vector<step::NodeId> lefts;
};
// Where a left factor lies.
RowRef left_row(const step::Cell& cell, const BackwardSplit& split, step::NodeId left);
inline constexpr int kProducts = 0, kVectors = 1,
                     kLefts = 2;  // scratch tensors of the backward pass; then those of tensor_ref.h
BackwardSplit backward_split(const Task& task);
// Tensors in which forward products lie that `roots` of the graph read, each once.
std::vector<TensorRef> products_read(const BackwardSplit& split, const step::Graph& graph,
                                     const std::vector<step::NodeId>& roots);
std::vector<int> scratch_rows(const BackwardSplit& split);

// The step of the sweep: graph and roots.
step::StepGraph sweep_graph(const Task& task);

// Who runs the steps of a sweep. One kernel for all: products of a level come together, and a launch after
// the sweep adds up the channels of gradients of inputs with one value a head. Launches for each step, or a
// block that walks over a whole head: a product is an exchange like a reduction, and such gradients are
// whole.
enum class Steps { OfOneKernel, OfLaunches, OfBlock };

// By root of a backward step: whether it is a gradient with one value a head that becomes a share of each
// channel (fewer_exchanges.h), because a later launch adds up the channels; of all parameters, and of inputs
// where `steps` says so.
std::vector<bool> shares_of_channels(const step::Cell& cell, const step::BackwardStep& step, Steps steps);

// The step of the sweep for a machine over which the head lies spread.
struct SpreadSweep : RewrittenStep {
  // Of a backward sweep of one kernel or of launches: reductions that wait for no carry. Nothing orders them
  // in time, and within the sweep each would be an exchange, or a launch. So one launch makes them for all
  // steps before it (backward/time_head_values.h), and `step` has, in the place of head_values[i], a product
  // without an operand: a value that is read from row i of scratch tensor kHeadValues. `whole` is the step
  // with all its reductions.
  step::StepGraph whole;
  std::vector<step::NodeId> head_values;
  // The row of such a value, or -1.
  int head_value_row(step::NodeId node) const;
};
// Rows of the scratch tensors, kHeadValues among them.
std::vector<int> scratch_rows(const BackwardSplit& split, const SpreadSweep& sweep);

// Where the step reduces over the head it is rewritten by fewer_exchanges(). The second gives the sweep of a
// split that is there already.
SpreadSweep spread_sweep(const Task& task, Steps steps = Steps::OfOneKernel);
SpreadSweep spread_sweep(const Task& task, const BackwardSplit& split, Steps steps = Steps::OfOneKernel);

// Counts that decide what a sweep needs of the chip.
struct SweepShape {
  std::vector<int> products;   // of each group
  bool max_plus = false;       // some are over max and plus
  std::vector<int> level;      // of each group
  std::vector<int> rows;       // of its level, as product_rows() has them
  std::vector<bool> of_input;  // by group: its vector is a row of an input
  int rows_multiplied = 0;     // staged rows of inputs of which the step reads nothing but such vectors
  std::vector<int> terms;      // of each sum
  std::vector<int> scatters;   // of these, those that read no matrix (ProductKind::Scatter)
  int product_count = 0;
  int levels = 0;
  int joined = 0;                 // sums as product_rows() has them, of all levels
  int rows_in = 0;                // staged rows
  int rows_out = 0;               // rows written at each step
  int wide_in = 0, wide_out = 0;  // of them, of fp32 where the storage type has 16 bits
  int summed_out = 0;             // of rows_out, those that are added up over rows of the batch
  int states = 0;                 // carried rows
  // The same of tensors with one value a head; gradients of such inputs, of which parts of a head have
  // shares.
  int head_values_in = 0, head_values_out = 0, head_value_states = 0, shares = 0;
  // That a launch before the sweep makes, in fp32, and those of them that are still read when the values that
  // are computed ahead of a step are there.
  int head_values_before = 0, head_values_late = 0;
  int param_rows = 0;           // vector and scalar parameter rows
  int handed = 0;               // values computed ahead of a step
  std::vector<int> reductions;  // of each stage: words that a part of the head contributes
  int sums = 0;                 // parameter gradients summed in registers
  bool draws = false;           // the step draws random numbers
};
SweepShape sweep_shape(const Task& task);

// Tensors of the cell, of one kind, that some of the nodes read.
std::vector<step::TensorId> tensors_read(const step::Cell& cell, const step::Graph& graph,
                                         const std::vector<step::NodeId>& roots, step::TensorKind kind);

}  // namespace rondo::schedule
