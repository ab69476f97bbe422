#include "compiler/backend/ptxas/ptxas_log.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

namespace rondo::backend {

using executable::KernelResources;

namespace {

int to_int(std::uint64_t value) {
  return static_cast<int>(std::min<std::uint64_t>(value, std::numeric_limits<int>::max()));
}

// The text between `before` and `after`, both of which must occur.
std::optional<std::string_view> between(std::string_view line, std::string_view before,
                                        std::string_view after) {
  const std::size_t start = line.find(before);
  if (start == std::string_view::npos) return std::nullopt;
  const std::size_t from = start + before.size();
  const std::size_t end = line.find(after, from);
  if (end == std::string_view::npos) return std::nullopt;
  return line.substr(from, end - from);
}

// The number right before `words`; nothing when they do not follow a number.
std::optional<int> number_before(std::string_view line, std::string_view words) {
  const std::size_t end = line.find(words);
  if (end == std::string_view::npos) return std::nullopt;
  std::size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  if (begin == end) return std::nullopt;
  std::uint64_t value = 0;
  for (const char digit : line.substr(begin, std::min<std::size_t>(end - begin, 18)))
    value = 10 * value + static_cast<std::uint64_t>(digit - '0');
  return to_int(value);
}

// One line of the log; lines after "Compiling entry function" are about that kernel and the functions it
// calls.
void read_log_line(std::string_view line, std::vector<KernelResources>& kernels) {
  if (const auto name = between(line, "Compiling entry function '", "'")) {
    kernels.push_back(KernelResources{});
    kernels.back().name = *name;
    return;
  }
  if (kernels.empty()) return;
  KernelResources& kernel = kernels.back();
  if (const auto stores = number_before(line, " bytes spill stores")) {
    kernel.spill_store_bytes += *stores;
    kernel.spill_load_bytes += number_before(line, " bytes spill loads").value_or(0);
    kernel.stack_bytes = std::max(kernel.stack_bytes, number_before(line, " bytes stack frame").value_or(0));
  }
  if (const auto registers = number_before(line, " registers")) {
    if (line.find("Used ") == std::string_view::npos) return;
    kernel.registers = *registers;
    kernel.shared_bytes = number_before(line, " bytes smem").value_or(0);
    const int cumulative = number_before(line, " bytes cumulative stack size").value_or(0);
    kernel.stack_bytes = std::max(kernel.stack_bytes, cumulative);
  }
}

}  // namespace

std::vector<KernelResources> read_ptxas_log(std::string_view log) {
  std::vector<KernelResources> kernels;
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    read_log_line(log.substr(0, end), kernels);
    log.remove_prefix(std::min(end + 1, log.size()));
  }
  return kernels;
}

}  // namespace rondo::backend
