#include "compiler/target/target.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

namespace rondo::target {

namespace {
constexpr const char* kCpus[] = {"", "aarch64", "x86-64-v2", "x86-64-v3", "x86-64-v4"};  // by capability
constexpr int kCpuCount = static_cast<int>(std::size(kCpus));
}  // namespace

std::string Target::name() const {
  if (capability > 0 && capability < kCpuCount) return kCpus[capability];
  return fmt::format("sm_{}{}", capability, specific ? "a" : "");
}

int host_capability() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("x86-64-v4")) return 4;
  if (__builtin_cpu_supports("x86-64-v3")) return 3;
  return 2;
#elif defined(__aarch64__)
  return 1;
#else
  return 0;
#endif
}

int compute_capability(const std::string& arch) {
  if (arch == "cpu") return host_capability();
  for (int cpu = 1; cpu < kCpuCount; ++cpu)
    if (arch == kCpus[cpu]) return cpu;
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
