// Files that others could exchange.
#include "compiler/support/strange_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "compiler/support/dynamic_library.h"

namespace rondo {
namespace {

class FoundFile : public ::testing::Test {
 protected:
  FoundFile() {
    std::string name = (std::filesystem::temp_directory_path() / "rondo-found-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    std::filesystem::create_directories(folder_ / "lib");
    file_ = (folder_ / "lib" / "plugin.so").string();
    std::ofstream(file_) << "none";
  }
  ~FoundFile() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
  std::string file_;
};

TEST_F(FoundFile, IsOurs) {
  EXPECT_FALSE(others_may_change(file_));
  EXPECT_FALSE(others_may_change("libm.so.6")) << "the linker finds it";
  EXPECT_FALSE(others_may_change((folder_ / "none.so").string()));
}

TEST_F(FoundFile, MayBeWrittenByAll) {
  ::chmod(file_.c_str(), 0666);
  EXPECT_TRUE(others_may_change(file_));
  ::chmod(file_.c_str(), 0644);
  ::chmod((folder_ / "lib").c_str(), 01777);
  EXPECT_TRUE(others_may_change(file_)) << "others may put another library beside it";
  ::chmod((folder_ / "lib").c_str(), 0755);
  ::chmod(folder_.c_str(), 0777);
  EXPECT_TRUE(others_may_change(file_));
}

TEST_F(FoundFile, BelongsToAnother) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  ASSERT_EQ(::chown(folder_.c_str(), 4242, 4242), 0);
  EXPECT_TRUE(others_may_change(file_));
}

TEST_F(FoundFile, IsNotOpenedUnlessNamed) {
  ::chmod((folder_ / "lib").c_str(), 0777);
  const std::string names[] = {file_};
  const auto found = DynamicLibrary::open(names, "the plugin", "", {.found = true});
  ASSERT_FALSE(found.ok());
  EXPECT_NE(found.error().message.find("other users may change it"), std::string::npos);
  const auto named = DynamicLibrary::open(names, "the plugin", "");
  ASSERT_FALSE(named.ok());
  EXPECT_EQ(named.error().message.find("other users"), std::string::npos) << named.error().message;
}

}  // namespace
}  // namespace rondo
