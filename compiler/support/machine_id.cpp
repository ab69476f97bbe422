#include "compiler/support/machine_id.h"

#include "compiler/support/hash.h"
#include "compiler/support/text_file.h"

namespace rondo {
namespace {

constexpr std::int64_t kMostText = 16 << 20;  // of /proc/cpuinfo, with hundreds of processors

std::string text_of(const char* path) {
  Result<std::string> text = read_text_file(path, kMostText);
  return text ? std::move(text).value() : std::string();
}

// "6" of "cpu family\t: 6".
std::string field_of(std::string_view processors, std::string_view name) {
  const std::string_view first = processors.substr(0, processors.find("\n\n"));
  for (std::size_t at = 0; at < first.size();) {
    const std::size_t end = std::min(first.find('\n', at), first.size());
    const std::string_view line = first.substr(at, end - at);
    at = end + 1;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    std::string_view key = line.substr(0, colon);
    while (!key.empty() && (key.back() == '\t' || key.back() == ' ')) key.remove_suffix(1);
    if (key != name) continue;
    std::string_view value = line.substr(colon + 1);
    while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
    return std::string(value);
  }
  return {};
}

}  // namespace

std::string machine_id_of(std::string_view machine, std::string_view processors) {
  std::string all = "rondo-machine-1\n" + std::string(machine.substr(0, machine.find('\n')));
  for (const char* name : {"vendor_id", "cpu family", "model", "stepping", "CPU implementer", "CPU part"})
    all += "\n" + field_of(processors, name);
  constexpr std::size_t kDigits = 16;
  return sha256_hex(all).substr(0, kDigits);
}

std::string microcode_of(std::string_view processors) {
  const std::string version = field_of(processors, "microcode");
  return version.empty() ? version : "microcode " + version;
}

const std::string& machine_id() {
  static const std::string id = [] {
    std::string machine = text_of("/etc/machine-id");
    if (machine.empty()) machine = text_of("/var/lib/dbus/machine-id");
    return machine_id_of(machine, text_of("/proc/cpuinfo"));
  }();
  return id;
}

std::string processor_microcode() { return microcode_of(text_of("/proc/cpuinfo")); }

}  // namespace rondo
