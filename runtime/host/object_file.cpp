#include "runtime/host/object_file.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/support/integers.h"

namespace rondo::runtime {

namespace {

Error bad(const std::string& what) {
  return Error{ErrorKind::Input, "bad object file: " + what, "it may be damaged: make it again"};
}

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;  // of code and constants

// Whether the file holds a section's bytes. A section of type NULL is none, whatever else its header says.
bool is_stored(const Elf64_Shdr& section) {
  return section.sh_type != SHT_NULL && section.sh_type != SHT_NOBITS;
}

// Whether a section is part of the program.
bool is_loaded(const Elf64_Shdr& section) {
  return section.sh_type != SHT_NULL && (section.sh_flags & SHF_ALLOC) != 0;
}

}  // namespace

// Checks every place of the file before it is read: the bytes come from databases, which others may have
// written. Sections that overlap are refused, so that the work is bounded by the size of the file.
class ObjectLoader {
 public:
  explicit ObjectLoader(std::string_view bytes) : bytes_(bytes) {}

  Result<ObjectFile> load() {
    if (Status status = read_sections(); !status) return status.error();
    if (Status status = place(); !status) return status.error();
    for (const Elf64_Shdr& section : sections_)
      if (section.sh_type == SHT_RELA)
        if (Status status = relocate(section); !status) return status.error();
    if (mprotect(result_.memory_, result_.size_, PROT_READ | PROT_EXEC) != 0)
      return Error{ErrorKind::Device, "the system does not let memory be executed"};
    return std::move(result_);
  }

 private:
  template <class T>
  bool read(std::uint64_t at, T& into) const {
    if (at > bytes_.size() || bytes_.size() - at < sizeof(T)) return false;
    std::memcpy(&into, bytes_.data() + at, sizeof(T));
    return true;
  }

  Status read_sections() {
    Elf64_Ehdr header;
    if (!read(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
      return bad("it is no ELF file");
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64 || header.e_type != ET_REL)
      return Error{ErrorKind::Unsupported, "an object file that is not of x86-64",
                   "make it for the machine that it runs on"};
    std::uint64_t stored = 0;
    for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
      Elf64_Shdr section;
      if (header.e_shoff > bytes_.size() || !read(header.e_shoff + i * sizeof section, section))
        return bad("its sections end beyond it");
      sections_.push_back(section);
      if (!is_stored(section)) continue;
      if (section.sh_offset > bytes_.size() || bytes_.size() - section.sh_offset < section.sh_size)
        return bad("a section ends beyond it");
      stored += section.sh_size;
      if (stored > bytes_.size()) return bad("its sections overlap");
    }
    return read_symbols();
  }

  Status read_symbols() {
    for (const Elf64_Shdr& section : sections_) {
      if (section.sh_type != SHT_SYMTAB) continue;
      if (section.sh_link >= sections_.size() || sections_[section.sh_link].sh_type != SHT_STRTAB)
        return bad("symbols without names");
      if (!symbols_.empty()) return bad("it has two tables of symbols");
      names_ = sections_[section.sh_link];
      for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= section.sh_size; at += sizeof(Elf64_Sym)) {
        symbols_.emplace_back();
        read(section.sh_offset + at, symbols_.back());
      }
    }
    return success();
  }

  std::string name_of(const Elf64_Sym& symbol) const {
    if (symbol.st_name >= names_.sh_size) return "";
    const std::string_view rest =
        bytes_.substr(names_.sh_offset + symbol.st_name, names_.sh_size - symbol.st_name);
    return std::string(rest.substr(0, rest.find('\0')));
  }

