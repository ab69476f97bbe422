// What a caller gives a launch: his struct, and his tensors as bindings of a plan.
#pragma once

#include <string>

#include "compiler/executable/bindings.h"
#include "runtime/capi/launch/plan.h"
#include "runtime/capi/launch/status.h"

namespace rondo::capi {

inline constexpr std::size_t kMostGiven = executable::kMaxTensors;

executable::Address address_of(const void* pointer);

// Error Input of a tensor that is given.
Error wrong(const executable::Tensor& tensor, std::string what, std::string hint = "");

// The caller's struct, whatever version he was compiled with.
Result<rondo_launch_args> read_args(const rondo_launch_args* args);

// Binds the tensors and the workspace. Error Input: an index, a type, a shape or a stride that is not the
// plan's, or a tensor that is given twice. Sizes and overlaps are for the launch to check.
Status bind(const PlanObject& plan, const rondo_launch_args& args, executable::Bindings& bindings);

}  // namespace rondo::capi
