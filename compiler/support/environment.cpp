#include "compiler/support/environment.h"

#include <cstdlib>

namespace rondo {

std::string environment(const char* name) {
  const char* value = ::secure_getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace rondo
