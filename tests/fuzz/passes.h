// The passes over a cell that a reader has accepted.
#pragma once

#include "compiler/step/clip.h"
#include "compiler/step/derive.h"
#include "compiler/step/simplify.h"
#include "compiler/step/structure.h"
#include "compiler/step/verify.h"
#include "tests/fuzz/target.h"

namespace rondo::fuzz {

inline constexpr std::size_t kMostNodes = 500;  // of cells that go on: five times the largest shipped one

inline void check_passes(const step::Cell& cell) {
  require(step::verify(cell).empty(), "the cell is well formed");
  const step::Structure structure = step::analyze(cell);
  step::describe(cell, structure);
  step::print(cell);
  const step::BackwardStep backward = step::backward_step(cell);
  require(step::verify(cell, backward).empty(), "its backward step is well formed");
  step::print(cell, backward);
  if (!structure.all_diagonal) return;
  require(step::verify(cell, step::jacobian_step(cell)).empty(), "its Jacobian is well formed");
}

inline void check_cell(const step::Cell& parsed) {
  require(step::verify(parsed).empty(), "a cell without diagnostics is well formed");
  if (parsed.graph.nodes.size() > kMostNodes) return;
  const step::Cell cell = step::simplify(parsed);
  check_passes(cell);
  require(step::canonical_hash(cell) == step::canonical_hash(step::simplify(cell)), "simplifying ends");
  const bool plain = !parsed.clip.any() && !parsed.has_tangents;
  const Result<step::Cell> clipped = step::clipped(cell, {.forward = 1.0, .gradient = 2.0});
  require(clipped.ok() == plain, "a cell is clipped once, and before it gets tangents");
  if (!plain) return;
  check_passes(step::simplify(*clipped));
}

}  // namespace rondo::fuzz
