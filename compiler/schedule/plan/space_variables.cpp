#include "compiler/schedule/plan/space_variables.h"

namespace rondo::schedule {

constraint::Domain domain_of(const ParameterValues& values) {
  if (values.is_range()) return constraint::range(values.least(), values.most());
  return constraint::values({values.listed().begin(), values.listed().end()});
}

}  // namespace rondo::schedule