  // Gives each section that is part of the program a place, and copies it there.
  Status place() {
    std::uint64_t size = 0;
    places_.assign(sections_.size(), std::nullopt);
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      const Elf64_Shdr& section = sections_[i];
      if (!is_loaded(section)) continue;
      const std::uint64_t alignment = std::max<std::uint64_t>(section.sh_addralign, 64);
      if ((alignment & (alignment - 1)) != 0 || alignment > 4096 || section.sh_size > kMostBytes)
        return bad("a section of impossible size or alignment");
      size = round_up(size, alignment);
      places_[i] = size;
      size += section.sh_size;
      if (size > kMostBytes) return bad("it is larger than any program");
    }
    result_.size_ = (size + 4095) / 4096 * 4096 + 4096;
    void* memory = mmap(nullptr, result_.size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return Error{ErrorKind::Memory, "no memory for machine code"};
    result_.memory_ = memory;
    for (std::size_t i = 0; i < sections_.size(); ++i)
      if (places_[i] && is_stored(sections_[i]))
        std::memcpy(base() + *places_[i], bytes_.data() + sections_[i].sh_offset, sections_[i].sh_size);
    for (const Elf64_Sym& symbol : symbols_)
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && inside(symbol) &&
          symbol.st_value < sections_[symbol.st_shndx].sh_size)
        result_.functions_[name_of(symbol)] = base() + *places_[symbol.st_shndx] + symbol.st_value;
    return success();
  }

  char* base() const { return static_cast<char*>(result_.memory_); }
  bool inside(const Elf64_Sym& symbol) const {
    return symbol.st_shndx < sections_.size() && places_[symbol.st_shndx] &&
           symbol.st_value <= sections_[symbol.st_shndx].sh_size;
  }

  Status relocate(const Elf64_Shdr& table) {
    if (table.sh_info >= sections_.size()) return bad("relocations of no section");
    if (!places_[table.sh_info]) return success();  // of what is not loaded
    for (std::uint64_t at = 0; at + sizeof(Elf64_Rela) <= table.sh_size; at += sizeof(Elf64_Rela)) {
      Elf64_Rela entry;
      read(table.sh_offset + at, entry);
      if (Status status = relocate(entry, table.sh_info); !status) return status;
    }
    return success();
  }

  Status relocate(const Elf64_Rela& entry, std::size_t section) {
    const std::uint64_t number = ELF64_R_SYM(entry.r_info), type = ELF64_R_TYPE(entry.r_info);
    if (number >= symbols_.size()) return bad("a relocation by an unknown symbol");
    const Elf64_Sym& symbol = symbols_[number];
    if (!inside(symbol))
      return Error{ErrorKind::Unsupported,
                   fmt::format("an object file that needs '{}' of another", name_of(symbol))};
    const bool wide = type == R_X86_64_64 || type == R_X86_64_PC64;
    if (!wide && type != R_X86_64_PC32 && type != R_X86_64_PLT32)
      return Error{ErrorKind::Unsupported, fmt::format("an object file with relocations of type {}", type)};
    const std::uint64_t bytes = wide ? 8 : 4, size = sections_[section].sh_size;
    if (entry.r_offset > size || size - entry.r_offset < bytes) return bad("a relocation beyond its section");
    char* const place = base() + *places_[section] + entry.r_offset;
    const char* const target = base() + *places_[symbol.st_shndx] + symbol.st_value;
    // Addresses are counted modulo 2^64, as linkers do: what overflows does not fit, and is no undefined sum.
    std::uint64_t sum = reinterpret_cast<std::uintptr_t>(target) + static_cast<std::uint64_t>(entry.r_addend);
    if (type != R_X86_64_64) sum -= reinterpret_cast<std::uintptr_t>(place);
    const auto value = static_cast<std::int64_t>(sum);
    if (!wide && (value > std::numeric_limits<std::int32_t>::max() ||
                  value < std::numeric_limits<std::int32_t>::min()))
      return bad("a relocation that does not fit");
    std::memcpy(place, &value, bytes);
    return success();
  }

  std::string_view bytes_;
  std::vector<Elf64_Shdr> sections_;
  std::vector<Elf64_Sym> symbols_;
  Elf64_Shdr names_{};
  std::vector<std::optional<std::uint64_t>> places_;
  ObjectFile result_;
};

Result<ObjectFile> ObjectFile::load(std::string_view bytes) { return ObjectLoader(bytes).load(); }

ObjectFile::ObjectFile(ObjectFile&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)),
      size_(other.size_),
      functions_(std::move(other.functions_)) {}

ObjectFile& ObjectFile::operator=(ObjectFile&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(size_, other.size_);
  std::swap(functions_, other.functions_);
  return *this;
}

ObjectFile::~ObjectFile() {
  if (memory_ != nullptr) munmap(memory_, size_);
}

void* ObjectFile::function(const std::string& name) const {
  const auto found = functions_.find(name);
  return found == functions_.end() ? nullptr : found->second;
}

}  // namespace rondo::runtime
