#include "compiler/executable/producer.h"

#include "compiler/support/version.h"

namespace rondo::executable {

std::string producer() { return std::string("rondo ") + kVersion; }

}  // namespace rondo::executable
