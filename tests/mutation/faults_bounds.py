"""Faults in branches that hardly a thread takes, in maps of segments, in bounds of states, in parameters left out."""
from cases import S, fault

B, K, CH, HO = "backend/cuda/", "kernel/passes/", "schedule/channelwise/", "schedule/host/"
CUDA, PASSES = "test_backend CudaText.*", "test_kernel Rematerialise.*:Simplify.*"
MAPS = "test_schedule FiniteInSegments.*"

FAULTS = [
    # Cold branches.
    fault("cold: a function uses shared memory", B + "cold_branch.cpp",
          "    fits_ &= place.space == Space::Global;\n", "", test=CUDA),
    fault("cold: variables come back in another order", B + "emit.cpp",
          'end += (end.empty() ? "" : ", ") + names.reg(reg);', 'end = names.reg(reg) + (end.empty() ? "" : ", ") + end;',
          test=CUDA),
    fault("cold: all branches of a kernel are its first", B + "statements.cpp",
          "w.kernel_.name, w.cold_branches_.size()", "w.kernel_.name, 0", test=CUDA),
    fault("cold: the other way is lost", B + "statements.cpp",
          "s.else_body.empty() && calls_function(", "calls_function(", test=CUDA),
    fault("cold: elements of an array are computed anew", K + "rematerialise.cpp",
          "if (std::holds_alternative<ArrayRead>(expr.node)) return false;", "", test=PASSES),
    fault("cold: nothing is computed anew in the other way of a condition", K + "rematerialise.cpp",
          "      each(branch->else_body);\n", "", test=PASSES),
    fault("cold: a simplified branch is as warm as any", K + "simplify.cpp",
          "body(branch.else_body), branch.cold}", "body(branch.else_body), false}", test=PASSES),
    # Maps of segments.
    fault("maps: what follows by three states is not there", CH + "affine_transforms.cpp",
          "for (int by = 0; by < states; ++by)", "for (int by = 0; by < std::min(states, 2); ++by)", test="test_schedule TransformPattern.*"),
    fault("maps: one coefficient that is zero settles a row", CH + "affine_transforms.cpp",
          "none.valid() ? none && zero : zero", "none.valid() ? none || zero : zero", test=MAPS),
    fault("maps: the last value says whether all are finite", CH + "affine_transforms.cpp",
          "builder.math(Op::Fma, {value, zero, sum})", "builder.math(Op::Fma, {value, zero, zero})", test=MAPS),
    fault("host segments: a state is composed of the new value of the one before", HO + "segments.cpp",
          'assigned.emplace_back(column.rows[i], b.let("composed", sum.valid() ? sum : b.real(0)));',
          "b.assign(column.rows[i], sum.valid() ? sum : b.real(0));", test="test_schedule HostSimulated.Segments*"),
    fault("maps: one pass of a cell has the segments of another", S + "segment_step.cpp",
          '"segments of " + pass_key(task.problem)', '"segments"', test="test_schedule StepFacts.*"),
    fault("maps: what a head shares takes no registers where steps are kept", S + "resources.cpp",
          "  shape.shared = shared_registers(cell);\n", "", test="test_schedule ManyRows.Keeps*:StreamModel.*"),
    fault("maps: a per-head tensor has one row", S + "resources.cpp",
          "rows += tensor.rows;", "rows += 1;", test="test_schedule ManyRows.Spaces*:StreamModel.*:PerHeadInputs.*"),
    # Bounds of states.
    fault("bounds: a choice is its first", "step/bounds.cpp",
          "case Op::Select: return hull(x[1], x[2]);", "case Op::Select: return x[1];", test="test_step StatesWithin.*"),
    fault("bounds: a first state that callers set is within", "step/bounds.cpp",
          "return first.const_index < 0 && std::abs(", "return std::abs(", test="test_step StatesWithin.*"),
    fault("bounds: a step away is a step towards", "step/bounds.cpp",
          "distance->operands[away ? 0 : 1] == from", "distance->operands[1] == from", test="test_step StatesWithin.*"),
    fault("bounds: a square is as far from zero as its ends", "step/bounds.cpp",
          "if (x[0].low <= 0 && x[0].high >= 0) result.low = 0;", "", test="test_step StatesWithin.*"),
    fault("histories: bf16 has the range of fp16", "schedule/problem/task.cpp",
          "problem.storage == kernel::Storage::F16 && beyond_half", "problem.storage != kernel::Storage::F32 && beyond_half",
          test="test_schedule HalfHistory.*"),
    # Parameters left out.
    fault("without: what is multiplied is a term", "step/without.cpp",
          "(node.op == Op::Fma && place == 2)", "node.op == Op::Fma", test="test_step Without.*"),
    fault("without: a parameter that is a result is only added", "step/without.cpp",
          " &&\n         std::none_of(cell.outputs.begin(), cell.outputs.end(), is_row);", ";", test="test_step Without.*"),
]
