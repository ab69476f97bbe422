#include "compiler/support/hash.h"

#include <gtest/gtest.h>

namespace rondo {
namespace {

// The vectors of FIPS 180-4's examples.
TEST(Sha256, KnownVectors) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Sha256, LengthsAroundABlock) {
  for (int n : {55, 56, 63, 64, 65, 119, 120}) EXPECT_EQ(sha256_hex(std::string(n, 'a')).size(), 64u);
  EXPECT_EQ(sha256_hex(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Lengths around a block of 64 bytes and the 8 bytes of the length, and a long one.
TEST(Sha256, IsTheSameByInstructionsAndWithout) {
  std::string bytes;
  for (int size = 0; size < 300; ++size) {
    ASSERT_EQ(sha256_hex(bytes), sha256_hex_portable(bytes)) << size;
    bytes.push_back(static_cast<char>(37 * size + size / 7));
  }
  bytes.assign(1000003, '\xA5');
  EXPECT_EQ(sha256_hex(bytes), sha256_hex_portable(bytes));
}

}  // namespace
}  // namespace rondo
