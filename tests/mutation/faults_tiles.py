"""Faults in products on the matrix tiles of CPUs."""
from cases import fault

H = "schedule/host/"
T = "backend/llvm/host/tiles.h"
W = "kernel/simulator/warp_tiles.cpp"
SCHEDULE = "test_schedule HostTiles.*"
NATIVE = "test_backend HostTiles.*"
SIMULATED = "test_kernel SimulateTiles.*"
VERIFY = "test_kernel VerifyUnits.ProductsOfMatrixTiles"

FAULTS = [
    # the kernels
    fault("tiles: all chunks of products are the first", H + "packed.cpp",
          "(b.wide(block) * products + b.wide(chunk * together))", "(b.wide(block) * products + b.wide(chunk * 0))", test=SCHEDULE),
    fault("tiles: a matrix's tiles have the order of its rows", H + "packed.cpp",
          "(i * p_.vectors + v) * kernel::kTileElements", "(v * count + i) * kernel::kTileElements", test=SCHEDULE),
    fault("tiles: tiles past the head's end are not cleared", H + "packed.cpp",
          "b_.if_(channel < packed_.rows, fetch, [&] { clear_tile(to); });", "b_.if_(channel < packed_.rows, fetch);", test=SCHEDULE),
    fault("tiles: a transposed matrix is packed as it lies", H + "packed.cpp",
          "if (product(chunk, i).transposed)\n      return b_.pack_tile", "if (false)\n      return b_.pack_tile", test=SCHEDULE),
    fault("tiles: the last step of a product is left out", H + "blocked_product.cpp",
          "b.constant(packed.dim / kernel::kTileStep)", "b.constant((packed.dim - 1) / kernel::kTileStep)", test=SCHEDULE),
    fault("tiles: terms of a sum begin anew", H + "blocked_product.cpp",
          ": all, adds,", ": all, false,", test=SCHEDULE),
    fault("tiles: a group's rows lie over those before", H + "step_product.cpp",
          "row * pitch(own) + first_vector(own)", "row * pitch(own)", test=SCHEDULE),
    fault("tiles: gradients keep what a longer part left behind its steps", H + "matrix_gradients.cpp",
          "span.steps * width, tile_steps(span.steps)", "span.steps * width, span.steps * 0 + tile_steps(span.steps) * 0",
          test=SCHEDULE),
    fault("tiles: a gradient's second tile of steps is the first", H + "matrix_gradients.cpp",
          "{left_[step * (kStep * rows_) + row], rows_}", "{left_[row], rows_}", test=SCHEDULE),
    fault("tiles: a gradient's operands are packed in each other's order", H + "matrix_gradients.cpp",
          "{left_[step * (kStep * rows_) + row], rows_}, true);", "{left_[step * (kStep * rows_) + row], rows_}, false);", test=SCHEDULE),
    fault("tiles: every row of a gradient is its first ones", H + "matrix_gradients.cpp",
          "{left_tiles_[row * kChunk], kChunk}", "{left_tiles_[row * 0], kChunk}", test=SCHEDULE),
    fault("tiles: gradients of an odd number of columns are made by them", H + "matrix_gradients.cpp",
          "!term->chosen && across % 2 == 0 &&", "!term->chosen &&", test=SCHEDULE),
    fault("tiles: they are offered for products that choose", H + "space.cpp",
          "return !shape.max_plus && std", "return std", test=SCHEDULE),
    fault("tiles: pairs of a vector's end come from the next step", H + "time_reader.cpp",
          "b.if_(span.first + i < tensor_.columns, [&] { b.assign(value, fetch()); });\n    b.store_packed",
          "b.assign(value, fetch());\n    b.store_packed", test=SCHEDULE),
    fault("tiles: they are offered on all CPUs", H + "space.cpp",
          "dense && task.profile.target.has_matrix_tiles() &&", "dense &&", test=SCHEDULE),
    fault("tiles: they are offered beside register tiles", H + "space.cpp",
          "tiles == 0 || tile == 1", "tiles == 0 || tile >= 1", test=SCHEDULE),
    # the text
    fault("tiles: the second tile of rows is the first", T, "first_a + row, of_b", "first_a, of_b", test=NATIVE),
    fault("tiles: a tile of columns is that of the first round", T,
          "kTileBytes * std::int64_t{first})", "kTileBytes * std::int64_t{first} * 0)", test=NATIVE),
    fault("tiles: sums are not loaded", T, "if (s.adds)", "if (s.adds && s.rows > 1000)", test=NATIVE),
    fault("tiles: columns change places in a transposition", T,
          "(i & distance) == 0 ? i + distance : kPairs + i", "(i & distance) == 0 ? i : kPairs + i", test=NATIVE),
    fault("tiles: code with them is for all CPUs", "backend/interface/backend.cpp",
          "!features.contains(kernel::Feature::MatrixTiles)", "true", test=NATIVE),
    # the simulator and the verifier
    fault("tiles: the simulator knows small numbers", W, "? std::copysign(0.0F, value) : value", "? value : value", test=SIMULATED),
    fault("tiles: the simulator adds to zero", W, "mma.adds ? tile_row", "false ? tile_row", test=SIMULATED),
    fault("tiles: the simulator's reads are no reads", W, "if (!context.memory.read(row, thread(0))) return values;", "", test=SIMULATED),
    fault("tiles: the verifier takes 17 rows", "kernel/verify/units.cpp",
          "s.rows > kTileRows && s.rows != 2 * kTileRows", "s.rows > 2 * kTileRows", test=VERIFY),
    fault("tiles: the verifier takes tiles that the launch writes", "kernel/verify/units.cpp",
          "if (s.b.space == Space::Global && kernel_.params", "if (false && kernel_.params", test=VERIFY),
]
