// What must hold for every cell, on random ones: simplified graphs compute the same, Jacobians are
// derivatives, the structure covers every dependence that can be measured, the verifier accepts what passes
// make.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "compiler/step/simplify.h"
#include "compiler/step/structure.h"
#include "compiler/step/verify.h"
#include "compiler/support/index.h"
#include "tests/step/cell_runs.h"
#include "tests/step/central_difference.h"
#include "tests/step/random_cell.h"

namespace rondo::step::testing {
namespace {

constexpr Sizes kOneStep{1, 1, 1, 4};
const RunOptions<double> kOneThread{1, false, nullptr};

template <class Body>
void for_each_cell(const Body& body) {
  for (int seed = 0; seed < random_cell_count(); ++seed) {
    const Cell cell = random_cell_of_seed(static_cast<std::uint64_t>(seed));
    Random random(static_cast<std::uint64_t>(seed) + 2000000);
    body(cell, random, static_cast<std::uint64_t>(seed));
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(RandomCells, SimplifiedCellsComputeTheSame) {
  std::size_t before = 0, after = 0;
  for_each_cell([&](const Cell& cell, Random& random, std::uint64_t seed) {
    const Cell simplified = simplify(cell);
    ASSERT_TRUE(verify(simplified).empty()) << verify(simplified).front() << provenance(seed, cell);
    const ForwardArguments<double> arguments = random_arguments(cell, kOneStep, random);
    const auto original = run_forward(cell, kOneStep, arguments, kOneThread);
    const auto result = run_forward(simplified, kOneStep, arguments, kOneThread);
    // One step of a few tens of nodes: only constants folded with other roundings may differ.
    EXPECT_LE(largest_difference(result->outputs, original->outputs), 1e-13) << provenance(seed, cell);
    EXPECT_LE(largest_difference(result->last_states, original->last_states), 1e-13)
        << provenance(seed, cell);
    // Simplifying again finds little: never more nodes, and the same values.
    EXPECT_LE(simplify(simplified).graph.nodes.size(), simplified.graph.nodes.size());
    before += cell.graph.nodes.size();
    after += simplified.graph.nodes.size();
  });
  EXPECT_LT(after, before);
}

TEST(RandomCells, DerivedStepsAreWellFormed) {
  for_each_cell([&](const Cell& original, Random&, std::uint64_t seed) {
    for (const Cell& cell : {original, simplify(original)}) {
      const BackwardStep backward = backward_step(cell);
      const auto defects = verify(cell, backward);
      ASSERT_TRUE(defects.empty()) << defects.front() << provenance(seed, cell);
      for (std::size_t id = at(backward.forward_nodes); id < backward.graph.nodes.size(); ++id) {
        const Node& node = backward.graph.nodes[id];
        // No term that is structurally zero is left in a sum or a product.
        if (node.kind != NodeKind::Scalar || (node.op != scalar::Op::Add && node.op != scalar::Op::Mul))
          continue;
        for (const NodeId operand : node.operands) {
          const Node& constant = backward.graph.at(operand);
          EXPECT_FALSE(constant.kind == NodeKind::Constant && constant.value == 0) << provenance(seed, cell);
        }
      }
    }
  });
}

TEST(RandomCells, BackwardOfTheSimplifiedCellIsTheSame) {
  constexpr Sizes sizes{1, 2, 1, 3};
  for_each_cell([&](const Cell& cell, Random& random, std::uint64_t seed) {
    const ForwardArguments<double> arguments = random_arguments(cell, sizes, random);
    const LossGradients<double> loss = random_loss(cell, sizes, random);
    const auto original = run_backward(cell, sizes, arguments, loss, kOneThread);
    const auto result = run_backward(simplify(cell), sizes, arguments, loss, kOneThread);
    EXPECT_LE(largest_difference(result->inputs, original->inputs), 1e-10) << provenance(seed, cell);
    EXPECT_LE(largest_difference(result->params, original->params), 1e-10) << provenance(seed, cell);
    EXPECT_LE(largest_difference(result->initial_states, original->initial_states), 1e-10)
        << provenance(seed, cell);
  });
}

// Values of the states after one step, state rows in the order of Cell::next, D channels each.
std::vector<double> step_once(const Cell& cell, const ForwardArguments<double>& arguments) {
  const auto result = run_forward(cell, kOneStep, arguments, kOneThread);
  std::vector<double> values;
  for (const Row& row : cell.next) {
    const Tensor& tensor = cell.tensors[at(row.tensor)];
    const std::vector<double>& state = result->last_states.at(tensor.name);
    const bool scalar = tensor.tail == Tail::Scalar;
    for (std::int64_t d = 0; d < kOneStep.dim; ++d)
      values.push_back(state[at(scalar ? row.row : row.row * kOneStep.dim + d)]);
  }
  return values;
}

// One number of the state before the step: channel `channel` of row `row` of Cell::next (a scalar state has
// one channel).
double& state_element(const Cell& cell, ForwardArguments<double>& arguments, std::size_t row,
                      std::int64_t channel) {
  const Tensor& tensor = cell.tensors[at(cell.next[row].tensor)];
  std::vector<double>& values = arguments.initial_states.at(tensor.name);
  return tensor.tail == Tail::Scalar ? values[at(cell.next[row].row)]
                                     : values[at(cell.next[row].row * kOneStep.dim + channel)];
}

TEST(RandomCells, JacobiansAgreeWithCentralDifferences) {
  long compared = 0, unusable = 0, nonzero = 0, cells = 0;
  for_each_cell([&](const Cell& cell, Random& random, std::uint64_t seed) {
    const Structure structure = analyze(cell);
    if (!structure.all_diagonal) return;
    ++cells;
    const JacobianStep jacobian = jacobian_step(cell);
    ASSERT_TRUE(verify(cell, jacobian).empty()) << verify(cell, jacobian).front() << provenance(seed, cell);
    ForwardArguments<double> arguments = random_arguments(cell, kOneStep, random);
    const Cell probed = with_probes(cell, jacobian.graph, jacobian.entries);
    const std::vector<double> derived =
        run_forward(probed, kOneStep, arguments, kOneThread)->outputs.at("probe");
    for (std::size_t j = 0; j < cell.next.size(); ++j) {
      std::vector<double> magnitude = step_once(cell, arguments);
      for (double& value : magnitude) value = std::fabs(value) + 1;
      // Diagonal: all channels may move at once.
      const auto measured = central_differences(
          [&](double dx) {
            ForwardArguments<double> moved = arguments;
            const bool scalar = cell.tensors[at(cell.next[j].tensor)].tail == Tail::Scalar;
            for (std::int64_t d = 0; d < (scalar ? 1 : kOneStep.dim); ++d)
              state_element(cell, moved, j, d) += dx;
            return step_once(cell, moved);
          },
          magnitude);
      for (std::size_t i = 0; i < cell.next.size(); ++i) {
        for (std::size_t d = 0; d < at(kOneStep.dim); ++d) {
          const Measured& wanted = measured[i * at(kOneStep.dim) + d];
          const double value = derived[(i * cell.next.size() + j) * at(kOneStep.dim) + d];
          unusable += wanted.usable ? 0 : 1;
          if (!wanted.usable) continue;
          ++compared;
          nonzero += value != 0 ? 1 : 0;
          EXPECT_NEAR(value, wanted.value, wanted.error) << "d next " << i << " / d previous " << j << "\n"
                                                         << provenance(seed, cell);
        }
      }
    }
  });
  std::cout << cells << " diagonal cells, " << compared << " entries compared, " << nonzero << " not zero, "
            << unusable << " at kinks\n";
  EXPECT_GT(cells, random_cell_count() / 3);
  EXPECT_LT(static_cast<double>(unusable), 0.02 * static_cast<double>(compared));
  EXPECT_GT(static_cast<double>(nonzero), 0.1 * static_cast<double>(compared));
}

TEST(RandomCells, StructureCoversEveryMeasuredDependence) {
  long dense = 0, diagonal = 0, none = 0;
  for_each_cell([&](const Cell& cell, Random& random, std::uint64_t seed) {
    const Structure structure = analyze(cell);
    const ForwardArguments<double> arguments = random_arguments(cell, kOneStep, random);
    const std::vector<double> at_rest = step_once(cell, arguments);
    for (std::size_t j = 0; j < cell.next.size(); ++j) {
      const bool scalar_from = cell.tensors[at(cell.next[j].tensor)].tail == Tail::Scalar;
      for (const double dx : {0.37, -1.9}) {
        ForwardArguments<double> moved = arguments;
        state_element(cell, moved, j, 1) += dx;
        const std::vector<double> values = step_once(cell, moved);
        for (std::size_t k = 0; k < values.size(); ++k) {
          if (values[k] == at_rest[k]) continue;
          const std::size_t i = k / at(kOneStep.dim), channel = k % at(kOneStep.dim);
          const bool scalar_to = cell.tensors[at(cell.next[i].tensor)].tail == Tail::Scalar;
          // A value of the head is read by every channel, which makes none of them depend on another.
          const bool own = scalar_from || (!scalar_to && channel == 1);
          const Coupling least = own ? Coupling::Diagonal : Coupling::Dense;
          ASSERT_GE(structure.at(static_cast<int>(i), static_cast<int>(j)), least)
              << "next " << i << " sees channel 1 of " << j << " in channel " << channel << "\n"
              << provenance(seed, cell);
        }
      }
    }
    for (const Coupling coupling : structure.coupling)
      ++(coupling == Coupling::Dense ? dense : coupling == Coupling::Diagonal ? diagonal : none);
  });
  std::cout << dense << " dense pairs, " << diagonal << " diagonal, " << none << " none\n";
  EXPECT_GT(std::min({dense, diagonal, none}), random_cell_count() / 5);
}

// d next_i / d previous_j at two states far apart is the same wherever the structure says so.
TEST(RandomCells, DerivativesCalledFreeOfTheStateAre) {
  long free_pairs = 0, affine = 0;
  for_each_cell([&](const Cell& cell, Random& random, std::uint64_t seed) {
    const Structure structure = analyze(cell);
    if (!structure.all_diagonal) return;
    const JacobianStep jacobian = jacobian_step(cell);
    const Cell probed = with_probes(cell, jacobian.graph, jacobian.entries);
    ForwardArguments<double> arguments = random_arguments(cell, kOneStep, random);
    const std::vector<double> here =
        run_forward(probed, kOneStep, arguments, kOneThread)->outputs.at("probe");
    const std::vector<double> start = step_once(cell, arguments);
    const ForwardArguments<double> other = random_arguments(cell, kOneStep, random);
    const ForwardArguments<double> before = arguments;
    arguments.initial_states = other.initial_states;
    const std::vector<double> there =
        run_forward(probed, kOneStep, arguments, kOneThread)->outputs.at("probe");
    const std::vector<double> end = step_once(cell, arguments);
    for (std::size_t pair = 0; pair < structure.coupling.size(); ++pair) {
      if (structure.state_dependent[pair] || structure.coupling[pair] == Coupling::None) continue;
      ++free_pairs;
      for (std::size_t d = 0; d < at(kOneStep.dim); ++d) {
        const std::size_t k = pair * at(kOneStep.dim) + d;
        EXPECT_EQ(here[k], there[k]) << provenance(seed, cell);
      }
    }
    if (!structure.affine) return;
    ++affine;
    // The step is its Jacobian times the change of the states.
    for (std::size_t i = 0; i < cell.next.size(); ++i) {
      for (std::int64_t d = 0; d < kOneStep.dim; ++d) {
        const std::size_t channel = i * at(kOneStep.dim) + at(d);
        double wanted = start[channel], size = std::fabs(wanted);
        for (std::size_t j = 0; j < cell.next.size(); ++j) {
          ForwardArguments<double> from = before;
          const double change = state_element(cell, arguments, j, d) - state_element(cell, from, j, d);
          const double term = here[(i * cell.next.size() + j) * at(kOneStep.dim) + at(d)] * change;
          wanted += term;
          size += std::fabs(term);
        }
        EXPECT_NEAR(end[channel], wanted, 1e-12 * (1 + size)) << provenance(seed, cell);
      }
    }
  });
  std::cout << free_pairs << " pairs free of the state, " << affine << " affine cells\n";
  EXPECT_GT(free_pairs, random_cell_count() / 10);
  EXPECT_GT(affine, random_cell_count() / 50);
}

}  // namespace
}  // namespace rondo::step::testing
