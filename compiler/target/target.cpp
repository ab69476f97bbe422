#include "compiler/target/target.h"

#include <fmt/format.h>

#include <string_view>

namespace rondo::target {

std::string Target::name() const { return fmt::format("sm_{}{}", capability, specific ? "a" : ""); }

int compute_capability(const std::string& arch) {
  std::string_view digits = arch;
  if (!digits.starts_with("sm_")) return 0;
  digits.remove_prefix(3);
  if (digits.ends_with('a') || digits.ends_with('f')) digits.remove_suffix(1);
  if (digits.size() < 2 || digits.size() > 3 || digits.front() == '0') return 0;
  int capability = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') return 0;
    capability = 10 * capability + (digit - '0');
  }
  return capability;
}

std::string plain_arch(const std::string& arch) {
  const int capability = compute_capability(arch);
  return capability == 0 ? arch : Target{capability, false}.name();
}

}  // namespace rondo::target
