// Packages as bytes: what is read is what was written, and nothing else is accepted.
#include "runtime/package/package.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <random>

#include "compiler/executable/serialise.h"
#include "compiler/support/bytes.h"
#include "compiler/support/hash.h"
#include "compiler/support/locked_file.h"
#include "tests/runtime/package/packages.h"

namespace rondo::package {
namespace {

using rondo::testing::kernels_of;
using rondo::testing::package_of;
using schedule::Pass;

std::string sample() {
  return package_of({{.pass = Pass::Forward, .arch = "sm_80"},
                     {.pass = Pass::Forward, .arch = "sm_90"},
                     {.pass = Pass::Backward, .arch = "sm_90"}});
}

// Reads all of it, as whoever uses every entry would.
Status read_all(const std::string& bytes) {
  const Result<Package> package = Package::from_memory(bytes, "a test");
  return package ? package->verify() : Status(package.error());
}

TEST(Package, ReadsBackWhatWasWritten) {
  const std::string bytes = sample();
  const Result<Package> package = Package::from_memory(bytes, "a test");
  ASSERT_TRUE(package.ok()) << package.error().message;
  ASSERT_EQ(package->index().entries.size(), 3U);
  EXPECT_TRUE(package->verify().ok());
  EXPECT_EQ(package->bytes(), bytes.size());
  for (std::size_t i = 0; i < 3; ++i) {
    const Entry& entry = package->index().entries[i];
    const Kernels expected =
        kernels_of({.pass = entry.pass == "fw" ? Pass::Forward : Pass::Backward, .arch = entry.arch});
    const Result<executable::Executable> read = package->executable(i, 0);
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(*read, expected.executable) << describe(entry);
    const Result<SelfTest> test = self_test_from_bytes(package->part(entry.self_test).value(), "a test");
    ASSERT_TRUE(test.ok());
    EXPECT_EQ(*test, *expected.self_test);
  }
}

TEST(Package, StoresEqualPartsOnce) {
  const std::string bytes = sample();
  const Package package = Package::from_memory(bytes, "a test").value();
  int parts[5] = {};
  for (const Part& part : package.index().parts) ++parts[static_cast<int>(part.kind)];
  EXPECT_EQ(parts[static_cast<int>(PartKind::Manifest)], 1);
  EXPECT_EQ(parts[static_cast<int>(PartKind::Executable)], 2) << "that of the forward pass is one";
  EXPECT_EQ(parts[static_cast<int>(PartKind::Cubin)], 2);
  EXPECT_EQ(parts[static_cast<int>(PartKind::SelfTest)], 1);
}

TEST(Package, OfAFileAndOfMemoryAreOne) {
  const std::string path = ::testing::TempDir() + "package_test_" + std::to_string(::getpid()) + ".rondo";
  const std::string bytes = sample();
  std::ofstream(path, std::ios::binary) << bytes;
  const Result<Package> file = Package::open(path);
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file->index(), Package::from_memory(bytes, "a test")->index());
  EXPECT_EQ(file->hash(), Package::from_memory(bytes, "a test")->hash());
  const Package copy = *file;
  {
    const LockedFile database(path);
    const Result<Package> locked = Package::open(path);
    ASSERT_FALSE(locked.ok()) << "closing it would drop the locks that SQLite holds on it";
    EXPECT_EQ(locked.error().kind, ErrorKind::Input);
  }
  std::remove(path.c_str());
  EXPECT_TRUE(copy.verify().ok()) << "a mapped file stays readable when its name is gone";
  EXPECT_EQ(Package::open(path).error().kind, ErrorKind::Missing);
  EXPECT_EQ(Package::open(::testing::TempDir()).error().kind, ErrorKind::Input);
}

TEST(Package, EveryTruncationIsRefused) {
  const std::string bytes = sample();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string cut = bytes.substr(0, size);
    const Result<Package> read = Package::from_memory(cut, "a test");
    ASSERT_FALSE(read.ok()) << size << " of " << bytes.size() << " bytes: opening must see it";
    EXPECT_EQ(read.error().kind, ErrorKind::Input);
  }
  EXPECT_FALSE(Package::from_memory(bytes + '\0', "a test").ok()) << "a byte too many";
}

