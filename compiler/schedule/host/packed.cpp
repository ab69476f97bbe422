#include "compiler/schedule/host/packed.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "compiler/schedule/gemm/time_operand.h"
#include "compiler/schedule/plan/signature.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

HostPacked::HostPacked(const Problem& problem, const HostParameters& p, int count, bool by_tiles,
                       std::int64_t begin)
    : HostPacked(problem, p, count, by_tiles, problem.sizes.dim, problem.sizes.dim, begin) {}

HostPacked::HostPacked(const Problem& problem, const HostParameters& p, int count, bool by_tiles,
                       std::int64_t of_rows, std::int64_t of_columns, std::int64_t begin)
    : rows(of_rows),
      dim(of_columns),
      storage(problem.storage),
      channels(p.channels()),
      tiles(static_cast<int>(ceil_div(rows, p.channels()))),
      together(p.together),
      products(count),
      heads(problem.sizes.heads),
      first(begin),
      in_tiles(by_tiles && rows % kernel::kTileRows == 0 && dim % kernel::kTileStep == 0) {}

int HostPacked::chunk_products(int chunk) const { return std::min(together, products - chunk * together); }

Value HostPacked::chunk_at(Value block, Value chunk) const {
  kernel::Builder& b = *block.builder();
  return (b.wide(block) * products + b.wide(chunk * together)) * (dim * channels) + first;
}

namespace {

// Writes the order of one block of a head.
class Packing {
 public:
  Packing(const Task& task, const HostParameters& p, const HostPacked& packed,
          const std::vector<Product>& products, const std::string& name)
      : p_(p),
        packed_(packed),
        products_(products),
        b_(name, p.lanes, task.problem.math,
           fmt::format("{}: matrices in the order of the products", task.cell.name)),
        signature_(b_, task) {}

  Launch build() {
    KernelTensors tensors(signature_);
    for (const Product& product : products_)
      matrices_.push_back(tensors.reads({Role::Param, product.matrix}));
    to_ = tensors.writes({Role::Packed, -1});
    head_ = b_.let("head", b_.block() / packed_.tiles);
    tile_ = b_.let("tile", b_.block() % packed_.tiles);
    for (int chunk = 0; chunk < packed_.chunks(); ++chunk) {
      const Value first = b_.let("chunk_at", packed_.chunk_at(b_.block(), b_.constant(chunk)));
      if (packed_.in_tiles)
        pack_tiles(chunk, first);
      else
        pack(chunk, first);
    }
    return {b_.kernel(), signature_.arguments(), packed_.heads * packed_.tiles, 0};
  }

 private:
  const Product& product(int chunk, int i) const { return products_[at(chunk * packed_.together + i)]; }
  const KernelTensor& matrix(int chunk, int i) const { return matrices_[at(chunk * packed_.together + i)]; }
  // Element of a matrix for an output channel and a column.
  Value place(int chunk, int i, Value channel, Value column) {
    const std::int64_t across = matrix(chunk, i).columns;
    const Value begin =
        (b_.wide(head_) * matrix(chunk, i).rows + product(chunk, i).row) * (packed_.rows * packed_.dim);
    return begin + (product(chunk, i).transposed ? b_.wide(column) * across + b_.wide(channel)
                                                 : b_.wide(channel) * across + b_.wide(column));
  }

  void pack(int chunk, Value first) {
    const int count = packed_.chunk_products(chunk);
    b_.for_("column", b_.constant(0), b_.constant(packed_.dim), b_.constant(1), 1, [&](Value column) {
      for (int i = 0; i < count; ++i)
        for (int v = 0; v < p_.vectors; ++v) {
          const Value channel = b_.let("channel", tile_ * p_.channels() + v * p_.lanes + b_.thread());
          const Value from = place(chunk, i, channel, column);
          const Value element = b_.variable("element", b_.real(0));
          const auto fetch = [&] { b_.assign(element, b_.load("r", matrix(chunk, i).memory[from])); };
          if (packed_.rows % p_.channels() == 0)
            fetch();
          else
            b_.if_(channel < packed_.rows, fetch);
          b_.store(to_.memory[first + (b_.wide(column) * count + i) * p_.channels() + v * p_.lanes +
                              b_.wide(b_.thread())],
                   element);
        }
    });
  }

  // Tile by tile: each is within the head or past its end.
  void pack_tiles(int chunk, Value first) {
    const int count = packed_.chunk_products(chunk);
    b_.for_("column", b_.constant(0), b_.constant(packed_.dim), b_.constant(kernel::kTileStep), 1,
            [&](Value column) {
              for (int i = 0; i < count; ++i)
                for (int v = 0; v < p_.vectors; ++v) {
                  const Value to = b_.let("to", first + b_.wide(column) * (count * p_.channels()) +
                                                    (i * p_.vectors + v) * kernel::kTileElements);
                  const Value channel = b_.let("first_channel", tile_ * p_.channels() + v * p_.lanes);
                  const auto fetch = [&] { pack_tile(chunk, i, column, channel, to); };
                  if (packed_.rows % p_.channels() == 0)
                    fetch();
                  else
                    b_.if_(channel < packed_.rows, fetch, [&] { clear_tile(to); });
                }
            });
  }
  void pack_tile(int chunk, int i, Value column, Value channel, Value to) {
    const kernel::Memory& from = matrix(chunk, i).memory;
    if (product(chunk, i).transposed)
      return b_.pack_tile({to_.memory[to], kernel::kTileStep},
                          {from[place(chunk, i, channel, column)], matrix(chunk, i).columns}, false);
    each_pair(to, [&](Value pair) {
      return b_.load_packed("r", from[place(chunk, i, channel + b_.thread(), column + pair * 2)], 1);
    });
  }
  void clear_tile(Value to) {
    each_pair(to, [&](Value) { return std::vector<Value>{b_.constant(0)}; });
  }
  void each_pair(Value to, const std::function<std::vector<Value>(Value)>& of) {
    b_.for_("pair", b_.constant(0), b_.constant(kernel::kTileStep / 2), b_.constant(1), 1, [&](Value pair) {
      b_.store_packed(to_.memory[to + b_.wide(pair * kernel::kTileStep + b_.thread() * 2)], of(pair));
    });
  }

  const HostParameters& p_;
  const HostPacked& packed_;
  const std::vector<Product>& products_;
  kernel::Builder b_;
  Signature signature_;
  std::vector<KernelTensor> matrices_;
  KernelTensor to_;
  Value head_, tile_;
};

}  // namespace

Launch host_pack(const Task& task, const HostParameters& p, const HostPacked& packed,
                 const std::vector<Product>& products, const std::string& name) {
  return Packing(task, p, packed, products, name).build();
}

}  // namespace rondo::schedule
