// Several byte strings as one, and back; any other bytes are refused or taken as they are.
#include "compiler/support/bundle.h"

#include <gtest/gtest.h>

#include <random>

namespace rondo {
namespace {

using Members = std::vector<std::string>;

// Nothing where `bytes` are refused.
std::optional<Members> read(std::string_view bytes) {
  const auto members = members_of(bytes);
  return members ? std::optional(Members(members->begin(), members->end())) : std::nullopt;
}

TEST(Bundle, IsLaidOutAsDocumented) {
  const std::string bytes = bundled({"abc", "de"});
  EXPECT_EQ(bytes.substr(0, 28), std::string("RONDOBND\x02\0\0\0\x03\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0", 28));
  EXPECT_EQ(bytes.substr(28, 36), std::string(36, '\0'));
  EXPECT_EQ(bytes.substr(64, 64), "abc" + std::string(61, '\0'));
  EXPECT_EQ(bytes.substr(128), "de");
}

TEST(Bundle, GivesItsMembersBack) {
  std::mt19937 random(1);
  for (const std::size_t count : {0, 2, 3, 20}) {
    Members members(count);
    for (std::string& member : members)
      for (std::size_t left = random() % 200; left > 0; --left) member += static_cast<char>(random());
    EXPECT_EQ(read(bundled(members)), members) << count;
  }
}

TEST(Bundle, MembersAreAligned) {
  const std::string bytes = bundled({std::string(100, 'a'), "", std::string(64, 'b'), "c"});
  const auto members = members_of(bytes);
  ASSERT_TRUE(members);
  for (const std::string_view member : *members) EXPECT_EQ((member.data() - bytes.data()) % 64, 0) << member;
}

TEST(Bundle, OneMemberIsItself) {
  EXPECT_EQ(bundled({"\177ELF"}), "\177ELF");
  for (const char* bytes : {"", "RONDO", "\177ELF", ".version 8.0"}) EXPECT_EQ(read(bytes), Members{bytes});
}

TEST(Bundle, EveryTruncationIsRefused) {
  const std::string whole = bundled({std::string(70, 'a'), "bc"});
  const std::size_t magic = 8;  // without all of which it is some other bytes
  for (std::size_t size = magic; size < whole.size(); ++size)
    EXPECT_FALSE(members_of(std::string_view(whole).substr(0, size))) << size;
  EXPECT_FALSE(members_of(whole + "d"));
}

// Also sizes near the largest number, the sum of which begins anew at zero.
TEST(Bundle, DamagedHeadersAreSafe) {
  const std::string whole = bundled({std::string(70, 'a'), std::string(30, 'b')});
  for (std::size_t at = 8; at < 28; ++at)
    for (int byte = 0; byte < 256; ++byte) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(byte);
      const auto members = members_of(damaged);
      if (!members) continue;
      for (const std::string_view member : *members) {
        ASSERT_GE(member.data(), damaged.data());
        ASSERT_LE(member.data() + member.size(), damaged.data() + damaged.size());
      }
    }
  std::string huge = whole;
  huge.replace(12, 8, std::string(8, '\xff'));
  EXPECT_FALSE(members_of(huge));
}

}  // namespace
}  // namespace rondo
