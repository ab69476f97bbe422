#include "compiler/schedule/host/register_tile.h"

#include <limits>

namespace rondo::schedule {

double RegisterTile::neutral(ProductKind kind) {
  const bool largest = kind == ProductKind::Max || kind == ProductKind::Channel;
  return largest ? -std::numeric_limits<double>::infinity() : 0;
}

void RegisterTile::add(kernel::Builder& b, Value place, const Term& term, Value column) const {
  const Value before = b.read(acc, place);
  switch (kind) {
    case ProductKind::Sum: return b.write(acc, place, b.math(scalar::Op::Fma, {column, term.of_row, before}));
    case ProductKind::Max:
      return b.write(acc, place, b.math(scalar::Op::Max, {before, column + term.of_row}));
    case ProductKind::Channel: {
      const Value sum = b.let("sum", column + term.of_row), larger = b.let("larger", before < sum);
      b.write(channels, place, b.select(larger, b.to_real(term.k), b.read(channels, place)));
      return b.write(acc, place, b.select(larger, sum, before));
    }
    case ProductKind::Scatter:
      return b.write(acc, place, before + b.select(term.chosen == column, term.of_row, b.real(0)));
  }
}

void RegisterTile::multiply(kernel::Builder& b, Value begin, Value end) const {
  b.for_("k", begin, end, b.constant(1), 4, [&](Value k) {
    std::vector<Value> columns;
    for (int v = 0; v < vectors; ++v) columns.push_back(right(k, v));
    if (ahead) ahead(k);
    for (int row = 0; row < rows; ++row) {
      const Term term{k, left(k, row), chosen ? chosen(k, row) : Value{}};
      for (int v = 0; v < vectors; ++v)
        add(b, b.constant(first + row * vectors + v), term, columns[static_cast<std::size_t>(v)]);
    }
  });
}

}  // namespace rondo::schedule
