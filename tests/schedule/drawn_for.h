// Inputs, parameters and first states of a case, drawn, for runs that are compared with each other.
#pragma once

#include "compiler/schedule/plan/tensor_layout.h"
#include "tests/schedule/comparison.h"

namespace rondo::schedule {

inline TensorValues drawn_for(const Case& c) {
  std::mt19937 rng(3);
  TensorValues given;
  const auto give = [&](Role role, TensorKind kind, double scale) {
    for (const TensorId id : c.cell.of_kind(kind))
      given[{role, id}] =
          draw(rng, total_elements({role, id}, c.cell, c.problem.sizes), scale, Storage::BF16);
  };
  give(Role::Input, TensorKind::Input, 1.5);
  give(Role::Param, TensorKind::Param, 0.2);
  give(Role::InitialState, TensorKind::State, 0.5);
  return given;
}

}  // namespace rondo::schedule
