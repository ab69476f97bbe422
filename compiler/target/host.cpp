// What the system says of this machine's CPUs.
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>

#include "compiler/support/environment.h"
#include "compiler/target/host_profile.h"
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

int vector_bytes(const Target& target) { return target.has_avx512() ? 64 : target.level == 3 ? 32 : 16; }

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
  if (const int count = std::atoi(environment("RONDO_THREADS").c_str()); count > 0)
    return std::min(count, kMostThreads);
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::clamp(CPU_COUNT(&set), 1, kMostThreads);
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMostThreads);
}

Profile host_profile() { return host_profile(host_target().value()); }

Profile host_profile(const Target& target) { return host_profile(target, 0); }

Profile host_profile(const Target& target, int threads) {
  const std::optional<Target> here = host_target();
  const std::string level = target.name();
  Profile p;
  p.target = target;
  p.name = fmt::format("CPU ({})", level);
  p.key = "cpu";
  p.origin = "public";
  p.source = "common speeds of CPUs";
  p.cpu.threads = threads > 0 ? std::min(threads, kMostThreads) : usable_threads();
  p.cpu.l1_bytes = 32 << 10;
  p.cpu.l2_bytes = 2 << 20;
  p.cpu.vector_bytes = vector_bytes(target);
  p.speeds.clock_hz = 2.5e9;
  p.speeds.copy_bytes_per_s = 1e10 * std::min(p.cpu.threads, 8);
  p.speeds.launch_s = 2e-6;
  if (!here || !here->runs(target)) return p;
  const std::string model = model_name();
  p.name = fmt::format("{} ({}, {} threads)", model.empty() ? "CPU" : model, level, p.cpu.threads);
  p.key = fmt::format("cpu-{}{}-{}t", model.empty() ? "" : key_of(model) + "-", level, p.cpu.threads);
  if (const std::int64_t bytes = cache_bytes(_SC_LEVEL1_DCACHE_SIZE); bytes > 0) p.cpu.l1_bytes = bytes;
  if (const std::int64_t bytes = cache_bytes(_SC_LEVEL2_CACHE_SIZE); bytes > 0) p.cpu.l2_bytes = bytes;
  p.cpu.l3_bytes = shared_cache_bytes();
  return p;
}

}  // namespace rondo::target
