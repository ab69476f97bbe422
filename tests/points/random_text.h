// Random cells in the cell language: what no cell of the library has is common among them. States of several
// rows, parameters with one value a head, residual steps, steps that mix their states, products of products.
#pragma once

#include <random>
#include <string>

namespace rondo::points {

using Random = std::mt19937_64;

enum class Coupling {
  Affine,    // each channel on its own, linear in the state
  Diagonal,  // each channel on its own
  Dense,     // products with matrices
};

// `exact`: over small integers every value and gradient of the step is a small integer, so that whatever
// computes it must agree to the bit. Otherwise the step has gates and functions, and its states stay bounded.
struct TextOptions {
  Coupling coupling = Coupling::Affine;
  bool exact = true;
};

// One cell that the frontend accepts: every row of every tensor is used.
std::string random_text(Random& random, const TextOptions& options);

// Draws, for all of these tests.
int pick(Random& random, int low, int high);  // both included
bool chance(Random& random, double probability);
template <class Container>
const auto& one_of(Random& random, const Container& values) {
  return values[static_cast<std::size_t>(pick(random, 0, static_cast<int>(std::size(values)) - 1))];
}

}  // namespace rondo::points
