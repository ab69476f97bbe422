"""Faults of reductions over the head and of numbers a head, with launches for each step and on CPUs."""
from cases import G, W, fault

HOST = "schedule/host/whole_head.cpp"
SIMULATED = "test_schedule HostSimulated.ReductionsAndNumbersWithoutMatrices"

FAULTS = [
    fault("reductions: the part of the last block is missing", W + "totals.cpp",
          'b.for_("part", lane, b.constant(parts),', 'b.for_("part", lane, b.constant(parts - 1),', "turns of norms fw"),
    fault("reductions: parts are those of the other parity", W + "totals.cpp",
          'b.let("parts_at", part_place(i, part.parity, turn))', 'b.let("parts_at", part_place(i, b.constant(1) - part.parity, turn))',
          "turns of norms fw", "turns of norms bw"),
    fault("reductions: a moment forgets how far the means of its parts lie apart", W + "totals.cpp",
          "number(p, 0) - moment.mean", "moment.mean - moment.mean", "turns of norms fw"),
    fault("reductions: lanes past the head's end count", W + "totals.cpp",
          "sum = b.select(exists, sum, b.real(neutral(op)))", "sum = b.select(exists, sum, sum + b.real(1))",
          "turns of norms fw"),
    fault("reductions: half of the lanes of a row are missing", W + "totals.cpp", "int apart = row_lanes(shape_) / 2;",
          "int apart = row_lanes(shape_) / 4;", "turns of norms fw"),
    fault("reductions: parts of the last block count as whole ones", W + "totals.cpp",
          "min(b.constant(shape_.dim) - p * width, b.constant(width))",
          "min(b.constant(shape_.dim), b.constant(width))", "turns of norms fw"),
    fault("reductions: a vector of all steps takes the sum of a span's first step", G + "time_pointwise.cpp",
          "for_channels(i, t, [&](Value value) {", "for_channels(i, first, [&](Value value) {",
          "turns of a normal vector bw"),
    fault("numbers: every channel adds the whole gradient of a parameter", W + "body.cpp", "if (sink.once) value",
          "if (false) value", "turns of numbers bw"),
    fault("numbers: every head has the states of the first", W + "body.cpp",
          "b.wide(head_)) * tensor.rows + b.wide(b.constant(row))",
          "b.wide(b.constant(0))) * tensor.rows + b.wide(b.constant(row))",
          "turns of numbers fw"),
    fault("numbers: the second row of an input is the first", W + "body.cpp", "builder_.wide(head_ * tensor.rows + row)",
          "builder_.wide(head_ * tensor.rows)", "turns of numbers fw"),
    fault("host: a reduction misses the channels of a vector", HOST,
          "b.math(reducer(reduction), {shares[i], values.at(reduction.vectors.front())})",
          "b.math(reducer(reduction), {b.real(0), values.at(reduction.vectors.front())})", test=SIMULATED),
    fault("host: a carry goes to the place that later stages read", HOST, "carry(at(sink.index), b.constant(1) - parity_)",
          "carry(at(sink.index), parity_)", test=SIMULATED),
    fault("host: every channel adds the whole gradient of a parameter", HOST, "if (sink.once) value", "if (false) value",
          test=SIMULATED),
]
