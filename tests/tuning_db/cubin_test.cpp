#include "tests/tuning_db/fixture.h"
#include "tuning_db/sqlite.h"

namespace rondo::db {
namespace {

class CubinTest : public DatabaseTest {
 protected:
  void damage(const std::string& sql) {
    Connection raw(file, OpenMode::ReadWriteCreate, std::chrono::milliseconds(1000));
    raw.run(sql);
    ASSERT_EQ(raw.changes(), 1);
  }

  Database db = must(Database::open(file));
  std::string key = must(db.put_cubin(sample_cubin()));
};

TEST_F(CubinTest, ComesBackWhole) {
  const Cubin cubin = must(db.get_cubin(key)).value();
  EXPECT_EQ(cubin.key, sample_cubin().key);
  EXPECT_EQ(cubin.image, sample_cubin().image);  // with its zero byte
  EXPECT_EQ(cubin.resources, R"({"registers":40})");
  EXPECT_EQ(cubin.created_at, 1'700'000'000);
  EXPECT_FALSE(must(db.get_cubin(std::string(64, '0'))).has_value());
  const std::vector<CubinSummary> all = must(db.cubins());
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].key, key);
  EXPECT_EQ(all[0].bytes, 7);
}

TEST_F(CubinTest, StoringAgainReplaces) {
  EXPECT_EQ(must(db.put_cubin(sample_cubin("other"))), key);
  EXPECT_EQ(must(db.get_cubin(key))->image, "other");
  expect_error(db.put_cubin(sample_cubin("")), ErrorKind::Input, "image of a cubin is empty");
}

TEST_F(CubinTest, DamageIsAnErrorAndHeals) {
  const char* damages[] = {
      "UPDATE cubins SET image = x'7f454c4600010f'",       "UPDATE cubins SET image = substr(image, 1, 3)",
      "UPDATE cubins SET resources = '{\"registers\":4}'", "UPDATE cubins SET source = source || ' '",
      "UPDATE cubins SET compiler_version = '12.5'",
  };
  for (const char* sql : damages) {
    damage(sql);
    expect_error(db.get_cubin(key), ErrorKind::Database, "is damaged");
    EXPECT_EQ(must(db.check()).size(), 1u) << sql;
    must(db.put_cubin(sample_cubin()));
    EXPECT_EQ(must(db.get_cubin(key))->image, sample_cubin().image);
    EXPECT_TRUE(must(db.check()).empty());
  }
}

TEST_F(CubinTest, LargeImagesWork) {
  std::string image(3'000'000, '\0');
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<char>(i * 31 >> 3);
  must(db.put_cubin(sample_cubin(image)));
  EXPECT_EQ(must(db.get_cubin(key))->image, image);
}

}  // namespace
}  // namespace rondo::db
