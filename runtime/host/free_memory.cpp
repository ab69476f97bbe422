#include "runtime/host/free_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace rondo::runtime {
namespace {

constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::max();

// The number that a file holds; none where there is no file, or a word ("max").
std::optional<std::int64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::int64_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

std::int64_t of_machine() {
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  for (std::int64_t kilobytes = 0; file >> name >> kilobytes; std::getline(file, unit))
    if (name == "MemAvailable:") return kilobytes * 1024;
  return kUnknown;
}

// Of the group whose files the process sees as the root of its hierarchy, as in a container. What its page
// cache holds can be given up.
std::int64_t of_group() {
  struct Files {
    const char *limit, *used, *statistics, *cache;
  };
  constexpr Files kVersions[] = {
      {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat",
       "inactive_file"},
      {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes",
       "/sys/fs/cgroup/memory/memory.stat", "total_inactive_file"}};
  for (const Files& files : kVersions) {
    const auto limit = number_in(files.limit), used = number_in(files.used);
    if (!limit || !used) continue;
    std::ifstream statistics(files.statistics);
    std::string name;
    for (std::int64_t bytes = 0; statistics >> name >> bytes;)
      if (name == files.cache) return std::max<std::int64_t>(*limit - *used + bytes, 0);
    return std::max<std::int64_t>(*limit - *used, 0);
  }
  return kUnknown;
}

}  // namespace

std::int64_t free_memory() { return std::min(of_machine(), of_group()); }

std::int64_t resident_memory() {
  std::ifstream file("/proc/self/statm");
  std::int64_t all = 0, resident = 0;
  return file >> all >> resident ? resident * sysconf(_SC_PAGESIZE) : 0;
}

}  // namespace rondo::runtime
