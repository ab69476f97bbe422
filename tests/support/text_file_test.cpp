// Files appear whole or not at all.
#include "compiler/support/text_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>
#include <vector>

#include "compiler/support/locked_file.h"

namespace rondo {
namespace {

class TextFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              ("text_file-" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::ptrdiff_t files() const {
    return std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator());
  }
  std::filesystem::path folder_;
};

TEST_F(TextFile, IsReadAsItWasWritten) {
  const std::string text("a\0b\n", 4);
  ASSERT_TRUE(write_text_file(path("f"), text).ok());
  EXPECT_EQ(read_text_file(path("f")).value(), text);
  ASSERT_TRUE(write_text_file(path("f"), "shorter").ok());
  EXPECT_EQ(read_text_file(path("f")).value(), "shorter");
  EXPECT_EQ(files(), 1) << "no temporary file is left";
}

// A link under a name that could be told beforehand is not followed.
TEST_F(TextFile, TemporaryNamesCannotBeTold) {
  ASSERT_TRUE(write_text_file(path("victim"), "precious").ok());
  std::filesystem::create_symlink(path("victim"), path("f." + std::to_string(::getpid()) + ".tmp"));
  ASSERT_TRUE(write_text_file(path("f"), "text").ok());
  EXPECT_EQ(read_text_file(path("victim")).value(), "precious");
  EXPECT_EQ(read_text_file(path("f")).value(), "text");
  EXPECT_FALSE(std::filesystem::is_symlink(path("f")));
}

// Writers of one process number, as in two containers, do not meet in one temporary file.
TEST_F(TextFile, WritersOfOneNumberDoNotMeet) {
  std::atomic<int> failed = 0;
  std::vector<std::jthread> writers;
  for (int writer = 0; writer < 8; ++writer)
    writers.emplace_back([&, writer] {
      for (int turn = 0; turn < 20; ++turn)
        failed += !write_text_file(path("f"), std::string(10'000, static_cast<char>('a' + writer))).ok();
    });
  writers.clear();
  EXPECT_EQ(failed, 0);
  const std::string left = read_text_file(path("f")).value();
  EXPECT_EQ(left, std::string(10'000, left.at(0)));
  EXPECT_EQ(files(), 1);
}

TEST_F(TextFile, ErrorsNameTheFile) {
  const auto none = read_text_file(path("none"));
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().kind, ErrorKind::Missing);
  const Status nowhere = write_text_file(path("no/such/folder"), "text");
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.error().kind, ErrorKind::Input);
  EXPECT_NE(nowhere.error().message.find("no/such/folder'"), std::string::npos) << nowhere.error().message;
}

// Closing it would drop the locks that the process holds on it.
TEST_F(TextFile, WhatIsLockedIsNotOpened) {
  ASSERT_TRUE(write_text_file(path("data"), "text").ok());
  ASSERT_TRUE(write_text_file(path("data-wal"), "log").ok());
  ASSERT_TRUE(write_text_file(path("data-other"), "other").ok());
  std::filesystem::create_symlink(path("data"), path("link"));
  {
    const LockedFile once(path("data")), twice(path("data"));
    { const LockedFile thrice(path("data")); }
    for (const char* name : {"data", "data-wal", "link"}) {
      const auto text = read_text_file(path(name));
      ASSERT_FALSE(text.ok()) << name;
      EXPECT_EQ(text.error().kind, ErrorKind::Input);
      EXPECT_NE(text.error().message.find("part of the database '" + path("data") + "'"), std::string::npos)
          << text.error().message;
    }
    EXPECT_TRUE(read_text_file(path("data-other")).ok());
  }
  for (const char* name : {"data", "data-wal", "link"}) EXPECT_TRUE(read_text_file(path(name)).ok()) << name;
}

TEST_F(TextFile, ReadingIsBounded) {
  ASSERT_TRUE(write_text_file(path("f"), "12345").ok());
  EXPECT_EQ(read_text_file(path("f"), 5).value(), "12345");
  const auto long_file = read_text_file(path("f"), 4);
  ASSERT_FALSE(long_file.ok());
  EXPECT_EQ(long_file.error().kind, ErrorKind::Input);
  EXPECT_EQ(long_file.error().message, "'" + path("f") + "' has 5 bytes; at most 4 are read");
  // Far more than memory holds, and none of it is on the disk.
  std::filesystem::resize_file(path("f"), std::uintmax_t{1} << 42);
  EXPECT_FALSE(read_text_file(path("f")).ok());
  // A device that never ends, read to one byte beyond the limit.
  const auto endless = read_text_file("/dev/zero", 1000);
  ASSERT_FALSE(endless.ok());
  EXPECT_NE(endless.error().message.find("at most 1000 are read"), std::string::npos)
      << endless.error().message;
  EXPECT_EQ(read_text_file("/dev/null").value(), "");
}

TEST_F(TextFile, FoldersAreNoFiles) {
  const auto folder = read_text_file(folder_.string());
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.error().kind, ErrorKind::Input);
  EXPECT_NE(folder.error().message.find("directory"), std::string::npos) << folder.error().message;
}

TEST_F(TextFile, APipeIsReadToItsEndAndOneWithoutAWriterIsEmpty) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(read_text_file(path("pipe")).value(), "") << "nobody writes";
  std::thread writer([&] {
    const int file = ::open(path("pipe").c_str(), O_WRONLY);
    EXPECT_TRUE(write_to_descriptor(file, "pipe", "first ").ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    EXPECT_TRUE(write_to_descriptor(file, "pipe", "second").ok());
    ::close(file);
  });
  EXPECT_EQ(read_text_file(path("pipe")).value(), "first second");
  writer.join();
}

TEST_F(TextFile, IsReadInParts) {
  ASSERT_TRUE(write_text_file(path("f"), "12345").ok());
  InputFile file = InputFile::open(path("f")).value();
  EXPECT_EQ(file.size(), 5);
  EXPECT_EQ(file.read(2).value(), "12");
  EXPECT_EQ(file.read(0).value(), "");
  EXPECT_EQ(file.read(9).value(), "345");
  EXPECT_EQ(file.read(9).value(), "");
  EXPECT_FALSE(InputFile::open("/dev/zero").value().size().has_value());
}

TEST_F(TextFile, WhatIsNotCommittedLeavesTheOldFile) {
  ASSERT_TRUE(write_text_file(path("f"), "old").ok());
  {
    const auto staged = StagedFile::write(path("f"), "new");
    ASSERT_TRUE(staged.ok());
    EXPECT_EQ(read_text_file(path("f")).value(), "old");
    EXPECT_EQ(files(), 2);
  }
  EXPECT_EQ(files(), 1);
  EXPECT_EQ(read_text_file(path("f")).value(), "old");
  auto staged = StagedFile::write(path("f"), "new");
  ASSERT_TRUE(staged.ok());
  StagedFile moved = std::move(staged).value();
  ASSERT_TRUE(moved.commit().ok());
  EXPECT_EQ(read_text_file(path("f")).value(), "new");
  EXPECT_EQ(files(), 1);
}

TEST_F(TextFile, AFolderInTheWayIsAnError) {
  std::filesystem::create_directories(folder_ / "d" / "inside");
  EXPECT_FALSE(write_text_file(path("d"), "text").ok());
  EXPECT_EQ(files(), 1) << "the temporary file is gone";
}

TEST_F(TextFile, PipesAreWrittenInPlace) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ASSERT_TRUE(write_in_place("/dev/fd/" + std::to_string(ends[1]), "by name ").ok());
  ASSERT_TRUE(write_to_descriptor(ends[1], "a pipe", "by number").ok());
  ::close(ends[1]);
  std::array<char, 64> got{};
  EXPECT_EQ(std::string(got.data(), static_cast<std::size_t>(::read(ends[0], got.data(), got.size()))),
            "by name by number");
  ::close(ends[0]);
  EXPECT_FALSE(write_in_place(path("not there"), "text").ok());
}

}  // namespace
}  // namespace rondo
