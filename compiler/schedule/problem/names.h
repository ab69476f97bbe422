// The names of StepIR and of KernelIR that code of schedules is full of, and writes without their namespace.
#pragma once

#include "compiler/kernel/ir/ir.h"
#include "compiler/scalar/ops.h"
#include "compiler/step/step_ir.h"

namespace rondo::kernel {
class Value;  // kernel/builder/builder.h
}

namespace rondo::schedule {

using kernel::Type;
using kernel::Value;
using scalar::Op;
using step::kNoNode;
using step::Node;
using step::NodeId;
using step::NodeKind;
using step::Tail;
using step::TensorId;
using step::TensorKind;

}  // namespace rondo::schedule
