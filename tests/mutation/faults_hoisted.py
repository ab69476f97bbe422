"""Faults in products of inputs that launches beside a walk make."""
from cases import fault

H = "schedule/hoist/"

FAULTS = [
    fault("hoisted: all products are the first row of the walk's input", H + "hoisting.cpp",
          "{{Role::Scratch, kMade}, static_cast<int>(i)}", "{{Role::Scratch, kMade}, static_cast<int>(0 * i)}", "hoisted fw"),
    fault("hoisted: the walk's input is another product of its vector", H + "input_products.cpp",
          "static_cast<int>(place - result.products.begin())", "static_cast<int>(place - result.products.begin()) ^ 1",
          "hoisted fw"),
    fault("hoisted: gradients of products are written over products", H + "hoisting.cpp",
          "ref.role == Role::InputGradient ? kMadeGradient : kMade", "kMade", "hoisted bw"),
    fault("hoisted: a vector's matrices lie on each other", H + "hoisting.cpp",
          "static_cast<std::int64_t>(i) * sizes.dim", "static_cast<std::int64_t>(0 * i) * sizes.dim", "hoisted bw"),
    fault("hoisted: every vector's gradient is made of the first one's matrices", H + "hoisting.cpp",
          "product.packed = packed;", "product.packed = 0 * packed;", "hoisted bw"),
    fault("hoisted: a vector's gradient is made of its first product alone", H + "hoisting.cpp",
          "product.vector_rows = static_cast<int>(group.count);", "product.vector_rows = 1;", "hoisted bw"),
    fault("hoisted: the gradient of every matrix is that of the first product", H + "hoisting.cpp",
          "operand({{Role::Scratch, kMadeGradient}, static_cast<int>(i)})",
          "operand({{Role::Scratch, kMadeGradient}, static_cast<int>(0 * i)})", "hoisted bw"),
    fault("hoisted: the matrix is packed as it lies", H + "transpose.cpp",
          "square[x * (kSquare + 1) + j]", "square[j * (kSquare + 1) + x]", "hoisted bw"),
    fault("hoisted: nothing waits until the square is there", H + "transpose.cpp",
          "  b.barrier();\n", "", "hoisted bw"),
    fault("hoisted: every head's matrix is packed where the first one's is", H + "transpose.cpp",
          "(b.wide(head) * dim + b.wide(column + j))", "(b.wide(head) * 0 + b.wide(column + j))", "hoisted bw"),
    fault("hoisted: a packed matrix is multiplied from the first place on", "schedule/gemm/time_product.cpp",
          "row * matrix + packed_ +", "row * matrix +", "hoisted bw"),
    fault("hoisted: two kernels pack a matrix under one name", H + "transpose.cpp",
          "what.packed + what.first_column),\n                    kSquare", "0),\n                    kSquare", test="test_schedule Hoisting.KernelsHaveNamesOfTheirOwn"),
]
