#include "compiler/schedule/problem/tensor_ref.h"

namespace rondo::schedule {

bool has_time_axis(Role role) {
  return role == Role::Input || role == Role::Output || role == Role::History || role == Role::Products ||
         role == Role::OutputGradient || role == Role::InputGradient || role == Role::Scratch;
}

bool is_kept(Role role) { return role == Role::Packed || role == Role::Vectors || role == Role::Carries; }

bool is_internal(Role role) {
  return role == Role::Workspace || role == Role::Exchange || role == Role::Status || role == Role::Scratch ||
         is_kept(role);
}

}  // namespace rondo::schedule
