#include "runtime/package/index.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/executable/serialise.h"
#include "compiler/support/bytes.h"
#include "compiler/support/enum_text.h"

namespace rondo::package {

using executable::ImageKind;

namespace {

constexpr EnumText<PartKind> kPartKinds[] = {{PartKind::Manifest, "manifest"},
                                             {PartKind::Executable, "executable"},
                                             {PartKind::Cubin, "cubin"},
                                             {PartKind::Ptx, "ptx"},
                                             {PartKind::SelfTest, "self-test"}};
static_assert(is_total(kPartKinds));

constexpr std::size_t kLeastPart = 1 + 8 + 8 + 4 + kHashDigits;
constexpr std::size_t kLeastCode = 4 + 1 + 4 + 4 + 4;
constexpr std::size_t kLeastEntry = 12 * 4 + 6 * 8 + 2 * 4 + 4;

constexpr auto kPart = [](auto& archive, auto& part) {
  archive.one_of(part.kind, PartKind::SelfTest);
  archive(part.offset, part.bytes, part.hash);
};

constexpr auto kCode = [](auto& archive, auto& code) {
  archive(code.target);
  archive.one_of(code.kind, ImageKind::Object);
  archive(code.compiler);
  archive.list(code.resources, executable::kLeastResources, executable::kResources);
  archive(code.part);
};

constexpr auto kEntry = [](auto& archive, auto& entry) {
  archive(entry.cell, entry.cell_hash, entry.storage, entry.math, entry.pass, entry.arch, entry.board,
          entry.strategy, entry.parameters, entry.origin, entry.note, entry.variant);
  archive(entry.batch, entry.time, entry.heads, entry.dim, entry.multiprocessors, entry.expected_ms,
          entry.executable, entry.self_test);
  archive.list(entry.codes, kLeastCode, kCode);
};

constexpr auto kIndex = [](auto& archive, auto& index) {
  archive(index.producer);
  archive.list(index.parts, kLeastPart, kPart);
  archive.list(index.entries, kLeastEntry, kEntry);
};

bool is_part(const Index& index, std::uint32_t part, PartKind kind) {
  return part < index.parts.size() && index.parts[part].kind == kind;
}

bool is_sound(const Index& index, const Entry& entry) {
  if (std::min({entry.batch, entry.time, entry.heads, entry.dim}) < 1) return false;
  if (entry.multiprocessors < 0 || !(entry.expected_ms >= 0) || std::isinf(entry.expected_ms)) return false;
  if (entry.codes.empty() || !is_part(index, entry.executable, PartKind::Executable)) return false;
  if (entry.self_test != kNoPart && !is_part(index, entry.self_test, PartKind::SelfTest)) return false;
  for (const Code& code : entry.codes) {
    if (code.kind == ImageKind::Object) return false;
    if (!is_part(index, code.part, code.kind == ImageKind::Ptx ? PartKind::Ptx : PartKind::Cubin))
      return false;
  }
  return true;
}

}  // namespace

const char* part_kind_name(PartKind kind) { return to_text(kPartKinds, kind); }

std::string index_to_bytes(const Index& index) {
  Index whole = index;
  for (Part& part : whole.parts) part.hash.resize(kHashDigits);
  return encoded(whole, kIndex);
}

Result<Index> index_from_bytes(std::string_view bytes, const std::string& origin) {
  std::optional<Index> index = decoded<Index>(bytes, kIndex);
  if (!index) return refused(origin, "its index does not fill its place");
  for (const Part& part : index->parts)
    if (part.hash.size() != kHashDigits) return refused(origin, "its index does not fill its place");
  if (!is_part(*index, 0, PartKind::Manifest)) return refused(origin, "it has no manifest");
  for (const Entry& entry : index->entries)
    if (!is_sound(*index, entry))
      return refused(origin, "its index contradicts itself at " + describe(entry));
  return *std::move(index);
}

std::string kind_text(const Entry& entry) {
  return fmt::format("{}{} {} {} {} H={} D={}", entry.cell,
                     entry.variant.empty() ? "" : fmt::format(" ({})", entry.variant), entry.pass,
                     entry.storage, entry.math, entry.heads, entry.dim);
}

std::string describe(const Entry& entry) {
  return fmt::format("{}, for B={} T={} on {}{}", kind_text(entry), entry.batch, entry.time, entry.arch,
                     entry.board.empty() ? "" : fmt::format(" ({})", entry.board));
}

Error refused(const std::string& origin, const std::string& what) {
  return {ErrorKind::Input, fmt::format("{} is no valid package: {}", origin, what),
          "it is damaged or was cut short: copy it again, or build it again"};
}

}  // namespace rondo::package
