#include "runtime/plan/tensor_layout.h"

#include <fmt/format.h>

#include "compiler/schedule/analysis/saved_products.h"

namespace rondo::runtime {

using schedule::Role;
using schedule::TensorRef;
using step::Tail;

namespace {

bool is_param(Role role) { return role == Role::Param || role == Role::ParamGradient; }

}  // namespace

std::int64_t unit_elements(TensorRef ref, const step::Cell& cell, const step::Sizes& sizes) {
  const step::Tensor tensor = schedule::tensor_in_role(ref, cell);
  std::int64_t elements = sizes.heads * tensor.rows;
  if (tensor.tail != Tail::Scalar) elements *= sizes.dim;
  if (tensor.tail == Tail::Matrix) elements *= sizes.dim;
  return elements;
}

std::int64_t total_elements(TensorRef ref, const step::Cell& cell, const step::Sizes& sizes) {
  const std::int64_t unit = unit_elements(ref, cell, sizes);
  if (is_param(ref.role)) return unit;
  return schedule::has_time_axis(ref.role) ? unit * sizes.batch * sizes.time : unit * sizes.batch;
}

Strides dense_strides(TensorRef ref, const step::Cell& cell, const step::Sizes& sizes) {
  const std::int64_t unit = unit_elements(ref, cell, sizes);
  return {unit * sizes.time, unit};
}

std::string shape_text(TensorRef ref, const step::Cell& cell) {
  const step::Tensor tensor = schedule::tensor_in_role(ref, cell);
  const char* head = is_param(ref.role) ? "H" : schedule::has_time_axis(ref.role) ? "B, T, H" : "B, H";
  const char* tail = tensor.tail == Tail::Scalar ? "" : tensor.tail == Tail::Vector ? ", D" : ", D, D";
  return fmt::format("[{}, {}{}]", head, tensor.rows, tail);
}

Need need_of(Role role) {
  switch (role) {
    case Role::InitialState:
    case Role::OutputGradient:
    case Role::LastStateGradient: return Need::Zero;
    case Role::LastState:
    case Role::InputGradient:
    case Role::ParamGradient:
    case Role::InitialStateGradient: return Need::Discard;
    case Role::Input:
    case Role::Param:
    case Role::Output:
    case Role::History:
    case Role::Products:
    case Role::Workspace:
    case Role::Exchange:
    case Role::Status:
    case Role::Scratch:
    case Role::Packed:
    case Role::Vectors:
    case Role::Carries: return Need::Required;
  }
  return Need::Required;
}

}  // namespace rondo::runtime
