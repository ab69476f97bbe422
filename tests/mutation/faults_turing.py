"""Faults in the forms for GPUs before compute capability 8.0."""
from cases import fault

PASS = "compiler/kernel/passes/legalise_copies.cpp"
TEXT = "compiler/backend/cuda/prelude/turing/arithmetic.cuh"
FORMS = "test_backend CudaTuring.*"
COPIES = "test_kernel LegaliseCopies.*"

FAULTS = [
    fault("turing: a copy moves the first half", PASS,
          "for (int i = 0; i < count; ++i) {", "for (int i = 0; i < (count + 1) / 2; ++i) {", "turing copies", "turing turns bw"),
    fault("turing: a copy reads the place that it writes", PASS,
          "Load load{{}, copy.from, CacheHint::Default, packed};",
          "Load load{{}, {copy.from.space, copy.from.id, copy.to.index}, CacheHint::Default, packed};",
          "turing copies", "turing turns bw"),
    fault("turing: the stores of a body wait for its end", PASS,
          "if (!std::holds_alternative<Let>(stmt.node) && !std::holds_alternative<Comment>(stmt.node))",
          "if (std::holds_alternative<CommitCopies>(stmt.node))", test=COPIES),
    fault("turing: any number of copies wait for their stores", PASS,
          "if (waiting.registers + count > kMostInFlight) flush(kept, waiting);", "", test=COPIES),
    fault("turing: half of bf16's ties go up", TEXT,
          "(bits + 0x7fffu + (bits >> 16 & 1u)) >> 16", "(bits + 0x8000u) >> 16", test=FORMS),
    fault("turing: NaN of bf16 may become infinite", TEXT,
          "x != x ? 0x7fffu : (bits", "(bits", test=FORMS),
    fault("turing: products of bf16 take one column twice", TEXT,
          "column + 4 * i + k", "column + k", test=FORMS),
    fault("turing: products of bf16 take the first half of a row twice", TEXT,
          "a[2 * half + i], k, 4)", "a[i], k, 4)", test=FORMS),
    fault("turing: the last to arrive at an mbarrier does not turn its phase", TEXT,
          "!= last) return;", "!= last + 1) return;", test=FORMS),
    fault("turing: the parity of an mbarrier counts as arrivals", TEXT,
          "& 0x7fffffffu) - 1;", ") - 1;", test=FORMS),
    fault("turing: a number that is held loses its NaN", TEXT,
          "return x < -bound ? -bound : x > bound ? bound : x;",
          "return x > -bound ? (x < bound ? x : bound) : -bound;", test=FORMS),
]
