// What the system says of this machine's CPUs.
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "compiler/target/profile.h"
#include "compiler/target/target.h"

namespace rondo::target {

namespace {

constexpr int kMostThreads = 256;

// As Linux names it on x86; empty where it does not.
std::string model_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const std::size_t colon = line.find(": ");
    return colon == std::string::npos ? "" : line.substr(colon + 2);
  }
  return "";
}

// "Intel(R) Xeon(R) Processor" is "intel-xeon-processor".
std::string key_of(const std::string& name) {
  std::string key;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '(') {  // (R), (TM)
      i = std::min(name.find(')', i), name.size());
      continue;
    }
    const auto c = static_cast<unsigned char>(name[i]);
    if (std::isalnum(c) != 0)
      key += static_cast<char>(std::tolower(c));
    else if (!key.empty() && key.back() != '-')
      key += '-';
  }
  while (!key.empty() && key.back() == '-') key.pop_back();
  return key;
}

// 0 where the system does not tell.
std::int64_t cache_bytes(int name) { return std::max<std::int64_t>(0, sysconf(name)); }

// The outermost cache that cores share. The C library of a virtual machine may count those of the whole
// processor, of which cores use their own group's only: 320 MiB for 32 on an EPYC.
std::int64_t shared_cache_bytes() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index3/size");
  std::string text;
  std::getline(file, text);
  const std::int64_t told = cache_size_of(text);
  return told > 0 ? told : cache_bytes(_SC_LEVEL3_CACHE_SIZE);
}

int vector_bytes(int capability) { return capability == 4 ? 64 : capability == 3 ? 32 : 16; }

}  // namespace

std::int64_t cache_size_of(const std::string& text) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  std::istringstream in(text);
  std::int64_t size = 0;
  std::string unit;
  if (!(in >> size) || size <= 0 || size > kMost) return 0;
  in >> unit;
  const std::int64_t of_unit = unit == "K" ? 1 << 10 : unit == "M" ? 1 << 20 : unit.empty() ? 1 : 0;
  return std::min(size * of_unit, kMost);
}

int usable_threads() {
  if (const char* asked = std::getenv("RONDO_THREADS"))
    if (const int count = std::atoi(asked); count > 0) return std::min(count, kMostThreads);
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::clamp(CPU_COUNT(&set), 1, kMostThreads);
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMostThreads);
}

Profile host_profile(int capability) {
  const int here = host_capability();
  const bool same_kind = (capability == 1) == (here == 1) && capability <= here;
  const std::string level = Target{capability, false}.name();
  Profile p;
  p.name = fmt::format("CPU ({})", level);
  p.key = "cpu";
  p.origin = "public";
  p.source = "common speeds of CPUs";
  p.limits.compute_major = 0;
  p.limits.compute_minor = capability;
  p.limits.sm_count = usable_threads();
  p.limits.max_cluster = 1;
  p.limits.l1_bytes = 32 << 10;
  p.limits.l2_bytes = 2 << 20;
  p.limits.vector_bytes = vector_bytes(capability);
  p.speeds.clock_hz = 2.5e9;
  p.speeds.copy_bytes_per_s = 1e10 * std::min(p.limits.sm_count, 8);
  p.speeds.launch_s = 2e-6;
  if (!same_kind) return p;
  const std::string model = model_name();
  p.name = fmt::format("{} ({}, {} threads)", model.empty() ? "CPU" : model, level, p.limits.sm_count);
  p.key = fmt::format("cpu-{}{}-{}t", model.empty() ? "" : key_of(model) + "-", level, p.limits.sm_count);
  if (const std::int64_t bytes = cache_bytes(_SC_LEVEL1_DCACHE_SIZE); bytes > 0) p.limits.l1_bytes = bytes;
  if (const std::int64_t bytes = cache_bytes(_SC_LEVEL2_CACHE_SIZE); bytes > 0) p.limits.l2_bytes = bytes;
  p.limits.l3_bytes = shared_cache_bytes();
  return p;
}

}  // namespace rondo::target
