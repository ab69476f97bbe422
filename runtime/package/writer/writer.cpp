#include "runtime/package/writer/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <tuple>

#include "compiler/executable/producer.h"
#include "compiler/executable/serialise.h"
#include "compiler/support/bytes.h"
#include "compiler/support/hash.h"
#include "compiler/support/integers.h"

namespace rondo::package {
namespace {

// What there may be one entry of.
auto key_of(const Entry& e) {
  return std::tie(e.cell, e.cell_hash, e.heads, e.dim, e.storage, e.math, e.pass, e.batch, e.time, e.arch,
                  e.board, e.multiprocessors);
}

// Parts of an index get their numbers as they are first used.
class Numbering {
 public:
  Numbering(Index& index, std::vector<const std::string*>& bytes) : index_(index), bytes_(bytes) {}
  std::uint32_t of(const std::string& key, PartKind kind, const std::string& bytes) {
    const auto [at, added] = numbers_.try_emplace(key, static_cast<std::uint32_t>(index_.parts.size()));
    if (added) {
      index_.parts.push_back({kind, 0, bytes.size(), key.substr(key.find(' ') + 1)});
      bytes_.push_back(&bytes);
    }
    return at->second;
  }

 private:
  Index& index_;
  std::vector<const std::string*>& bytes_;
  std::map<std::string, std::uint32_t> numbers_;
};

std::string file_of(Index& index, const std::vector<const std::string*>& parts) {
  std::uint64_t end = kHeaderBytes + index_to_bytes(index).size();
  for (Part& part : index.parts) {
    part.offset = round_up(end, kAlignment);
    end = part.offset + part.bytes;
  }
  const std::string table = index_to_bytes(index);
  ByteWriter header;
  header.u32(kFormatVersion);
  header.u32(0);
  header.u64(end);
  header.u64(table.size());
  std::string file = std::string(kMagic) + header.take() + sha256_hex(table) + table;
  file.reserve(end);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    file.resize(index.parts[i].offset, '\0');
    file += *parts[i];
  }
  return file;
}

}  // namespace

Entry entry_of(const executable::Identity& identity, const std::string& arch) {
  Entry entry;
  entry.cell = identity.cell_name;
  entry.cell_hash = identity.cell_hash;
  entry.variant = identity.variant;
  entry.storage = identity.storage;
  entry.math = identity.math;
  entry.pass = identity.pass;
  entry.batch = identity.batch;
  entry.time = identity.time;
  entry.heads = identity.heads;
  entry.dim = identity.dim;
  entry.arch = arch;
  entry.strategy = identity.strategy;
  entry.parameters = identity.parameters;
  return entry;
}

std::string PackageWriter::store(PartKind kind, std::string bytes) {
  std::string key = std::string(part_kind_name(kind)) + " " + sha256_hex(bytes);
  blobs_.try_emplace(key, Blob{kind, std::move(bytes)});
  return key;
}

Status PackageWriter::add(const Kernels& kernels) {
  Stored stored{kernels.entry,
                store(PartKind::Executable, executable::to_bytes(kernels.executable.without_images())),
                kernels.self_test ? store(PartKind::SelfTest, to_bytes(*kernels.self_test)) : "",
                fmt::format("{}, build {:.12}", kernels.executable.identity.producer,
                            kernels.executable.identity.build),
                {}};
  stored.entry.executable = 0;
  stored.entry.self_test = kNoPart;
  stored.entry.codes.clear();
  for (const executable::Image& image : kernels.executable.images) {
    stored.entry.codes.push_back({image.target, image.kind, image.compiler, image.resources, 0});
    stored.codes.push_back(
        store(image.kind == executable::ImageKind::Ptx ? PartKind::Ptx : PartKind::Cubin, image.bytes));
  }
  if (stored.codes.empty()) return Error{ErrorKind::Input, "kernels without code: " + describe(stored.entry)};
  const auto place =
      std::lower_bound(entries_.begin(), entries_.end(), stored,
                       [](const Stored& a, const Stored& b) { return key_of(a.entry) < key_of(b.entry); });
  if (place != entries_.end() && key_of(place->entry) == key_of(stored.entry)) {
    const bool same = place->entry == stored.entry && place->executable == stored.executable &&
                      place->self_test == stored.self_test && place->codes == stored.codes;
    if (same) return success();
    return Error{ErrorKind::Input, "there are other kernels already of " + describe(stored.entry),
                 "leave one of the two out, or keep them in packages of their own"};
  }
  entries_.insert(place, std::move(stored));
  return success();
}

