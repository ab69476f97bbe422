// A package whose hashes are made right again after it was changed, as whoever forges one does: what lies
// behind the hashes has to be read safely too.
#include <algorithm>
#include <vector>

#include "compiler/support/bytes.h"
#include "compiler/support/hash.h"
#include "runtime/package/package.h"
#include "runtime/package/select.h"
#include "runtime/package/writer/writer.h"
#include "tests/fuzz/samples.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/walk.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace rondo::fuzz {
namespace {

// Executables carry a hash of their own behind a header: magic, version, bytes of the payload, hash.
std::string resealed_executable(std::string bytes) {
  const std::size_t header = with_header("").size();
  return bytes.size() < header ? bytes : with_header(std::string_view(bytes).substr(header));
}

std::string resealed(std::string bytes) {
  using package::kHeaderBytes;
  if (bytes.size() < kHeaderBytes) return bytes;
  ByteReader header(std::string_view(bytes).substr(package::kMagic.size() + 16));
  const std::uint64_t table = header.u64();
  if (table > bytes.size() - kHeaderBytes) return bytes;
  Result<package::Index> index =
      package::index_from_bytes(std::string_view(bytes).substr(kHeaderBytes, table), "fuzz");
  if (!index) return bytes;
  for (package::Part& part : index->parts) {
    if (part.offset > bytes.size() || part.bytes > bytes.size() - part.offset) return bytes;
    std::string content = bytes.substr(part.offset, part.bytes);
    if (part.kind == package::PartKind::Executable) content = resealed_executable(std::move(content));
    if (content.size() == part.bytes) bytes.replace(part.offset, part.bytes, content);
    part.hash = sha256_hex(std::string_view(bytes).substr(part.offset, part.bytes));
  }
  const std::string written = package::index_to_bytes(*index);
  if (written.size() != table) return bytes;
  bytes.replace(kHeaderBytes, table, written);
  bytes.replace(kHeaderBytes - package::kHashDigits, package::kHashDigits, sha256_hex(written));
  return bytes;
}

// All that the program and the library do with a package, but its code.
void use(const package::Package& opened) {
  (void)opened.manifest();
  const bool sound = opened.verify().ok();
  for (const int capability : {75, 80, 90})
    (void)package::select(opened, {}, {.capability = capability, .shared_per_block = 100 << 10});
  for (std::size_t entry = 0; entry < opened.index().entries.size(); ++entry) {
    const package::Entry& about = opened.index().entries[entry];
    (void)package::describe(about);
    for (std::size_t code = 0; code < about.codes.size(); ++code)
      if (const auto executable = opened.executable(entry, code))
        walk(*executable, about.batch, about.time);
      else
        require(!sound, "what is verified can be taken");
  }
  package::PackageWriter writer;
  if (!writer.add(opened)) return;
  const std::string again = writer.bytes();
  require(package::Package::from_memory(again, "again").ok(), "what was read is written");
}

}  // namespace
}  // namespace rondo::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rondo;
  const std::string bytes = fuzz::resealed(std::string(fuzz::text_of(data, size)));
  if (const Result<package::Package> opened = package::Package::from_memory(bytes, "fuzz"))
    fuzz::use(*opened);
  return 0;
}

// Now and then an input begins anew as a package that the program itself writes.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned int seed) {
  static const std::string sample = rondo::fuzz::sample_package();
  if ((size > 1 && seed % 256 != 0) || sample.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::copy(sample.begin(), sample.end(), data);
  return sample.size();
}
