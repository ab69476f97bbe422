// Where results go: to the standard output, to files that are no inputs, and what is said of it.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/arrays/npy.h"
#include "engine/arrays/staged_files.h"
#include "tests/tools/program.h"

namespace rondo::test {
namespace {

using nlohmann::json;

TEST(Outputs, AnArrayMayBeTheStandardOutput) {
  const Folder folder;
  write_array(folder.path("x.npy"), {2, 4, 1, 2, 3});
  const std::vector<std::string> call = {"run", "mingru", "--reference", "--input",
                                         "x=" + folder.path("x.npy")};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), call.begin(), call.end());
    return rondo(more);
  };
  ASSERT_EQ(with({"--out", "h=" + folder.path("h.npy")}).status, 0);
  for (const char* path : {"-", "/dev/stdout"}) {
    const Outcome piped = with({"--out", std::string("h=") + path});
    EXPECT_EQ(piped.status, 0) << piped.err;
    EXPECT_EQ(piped.out, read_file(folder.path("h.npy")));
    EXPECT_NE(piped.err.find("mingru B=2"), std::string::npos) << piped.err;
    const Outcome mixed = with({"--json", "--out", std::string("h=") + path});
    EXPECT_EQ(mixed.status, 2);
    EXPECT_NE(mixed.err.find("both write to the standard output"), std::string::npos) << mixed.err;
  }
  const Outcome twice = with({"--out", "h=-", "--last", "h=-"});
  EXPECT_EQ(twice.status, 2);
  EXPECT_NE(twice.err.find("named as output twice"), std::string::npos) << twice.err;
  EXPECT_FALSE(std::filesystem::exists("-"));
}

TEST(Outputs, AnInputIsNeverOverwritten) {
  const Folder folder;
  const std::string x = folder.path("x.npy");
  write_array(x, {2, 4, 1, 2, 3});
  write_array(folder.path("h0.npy"), {2, 1, 3});
  const std::string before = read_file(x);
  std::filesystem::create_symlink(x, folder.path("link.npy"));
  std::filesystem::create_hard_link(x, folder.path("hard.npy"));
  for (const char* name : {"x.npy", "link.npy", "hard.npy", "../{}/x.npy"}) {
    std::string path = folder.path(name);
    if (const auto place = path.find("{}"); place != std::string::npos)
      path.replace(place, 2, std::filesystem::path(x).parent_path().filename().string());
    const Outcome outcome =
        rondo({"run", "mingru", "--reference", "--input", "x=" + x, "--out", "h=" + path});
    EXPECT_EQ(outcome.status, 2) << path;
    EXPECT_NE(outcome.err.find("would be overwritten"), std::string::npos) << outcome.err;
    EXPECT_EQ(read_file(x), before);
    EXPECT_TRUE(std::filesystem::is_symlink(folder.path("link.npy")));
  }
  const Outcome state = rondo({"run", "mingru", "--reference", "--input", "x=" + x, "--state",
                               "h=" + folder.path("h0.npy"), "--last", "h=" + folder.path("h0.npy")});
  EXPECT_EQ(state.status, 2) << "also of another array";
  write_file(folder.path("own.cell"), read_file(std::string(RONDO_SOURCE_DIR) + "/cells/mingru.cell"));
  const Outcome cell =
      rondo({"emit", folder.path("own.cell"), "--stage", "step", "-o", folder.path("own.cell")});
  EXPECT_EQ(cell.status, 2);
  EXPECT_NE(cell.err.find("is an input of this command"), std::string::npos) << cell.err;
  EXPECT_NE(read_file(folder.path("own.cell")).find("cell mingru"), std::string::npos);
  const std::string database = folder.path("t.db");
  ASSERT_EQ(rondo({"db", "import", "--db", database,
                   std::string(RONDO_SOURCE_DIR) + "/tuning_db/shipped/h200.json"})
                .status,
            0);
  EXPECT_EQ(rondo({"db", "export", "--db", database, "-o", database}).status, 2);
  EXPECT_EQ(rondo({"db", "check", "--db", database}).status, 0);
}

TEST(Outputs, JsonSaysWhatWasWritten) {
  const Folder folder;
  const std::string file = folder.path("step.json");
  const Outcome emitted = rondo({"emit", "mingru", "--stage", "step", "--json", "-o", file});
  ASSERT_EQ(emitted.status, 0) << emitted.err;
  EXPECT_EQ(json::parse(emitted.out)["written"], json({file}));
  EXPECT_EQ(json::parse(read_file(file))["stage"], "step");
  EXPECT_EQ(rondo({"emit", "mingru", "--stage", "step", "-o", file}).out, "");
}

TEST(Outputs, FilesOfAPackageAreFiles) {
  const Outcome outcome = rondo({"package", "build", "mingru", "--embed", "-"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("--embed - is no file"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace rondo::test
