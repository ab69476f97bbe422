// The sections and symbols of a little-endian ELF64 file in memory, each access checked. Internal to
// runtime/.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <vector>

#include "compiler/support/result.h"

namespace rondo::runtime {

struct ElfSection {
  std::string_view name;
  std::uint32_t type = 0;
  std::uint32_t link = 0;
  std::uint32_t info = 0;
  std::uint64_t size = 0;     // in memory; sections without file contents (shared memory) have a size too
  std::string_view contents;  // empty for those
};

struct ElfSymbol {
  std::string_view name;
  unsigned char info = 0;
  unsigned char other = 0;
  std::uint16_t section = 0;
};

// Views into the bytes given to parse(), which must outlive it.
class ElfFile {
 public:
  // Error of kind Input for anything that is not a well-formed ELF64 file of machine type `machine`.
  static Result<ElfFile> parse(std::string_view bytes, std::uint16_t machine);

  const std::vector<ElfSection>& sections() const { return sections_; }
  const std::vector<ElfSymbol>& symbols() const { return symbols_; }  // of the first symbol table
  const ElfSection* find(std::string_view name) const;                // null when there is none

 private:
  Status read_sections(std::string_view bytes, const Elf64_Ehdr& header);
  Status read_symbols();
  std::vector<ElfSection> sections_;
  std::vector<ElfSymbol> symbols_;
};

// Reads a T at `offset` of `bytes`, which need not be aligned. False when it does not lie inside.
template <class T>
bool read_at(std::string_view bytes, std::uint64_t offset, T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return false;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return true;
}

}  // namespace rondo::runtime