// Nothing lies behind the last part, even where the header counts it in.
TEST(Package, BytesBehindThePartsAreRefused) {
  for (const std::size_t more : {1, 8, 64, 4096}) {
    std::string longer = sample() + std::string(more, '\0');
    const std::uint64_t size = longer.size();
    std::memcpy(longer.data() + kMagic.size() + 2 * sizeof(std::uint32_t), &size, sizeof size);
    const Result<Package> read = Package::from_memory(longer, "a test");
    ASSERT_FALSE(read.ok()) << more;
    EXPECT_EQ(read.error().kind, ErrorKind::Input);
    EXPECT_NE(read.error().message.find("parts do not fill it"), std::string::npos) << read.error().message;
  }
}

TEST(Package, EveryMutationIsRefused) {
  const std::string bytes = sample();
  std::mt19937_64 random(7);
  for (int i = 0; i < 10000; ++i) {
    std::string mutated = bytes;
    const int changes = 1 + static_cast<int>(random() % 4);
    for (int c = 0; c < changes; ++c) {
      char& byte = mutated[random() % mutated.size()];
      byte = static_cast<char>(byte ^ static_cast<char>(1 + random() % 255));
    }
    if (mutated == bytes) continue;
    ASSERT_FALSE(read_all(mutated).ok()) << "mutation " << i;
  }
}

// What opening leaves for later is seen before a byte of it is used.
TEST(Package, AnAlteredImageIsRefusedWhereItIsTaken) {
  std::string bytes = sample();
  const Package before = Package::from_memory(bytes, "a test").value();
  const std::uint32_t part = before.index().entries[1].codes[0].part;
  bytes[before.index().parts[part].offset] ^= 1;
  const Result<Package> altered = Package::from_memory(bytes, "a test");
  ASSERT_TRUE(altered.ok());
  const auto taken = altered->executable(1, 0);
  ASSERT_FALSE(taken.ok());
  EXPECT_EQ(taken.error().kind, ErrorKind::Input);
  EXPECT_NE(taken.error().message.find("cubin"), std::string::npos) << taken.error().message;
  EXPECT_FALSE(altered->verify().ok());
}

TEST(Package, ANewerFormatIsNamed) {
  std::string bytes = sample();
  bytes[kMagic.size()] = static_cast<char>(kFormatVersion + 1);
  const Result<Package> read = Package::from_memory(bytes, "a test");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().kind, ErrorKind::Unsupported);
  EXPECT_NE(read.error().message.find("version " + std::to_string(kFormatVersion + 1)), std::string::npos)
      << read.error().message;
  EXPECT_NE(read.error().hint.find("newer"), std::string::npos) << read.error().hint;
}

// Counts and sizes in an index with a right hash, as only a wrong writer makes them.
TEST(Package, AnIndexThatContradictsItselfIsRefused) {
  const std::string bytes = sample();
  Index index = Package::from_memory(bytes, "a test")->index();
  EXPECT_TRUE(index_from_bytes(index_to_bytes(index), "a test").ok());
  const auto refused = [](Index wrong) { return !index_from_bytes(index_to_bytes(wrong), "a test").ok(); };
  Index wrong = index;
  wrong.entries[0].executable = 99;
  EXPECT_TRUE(refused(wrong));
  wrong = index;
  wrong.entries[0].codes[0].part = wrong.entries[0].executable;
  EXPECT_TRUE(refused(wrong));
  wrong = index;
  wrong.entries[0].codes.clear();
  EXPECT_TRUE(refused(wrong));
  for (std::int64_t Entry::*size : {&Entry::batch, &Entry::time, &Entry::heads, &Entry::dim})
    for (const std::int64_t none : {0, -1}) {
      wrong = index;
      wrong.entries[0].*size = none;
      EXPECT_TRUE(refused(wrong));
    }
  // In each entry, not in the first alone.
  for (std::size_t i = 0; i < index.entries.size(); ++i) {
    for (const double ms : {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN(), -1.0}) {
      wrong = index;
      wrong.entries[i].expected_ms = ms;
      EXPECT_TRUE(refused(wrong)) << ms;
    }
    wrong = index;
    wrong.entries[i].multiprocessors = -1;
    EXPECT_TRUE(refused(wrong));
    for (const std::uint32_t other : {index.entries[i].executable, std::uint32_t{0}}) {
      wrong = index;
      wrong.entries[i].self_test = other;
      EXPECT_TRUE(refused(wrong)) << "a part of another kind";
    }
  }
}

