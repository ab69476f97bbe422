"""Faults in walks whose time is cut, in values of a whole head, in forms, in kernels of CPUs, and in what checks them."""
from cases import H, W, L, fault

CH, HO, BE, SI = ("schedule/channelwise/", "schedule/host/", "backend/llvm/host/", "kernel/simulator/")

FAULTS = [
    # The simulator, and PTX of wide products.
    fault("simulator: a copy's first element stands for all that it reads", SI + "memory.cpp",
          "if (const auto last = from.shadow != nullptr ?", "if (const auto last = k == 0 && from.shadow != nullptr ?",
          test="test_kernel SimulateCopies.*:SimulateElements.*:SimulateFaults.*"),
    fault("simulator: a copy's first element stands for all that it writes", SI + "memory.cpp",
          "for (std::int64_t i = to.index; i < to.index + to.count; ++i)", "for (std::int64_t i = to.index; i < to.index + 1; ++i)",
          test="test_kernel SimulateCopies.*:SimulateElements.*:SimulateFaults.*"),
    fault("simulator: a vector may end behind its buffer", SI + "memory.cpp",
          "if (span.index < 0 || span.index > elements - span.count) {", "if (span.index < 0 || span.index >= elements) {",
          test="test_kernel SimulateCopies.*:SimulateElements.*:SimulateFaults.*"),
    fault("simulator: four elements at once may lie as two may", SI + "memory.cpp",
          "if (span.count > 1 && span.index % span.count != 0) {", "if (span.count > 1 && span.index % 2 != 0) {",
          test="test_kernel SimulateCopies.*:SimulateElements.*:SimulateFaults.*"),
    fault("simulator: a counter may begin with anything", SI + "memory.cpp",
          'conflict = Conflict{Fault::Kind::Unwritten, "which nobody has set"};', "(void)conflict;",
          test="test_kernel Simulate*:Halves.*:FlaggedWord.*"),
    fault("simulator: what is published is seen by all", SI + "memory.cpp",
          "if (!published || !clocks_.seen(by, agent, last->by.lane, *published))", "if (!published)",
          test="test_kernel Simulate*:Halves.*:FlaggedWord.*"),
    fault("simulator: a product's operand may be overwritten", SI + "memory.cpp",
          "if (last && last->stamp > started)", "if (last && last->stamp > started + (1u << 30))",
          test="test_kernel Simulate*:Halves.*:FlaggedWord.*"),
    fault("simulator: words that others send need no order", SI + "memory.cpp",
          "if (!words_.empty() && words_.unordered(", "if (words_.empty() && words_.unordered(",
          test="test_kernel Simulate*:Halves.*:FlaggedWord.*"),
    fault("simulator: a group of copies too many has landed", SI + "memory.cpp",
          "pending_[landed_].group >= groups_ - newest", "pending_[landed_].group > groups_ - newest",
          test="test_kernel Simulate*:Halves.*:FlaggedWord.*"),
    fault("simulator: both numbers of a pair are the first", SI + "memory.cpp",
          "data.values[at + 1] = unpack_pair(data.storage, pair, true);",
          "data.values[at + 1] = unpack_pair(data.storage, pair, false);",
          test="test_kernel Simulate*:Halves.*:FlaggedWord.*"),
    fault("simulator: blocks find what those before them left in shared memory", SI + "memory.cpp",
          "poison(shared_data_[s]);", "(void)poison;",
          test="test_kernel Simulate*:Halves.*:FlaggedWord.*"),
]
