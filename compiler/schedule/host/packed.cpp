#include "compiler/schedule/host/packed.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule/gemm/time_operand.h"
#include "compiler/schedule/plan/signature.h"

namespace rondo::schedule {

HostPacked::HostPacked(const Problem& problem, const HostParameters& p, int count, std::int64_t begin)
    : HostPacked(problem, p, count, problem.sizes.dim, problem.sizes.dim, begin) {}

HostPacked::HostPacked(const Problem& problem, const HostParameters& p, int count, std::int64_t of_rows,
                       std::int64_t of_columns, std::int64_t begin)
    : rows(of_rows),
      dim(of_columns),
      storage(problem.storage),
      channels(p.channels()),
      tiles(static_cast<int>(ceil_div(rows, p.channels()))),
      together(p.together),
      products(count),
      heads(problem.sizes.heads),
      first(begin) {}

int HostPacked::chunk_products(int chunk) const { return std::min(together, products - chunk * together); }

Value HostPacked::chunk_at(Value block, Value chunk) const {
  kernel::Builder& b = *block.builder();
  return (b.wide(block) * products + b.wide(chunk * together)) * (dim * channels) + first;
}

Launch host_pack(const Task& task, const HostParameters& p, const HostPacked& packed,
                 const std::vector<Product>& products, const std::string& name) {
  kernel::Builder b(name, p.lanes, task.problem.math,
                    fmt::format("{}: matrices in the order of the products", task.cell.name));
  Signature signature(b, task);
  KernelTensors tensors(signature);
  std::vector<KernelTensor> matrices;
  for (const Product& product : products) matrices.push_back(tensors.reads({Role::Param, product.matrix}));
  const KernelTensor to = tensors.writes({Role::Packed, -1});
  const std::int64_t dim = packed.dim;
  const Value head = b.let("head", b.block() / packed.tiles);
  const Value tile = b.let("tile", b.block() % packed.tiles);
  for (int chunk = 0; chunk < packed.chunks(); ++chunk) {
    const Value first = b.let("chunk_at", packed.chunk_at(b.block(), b.constant(chunk)));
    const int count = packed.chunk_products(chunk);
    b.for_("column", b.constant(0), b.constant(dim), b.constant(1), 1, [&](Value column) {
      for (int i = 0; i < count; ++i)
        for (int v = 0; v < p.vectors; ++v) {
          const Product& product = products[static_cast<std::size_t>(chunk * packed.together + i)];
          const KernelTensor& matrix = matrices[static_cast<std::size_t>(chunk * packed.together + i)];
          const Value channel = b.let("channel", tile * p.channels() + v * p.lanes + b.thread());
          const std::int64_t across = matrix.columns;
          const Value from = (b.wide(head) * matrix.rows + product.row) * (packed.rows * dim) +
                             (product.transposed ? b.wide(column) * across + b.wide(channel)
                                                 : b.wide(channel) * across + b.wide(column));
          const Value element = b.variable("element", b.real(0));
          const auto fetch = [&] { b.assign(element, b.load("r", matrix.memory[from])); };
          if (packed.rows % p.channels() == 0)
            fetch();
          else
            b.if_(channel < packed.rows, fetch);
          b.store(to.memory[first + (b.wide(column) * count + i) * p.channels() + v * p.lanes +
                            b.wide(b.thread())],
                  element);
        }
    });
  }
  return {b.kernel(), signature.arguments(), packed.heads * packed.tiles, 0};
}

}  // namespace rondo::schedule