// A package with other parts of a kind in the place of its own, and all hashes right again.
std::string resealed(const std::string& bytes, PartKind kind,
                     const std::function<std::string(std::string)>& change) {
  Index index = Package::from_memory(bytes, "a test")->index();
  std::vector<std::string> contents;
  for (Part& part : index.parts) {
    contents.push_back(bytes.substr(part.offset, part.bytes));
    if (part.kind == kind) contents.back() = change(contents.back());
    part.bytes = contents.back().size();
    part.hash = sha256_hex(contents.back());
  }
  std::uint64_t end = kHeaderBytes + index_to_bytes(index).size();
  for (Part& part : index.parts) {
    part.offset = (end + kAlignment - 1) / kAlignment * kAlignment;
    end = part.offset + part.bytes;
  }
  const std::string table = index_to_bytes(index);
  ByteWriter header;
  header.u32(kFormatVersion);
  header.u32(0);
  header.u64(end);
  header.u64(table.size());
  std::string file = std::string(kMagic) + header.take() + sha256_hex(table) + table;
  for (std::size_t i = 0; i < contents.size(); ++i) {
    file.resize(index.parts[i].offset, '\0');
    file += contents[i];
  }
  return file;
}

TEST(Package, ContradictoryExecutablesAreBadInputAndNoDefect) {
  const auto contradict = [](const std::string& bytes) {
    executable::Executable code = executable::from_bytes(bytes, "a test").value();
    code.launches.front().kernel = 7;
    return executable::to_bytes(code);
  };
  EXPECT_TRUE(read_all(resealed(sample(), PartKind::Executable, [](auto bytes) { return bytes; })).ok());
  const Status refused = read_all(resealed(sample(), PartKind::Executable, contradict));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::Input) << refused.error().message;
}

// Two passes of one package, or of two, must mean the same by what one saves for the other: kernels of before
// a change of its types are no partner of later ones.
TEST(Package, KernelsOfAnEarlierFormatAreRefused) {
  constexpr std::size_t kVersionAt = 8;
  constexpr char kOfHalfHistories = 4;  // the last in which histories of fp16 problems were all fp16
  const std::string earlier = resealed(sample(), PartKind::Executable, [](std::string bytes) {
    bytes[kVersionAt] = kOfHalfHistories;
    return bytes;
  });
  const Result<Package> package = Package::from_memory(earlier, "a test");
  ASSERT_TRUE(package.ok());
  const auto taken = package->executable(0, 0);
  ASSERT_FALSE(taken.ok());
  EXPECT_EQ(taken.error().kind, ErrorKind::Unsupported);
  EXPECT_EQ(taken.error().message,
            fmt::format("an executable in a test has version 4 of the format; this Rondo reads version {}",
                        executable::kFormatVersion));
  EXPECT_EQ(taken.error().hint, "make it again with this Rondo");
  EXPECT_FALSE(package->verify().ok());
  PackageWriter writer;
  EXPECT_FALSE(writer.add(*package).ok()) << "merged with later ones";
}

