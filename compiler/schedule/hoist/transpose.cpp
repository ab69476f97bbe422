#include "compiler/schedule/hoist/transpose.h"

#include <fmt/format.h>

#include "compiler/schedule/plan/signature.h"
#include "compiler/support/integers.h"

namespace rondo::schedule {

namespace {

// A block's square; each thread has one column of every kHop-th row.
constexpr int kSquare = 32, kHop = 8;

}  // namespace

Launch transpose(const Task& task, const PackedTranspose& what) {
  const step::Tensor& tensor = task.cell.tensor(what.matrix);
  const std::int64_t rows = task.problem.sizes.dim, columns = step::columns(tensor, task.problem.sizes);
  const std::int64_t down = ceil_div(rows, std::int64_t{kSquare}),
                     across = ceil_div(columns, std::int64_t{kSquare});  // squares
  kernel::Builder b(fmt::format("{}_transpose_{}_{}_to_{}", task.cell.name, tensor.name, what.row,
                                what.packed + what.first_column),
                    kSquare * kHop, task.problem.math, "A matrix, packed by its columns.");
  Signature signature(b, task);
  const KernelTensor matrix = signature.reads({Role::Param, what.matrix});
  const KernelTensor packed = signature.writes({Role::Packed, -1});
  const kernel::Memory square =
      b.shared("square", matrix.storage, kSquare * (kSquare + 1), "[rows 32, columns 32 + 1]");
  const Value head = b.let("head", b.block() / (down * across));
  const Value row = b.let("row", b.block() / across % down * kSquare);
  const Value column = b.let("column", b.block() % across * kSquare);
  const Value x = b.let("x", b.thread() % kSquare), y = b.let("y", b.thread() / kSquare);
  const auto each = [&](const std::function<void(Value)>& body) {
    b.for_("turn", 0, kSquare / kHop, kernel::kFullUnroll, [&](Value turn) { body(y + turn * kHop); });
  };
  each([&](Value i) {
    b.if_(row + i < rows && column + x < columns, [&] {
      const Value from = (b.wide(head) * tensor.rows + what.row) * (rows * columns) +
                         b.wide((row + i) * static_cast<int>(columns) + (column + x));
      b.store(square[i * (kSquare + 1) + x], b.load("entry", matrix.memory[from]));
    });
  });
  b.barrier();
  each([&](Value j) {
    b.if_(column + j < columns && row + x < rows, [&] {
      const Value to = (b.wide(head) * columns + b.wide(column + j)) * what.columns +
                       (what.packed + what.first_column) + b.wide(row + x);
      b.store(packed.memory[to], b.load("entry", square[x * (kSquare + 1) + j]));
    });
  });
  return {b.kernel(), signature.arguments(), task.problem.sizes.heads * down * across, 0};
}

}  // namespace rondo::schedule
