#include "compiler/support/bundle.h"

#include "compiler/support/bytes.h"
#include "compiler/support/integers.h"

namespace rondo {

namespace {

constexpr std::string_view kMagic = "RONDOBND";
constexpr std::size_t kCountBytes = 4, kSizeBytes = 8;
constexpr std::size_t kAlignment = 64;  // more than any kind of code asks

}  // namespace

std::string bundled(const std::vector<std::string>& members) {
  if (members.size() == 1) return members.front();
  ByteWriter header;
  header.count(members.size());
  for (const std::string& member : members) header.u64(member.size());
  std::string bytes = std::string(kMagic) + header.take();
  for (const std::string& member : members) {
    bytes.resize(round_up(bytes.size(), kAlignment));
    bytes += member;
  }
  return bytes;
}

std::optional<std::vector<std::string_view>> members_of(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) return std::vector{bytes};
  ByteReader header(bytes.substr(kMagic.size()));
  const std::size_t count = header.count(kSizeBytes);
  std::vector<std::string_view> members;
  std::size_t end = kMagic.size() + kCountBytes + count * kSizeBytes;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t size = header.u64();
    const std::size_t begin = round_up(end, kAlignment);
    if (begin > bytes.size() || size > bytes.size() - begin) return std::nullopt;
    members.push_back(bytes.substr(begin, size));
    end = begin + size;
  }
  if (!header.ok() || end != bytes.size()) return std::nullopt;
  return members;
}

}  // namespace rondo
