// Opening files that are missing, damaged, foreign or too new: a clear error, and not a byte changed.
#include <sys/stat.h>

#include "tests/tuning_db/fixture.h"
#include "tuning_db/schema.h"
#include "tuning_db/sqlite.h"

namespace rondo::db {
namespace {

constexpr OpenOptions kReadOnly{.access = Access::ReadOnly};

class OpenTest : public DatabaseTest {
 protected:
  // Opening fails both ways with this message, and leaves the file as it is.
  void expect_refused(const std::string& part) {
    const std::string before = read_bytes(file);
    expect_error(Database::open(file), ErrorKind::Database, part);
    expect_error(Database::open(file, kReadOnly), ErrorKind::Database, part);
    const Result<Database> refused = Database::open(file);
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.error().message.find(file), std::string::npos) << refused.error().message;
    EXPECT_FALSE(refused.error().hint.empty());
    EXPECT_TRUE(read_bytes(file) == before) << "the file was changed";
  }

  // A closed database with enough rows for many pages.
  void fill() {
    Database db = sample_database(file);
    for (int i = 0; i < 20; ++i) {
      Cubin cubin = sample_cubin(std::string(10'000, static_cast<char>('a' + i)));
      cubin.key.source += std::to_string(i);
      must(db.put_cubin(cubin));
    }
  }

  void run_raw(const char* sql) {
    Connection(file, OpenMode::ReadWriteCreate, std::chrono::milliseconds(1000)).run_script(sql);
  }
};

TEST_F(OpenTest, CreatesAndReopens) {
  sample_database(file);
  Database db = must(Database::open(file));
  EXPECT_EQ(db.path(), file);
  EXPECT_EQ(must(db.stats()).cells, 1);
  EXPECT_EQ(must(db.stats()).schema_version, newest_version());
  EXPECT_TRUE(must(db.check()).empty());
  Connection raw(file, OpenMode::ReadOnly, std::chrono::milliseconds(1000));
  EXPECT_EQ(raw.integer("PRAGMA application_id"), kApplicationId);
  EXPECT_EQ(raw.query("PRAGMA journal_mode").step(), true);
}

TEST_F(OpenTest, OddNamesWork) {
  for (const char* name : {"/a b?c#d%41.db", "/:memory:", "/file:x?mode=memory", "/gru-\xc3\xa9.db"}) {
    sample_database(folder + name);
    EXPECT_TRUE(std::filesystem::exists(folder + name));
    EXPECT_EQ(must(must(Database::open(folder + name, kReadOnly)).stats()).cells, 1);
  }
  expect_error(Database::open(""), ErrorKind::Input, "empty");
}

TEST_F(OpenTest, ReadOnlyReadsAndRefusesToWrite) {
  expect_error(Database::open(file, kReadOnly), ErrorKind::Missing, "there is no database");
  EXPECT_FALSE(std::filesystem::exists(file));
  Database writer = sample_database(file);
  Database reader = must(Database::open(file, kReadOnly));
  EXPECT_EQ(must(reader.cells()).size(), 1u);
  must(writer.put_cell({"beef", "lstm", ""}));
  EXPECT_EQ(must(reader.cells()).size(), 2u);
  expect_error(reader.put_cell(sample_cell("x")), ErrorKind::Database, "opened for reading only");
  expect_error(reader.prune(now()), ErrorKind::Database, "opened for reading only");
}

// SQLite deletes the file that such a journal names, whatever it is.
TEST_F(OpenTest, JournalsThatNameOtherFilesAreRefused) {
  { sample_database(file); }
  const std::string victim = folder + "/victim";
  write_bytes(victim, "precious");
  const auto big_endian = [](std::uint32_t value) {
    return std::string{static_cast<char>(value >> 24), static_cast<char>(value >> 16),
                       static_cast<char>(value >> 8), static_cast<char>(value)};
  };
  const std::string magic = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
  std::uint32_t sum = 0;
  for (const char c : victim) sum += static_cast<std::uint32_t>(static_cast<signed char>(c));
  std::string journal =
      magic + big_endian(0) + big_endian(7) + big_endian(1) + big_endian(512) + big_endian(4096);
  journal.resize(512, '\0');
  const std::string locking_page = big_endian((1U << 30) / 4096 + 1);
  journal +=
      locking_page + victim + big_endian(static_cast<std::uint32_t>(victim.size())) + big_endian(sum) + magic;
  write_bytes(file + "-journal", journal);
  expect_refused("reading it would delete another file");
  expect_error(Database::is_older(file), ErrorKind::Database, "reading it would delete another file");
  EXPECT_EQ(read_bytes(victim), "precious");
  std::filesystem::remove(file + "-journal");
  must(Database::open(file));
}

TEST_F(OpenTest, JournalsThatAreLinksAreRefused) {
  { sample_database(file); }
  write_bytes(folder + "/victim", "precious");
  std::filesystem::create_symlink(folder + "/victim", file + "-journal");
  expect_refused("it is no file");
}

// Opening one waits for a writer that never comes.
TEST_F(OpenTest, PipesAreNoDatabases) {
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  expect_error(Database::is_older(file), ErrorKind::Database, "not a regular file");
  expect_error(Database::open(file), ErrorKind::Database, "not a regular file");
  Database into = sample_database(folder + "/into.db");
  expect_error(into.merge_database(file), ErrorKind::Database, "not a regular file");
}

TEST_F(OpenTest, MissingFolder) {
  expect_error(Database::open(folder + "/no/such/x.db"), ErrorKind::Database, "there is no folder");
  EXPECT_FALSE(std::filesystem::exists(folder + "/no"));
}

TEST_F(OpenTest, FoldersAndDevicesAreNoDatabases) {
  expect_error(Database::open(folder), ErrorKind::Database, "is a folder");
  expect_error(Database::open("/dev/null"), ErrorKind::Database, "not a regular file");
}

TEST_F(OpenTest, TheDefaultPathFollowsTheEnvironmentAndIsCreated) {
  const std::string found = in_child([&] {
    ::unsetenv("RONDO_DB");
    ::setenv("XDG_DATA_HOME", (folder + "/data").c_str(), 1);
    sample_database(must(Database::open_default()).path());
    return must(default_path());
  });
  EXPECT_EQ(found, folder + "/data/rondo/tuning.db");
  EXPECT_EQ(must(must(Database::open(found)).stats()).cells, 1);
  EXPECT_EQ(in_child([&] {
              ::unsetenv("RONDO_DB");
              ::unsetenv("XDG_DATA_HOME");
              ::setenv("HOME", "/home/x", 1);
              return must(default_path());
            }),
            "/home/x/.local/share/rondo/tuning.db");
  EXPECT_EQ(in_child([&] {
              ::setenv("RONDO_DB", "/x/y.db", 1);
              return must(default_path());
            }),
            "/x/y.db");
}

TEST_F(OpenTest, AFileThatIsNoDatabase) {
  write_bytes(file, "Dear diary, today I tuned an LSTM.\n");
  expect_refused("is not a database");
  write_bytes(file, std::string(100'000, 'x'));
  expect_refused("is not a database");
}

TEST_F(OpenTest, AnotherApplicationsDatabase) {
  run_raw("CREATE TABLE songs (title TEXT); INSERT INTO songs VALUES ('x')");
  expect_refused("another application's");
  run_raw("PRAGMA application_id = 252006673");
  expect_refused("application id 0x0f055111");
  run_raw("PRAGMA journal_mode = WAL");
  expect_refused("another application's");
}

TEST_F(OpenTest, AnEmptyFileBecomesADatabase) {
  write_bytes(file, "");
  expect_error(Database::open(file, kReadOnly), ErrorKind::Missing, "is empty");
  sample_database(file);
  EXPECT_EQ(must(must(Database::open(file)).stats()).cells, 1);
}

TEST_F(OpenTest, ReadersTakeAFileWithoutTablesForNoneAtAll) {
  run_raw("PRAGMA journal_mode = WAL");
  EXPECT_GT(std::filesystem::file_size(file), 0u);
  expect_error(Database::open(file, kReadOnly), ErrorKind::Missing, "is empty");
  sample_database(file);
  EXPECT_EQ(must(must(Database::open(file, kReadOnly)).stats()).cells, 1);
}

TEST_F(OpenTest, DotsAfterALinkLeadToTheFolderThatItNames) {
  std::filesystem::create_directories(folder + "/here");
  std::filesystem::create_directories(folder + "/there/inner");
  std::filesystem::create_directory_symlink(folder + "/there/inner", folder + "/here/link");
  // Not there yet, and there.
  EXPECT_EQ(sample_database(folder + "/here/link/../tuning.db").path(), folder + "/there/tuning.db");
  EXPECT_EQ(must(Database::open(folder + "/here/link/../tuning.db", kReadOnly)).path(),
            folder + "/there/tuning.db");
  EXPECT_TRUE(std::filesystem::exists(folder + "/there/tuning.db"));
  EXPECT_FALSE(std::filesystem::exists(folder + "/here/tuning.db"));
}

TEST_F(OpenTest, ANewerSchema) {
  sample_database(file);
  run_raw("PRAGMA user_version = 99");
  expect_refused("schema version 99, newer than this program's");
}

TEST_F(OpenTest, TruncatedAtEveryKindOfPlace) {
  fill();
  const std::string whole = read_bytes(file);
  ASSERT_GT(whole.size(), 200'000u);
  const std::size_t cuts[] = {1,
                              15,
                              50,
                              99,
                              100,
                              2000,
                              4095,
                              4096,
                              5000,
                              8192,
                              whole.size() / 2,
                              whole.size() - 4096,
                              whole.size() - 1};
  for (const std::size_t cut : cuts) {
    SCOPED_TRACE(cut);
    write_bytes(file, whole.substr(0, cut));
    std::filesystem::remove(file + "-wal");
    std::filesystem::remove(file + "-shm");
    expect_refused("truncated");
    if (cut < 512) expect_refused("is not a database");
  }
}

TEST_F(OpenTest, TruncatedToNothingBesideItsLog) {
  Database open = sample_database(file);
  const std::string log = read_bytes(file + "-wal");
  ASSERT_FALSE(log.empty());
  write_bytes(folder + "/copy.db", "");
  write_bytes(folder + "/copy.db-wal", log);
  expect_error(Database::open(folder + "/copy.db"), ErrorKind::Database, "was truncated");
  EXPECT_TRUE(read_bytes(folder + "/copy.db-wal") == log);
}

TEST_F(OpenTest, CheckFindsOverwrittenPages) {
  fill();
  std::string bytes = read_bytes(file);
  for (std::size_t i = bytes.size() / 3; i < bytes.size() / 3 + 9000; ++i) bytes[i] = '\x55';
  write_bytes(file, bytes);
  Database db = must(Database::open(file));  // opening does not read the whole file
  EXPECT_FALSE(must(db.check()).empty());
  EXPECT_TRUE(read_bytes(file) == bytes);
}

TEST_F(OpenTest, AnotherLockIsWaitedForThenNamed) {
  sample_database(file);
  Connection other(file, OpenMode::ReadWriteCreate, std::chrono::milliseconds(1000));
  other.run_script("BEGIN IMMEDIATE");
  Database db = must(Database::open(file, {.busy_timeout = std::chrono::milliseconds(50)}));
  EXPECT_EQ(must(db.cells()).size(), 1u);  // readers do not wait
  expect_error(db.put_cell(sample_cell("x")), ErrorKind::Database, "locked by another process");
  other.run_script("COMMIT");
  EXPECT_TRUE(db.put_cell(sample_cell("x")).ok());
}

}  // namespace
}  // namespace rondo::db
