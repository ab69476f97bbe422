// The tensors of a pass: which tensor of the cell, in which role.
#pragma once

#include "compiler/step/step_ir.h"

namespace rondo::schedule {

enum class Role {
  Input,
  Param,
  InitialState,  // given
  Output,
  History,
  LastState,  // forward results; History[t] is the state after step t
  Products,   // products of the matrix TensorRef::tensor made at each step, one row each, which ForwardSave
              // leaves for Backward (saved_products.h)
  OutputGradient,
  LastStateGradient,  // given to the backward pass
  InputGradient,
  ParamGradient,
  InitialStateGradient,  // backward results
  Workspace,             // scratch fp32, KernelPlan::workspace_elements
  Exchange,              // words that blocks of one launch send each other, int32, KernelPlan::exchange
  Status,   // one word, int32, that a kernel sets when it has waited in vain (kernel::Kernel::status)
  Scratch,  // values a launch leaves for the next, [B, T, H, rows, D]: TensorRef::tensor counts them
  // What launches leave for each other without a time axis, KernelPlan::packed and so on:
  Packed,   // matrices in the order in which they are multiplied, storage type
  Vectors,  // vectors that are multiplied, rounded to the storage type
  Carries,  // carried and kept values of a step, fp32
};
bool has_time_axis(Role role);
bool is_kept(Role role);      // Packed, Vectors or Carries
bool is_internal(Role role);  // Workspace, Exchange, Status, Scratch or kept: no caller binds it by itself

struct TensorRef {
  Role role = Role::Input;
  // Index into Cell::tensors; for Scratch into KernelPlan::scratch_rows; -1 for other internal ones.
  step::TensorId tensor = -1;
  friend bool operator==(const TensorRef&, const TensorRef&) = default;
};

}  // namespace rondo::schedule
