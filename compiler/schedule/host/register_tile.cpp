#include "compiler/schedule/host/register_tile.h"

namespace rondo::schedule {

void RegisterTile::multiply(kernel::Builder& b, Value begin, Value end) const {
  b.for_("k", begin, end, b.constant(1), 4, [&](Value k) {
    std::vector<Value> columns;
    for (int v = 0; v < vectors; ++v) columns.push_back(right(k, v));
    if (ahead) ahead(k);
    for (int row = 0; row < rows; ++row) {
      const Value factor = left(k, row);
      for (int v = 0; v < vectors; ++v) {
        const Value place = b.constant(first + row * vectors + v);
        b.write(acc, place,
                b.math(scalar::Op::Fma, {columns[static_cast<std::size_t>(v)], factor, b.read(acc, place)}));
      }
    }
  });
}

}  // namespace rondo::schedule
