#include "compiler/schedule/host/register_tile.h"

#include "compiler/schedule/lower/product_terms.h"

namespace rondo::schedule {

void RegisterTile::add(kernel::Builder& b, Value place, const Term& term, Value column) const {
  if (kind == ProductKind::Channel)
    return choose(b, acc, channels, place, column + term.of_row, b.to_real(term.k));
  const Value before = b.read(acc, place);
  b.write(acc, place,
          kind == ProductKind::Scatter ? with_chosen(b, before, term.chosen, column, term.of_row)
                                       : with_term(b, kind, before, column, term.of_row));
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
