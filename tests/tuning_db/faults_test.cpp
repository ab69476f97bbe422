// Places that cannot be written: a read-only folder and a full disk. Each runs in a child of its own.
#include <grp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/tuning_db/fixture.h"
#include "tuning_db/sqlite.h"

namespace rondo::db {
namespace {

constexpr uid_t kNobody = 65534;

std::string message_of(const Result<Database>& opened) {
  return opened.ok() ? "opened" : opened.error().message + " | " + opened.error().hint;
}

// Permission bits do not stop root: go on as nobody.
void become_ordinary_user() {
  if (::geteuid() != 0) return;
  if (::setgroups(0, nullptr) != 0 || ::setresgid(kNobody, kNobody, kNobody) != 0 ||
      ::setresuid(kNobody, kNobody, kNobody) != 0)
    throw std::runtime_error("cannot give up root");
}

class ReadOnlyFolder : public DatabaseTest {
 protected:
  void SetUp() override {
    sample_database(file);
    ASSERT_EQ(::chmod(file.c_str(), 0666), 0);
    ASSERT_EQ(::chmod(folder.c_str(), 0555), 0);
    before = read_bytes(file);
  }
  void TearDown() override {
    EXPECT_TRUE(read_bytes(file) == before);
    EXPECT_FALSE(std::filesystem::exists(file + "-wal"));
  }
  std::string before;
};

TEST_F(ReadOnlyFolder, WritingIsAClearError) {
  const std::string message = in_child([&] {
    become_ordinary_user();
    return message_of(Database::open(file));
  });
  EXPECT_NE(message.find("cannot be written: folder '" + folder + "': Permission denied"), std::string::npos)
      << message;
  EXPECT_NE(message.find("--db"), std::string::npos) << message;
}

TEST_F(ReadOnlyFolder, CreatingIsAClearError) {
  const std::string message = in_child([&] {
    become_ordinary_user();
    return message_of(Database::open(folder + "/new.db"));
  });
  EXPECT_NE(message.find("folder '" + folder + "': Permission denied"), std::string::npos) << message;
  EXPECT_FALSE(std::filesystem::exists(folder + "/new.db"));
}

TEST_F(ReadOnlyFolder, ReadingWorks) {
  const std::string found = in_child([&] {
    become_ordinary_user();
    Database db = must(Database::open(file, {.access = Access::ReadOnly}));
    return must(db.cells()).at(0).name;
  });
  EXPECT_EQ(found, "mingru");
}

TEST_F(ReadOnlyFolder, AReadOnlyFileInAWritableFolderIsAClearError) {
  ASSERT_EQ(::chmod(folder.c_str(), 0777), 0);
  ASSERT_EQ(::chmod(file.c_str(), 0444), 0);
  const std::string message = in_child([&] {
    become_ordinary_user();
    return message_of(Database::open(file));
  });
  EXPECT_NE(message.find("cannot be written: Permission denied"), std::string::npos) << message;
  std::filesystem::remove(file + "-wal");  // empty, left by the refused opening
}

TEST_F(ReadOnlyFolder, AFileThatMayNotBeReadIsAClearError) {
  ASSERT_EQ(::chmod(folder.c_str(), 0777), 0);
  ASSERT_EQ(::chmod(file.c_str(), 0222), 0);
  for (const Access access : {Access::ReadOnly, Access::ReadWrite}) {
    const std::string message = in_child([&] {
      become_ordinary_user();
      return message_of(Database::open(file, {.access = access}));
    });
    EXPECT_NE(message.find("cannot be read: Permission denied"), std::string::npos) << message;
  }
}

// A limit on the size of files stands in for the disk: writes beyond it fail in the system call.
void limit_files_to(rlim_t bytes) {
  ::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{bytes, bytes};
  if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) throw std::runtime_error("cannot limit the size of files");
}

class FullDisk : public DatabaseTest {};

TEST_F(FullDisk, KeepsWhatWasCommittedAndSaysSo) {
  {
    Database db = sample_database(file);
    must(db.put_cubin(sample_cubin()));
  }
  const std::string message = in_child([&]() -> std::string {
    limit_files_to(200'000);
    Database db = must(Database::open(file));
    must(db.put_cell({"beef", "lstm", ""}));  // still fits
    Cubin large = sample_cubin(std::string(1'000'000, 'x'));
    large.key.source = "large";
    const Result<std::string> stored = db.put_cubin(large);
    if (stored.ok()) return "stored";
    // The connection lives on: it reads, and writes what fits.
    must(db.get_cubin(sample_cubin().key)).value();
    must(db.put_cell({"feed", "gru", ""}));
    return stored.error().message + " | " + stored.error().hint;
  });
  EXPECT_NE(message.find("no space to write database '" + file + "'"), std::string::npos) << message;
  EXPECT_NE(message.find("intact"), std::string::npos) << message;

  Database db = must(Database::open(file));
  EXPECT_TRUE(must(db.check()).empty());
  EXPECT_EQ(must(db.cells()).size(), 3u);
  EXPECT_EQ(must(db.cubins()).size(), 1u);
  EXPECT_EQ(must(db.get_cubin(sample_cubin().key))->image, sample_cubin().image);
}

// Records and kernels of a merge are one transaction.
TEST_F(FullDisk, AMergeIsWholeOrNotAtAll) {
  const std::string other = folder + "/other.db";
  {
    Database db = sample_database(file);
    Database second = sample_database(other);
    must(second.put_cell({"beef", "lstm", ""}));
    Cubin large = sample_cubin(std::string(1'000'000, 'x'));
    large.key.source = "large";
    must(second.put_cubin(large));
  }
  const std::string message = in_child([&]() -> std::string {
    limit_files_to(300'000);
    Database db = must(Database::open(file));
    const auto merged = db.merge_database(other, {}, Database::Kernels::Taken);
    return merged.ok() ? "merged" : merged.error().message;
  });
  EXPECT_NE(message.find("no space to write database '" + file + "'"), std::string::npos) << message;
  Database db = must(Database::open(file));
  EXPECT_TRUE(must(db.check()).empty());
  EXPECT_EQ(must(db.cells()).size(), 1u);
  EXPECT_TRUE(must(db.cubins()).empty());
}

TEST_F(FullDisk, CreatingFailsAndCanBeRepeated) {
  const std::string message = in_child([&] {
    limit_files_to(6000);
    return message_of(Database::open(file));
  });
  EXPECT_NE(message.find("'" + file + "'"), std::string::npos) << message;
  EXPECT_NE(message.find("File too large"), std::string::npos) << message;
  Database db = sample_database(file);
  EXPECT_TRUE(must(db.check()).empty());
}

TEST_F(FullDisk, SqlitesOwnReportIsExplained) {
  sample_database(file);
  Connection connection(file, OpenMode::ReadWriteCreate, std::chrono::milliseconds(1000));
  connection.integer("PRAGMA max_page_count = 30");
  try {
    connection.run("UPDATE cells SET source = ?1", std::string(1'000'000, 'x'));
    FAIL() << "the update fits";
  } catch (const Failure& failure) {
    EXPECT_NE(failure.error().message.find("no space"), std::string::npos) << failure.error().message;
  }
  EXPECT_EQ(must(must(Database::open(file)).cells()).at(0).source, sample_cell().source);
}

}  // namespace
}  // namespace rondo::db
