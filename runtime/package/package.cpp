#include "runtime/package/package.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/executable/serialise.h"
#include "compiler/support/bytes.h"
#include "compiler/support/hash.h"
#include "compiler/support/integers.h"
#include "compiler/support/mapped_file.h"

namespace rondo::package {
namespace {

bool all_zero(std::string_view bytes) {
  return std::ranges::all_of(bytes, [](char c) { return c == 0; });
}

Result<MappedFile> map_package(const std::string& path) {
  Result<MappedFile> mapped = map_file(path);
  if (!mapped)
    return Error{mapped.error().kind,
                 fmt::format("cannot open the package '{}': {}", path, mapped.error().message)};
  if (mapped->bytes.empty()) return refused("'" + path + "'", "it is empty");
  return mapped;
}

}  // namespace

Status Package::expect(const std::string& hash) const {
  if (hash == hash_) return success();
  return Error{ErrorKind::Input,
               fmt::format("{} is another package than was expected: its hash is {}, and not {}", origin_,
                           hash_, hash),
               "fetch it again from whoever told the hash; `rondo package list` prints the hash of a file"};
}

Result<Package> Package::open(const std::string& path) {
  Result<MappedFile> mapped = map_package(path);
  if (!mapped) return mapped.error();
  Package package(mapped->bytes, "'" + path + "'");
  package.file_ = std::move(mapped->owner);
  if (Status status = package.read(); !status) return status.error();
  return package;
}

Result<Package> Package::from_memory(std::string_view bytes, const std::string& origin) {
  Package package(bytes, origin);
  if (Status status = package.read(); !status) return status.error();
  return package;
}

Status Package::read() {
  if (bytes_.size() < kHeaderBytes || bytes_.substr(0, kMagic.size()) != kMagic)
    return refused(origin_, "it does not begin like one");
  ByteReader header(bytes_.substr(kMagic.size()));
  const std::uint32_t version = header.u32();
  if (version != kFormatVersion)
    return Error{ErrorKind::Unsupported,
                 fmt::format("{} has version {} of the package format; this Rondo reads version {}", origin_,
                             version, kFormatVersion),
                 version > kFormatVersion ? "use the Rondo that built it, or a newer one"
                                          : "build it again with this Rondo"};
  const std::uint32_t reserved = header.u32();
  const std::uint64_t all = header.u64();
  const std::uint64_t index = header.u64();
  if (reserved != 0) return refused(origin_, "its header is not as written");
  if (all != bytes_.size())
    return refused(origin_, fmt::format("it has {} bytes, and says {}", bytes_.size(), all));
  if (index > bytes_.size() - kHeaderBytes) return refused(origin_, "its index lies beyond its end");
  hash_ = bytes_.substr(kHeaderBytes - kHashDigits, kHashDigits);
  const std::string_view table = bytes_.substr(kHeaderBytes, index);
  if (sha256_hex(table) != hash_) return refused(origin_, "its index does not match its hash");
  Result<Index> read = index_from_bytes(table, origin_);
  if (!read) return read.error();
  index_ = std::move(read).value();
  return check_places();
}

// Parts follow each other without a gap but the alignment, up to the end.
Status Package::check_places() const {
  const std::size_t index_end = kHeaderBytes + index_to_bytes(index_).size();
  std::uint64_t end = index_end;
  for (const Part& part : index_.parts) {
    const std::uint64_t begin = round_up(end, kAlignment);
    if (part.offset != begin || begin > bytes_.size() || part.bytes > bytes_.size() - begin)
      return refused(origin_, "a part does not lie where it should");
    end = begin + part.bytes;
  }
  if (end != bytes_.size()) return refused(origin_, "its parts do not fill it");
  return success();
}

Result<std::string_view> Package::part(std::uint32_t index) const {
  const Part& part = index_.parts[index];
  const std::string_view bytes = bytes_.substr(part.offset, part.bytes);
  if (sha256_hex(bytes) != part.hash)
    return refused(origin_, fmt::format("its {} at byte {} does not match its hash",
                                        part_kind_name(part.kind), part.offset));
  return bytes;
}

std::string Package::manifest() const {
  const Result<std::string_view> bytes = part(0);
  return bytes ? std::string(*bytes) : std::string();
}

Result<executable::Executable> Package::read_executable(std::uint32_t index) const {
  const Result<std::string_view> bytes = part(index);
  if (!bytes) return bytes.error();
  return executable::from_bytes(*bytes, fmt::format("an executable in {}", origin_));
}

Result<executable::Executable> Package::executable(std::size_t entry, std::size_t code) const {
  const Entry& wanted = index_.entries[entry];
  const Code& chosen = wanted.codes[code];
  Result<executable::Executable> executable = read_executable(wanted.executable);
  if (!executable) return executable;
  const Result<std::string_view> image = part(chosen.part);
  if (!image) return image.error();
  executable->images = {{chosen.target, chosen.kind, chosen.compiler, std::string(*image), chosen.resources,
                         index_.parts[chosen.part].hash}};
  return executable;
}

Status Package::verify() const {
  std::uint64_t end = kHeaderBytes + index_to_bytes(index_).size();
  for (std::uint32_t i = 0; i < index_.parts.size(); ++i) {
    const Part& place = index_.parts[i];
    if (!all_zero(bytes_.substr(end, place.offset - end)))
      return refused(origin_, fmt::format("there is something between its parts, at byte {}", end));
    if (const Result<std::string_view> bytes = part(i); !bytes) return bytes.error();
    end = place.offset + place.bytes;
  }
  // Once each, however many entries share it. Images are parts, and were compared with their hashes above.
  std::set<std::uint32_t> checked;
  for (const Entry& entry : index_.entries)
    if (checked.insert(entry.executable).second)
      if (const auto read = read_executable(entry.executable); !read) return read.error();
  return success();
}

}  // namespace rondo::package
