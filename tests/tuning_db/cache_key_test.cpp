#include "tuning_db/cache_key.h"

#include "tests/tuning_db/fixture.h"

namespace rondo::db {
namespace {

class CacheKeyTest : public DatabaseTest {
 protected:
  // Whether the database finds the stored cubin by this key.
  bool hit(const CacheKey& wanted) { return must(db.get_cubin(wanted)).has_value(); }

  Database db = must(Database::open(file));
  CacheKey key = sample_cubin().key;
  void SetUp() override { must(db.put_cubin(sample_cubin())); }
};

TEST_F(CacheKeyTest, EqualKeysHit) {
  EXPECT_TRUE(hit(key));
  EXPECT_EQ(key.hash(), sample_cubin().key.hash());
  EXPECT_EQ(key.hash().size(), 64u);
}

TEST_F(CacheKeyTest, AnotherSourceMisses) {
  key.source += " ";
  EXPECT_FALSE(hit(key));
}

TEST_F(CacheKeyTest, OtherFlagsMiss) {
  key.flags = "-O3";
  EXPECT_FALSE(hit(key));
}

TEST_F(CacheKeyTest, AnotherArchitectureMisses) {
  key.arch = "sm_80";
  EXPECT_FALSE(hit(key));
}

TEST_F(CacheKeyTest, AnotherCompilerVersionMisses) {
  key.compiler_version = "12.5";
  EXPECT_FALSE(hit(key));
}

TEST_F(CacheKeyTest, EmptyFieldsMiss) {
  // A name for each member: with a new one this does not compile, and it has to be emptied below too.
  [[maybe_unused]] const auto& [source, flags, arch, compiler_version] = key;
  for (std::string CacheKey::*field :
       {&CacheKey::source, &CacheKey::flags, &CacheKey::arch, &CacheKey::compiler_version}) {
    CacheKey changed = key;
    (changed.*field).clear();
    EXPECT_FALSE(hit(changed));
  }
}

TEST(CacheKeyHash, BytesThatMoveBetweenFieldsChangeIt) {
  const CacheKey plain{"ab", "c", "d", "e"};
  EXPECT_NE(plain.hash(), (CacheKey{"a", "bc", "d", "e"}.hash()));
  EXPECT_NE(plain.hash(), (CacheKey{"abc", "", "d", "e"}.hash()));
  EXPECT_NE(plain.hash(), (CacheKey{"ab", "cd", "", "e"}.hash()));
  EXPECT_NE(plain.hash(), (CacheKey{"ab", "c", "de", ""}.hash()));
  // A field that imitates the framing of its neighbour.
  EXPECT_NE((CacheKey{"a", "b", "", ""}.hash()), (CacheKey{"a1:b", "", "", ""}.hash()));
  EXPECT_NE(hash_fields("x", {"y"}), hash_fields("y", {"x"}));
}

TEST(CacheKeyHash, IsTheSameInEveryVersion) {
  // Printed by: printf '13:rondo-cubin-11:s1:f1:a1:c' | sha256sum
  EXPECT_EQ((CacheKey{"s", "f", "a", "c"}.hash()),
            "ac04695b9394337177bd07ecd16c7ca0ab1f8963a8dec6c9cc06b7c9e9747bcf");
}

}  // namespace
}  // namespace rondo::db
