"""Faults of max-plus products: their values, the channels that they choose, and gradients by these."""
from cases import fault

HOST, STEP = "schedule/host/", "step/"
EXACT, MANY, REAL = (f"test_schedule HostMaxPlus.{name}" for name in
                     ("IntegersToTheBit", "ManyChannels", "CellsAgreeWithTheReference"))

FAULTS = [
    fault("max-plus: of channels that tie the last is chosen", HOST + "register_tile.cpp", "before < sum", "before <= sum",
          test=EXACT),
    fault("max-plus: no sum is below 0", HOST + "register_tile.cpp", "-std::numeric_limits<double>::infinity()", "0.0",
          test=EXACT),
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
    fault("saved products: their outputs are in the order of nodes", "schedule/analysis/saved_products.cpp",
          "cell.outputs.begin() + first, cell.outputs.end(), {}", "cell.outputs.end(), cell.outputs.end(), {}",
          test="test_schedule SavedProducts.OutputsLieInTheOrderOfTheirRows"),
]
