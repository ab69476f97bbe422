#include "compiler/backend/nvrtc/cubin.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "compiler/backend/nvrtc/elf_file.h"

namespace rondo::runtime {
namespace {

constexpr std::uint16_t kMachineCuda = 190;     // EM_CUDA
constexpr unsigned char kEntryFunction = 0x10;  // st_other of a __global__ function (STO_CUDA_ENTRY)

// Attribute records of .nv.info sections: format, attribute, then a 16-bit value or, for format kSized, a
// 16-bit length and that many bytes. NVIDIA does not document them; the numbers are those that cuobjdump -elf
// names.
constexpr std::uint8_t kSized = 4;
constexpr std::uint8_t kMaxThreads = 0x05;     // x, y, z of __launch_bounds__ or reqntid
constexpr std::uint8_t kFrameSize = 0x11;      // symbol, bytes
constexpr std::uint8_t kMinStackSize = 0x12;   // symbol, bytes with callees
constexpr std::uint8_t kRegisterCount = 0x2f;  // symbol, registers

// What the system keeps at the start of each block's shared memory on sm_90 and newer. The cubin counts it in
// the size of .nv.shared.KERNEL and marks that it does by the section below; ptxas and the driver leave it
// out.
constexpr std::uint64_t kReservedShared = 1024;
constexpr std::string_view kReservedSection = ".nv.shared.reserved.0";

struct InfoRecord {
  std::uint8_t attribute = 0;
  std::string_view payload;  // empty for records that are not kSized
};

Error malformed(std::string what) {
  return Error{ErrorKind::Input, "malformed cubin: " + std::move(what),
               "the file is damaged or not a cubin: compile the kernel again"};
}

Result<std::vector<InfoRecord>> read_info(const ElfSection& section) {
  std::vector<InfoRecord> records;
  std::uint64_t at = 0;
  while (at < section.contents.size()) {
    std::uint8_t format = 0;
    InfoRecord record;
    std::uint16_t value = 0;
    if (!read_at(section.contents, at, format) || !read_at(section.contents, at + 1, record.attribute) ||
        !read_at(section.contents, at + 2, value))
      return malformed(fmt::format("section {} ends inside a record", section.name));
    at += 4;
    if (format == kSized) {
      if (value > section.contents.size() - at)
        return malformed(fmt::format("a record of section {} is longer than the section", section.name));
      record.payload = section.contents.substr(at, value);
      at += value;
    }
    records.push_back(record);
  }
  return records;
}

int to_int(std::uint64_t value) {
  return static_cast<int>(std::min<std::uint64_t>(value, std::numeric_limits<int>::max()));
}

// The value of the (symbol, value) record of that attribute for a symbol.
std::optional<int> symbol_value(const std::vector<InfoRecord>& records, std::uint8_t attribute,
                                std::uint32_t symbol) {
  for (const InfoRecord& record : records) {
    std::uint32_t owner = 0;
    std::uint32_t value = 0;
    if (record.attribute == attribute && read_at(record.payload, 0, owner) && owner == symbol &&
        read_at(record.payload, 4, value))
      return to_int(value);
  }
  return std::nullopt;
}

int launch_bound(const std::vector<InfoRecord>& records) {
  for (const InfoRecord& record : records) {
    std::uint32_t size[3] = {};
    if (record.attribute == kMaxThreads && read_at(record.payload, 0, size))
      return to_int(std::uint64_t{size[0]} * std::max(size[1], 1U) * std::max(size[2], 1U));
  }
  return 0;
}

Result<KernelResources> read_kernel(const ElfFile& file, const std::vector<InfoRecord>& info,
                                    std::uint32_t index) {
  const ElfSymbol& symbol = file.symbols()[index];
  KernelResources kernel;
  kernel.name = symbol.name;

  if (const auto registers = symbol_value(info, kRegisterCount, index)) {
    kernel.registers = *registers;
  } else if (symbol.section < file.sections().size() && file.sections()[symbol.section].info >> 24 != 0) {
    // Older cubins also keep the count in the top byte of the code section's info field.
    kernel.registers = static_cast<int>(file.sections()[symbol.section].info >> 24);
  } else {
    return malformed(fmt::format("it does not tell the registers of kernel {}", symbol.name));
  }
  const int frame = symbol_value(info, kFrameSize, index).value_or(0);
  kernel.stack_bytes = std::max(frame, symbol_value(info, kMinStackSize, index).value_or(0));

  if (const ElfSection* shared = file.find(fmt::format(".nv.shared.{}", symbol.name))) {
    const std::uint64_t reserved = file.find(kReservedSection) != nullptr ? kReservedShared : 0;
    kernel.shared_bytes = to_int(shared->size - std::min(shared->size, reserved));
  }
  if (const ElfSection* own = file.find(fmt::format(".nv.info.{}", symbol.name))) {
    auto records = read_info(*own);
    if (!records) return records.error();
    kernel.max_threads = launch_bound(*records);
  }
  return kernel;
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

Result<std::vector<KernelResources>> read_cubin(std::string_view cubin) {
  auto file = ElfFile::parse(cubin, kMachineCuda);
  if (!file) return file.error();
  std::vector<InfoRecord> info;
  if (const ElfSection* section = file->find(".nv.info")) {
    auto records = read_info(*section);
    if (!records) return records.error();
    info = std::move(*records);
  }
  std::vector<KernelResources> kernels;
  for (std::uint32_t i = 0; i < file->symbols().size(); ++i) {
    const ElfSymbol& symbol = file->symbols()[i];
    const bool defined = symbol.section != SHN_UNDEF;
    if (ELF64_ST_TYPE(symbol.info) != STT_FUNC || (symbol.other & kEntryFunction) == 0 || !defined) continue;
    auto kernel = read_kernel(*file, info, i);
    if (!kernel) return kernel.error();
    kernels.push_back(std::move(*kernel));
  }
  return kernels;
}

Result<std::vector<KernelResources>> read_cubin(std::string_view cubin, std::string_view log) {
  auto kernels = read_cubin(cubin);
  if (!kernels) return kernels;
  const std::vector<KernelResources> logged = read_ptxas_log(log);
  for (KernelResources& kernel : *kernels) {
    const auto found =
        std::find_if(logged.begin(), logged.end(), [&](const auto& l) { return l.name == kernel.name; });
    if (found == logged.end()) continue;
    kernel.spill_store_bytes = found->spill_store_bytes;
    kernel.spill_load_bytes = found->spill_load_bytes;
    kernel.shared_bytes = found->shared_bytes;
    kernel.stack_bytes = std::max(kernel.stack_bytes, found->stack_bytes);
  }
  return kernels;
}

std::vector<KernelResources> read_ptxas_log(std::string_view log) {
  std::vector<KernelResources> kernels;
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    read_log_line(log.substr(0, end), kernels);
    log.remove_prefix(std::min(end + 1, log.size()));
  }
  return kernels;
}

}  // namespace rondo::runtime
