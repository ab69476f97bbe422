// Cases of cells that stand as text in a test: both passes of a strategy, each at the first point of its
// space.
#pragma once

#include <map>
#include <string>

#include "compiler/schedule/strategies.h"
#include "compiler/step/extents.h"
#include "compiler/step/forms.h"
#include "tests/schedule/comparison.h"
#include "tests/schedule/first_point.h"
#include "tests/schedule/text_cells.h"

namespace rondo::schedule {

struct TextCase {
  const char* strategy;
  const char* cell;
  step::Sizes sizes;
  std::map<std::string, double> extents = {};
};

// Without a backward pass where the strategy has none.
inline Case case_of_text(const TextCase& of, const step::Forms& forms, Storage storage,
                         bool products = false) {
  Case c{find_strategy(of.strategy), {}, {}, {}, {}};
  c.cell = step::with_extents(step::with_forms(cell_of_text(of.cell), forms).value(), of.extents);
  c.problem.sizes = of.sizes;
  c.problem.storage = storage;
  c.problem.math = default_math(storage);
  c.problem.save_products = products;
  c.problem.pass = Pass::ForwardSave;
  c.parameters = first_point(*c.strategy, c.task());
  c.problem.pass = Pass::Backward;
  if (c.strategy->legal(c.task()).legal) c.backward = first_point(*c.strategy, c.task());
  return c;
}

}  // namespace rondo::schedule
