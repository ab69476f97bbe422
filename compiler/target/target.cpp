#include "compiler/target/target.h"

#include <fmt/format.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <string_view>

namespace rondo::target {

namespace {
struct CpuName {
  const char* name;
  Target target;
};
constexpr CpuName kCpus[] = {{"aarch64", {Target::Kind::AArch64, 0}},
                             {"x86-64-v2", {Target::Kind::X86_64, 2}},
                             {"x86-64-v3", {Target::Kind::X86_64, 3}},
                             {"x86-64-v4", {Target::Kind::X86_64, 4}},
                             {"x86-64-v4-amx", {Target::Kind::X86_64, 5}}};

#if defined(__x86_64__)
// The levels of the x86-64 psABI (section 3.1.1). The names of levels are not known to the builtin of Clang
// 14, and three features of level 3 to that of no compiler.
bool has_level_3() {
  constexpr unsigned kMovbe = 1U << 22, kF16c = 1U << 29, kLzcnt = 1U << 5;  // of ECX
  unsigned eax = 0, ebx = 0, basic = 0, extended = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &basic, &edx) == 0) return false;
  if (__get_cpuid(0x80000001, &eax, &ebx, &extended, &edx) == 0) return false;
  return (basic & kMovbe) != 0 && (basic & kF16c) != 0 && (extended & kLzcnt) != 0 &&
         __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2");
}
bool has_level_4() {
  return has_level_3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}
// Linux, "Using XSTATE features in user space applications".
constexpr long kSupported = 0x1021, kAsk = 0x1023;  // ARCH_GET_XCOMP_SUPP, ARCH_REQ_XCOMP_PERM
constexpr unsigned long kTileData = 18;             // XFEATURE_XTILEDATA
// Matrix tiles for bf16, of CPUs and of a system that can keep their registers.
bool has_matrix_tiles() {
  constexpr unsigned kBf16 = 1U << 22, kTile = 1U << 24;  // of EDX
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return false;
  unsigned long kept = 0;
  return (edx & kBf16) != 0 && (edx & kTile) != 0 && syscall(SYS_arch_prctl, kSupported, &kept) == 0 &&
         (kept >> kTileData & 1) != 0;
}
int level() { return !has_level_4() ? has_level_3() ? 3 : 2 : has_matrix_tiles() ? 5 : 4; }
#endif
}  // namespace

std::string Target::name() const {
  for (const CpuName& cpu : kCpus)
    if (cpu.target == *this) return cpu.name;
  return fmt::format("sm_{}{}", level, specific ? "a" : "");
}

std::optional<Target> host_target() {
#if defined(__x86_64__)
  return Target{Target::Kind::X86_64, level()};
#elif defined(__aarch64__)
  return Target{Target::Kind::AArch64, 0};
#else
  return std::nullopt;
#endif
}

bool allow_matrix_tiles() {
#if defined(__x86_64__)
  static const bool allowed = has_matrix_tiles() && syscall(SYS_arch_prctl, kAsk, kTileData) == 0;
  return allowed;
#else
  return false;
#endif
}

std::optional<Target> find_target(const std::string& arch) {
  if (arch == "cpu") return host_target();
  for (const CpuName& cpu : kCpus)
    if (arch == cpu.name) return cpu.target;
  std::string_view digits = arch;
  if (!digits.starts_with("sm_")) return std::nullopt;
  digits.remove_prefix(3);
  if (digits.ends_with('a') || digits.ends_with('f')) digits.remove_suffix(1);
  if (digits.size() < 2 || digits.size() > 3 || digits.front() == '0') return std::nullopt;
  int capability = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') return std::nullopt;
    capability = 10 * capability + (digit - '0');
  }
  return Target::gpu(capability);
}

std::string plain_arch(const std::string& arch) {
  const std::optional<Target> target = find_target(arch);
  return target ? target->name() : arch;
}

}  // namespace rondo::target
