// The products of a step by plain lanes: those of fp32, and with any storage type the largest sums of
// max-plus products and what scatters their gradients back. Lane 4g + q has rows g and g + 8 of a row tile
// and batch rows 2q and 2q + 1 of a batch tile, as on tensor cores; sums are fp32.
#include "compiler/schedule/alternating/product.h"
#include "compiler/schedule/gemm/tile.h"
#include "compiler/schedule/lower/product_terms.h"

namespace rondo::schedule {

using kernel::kFullUnroll;

namespace {

constexpr int kParts = 4;  // of a chunk: 16 bytes of each row

}  // namespace

// 16 bytes of the ring.
std::vector<Value> AlternatingProduct::load_reals(const std::string& name, kernel::Place from) {
  auto& b = builder_;
  if (problem_.storage == kernel::Storage::F32) return b.load_vector(name, from, kReals);
  std::vector<Value> values;
  for (const Value pair : b.load_packed(name + "_pair", from, geometry_.lane_elements / 2))
    for (const bool high : {false, true})
      values.push_back(b.let(name, b.unpack(problem_.storage, pair, high)));
  return values;
}

AlternatingProduct::Columns AlternatingProduct::load_columns(const Group& group, Value slot, Value part) {
  const AlternatingGeometry& g = geometry_;
  Columns columns;
  for (int j = 0; j < batch_tiles(); ++j)
    for (int side = 0; side < 2; ++side) {
      const int piece = group.first_piece + group.matrix_pieces + j;
      const Value row = part * 8 + quarter_ * 2 + side;
      columns.push_back(load_reals("v", ring_[slot + piece * g.piece_elements() + row * g.lane_elements]));
    }
  return columns;
}

void AlternatingProduct::multiply_plain(const Group& group, Value slot) {
  auto& b = builder_;
  const AlternatingGeometry& g = geometry_;
  const ProductKind kind = of(group).kind;
  const Value first = slot + warp_ * (pieces_ * g.piece_elements());
  b.for_("four", 0, kParts, kind == ProductKind::Sum ? kFullUnroll : 1, [&](Value four) {
    const Columns columns = load_columns(group, first, four);
    b.for_("i", 0, group.row_tiles, kFullUnroll, [&](Value i) {
      for (int half = 0; half < 2; ++half) {
        const Value row = four * 16 + group_lane_ + 8 * half;
        const Value tile = (i * 2 + group.first_matrix) * g.piece_elements();
        const std::vector<Value> r = load_reals("r", ring_[first + tile + row * g.lane_elements]);
        for (int n = 0; n < 2 * batch_tiles(); ++n) {
          const Value at = ((i + group.first_tile) * batch_tiles() + n / 2) * 4 + (2 * half + n % 2);
          Value sum = b.read(sums_, at);
          for (std::size_t k = 0; k < r.size(); ++k)
            sum = with_term(b, kind, sum, r[k], columns[static_cast<std::size_t>(n)][k]);
          b.write(sums_, at, sum);
        }
      }
    });
  });
}

void AlternatingProduct::start_chosen(const Place& place) {
  auto& b = builder_;
  const AlternatingGeometry& g = geometry_;
  b.comment("the channels that this step has chosen, and the lane's own");
  const bool forward = sweep_.order == TimeOrder::Forward;
  const Value t = b.let("t_chosen", forward ? place.count : place.time - 1 - place.count);
  for (int j = 0; j < batch_tiles(); ++j) {
    const Value row = min(place.first_row + group_lane_ + 8 * j, place.batch - 1);
    chosen_at_.push_back(b.let("chosen_at", chosen_.row_begin(row) + b.wide(t) * chosen_.stride_t +
                                                b.wide(place.head * (chosen_.rows * g.dim))));
  }
  for (int unit = 0; unit < g.p.units; unit += 8)
    own_units_.push_back(b.let("own_unit", b.to_real(place.tile * g.p.units + group_lane_ + unit)));
}

// [product][batch tile][columns in fours][8 batch rows]; no channel has chosen anything past the head's end.
void AlternatingProduct::copy_chosen(const Group& group, Value chunk, Value slot) {
  auto& b = builder_;
  const AlternatingGeometry& g = geometry_;
  const int access = widest_access(kernel::Storage::F32, g.dim, g.p.vector);
  const Value own = b.let("own_chosen", (slot * g.p.warps + warp_) * (chosen_pieces_ * g.chosen_elements()) +
                                            (quarter_ * 8 + group_lane_) * kReals);
  const Value first = b.let("first_column", chunk * g.chunk + quarter_ * kReals);
  int piece = group.first_chosen;
  for (const Product& product : of(group).products) {
    const std::int64_t row = sweep_.sources.at(product.chosen).row.row * g.dim;
    for (int j = 0; j < batch_tiles(); ++j, ++piece)
      for (int part = 0; part < g.chunk / (4 * kReals); ++part)
        for (int e = 0; e < kReals; e += access) {
          const Value column = first + (part * 4 * kReals + e);
          const kernel::Place to =
              chosen_ring_[own + (piece * g.chosen_elements() + part * 4 * 8 * kReals + e)];
          const auto copy = [&] {
            b.copy_async(to, chosen_.memory[chosen_at_[static_cast<std::size_t>(j)] + b.wide(column + row)],
                         access);
          };
          if (g.dim % g.chunk == 0)
            copy();
          else
            b.if_(column < g.dim, copy, [&] {
              b.store_vector(to, std::vector<Value>(static_cast<std::size_t>(access), b.real(-1)));
            });
        }
  }
}

void AlternatingProduct::scatter(const Group& group, Value slot, Value chosen_slot) {
  auto& b = builder_;
  const AlternatingGeometry& g = geometry_;
  const int fours = g.lane_elements / kReals, products = static_cast<int>(of(group).products.size());
  const Value first = slot + warp_ * (pieces_ * g.piece_elements());
  const Value chosen_first =
      b.let("chosen_from", (chosen_slot * g.p.warps + warp_) * (chosen_pieces_ * g.chosen_elements()) +
                               (quarter_ * 2 * kReals + group.first_chosen * g.chosen_elements()));
  b.for_("part", 0, kParts, 1, [&](Value part) {
    const Columns columns = load_columns(group, first, part);
    for (int product = 0; product < products; ++product)
      for (int n = 0; n < 2 * batch_tiles(); ++n) {
        const int piece = product * batch_tiles() + n / 2;
        std::vector<Value> chosen;
        for (int four = 0; four < fours; ++four) {
          const Value at = chosen_first + piece * g.chosen_elements() + (part * fours + four) * (8 * kReals) +
                           n % 2 * kReals;
          for (const Value number : b.load_vector("chosen", chosen_ring_[at], kReals))
            chosen.push_back(number);
        }
        add_chosen(group, product, chosen, n, columns[static_cast<std::size_t>(n)]);
      }
  });
}

// Of 8 rows after each other all are units of one product.
void AlternatingProduct::add_chosen(const Group& group, int product, const std::vector<Value>& chosen,
                                    int batch_row, const std::vector<Value>& values) {
  auto& b = builder_;
  const int units = geometry_.p.units;
  for (int unit = 0; unit < units; unit += 8) {
    const int row = product * units + unit, tile = group.first_tile + row / 16;
    const Value own = own_units_[static_cast<std::size_t>(unit / 8)];
    const Value at =
        b.constant((tile * batch_tiles() + batch_row / 2) * 4 + row % 16 / 8 * 2 + batch_row % 2);
    Value sum = b.read(sums_, at);
    for (std::size_t k = 0; k < values.size(); ++k) sum = with_chosen(b, sum, chosen[k], own, values[k]);
    b.write(sums_, at, sum);
  }
}

}  // namespace rondo::schedule
