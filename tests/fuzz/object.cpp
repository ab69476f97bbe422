// An object file of machine code, loaded and not run.
#include "runtime/host/object_file.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/fuzz/target.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace rondo::fuzz {
namespace {

template <class T>
void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// An object as a compiler writes it: code, zeroed memory, names, symbols, and relocations of all kinds.
std::string sample() {
  constexpr std::uint64_t kCode = sizeof(Elf64_Ehdr), kCodeBytes = 64;
  std::string code(kCodeBytes, '\xC3'), names("\0entry\0far\0", 11), symbols, relocations;
  append(symbols, Elf64_Sym{});
  append(symbols, Elf64_Sym{1, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 0, 16});
  append(symbols, Elf64_Sym{7, ELF64_ST_INFO(STB_LOCAL, STT_OBJECT), 0, 2, 8, 8});
  std::uint64_t place = 0;
  for (const std::uint64_t type : {R_X86_64_64, R_X86_64_PC64, R_X86_64_PC32, R_X86_64_PLT32})
    append(relocations, Elf64_Rela{8 * place++, ELF64_R_INFO(2, type), -4});
  const std::uint64_t names_at = kCode + kCodeBytes, symbols_at = names_at + names.size(),
                      relocations_at = symbols_at + symbols.size(),
                      sections_at = relocations_at + relocations.size();
  const Elf64_Shdr sections[] = {
      {},
      {0, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0, kCode, kCodeBytes, 0, 0, 16, 0},
      {0, SHT_NOBITS, SHF_ALLOC | SHF_WRITE, 0, kCode, 32, 0, 0, 8, 0},
      {0, SHT_STRTAB, 0, 0, names_at, names.size(), 0, 0, 1, 0},
      {0, SHT_SYMTAB, 0, 0, symbols_at, symbols.size(), 3, 1, 8, sizeof(Elf64_Sym)},
      {0, SHT_RELA, 0, 0, relocations_at, relocations.size(), 4, 1, 8, sizeof(Elf64_Rela)}};
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = ET_REL;
  header.e_machine = EM_X86_64;
  header.e_shoff = sections_at;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = std::size(sections);
  std::string file;
  append(file, header);
  file += code + names + symbols + relocations;
  for (const Elf64_Shdr& section : sections) append(file, section);
  return file;
}

}  // namespace
}  // namespace rondo::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rondo;
  static const bool sound = runtime::ObjectFile::load(fuzz::sample()).ok();
  fuzz::require(sound, "the sample is loaded");
  const Result<runtime::ObjectFile> loaded = runtime::ObjectFile::load(fuzz::text_of(data, size));
  if (!loaded) return 0;
  // A function begins within what was loaded: its first byte can be read.
  if (const void* entry = loaded->function("entry"))
    fuzz::require(*static_cast<const volatile char*>(entry) >= -128, "a function begins somewhere");
  return 0;
}

// Now and then an input begins anew as a whole object file.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned int seed) {
  static const std::string sample = rondo::fuzz::sample();
  if ((size > 1 && seed % 256 != 0) || sample.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::copy(sample.begin(), sample.end(), data);
  return sample.size();
}
