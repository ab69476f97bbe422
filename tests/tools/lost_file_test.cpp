// A mapped file that becomes shorter: an error, and no crash.
#include "tools/rondo/lost_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "compiler/support/mapped_file.h"
#include "tests/tools/program.h"

namespace rondo::tools {
namespace {

int sum_of_what_is_left(const std::string& path) {
  explain_lost_files();
  const Result<MappedFile> file = map_file(path);
  std::filesystem::resize_file(path, 10);
  int sum = 0;
  for (const char byte : file->bytes) sum += byte;
  return sum;
}

TEST(LostFileDeathTest, EndsWithTheStatusOfBadInput) {
  const test::Folder folder;
  const std::string path = folder.path("a.npy");
  test::write_file(path, std::string(1 << 20, 'x'));
  EXPECT_EXIT(sum_of_what_is_left(path), ::testing::ExitedWithCode(2), "became shorter");
}

TEST(MappedFile, ErrorsAreThoseOfReading) {
  const test::Folder folder;
  const auto error_of = [](const std::string& path) {
    const Result<MappedFile> file = map_file(path);
    return file.ok() ? Error{ErrorKind::Internal, "", ""} : file.error();
  };
  EXPECT_EQ(error_of(folder.path("nosuch")).kind, ErrorKind::Missing);
  EXPECT_NE(error_of(folder.path("")).message.find("directory"), std::string::npos);
  EXPECT_NE(error_of("/dev/zero").message.find("no regular file"), std::string::npos);
  test::write_file(folder.path("empty"), "");
  EXPECT_EQ(map_file(folder.path("empty"))->bytes, "");
  test::write_file(folder.path("full"), "all of it");
  EXPECT_EQ(map_file(folder.path("full"))->bytes, "all of it");
}

}  // namespace
}  // namespace rondo::tools
