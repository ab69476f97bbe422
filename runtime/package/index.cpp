#include "runtime/package/index.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "compiler/support/bytes.h"
#include "compiler/support/enum_text.h"

namespace rondo::package {

using executable::ImageKind;
using executable::KernelResources;

namespace {

constexpr EnumText<PartKind> kPartKinds[] = {{PartKind::Manifest, "manifest"},
                                             {PartKind::Executable, "executable"},
                                             {PartKind::Cubin, "cubin"},
                                             {PartKind::Ptx, "ptx"},
                                             {PartKind::SelfTest, "self-test"}};
static_assert(is_total(kPartKinds));

constexpr std::size_t kLeastPart = 1 + 8 + 8 + 4 + kHashDigits;
constexpr std::size_t kLeastResources = 4 + 6 * 4;
constexpr std::size_t kLeastCode = 4 + 1 + 4 + 4 + 4;
constexpr std::size_t kLeastEntry = 12 * 4 + 6 * 8 + 2 * 4 + 4;

template <class E>
auto texts_of(E& entry) {
  return std::array{&entry.cell,       &entry.cell_hash, &entry.storage, &entry.math,
                    &entry.pass,       &entry.arch,      &entry.board,   &entry.strategy,
                    &entry.parameters, &entry.origin,    &entry.note,    &entry.variant};
}
template <class E>
auto sizes_of(E& entry) {
  return std::array{&entry.batch, &entry.time, &entry.heads, &entry.dim};
}
template <class R>
auto counts_of(R& r) {
  return std::array{&r.registers,         &r.shared_bytes,     &r.stack_bytes,
                    &r.spill_store_bytes, &r.spill_load_bytes, &r.max_threads};
}

void write_code(ByteWriter& out, const Code& code) {
  out.text(code.target);
  out.u8(static_cast<std::uint8_t>(code.kind));
  out.text(code.compiler);
  out.count(code.resources.size());
  for (const KernelResources& resources : code.resources) {
    out.text(resources.name);
    for (const int* count : counts_of(resources)) out.i32(*count);
  }
  out.u32(code.part);
}

Code read_code(ByteReader& in) {
  Code code;
  code.target = in.text();
  code.kind = in.one_of(ImageKind::Object);
  code.compiler = in.text();
  code.resources.resize(in.count(kLeastResources));
  for (KernelResources& resources : code.resources) {
    resources.name = in.text();
    for (int* count : counts_of(resources)) *count = in.i32();
  }
  code.part = in.u32();
  return code;
}

void write_entry(ByteWriter& out, const Entry& entry) {
  for (const std::string* text : texts_of(entry)) out.text(*text);
  for (const std::int64_t* size : sizes_of(entry)) out.i64(*size);
  out.i64(entry.multiprocessors);
  out.f64(entry.expected_ms);
  out.u32(entry.executable);
  out.u32(entry.self_test);
  out.count(entry.codes.size());
  for (const Code& code : entry.codes) write_code(out, code);
}

Entry read_entry(ByteReader& in) {
  Entry entry;
  for (std::string* text : texts_of(entry)) *text = in.text();
  for (std::int64_t* size : sizes_of(entry)) *size = in.i64();
  entry.multiprocessors = in.i64();
  entry.expected_ms = in.f64();
  entry.executable = in.u32();
  entry.self_test = in.u32();
  entry.codes.resize(in.count(kLeastCode));
  for (Code& code : entry.codes) code = read_code(in);
  return entry;
}

bool is_part(const Index& index, std::uint32_t part, PartKind kind) {
  return part < index.parts.size() && index.parts[part].kind == kind;
}

bool is_sound(const Index& index, const Entry& entry) {
  for (const std::int64_t* size : sizes_of(entry))
    if (*size < 1) return false;
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
  ByteWriter out;
  out.text(index.producer);
  out.count(index.parts.size());
  for (const Part& part : index.parts) {
    out.u8(static_cast<std::uint8_t>(part.kind));
    out.u64(part.offset);
    out.u64(part.bytes);
    std::string hash = part.hash;
    hash.resize(kHashDigits);
    out.text(hash);
  }
  out.count(index.entries.size());
  for (const Entry& entry : index.entries) write_entry(out, entry);
  return out.take();
}

Result<Index> index_from_bytes(std::string_view bytes, const std::string& origin) {
  ByteReader in(bytes);
  Index index;
  index.producer = in.text();
  index.parts.resize(in.count(kLeastPart));
  for (Part& part : index.parts) {
    part.kind = in.one_of(PartKind::SelfTest);
    part.offset = in.u64();
    part.bytes = in.u64();
    part.hash = in.text();
    if (part.hash.size() != kHashDigits) in.fail();
  }
  index.entries.resize(in.count(kLeastEntry));
  for (Entry& entry : index.entries) entry = read_entry(in);
  if (!in.done()) return refused(origin, "its index does not fill its place");
  if (!is_part(index, 0, PartKind::Manifest)) return refused(origin, "it has no manifest");
  for (const Entry& entry : index.entries)
    if (!is_sound(index, entry)) return refused(origin, "its index contradicts itself at " + describe(entry));
  return index;
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