TEST(Package, IsTheOneThatIsExpectedOrNone) {
  const std::string bytes = sample();
  const Package package = Package::from_memory(bytes, "a test").value();
  EXPECT_TRUE(package.expect(package.hash()).ok());
  const Status other = package.expect(std::string(kHashDigits, '0'));
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().kind, ErrorKind::Input);
  EXPECT_NE(other.error().message.find(package.hash()), std::string::npos);
  for (std::size_t digits = 0; digits < kHashDigits; ++digits)
    EXPECT_FALSE(package.expect(package.hash().substr(0, digits)).ok())
        << "the first " << digits << " digits";
  EXPECT_FALSE(package.expect(package.hash() + "0").ok());
  for (std::size_t digit = 0; digit < kHashDigits; ++digit) {
    std::string changed = package.hash();
    changed[digit] = changed[digit] == '0' ? '1' : '0';
    EXPECT_FALSE(package.expect(changed).ok()) << "another digit " << digit;
  }
}

// 5,000 entries of one large part: the part is read once.
TEST(Package, SharedPartsAreVerifiedOnce) {
  PackageWriter writer;
  rondo::testing::PackagedKernels how;
  executable::Image image = rondo::testing::image_for("sm_90", executable::ImageKind::Cubin);
  image.bytes.resize(4 << 20, ' ');
  image.seal();
  how.images = {image};
  Kernels kernels = kernels_of(how);
  for (int i = 1; i <= 200; ++i) {
    kernels.entry.time = i;
    ASSERT_TRUE(writer.add(kernels).ok());
  }
  const std::string bytes = writer.bytes();
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(read_all(bytes).ok());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const auto once = std::chrono::steady_clock::now();
  (void)sha256_hex(bytes);
  const std::chrono::duration<double> hash = std::chrono::steady_clock::now() - once;
  EXPECT_LT(took / hash, 50) << "its 200 entries would take 200 times as long as one hash";
}

// What is read must be what a writer writes: `check_places` measures the index by writing it again.
TEST(Package, AHashOfAnotherLengthIsRefused) {
  const std::string bytes = sample();
  const std::string index = index_to_bytes(Package::from_memory(bytes, "a test")->index());
  const std::string digits("\x40\0\0\0", 4);  // the length of a hash, before its 64 digits
  const std::size_t hash = index.find(digits);
  ASSERT_NE(hash, std::string::npos);
  for (const int more : {-1, 1}) {
    std::string wrong = index;
    wrong[hash] = static_cast<char>(kHashDigits + more);
    if (more < 0) wrong.erase(hash + digits.size(), 1);
    if (more > 0) wrong.insert(hash + digits.size(), 1, '0');
    EXPECT_FALSE(index_from_bytes(wrong, "a test").ok()) << more;
  }
}

// Whoever makes right hashes for wrong bytes gets errors, not crashes.
TEST(Package, DamagedIndexesAndSelfTestsNeverCrash) {
  const std::string bytes = sample();
  const Package package = Package::from_memory(bytes, "a test").value();
  const std::string index = index_to_bytes(package.index());
  const std::string test = to_bytes(rondo::testing::small_test());
  std::mt19937_64 random(11);
  int read = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string mutated = i % 2 == 0 ? index : test;
    for (int c = 0; c < 3; ++c) mutated[random() % mutated.size()] = static_cast<char>(random());
    if (i % 7 == 0) mutated.resize(random() % mutated.size());
    read +=
        i % 2 == 0 ? index_from_bytes(mutated, "a test").ok() : self_test_from_bytes(mutated, "a test").ok();
  }
  EXPECT_GT(read, 100) << "some changes are of texts and numbers that may be anything";
}

TEST(SelfTest, SaysWhatDiffers) {
  const SelfTest::Expected expected = rondo::testing::small_test().expected[0];
  EXPECT_EQ(difference(expected, {1.6, 0, 0, -2.5}), "");
  EXPECT_NE(difference(expected, {1.8, 0, 0, -2.0}), "");
  EXPECT_NE(difference(expected, {1.5, 0, 0}), "");
  EXPECT_NE(difference(expected, {1.5, 9, 0, -2.0}), "") << "the norm sees what no sample does";
  EXPECT_NE(difference(expected, {std::nan(""), 0, 0, -2.0}), "");
}

}  // namespace
}  // namespace rondo::package
