#include "compiler/backend/nvrtc/elf_file.h"

#include <fmt/format.h>

namespace rondo::runtime {
namespace {

Error malformed_elf(std::string what) {
  return Error{ErrorKind::Input, "malformed cubin: " + std::move(what),
               "the file is damaged or not a cubin: compile the kernel again"};
}

// The zero-terminated text at `offset` of a string table; false when it is not terminated inside.
bool text_at(std::string_view table, std::uint64_t offset, std::string_view& text) {
  if (offset >= table.size()) return false;
  const std::size_t end = table.find('\0', offset);
  if (end == std::string_view::npos) return false;
  text = table.substr(offset, end - offset);
  return true;
}

}  // namespace

Result<ElfFile> ElfFile::parse(std::string_view bytes, std::uint16_t machine) {
  Elf64_Ehdr header{};
  if (!read_at(bytes, 0, header))
    return malformed_elf(fmt::format("{} bytes are too few for an ELF header", bytes.size()));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return malformed_elf("it does not start with the ELF signature");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    return malformed_elf("it is not a 64-bit little-endian ELF file");
  if (header.e_machine != machine)
    return malformed_elf(fmt::format("its machine type is {}, not CUDA's {}", header.e_machine, machine));
  ElfFile file;
  if (auto read = file.read_sections(bytes, header); !read) return read.error();
  if (auto read = file.read_symbols(); !read) return read.error();
  return file;
}

Status ElfFile::read_sections(std::string_view bytes, const Elf64_Ehdr& header) {
  if (header.e_shnum == 0 || header.e_shentsize < sizeof(Elf64_Shdr))
    return malformed_elf("it has no section table");
  std::vector<Elf64_Shdr> table(header.e_shnum);
  for (std::size_t i = 0; i < table.size(); ++i) {
    // The offset is checked before anything is added to it, so that a huge one cannot wrap around.
    if (header.e_shoff > bytes.size() || !read_at(bytes, header.e_shoff + i * header.e_shentsize, table[i]))
      return malformed_elf(fmt::format("section header {} of {} lies outside the file", i, table.size()));
  }
  if (header.e_shstrndx >= table.size()) return malformed_elf("the section of section names does not exist");

  for (std::size_t i = 0; i < table.size(); ++i) {
    const Elf64_Shdr& raw = table[i];
    ElfSection section{{}, raw.sh_type, raw.sh_link, raw.sh_info, raw.sh_size, {}};
    if (raw.sh_type != SHT_NOBITS && raw.sh_type != SHT_NULL) {
      if (raw.sh_offset > bytes.size() || raw.sh_size > bytes.size() - raw.sh_offset)
        return malformed_elf(fmt::format("section {} lies outside the file", i));
      section.contents = bytes.substr(raw.sh_offset, raw.sh_size);
    }
    sections_.push_back(section);
  }
  const std::string_view names = sections_[header.e_shstrndx].contents;
  for (std::size_t i = 1; i < table.size(); ++i) {
    if (!text_at(names, table[i].sh_name, sections_[i].name))
      return malformed_elf(fmt::format("section {} has no readable name", i));
  }
  return success();
}

Status ElfFile::read_symbols() {
  for (const ElfSection& section : sections_) {
    if (section.type != SHT_SYMTAB) continue;
    if (section.link >= sections_.size()) return malformed_elf("the symbol table has no string table");
    const std::string_view names = sections_[section.link].contents;
    for (std::uint64_t offset = 0; offset + sizeof(Elf64_Sym) <= section.contents.size();
         offset += sizeof(Elf64_Sym)) {
      Elf64_Sym raw{};
      read_at(section.contents, offset, raw);
      ElfSymbol symbol{{}, raw.st_info, raw.st_other, raw.st_shndx};
      if (!text_at(names, raw.st_name, symbol.name))
        return malformed_elf(fmt::format("symbol {} has no readable name", offset / sizeof(Elf64_Sym)));
      symbols_.push_back(symbol);
    }
    return success();
  }
  return malformed_elf("it has no symbol table");
}

const ElfSection* ElfFile::find(std::string_view name) const {
  for (const ElfSection& section : sections_)
    if (section.name == name) return &section;
  return nullptr;
}

}  // namespace rondo::runtime
