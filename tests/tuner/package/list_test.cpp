// Lists of problems for packages.
#include "tuner/package/list.h"

#include <gtest/gtest.h>

namespace rondo::tuner {
namespace {

constexpr const char* kList = R"({"format": "rondo-package-list", "version": 1, "arch": ["sm_80", "sm_90"],
  "problems": [{"cell": "lstm", "shape": ["B=1,T=1,D=64", "B=16,T=128,D=64"], "dtype": ["bf16", "fp32"],
                "pass": "fw,bw", "clip_forward": "2"},
               {"cell": "mingru", "shape": "D=128"}]})";

TEST(PackageList, SaysWhatIsWanted) {
  const Result<PackageList> list = parse_package_list(kList, "a.json");
  ASSERT_TRUE(list.ok()) << list.error().message;
  EXPECT_EQ(list->archs, (std::vector<std::string>{"sm_80", "sm_90"}));
  ASSERT_EQ(list->lines.size(), 2U);
  const auto problems = packaged_problems({list->lines[0]});
  ASSERT_TRUE(problems.ok()) << problems.error().message;
  ASSERT_EQ(problems->size(), 8U) << "2 shapes, 2 types, 2 passes";
  EXPECT_EQ(problems->front().problem.sizes.time, 1);
  EXPECT_EQ(problems->back().problem.pass, schedule::Pass::Backward);
  EXPECT_EQ(problems->back().cell->clip.forward, 2.0);
  const auto defaults = packaged_problems({list->lines[1]});
  ASSERT_TRUE(defaults.ok());
  ASSERT_EQ(defaults->size(), 1U);
  EXPECT_EQ(defaults->front().problem.sizes.dim, 128);
}

TEST(PackageList, PathsOfCellsBeginAtTheList) {
  const std::string text = R"({"format": "rondo-package-list", "version": 1, "problems": [
    {"cell": "lstm", "shape": "D=8"}, {"cell": "my.cell", "shape": "D=8"}, {"cell": "../a/b.cell", "shape": "D=8"},
    {"cell": "/abs/c.cell", "shape": "D=8"}]})";
  const auto cells = [&](const std::string& origin) {
    std::vector<std::string> found;
    const Result<PackageList> list = parse_package_list(text, origin);
    for (const PackageLine& line : list.value().lines) found.push_back(line.cell);
    return found;
  };
  EXPECT_EQ(cells("lists/l.json"),
            (std::vector<std::string>{"lstm", "lists/my.cell", "lists/../a/b.cell", "/abs/c.cell"}));
  EXPECT_EQ(cells("l.json"), (std::vector<std::string>{"lstm", "my.cell", "../a/b.cell", "/abs/c.cell"}));
}

TEST(PackageList, SaysWhatIsWrong) {
  const auto message = [](const std::string& problems,
                          const std::string& head = R"("format": "rondo-package-list", "version": 1)") {
    const auto list = parse_package_list("{" + head + ", \"problems\": " + problems + "}", "a.json");
    EXPECT_FALSE(list.ok()) << problems;
    EXPECT_EQ(list.error().kind, ErrorKind::Input);
    return list.error().message;
  };
  EXPECT_NE(message("[{\"shape\": \"D=8\"}]").find("problems[0] 'cell' is missing"), std::string::npos);
  EXPECT_NE(message("[{\"cell\": \"gru\"}]").find("'shape' is missing"), std::string::npos);
  EXPECT_NE(message(R"([{"cell": "gru", "shape": "D=8"}, {"cell": "gru", "shape": "D=8", "dtpye": "bf16"}])")
                .find("problems[1] has an unknown member 'dtpye'"),
            std::string::npos);
  EXPECT_NE(message(R"([{"cell": 5, "shape": "D=8"}])").find("'cell' is no text"), std::string::npos);
  EXPECT_NE(message(R"([{"cell": "gru", "shape": [1]}])").find("'shape' is no text"), std::string::npos);
  EXPECT_EQ(
      message(R"([{"cell": 5, "shape": "D=8"}, 7, {"cell": "gru", "pass": 1, "arch": ""}])"),
      "a.json: problems[0] 'cell' is no text\nproblems[1] is no JSON object\nproblems[2] 'pass' is no text\n"
      "problems[2] 'shape' is missing\nproblems[2] has an unknown member 'arch'");
  EXPECT_NE(message("[5]").find("no JSON object"), std::string::npos);
  EXPECT_NE(message("5").find("no list 'problems'"), std::string::npos);
  EXPECT_NE(message("[]").find("has no problem"), std::string::npos);
  EXPECT_NE(message("[5,]").find("no JSON, at byte "), std::string::npos);
  EXPECT_NE(message("[]", R"("format": "other", "version": 1)").find("format"), std::string::npos);
  EXPECT_NE(message("[]", R"("format": "rondo-package-list", "version": 2)").find("version"),
            std::string::npos);
  EXPECT_FALSE(parse_package_list("no json", "a.json").ok());
  EXPECT_FALSE(parse_package_list("[]", "a.json").ok());
  EXPECT_FALSE(parse_package_list(std::string(100, '['), "a.json").ok());
}

TEST(PackageList, ProblemsThatAreNoneAreRefused) {
  PackageLine line{"lstm", "", {"D=64"}};
  line.shapes = {"D=64", "D=none"};
  EXPECT_EQ(packaged_problems({line}).error().kind, ErrorKind::Input);
  line.shapes = {"D=64"};
  line.cell = "nosuchcell";
  EXPECT_EQ(packaged_problems({line}).error().kind, ErrorKind::Missing);
  line.cell = "lstm";
  line.passes = "forward";
  EXPECT_EQ(packaged_problems({line}).error().kind, ErrorKind::Input);

  line.passes = "fw";
  PackageLine second = line, third = line;
  second.place = "a.json: problems[0]";
  second.shapes = {"D=none"};
  third.place = "a.json: problems[1]";
  third.cell = "nosuchcell";
  const Error error = packaged_problems({line, second, third, third}).error();
  EXPECT_EQ(error.kind, ErrorKind::Input) << "that of the first";
  EXPECT_EQ(error.message,
            "a.json: problems[0]: shape 'D=none': D must be a whole number from 1 to 2147483647\n"
            "a.json: problems[1]: there is no shipped cell and no file 'nosuchcell'");
}

}  // namespace
}  // namespace rondo::tuner
