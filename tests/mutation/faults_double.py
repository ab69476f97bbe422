"""Faults in kernels in fp64."""
from cases import fault

PASS = "compiler/kernel/passes/in_double.cpp"
FOLD = "compiler/kernel/passes/simplify_expression.cpp"
OF_PASS = "test_kernel InDouble.*"

FAULTS = [
    fault("fp64: memory stays in fp32", PASS,
          "if (storage == Storage::F32) storage = Storage::F64;", "", test=OF_PASS),
    fault("fp64: registers stay in fp32", PASS,
          "for (Register& reg : kernel.registers) widen(reg.type);", "", test=OF_PASS),
    fault("fp64: the least number stays that of fp32", PASS,
          "constant->value = std::numeric_limits<double>::lowest();", "", test=OF_PASS),
    fault("fp64: constants are folded in fp32", FOLD,
          "type == Type::F64 ? evaluate_in<double>(n.op, values) : evaluate_in<float>(n.op, values);",
          "evaluate_in<float>(n.op, values);", test=OF_PASS),
    fault("fp64: the verifier takes fp32 beside it", "compiler/kernel/verify/tables.cpp",
          "for (const SharedArray& array : kernel.shared) see(element_type(array.storage) == Type::F32, array.name);", "", test=OF_PASS),
]
