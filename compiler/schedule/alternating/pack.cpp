// Matrices in the order in which the steps multiply them, once for all steps: transposed where the transpose
// is multiplied, rows of a group side by side, past the head's end what adds nothing. A thread brings the 16
// bytes of a lane.
#include <fmt/format.h>

#include "compiler/schedule/alternating/kernels.h"
#include "compiler/schedule/gemm/time_operand.h"
#include "compiler/schedule/lower/product_terms.h"
#include "compiler/schedule/plan/signature.h"
#include "compiler/support/integers.h"

namespace rondo::schedule {
namespace {

constexpr int kThreads = 256;

class PackBuilder {
 public:
  PackBuilder(const AlternatingSweep& of, std::size_t group, std::int64_t first)
      : sweep_(of),
        g_(of.geometry),
        group_(of.stages.groups[group]),
        first_(first),
        b_(fmt::format("{}_alternating_{}_pack_{}", of.task.cell.name, pass_name(of.task.problem.pass),
                       group),
           kThreads, of.task.problem.math,
           fmt::format("{}: matrices in the order of the products", of.task.cell.name)),
        signature_(b_, of.task) {}

  Launch build() {
    KernelTensors tensors(signature_);
    for (const Product& product : group_.products)
      matrices_.push_back(tensors.reads({Role::Param, product.matrix}));
    packed_ = tensors.writes({Role::Packed, -1});
    const int tiles = g_.row_tiles(group_);
    const std::int64_t vectors = g_.packed_elements(sweep_.task.problem, group_) / g_.lane_elements;
    const Value i = b_.let("i", b_.wide(b_.block()) * kThreads + b_.wide(b_.thread()));
    b_.if_(i < vectors, [&] {
      b_.comment("[head][tile][chunk][row tile][half][lane]");
      const Value lane = b_.let("lane", i % 32), half = b_.let("half", i / 32 % 2);
      const Value row_tile = b_.let("row_tile", i / 64 % tiles);
      const Value chunk = b_.let("chunk", i / (64 * tiles) % g_.chunks);
      const Value block = b_.let("of_block", i / (std::int64_t{64} * tiles * g_.chunks));
      place(lane, half, chunk);
      for (int e = 0; e < g_.lane_elements; ++e)
        values_.push_back(b_.variable("r", b_.real(neutral(group_.kind))));
      for (int row = 0; row < rows_; ++row) bring(row, row_tile, block % g_.tiles, block / g_.tiles);
      store(packed_.memory[i * g_.lane_elements + first_]);
    });
    return {b_.kernel(), signature_.arguments(), ceil_div(vectors, kThreads), 0};
  }

 private:
  // PTX ISA, mma.m16n8k16, fragment A: pairs 0 and 2 are row g, pairs 1 and 3 row g + 8; 2 and 3 are the
  // later columns. Lane 4g + q's columns are 8q to 8q + 7 of the chunk, four of them a half, as it has them
  // of the vector. For plain lanes: [columns of 16 bytes][16 rows].
  void place(Value lane, Value half, Value chunk) {
    if (is_plain(sweep_.task.problem, group_)) {
      const Value piece = half * 32 + lane;
      rows_ = 1;
      row_ = b_.let("row", piece % 16);
      column_ = b_.let("column", chunk * g_.chunk + piece / 16 * g_.lane_elements);
    } else {
      rows_ = 2;
      row_ = b_.let("row", lane / 4);
      column_ = b_.let("column", chunk * g_.chunk + lane % 4 * 8 + half * 4);
    }
  }

  // The elements of one of the lane's rows.
  void bring(int which, Value row_tile, Value tile, Value head) {
    const std::int64_t dim = g_.dim;
    const Value row = b_.let("group_row", row_tile * 16 + row_ + 8 * which);
    const Value unit = b_.let("unit", tile * g_.p.units + row % g_.p.units);
    for (std::size_t p = 0; p < group_.products.size(); ++p)
      b_.if_(row / g_.p.units == static_cast<std::int64_t>(p) && unit < dim, [&] {
        const Product& product = group_.products[p];
        const KernelTensor& matrix = matrices_[p];
        const Value first = b_.let("first", (b_.wide(head) * matrix.rows + product.row) * (dim * dim));
        for (int e = 0; e < g_.lane_elements; ++e) {
          if (rows_ == 2 && e / 2 % 2 != which) continue;
          const Value column = column_ + (rows_ == 2 ? e / 4 * 2 + e % 2 : e);
          b_.if_(column < dim, [&] {
            const Value place = product.transposed ? b_.wide(column) * dim + b_.wide(unit)
                                                   : b_.wide(unit) * dim + b_.wide(column);
            b_.assign(values_[static_cast<std::size_t>(e)], b_.load("element", matrix.memory[first + place]));
          });
        }
      });
  }

  void store(kernel::Place to) {
    if (sweep_.task.problem.storage == kernel::Storage::F32) return b_.store_vector(to, values_);
    std::vector<Value> pairs;
    for (std::size_t e = 0; e < values_.size(); e += 2)
      pairs.push_back(b_.pack(sweep_.task.problem.storage, values_[e], values_[e + 1]));
    b_.store_packed(to, pairs);
  }

  const AlternatingSweep& sweep_;
  const AlternatingGeometry& g_;
  const ProductGroup& group_;
  std::int64_t first_;  // element of the packed matrices
  kernel::Builder b_;
  Signature signature_;
  std::vector<KernelTensor> matrices_;  // by product
  KernelTensor packed_;
  int rows_ = 1;  // that a lane has elements of
  Value row_, column_;
  std::vector<Value> values_;
};

}  // namespace

std::vector<Launch> alternating_pack(const AlternatingSweep& sweep) {
  std::vector<Launch> launches;
  std::int64_t first = 0;
  const std::vector<std::size_t> same = with_same_matrices(sweep.stages.groups);
  for (std::size_t group = 0; group < sweep.stages.groups.size(); ++group) {
    if (same[group] != group || sweep.geometry.matrix_pieces(sweep.stages.groups[group]) == 0) continue;
    launches.push_back(PackBuilder(sweep, group, first).build());
    first += sweep.geometry.packed_elements(sweep.task.problem, sweep.stages.groups[group]);
  }
  return launches;
}

}  // namespace rondo::schedule