Status PackageWriter::add(const Package& package) {
  for (std::size_t i = 0; i < package.index().entries.size(); ++i) {
    Kernels kernels;
    kernels.entry = package.index().entries[i];
    for (std::size_t code = 0; code < kernels.entry.codes.size(); ++code) {
      Result<executable::Executable> one = package.executable(i, code);
      if (!one) return one.error();
      executable::Image image = std::move(one->images.front());
      if (code == 0) kernels.executable = one->without_images();
      kernels.executable.images.push_back(std::move(image));
    }
    if (kernels.entry.self_test != kNoPart) {
      const Result<std::string_view> bytes = package.part(kernels.entry.self_test);
      if (!bytes) return bytes.error();
      Result<SelfTest> test = self_test_from_bytes(*bytes, package.origin());
      if (!test) return test.error();
      kernels.self_test = std::move(test).value();
    }
    if (Status status = add(kernels); !status) return status;
  }
  return success();
}

std::string PackageWriter::bytes() const {
  Index index;
  index.producer = executable::producer();
  index.parts.push_back({PartKind::Manifest, 0, 0, ""});
  std::string manifest;
  std::vector<const std::string*> parts = {&manifest};
  Numbering numbering(index, parts);
  std::map<std::uint32_t, SelfTest> tests;
  const auto number = [&](const std::string& key) {
    const Blob& blob = blobs_.at(key);
    return numbering.of(key, blob.kind, blob.bytes);
  };
  for (const Stored& stored : entries_) {
    Entry entry = stored.entry;
    entry.executable = number(stored.executable);
    if (!stored.self_test.empty()) {
      entry.self_test = number(stored.self_test);
      tests[entry.self_test] = self_test_from_bytes(blobs_.at(stored.self_test).bytes, "a self-test").value();
    }
    for (std::size_t i = 0; i < entry.codes.size(); ++i) entry.codes[i].part = number(stored.codes[i]);
    index.entries.push_back(std::move(entry));
  }
  std::vector<std::string> makers;
  for (const Stored& stored : entries_) makers.push_back(stored.maker);
  manifest = manifest_of(index, tests, makers);
  index.parts.front().bytes = manifest.size();
  index.parts.front().hash = sha256_hex(manifest);
  return file_of(index, parts);
}

std::string to_c_source(std::string_view package, const std::string& name) {
  constexpr std::size_t kWord = 8, kWordsALine = 5;
  std::string text = fmt::format(
      "/* A package of kernels, written by {}: pass {}_data and {}_size to rondo_package_from_memory().\n"
      "   Words of 64 bits for little-endian machines, which compile much faster than bytes. */\n"
      "#include <stddef.h>\n#include <stdint.h>\n\n"
      "#ifdef __cplusplus\nextern \"C\" {{\n#endif\n"
      "extern const void* const {}_data;\nextern const size_t {}_size;\n\n"
      "static const uint64_t {}_words[] = {{",
      executable::producer(), name, name, name, name, name);
  for (std::size_t at = 0, words = 0; at < package.size(); at += kWord, ++words) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < kWord && at + i < package.size(); ++i)
      word |= static_cast<std::uint64_t>(static_cast<unsigned char>(package[at + i])) << (8 * i);
    text += words % kWordsALine == 0 ? "\n" : " ";
    text += fmt::format("0x{:x},", word);
  }
  text += fmt::format(
      "\n}};\n\nconst void* const {}_data = {}_words;\nconst size_t {}_size = {};\n"
      "#ifdef __cplusplus\n}}\n#endif\n",
      name, name, name, package.size());
  return text;
}

std::string c_name_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  name = name.substr(0, name.find('.'));
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0) name = "kernels_" + name;
  return name;
}

}  // namespace rondo::package
