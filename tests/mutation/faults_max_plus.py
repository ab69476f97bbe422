"""Faults of max-plus products: their values, the channels that they choose, and gradients by these."""
from cases import fault

HOST, STEP, TERMS = "schedule/host/", "step/", "schedule/lower/product_terms.cpp"
GPU, GEMM = "schedule/alternating/", "schedule/gemm/"
EXACT, MANY, REAL = (f"test_schedule HostMaxPlus.{name}" for name in
                     ("IntegersToTheBit", "ManyChannels", "CellsAgreeWithTheReference"))
GPU_EXACT, GPU_REAL = (test.replace("HostMaxPlus", "AlternatingMaxPlus") for test in (EXACT, REAL))
CHIP = "schedule/persistent/"
CHIP_EXACT = EXACT.replace("HostMaxPlus", "PersistentMaxPlus")
TOLD = "test_engine FalseAlarms.ChoicesAmongStoredStatesCanBeTold"
DECIDES = "test_engine Spreads.AChoiceOfChannelsIsADecision"

FAULTS = [
    fault("max-plus: of channels that tie the last is chosen", TERMS, "before < term", "before <= term", test=EXACT),
    fault("max-plus: no sum is below 0", TERMS, "-std::numeric_limits<double>::infinity()", "0.0", test=EXACT),
    fault("max-plus: chosen channels are rounded to the storage type", "schedule/plan/signature.cpp",
          "ref.tensor <= kChosen) return computed", "ref.tensor < kChosen) return computed",
          test=MANY),
    fault("max-plus: the sweep reads what the step at the other end has chosen", HOST + "step_product.cpp",
          "forward ? place_.count : place_.time - 1 - place_.count", "forward ? place_.count : place_.count", test=EXACT),
    fault("max-plus: all products of a group have chosen what the first has", HOST + "step_product.cpp",
          "from.row * dim", "from.row * 0", test=EXACT),
    fault("max-plus: a block of a gradient counts columns from its own", HOST + "time_launches.cpp",
          "b_.to_real(first_column + column +", "b_.to_real(first_column * 0 + column +", test=MANY),
    fault("max-plus: products of one vector are of one kind", "schedule/analysis/product_groups.cpp",
          "g.vector == vector && g.kind == kind", "g.vector == vector", test=REAL),
    fault("max-plus: the reference chooses the last of channels that tie", STEP + "reference/vector_loops.cpp",
          "if (!(sum > largest)) continue;", "if (!(sum >= largest)) continue;", test="test_step MaxPlus.Gradients"),
    fault("max-plus: the reference adds to the rows of its first block", STEP + "reference/matrix_sums.cpp",
          "add_at_columns(left, one.right.data() + first,", "add_at_columns(left, one.right.data() + first * 0,",
          test=EXACT),
    fault("max-plus: the gradient of the matrix is an outer product", STEP + "derive.cpp",
          "{node.tensor, node.row, left, chosen, true}", "{node.tensor, node.row, left, chosen, false}",
          test="test_step MaxPlus.Gradients"),
    fault("max-plus: packed matrices end with zeros", GPU + "pack.cpp", "b_.real(neutral(group_.kind))", "b_.real(0)",
          test=GPU_EXACT),
    fault("max-plus: what the warps have is added up", GPU + "product.cpp", "joined(b, of(*own).kind, total, part)",
          "total + part", test=GPU_EXACT),
    fault("max-plus: the sweep of GPUs reads what the step at the other end has chosen", GPU + "plain_product.cpp",
          "forward ? place.count : place.time - 1 - place.count", "forward ? place.count : place.count", test=GPU_EXACT),
    fault("max-plus: all products of a group on GPUs have chosen what the first has", GPU + "plain_product.cpp",
          ".row.row * g.dim", ".row.row * 0", test=GPU_EXACT),
    fault("max-plus: the second batch tile has chosen what the first has", GPU + "plain_product.cpp",
          "product * batch_tiles() + n / 2", "product * batch_tiles() + n / 2 * 0", test=GPU_REAL),
    fault("max-plus: products of all steps end with zeros", GEMM + "time_product.cpp", "tile_.clear(to, neutral(p_.kind))",
          "tile_.clear(to)", test=GPU_REAL),
    fault("max-plus: each stage of all steps' products counts channels from its own", GEMM + "tile.cpp",
          "(index - (stages - 1)) * p_.tile_k", "(index - (stages - 1)) * 0", test=GPU_EXACT),
    fault("max-plus: the gradient of a matrix loses its sums of outer products", GEMM + "chosen_gradient.cpp",
          'Value sum = b_.load("gradient", result_.memory[to]);', "Value sum = b_.real(0);", test=GPU_REAL),
    fault("max-plus: a block of a matrix's gradient counts columns from its own", GEMM + "chosen_gradient.cpp",
          "number - first_real_", "number - first_real_ * b_.real(0)", test=GPU_EXACT),
    fault("max-plus: the last part of the steps adds nothing to a matrix's gradient", GEMM + "chosen_gradient.cpp",
          "part < kParts; ++part", "part < kParts - 1; ++part", test=GPU_REAL),
    fault("max-plus: warps that split the columns add up what they have", CHIP + "matrix.cpp",
          "joined(b, kind_, b.read(accumulators_, place), value)", "b.read(accumulators_, place) + value", test=CHIP_EXACT),
    fault("max-plus: lanes two apart keep each other's batch rows", CHIP + "max_plus.cpp", "kernel_.here().quarter >= 2",
          "kernel_.here().quarter < 2", test=CHIP_EXACT),
    fault("max-plus: verification rounds no first states", "engine/data/host_problem.cpp",
          "round_all(task.history_storage(id), first->second);", "(void)first;", test=TOLD),
    fault("max-plus: verification takes a choice of channels for no decision", "engine/check/spread.cpp",
          "|| node.kind == step::NodeKind::ArgMaxPlus) return true", ") return true", test=DECIDES),
    fault("saved products: their outputs are in the order of nodes", "schedule/analysis/saved_products.cpp",
          "cell.outputs.begin() + first, cell.outputs.end(), {}", "cell.outputs.end(), cell.outputs.end(), {}",
          test="test_schedule SavedProducts.OutputsLieInTheOrderOfTheirRows"),
]
