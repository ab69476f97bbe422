#include "engine/request/problem_text.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "engine/arrays/staged_files.h"
#include "engine/request/load_cell.h"
#include "tests/tools/program.h"

namespace rondo::engine {
namespace {

TEST(ProblemText, Shapes) {
  const auto sizes = parse_shape("D=1536, B=8,T=4096", {1, 1, 3, 1});
  ASSERT_TRUE(sizes.ok());
  EXPECT_EQ(shape_text(*sizes), "B=8,T=4096,H=3,D=1536");
  for (const char* bad : {"", "B", "B=", "B=0", "B=-1", "B=1.5", "B=1,B=2", "X=1", "B=99999999999", "B=8;T=1",
                          "b=1", "B=1000000,T=1000000,H=1000000,D=1000000"})
    EXPECT_FALSE(parse_shape(bad).ok()) << bad;
}

TEST(ProblemText, Durations) {
  EXPECT_EQ(*parse_memory("4GB"), 4000000000);
  EXPECT_EQ(*parse_memory("512MiB"), std::int64_t{512} << 20);
  EXPECT_EQ(*parse_memory("1.5kB"), 1500);
  EXPECT_EQ(*parse_memory("123"), 123);
  for (const char* wrong : {"", "GB", "-1", "0", "0.5", "4 GB", "4gb", "1e9", "4000000000GB"})
    EXPECT_FALSE(parse_memory(wrong).ok()) << wrong;
  EXPECT_EQ(*parse_duration("60s"), 60);
  EXPECT_EQ(*parse_duration("60"), 60);
  EXPECT_EQ(*parse_duration("500ms"), 0.5);
  EXPECT_EQ(*parse_duration("1.5m"), 90);
  EXPECT_EQ(*parse_duration("30d"), 30 * 86400);
  for (const char* bad : {"", "s", "-5s", "5x", "1e3s", "inf", "nan", "5 s", "1..5s", "99999999999999d"})
    EXPECT_FALSE(parse_duration(bad).ok()) << bad;
}

TEST(ProblemText, ListsOfPasses) {
  EXPECT_EQ(parse_passes("fw,bw")->size(), 2U);
  for (const char* bad : {"", "fw,", "fw,fw", "forward"}) EXPECT_FALSE(parse_passes(bad).ok()) << bad;
}

TEST(ProblemText, Assignments) {
  EXPECT_EQ(parse_assignment("x=a=b", "--input")->second, "a=b");
  for (const char* bad : {"", "x", "=y", "x="}) EXPECT_FALSE(parse_assignment(bad, "--input").ok()) << bad;
  EXPECT_FALSE(parse_parameters({"a=1", "a=2"}).ok());
  EXPECT_FALSE(parse_parameters({"a=x"}).ok());
  EXPECT_EQ(parse_parameters({"a=1", "b=-2"})->at("b"), -2);
}

TEST(ProblemText, WordsOfParameters) {
  const schedule::Parameters words = parse_parameters({"exchange=global", "rewrite=latency"}).value();
  EXPECT_EQ(words, parse_parameters({"exchange=1", "rewrite=1"}).value());
  EXPECT_EQ(schedule::print(words), "exchange=global rewrite=latency");
  EXPECT_EQ(schedule::print({{"rewrite", 7}, {"steps", 1}}), "rewrite=7 steps=1");
  const auto unknown = parse_parameters({"exchange=latency"});
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().hint, "known words: cluster, global, launch");
  EXPECT_FALSE(parse_parameters({"steps=global"}).ok());
}

TEST(ProblemText, TitlesOfPasses) {
  schedule::Problem problem;
  EXPECT_EQ(schedule::pass_title(problem), "forward");
  problem.pass = schedule::Pass::ForwardSave;
  EXPECT_EQ(schedule::pass_title(problem), "forward (training)");
  problem.save_products = true;
  EXPECT_EQ(schedule::pass_title(problem), "forward (training), products saved");
  EXPECT_EQ(schedule::pass_title("bw"), "backward");
  EXPECT_EQ(schedule::pass_title("other"), "other");
}

TEST(ProblemText, Clips) {
  EXPECT_FALSE(parse_clip("", "")->any());
  EXPECT_EQ(parse_clip("2.5", "")->forward, 2.5);
  EXPECT_EQ(parse_clip("", "1e-3")->gradient, 1e-3);
  for (const char* bad : {"0", "-1", "nan", "inf", "1x", "-0.0"}) {
    EXPECT_FALSE(parse_clip(bad, "").ok()) << bad;
    const auto gradient = parse_clip("1", bad);
    ASSERT_FALSE(gradient.ok()) << bad;
    EXPECT_NE(gradient.error().message.find(std::string("--clip-gradient '") + bad), std::string::npos);
  }
}

TEST(ProblemText, Forms) {
  EXPECT_FALSE(parse_forms("")->any());
  const auto both = parse_forms("lengths,resets");
  ASSERT_TRUE(both.ok());
  EXPECT_TRUE(both->resets && both->lengths && !both->reversed);
  EXPECT_TRUE(parse_forms("reversed")->reversed);
  EXPECT_TRUE(parse_forms("lengths,directions")->directions);
  EXPECT_TRUE(parse_forms("tangents,lengths")->tangents);
  EXPECT_TRUE(parse_forms("resets,reset_states")->reset_states);
  EXPECT_FALSE(both->reset_states);
  for (const char* bad : {"reset", "resets,", ",", "resets,resets", "lengths resets"}) {
    const auto forms = parse_forms(bad);
    ASSERT_FALSE(forms.ok()) << bad;
    EXPECT_EQ(forms.error().kind, ErrorKind::Input);
    EXPECT_NE(forms.error().message.find(bad), std::string::npos);
  }
}

TEST(ProblemText, ConstantsMustExist) {
  const auto file = load_cell_file("mingru");
  ASSERT_TRUE(file.ok());
  const auto cell = select_cell(*file, "");
  ASSERT_TRUE(cell.ok());
  const auto constants = parse_constants(*cell, {"nosuch=1"});
  ASSERT_FALSE(constants.ok());
  EXPECT_NE(constants.error().message.find("nosuch"), std::string::npos);
}

// tf32 is a way to multiply matrices of fp32.
TEST(ProblemText, MathInTf32) {
  const auto file = load_cell_file("lstm");
  const auto cell = select_cell(file.value(), "");
  const auto problem = [&](const char* dtype, const char* math) {
    ProblemText text;
    text.dtype = dtype;
    text.math = math;
    return parse_problem(cell.value(), text, schedule::Pass::Forward);
  };
  EXPECT_EQ(problem("fp32", "tf32")->math, kernel::Math::Tf32);
  EXPECT_EQ(problem("fp32", "")->math, kernel::Math::Accurate);
  for (const char* dtype : {"bf16", "fp16"}) {
    const auto refused = problem(dtype, "tf32");
    ASSERT_FALSE(refused.ok()) << dtype;
    EXPECT_EQ(refused.error().message, std::string("math 'tf32' with dtype '") + dtype + "'");
    EXPECT_NE(refused.error().hint.find("--dtype fp32"), std::string::npos);
  }
  EXPECT_NE(problem("fp32", "exact").error().hint.find("tf32"), std::string::npos);
}

Result<schedule::Problem> saving(const std::string& name, const std::string& save, schedule::Pass pass) {
  const auto file = load_cell_file(name);
  const auto cell = select_cell(file.value(), "");
  ProblemText text;
  text.save = save;
  return parse_problem(cell.value(), text, pass);
}

TEST(ProblemText, WhatIsSaved) {
  using schedule::Pass;
  EXPECT_FALSE(saving("lstm", "states", Pass::Backward)->save_products);
  EXPECT_TRUE(saving("lstm", "products", Pass::Backward)->save_products);
  EXPECT_TRUE(saving("lstm", "products", Pass::ForwardSave)->save_products);
  EXPECT_FALSE(saving("lstm", "products", Pass::Forward)->save_products) << "it saves nothing";
  const auto unknown = saving("lstm", "gates", Pass::Backward);
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().hint.find("states, products"), std::string::npos);
  for (const Pass pass : {Pass::Forward, Pass::Backward}) {
    const auto diagonal = saving("mingru", "products", pass);
    ASSERT_FALSE(diagonal.ok());
    EXPECT_NE(diagonal.error().message.find("multiplies by no matrix"), std::string::npos);
  }
}

TEST(StagedFiles, AppearTogetherOrNotAtAll) {
  const test::Folder folder;
  test::write_file(folder.path("old"), "before");
  {
    StagedFiles files;
    ASSERT_TRUE(files.add(folder.path("old"), "after").ok());
    ASSERT_TRUE(files.add(folder.path("new"), "fresh").ok());
    EXPECT_FALSE(files.add(folder.path("new"), "again").ok());
    EXPECT_FALSE(files.add(folder.path("nowhere/x"), "").ok());
    EXPECT_EQ(test::read_file(folder.path("old")), "before");
  }
  EXPECT_EQ(folder.files(), std::vector<std::string>{"old"});
  StagedFiles files;
  ASSERT_TRUE(files.add(folder.path("old"), "after").ok());
  ASSERT_TRUE(files.add("/dev/null", "nothing").ok());  // must stay a device
  ASSERT_TRUE(files.commit().ok());
  EXPECT_EQ(test::read_file(folder.path("old")), "after");
  EXPECT_TRUE(write_output("/dev/null", "x").ok());
  EXPECT_EQ(folder.files(), std::vector<std::string>{"old"});
}

TEST(StagedFiles, LinksStayAndModesAreKept) {
  namespace fs = std::filesystem;
  const test::Folder folder;
  test::write_file(folder.path("file"), "before");
  fs::permissions(folder.path("file"), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("file", folder.path("link"));
  ASSERT_TRUE(write_output(folder.path("link"), "after").ok());
  EXPECT_TRUE(fs::is_symlink(folder.path("link")));
  EXPECT_EQ(test::read_file(folder.path("file")), "after");
  EXPECT_EQ(fs::status(folder.path("file")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  StagedFiles files;
  ASSERT_TRUE(files.add(folder.path("file"), "once").ok());
  for (const char* same : {"link", "./file", ".//file"})
    EXPECT_FALSE(files.add(folder.path(same), "twice").ok()) << same;
  const std::string relative = fs::relative(folder.path("none")).string();  // of a file that is not there yet
  EXPECT_TRUE(files.add(relative, "once").ok());
  EXPECT_FALSE(files.add("./" + relative, "twice").ok());
  EXPECT_FALSE(files.add(folder.path("none"), "twice").ok());
}

// What a shell has put in the place of the standard output is written on, and neither replaced nor
// overwritten.
TEST(StagedFiles, TheStandardOutputIsWrittenToByName) {
  const test::Folder folder;
  const std::string script = "echo first > '" + folder.path("out") +
                             "'; \"$0\" emit mingru --no-db -o /dev/stdout >> '" + folder.path("out") + "'";
  const test::Outcome outcome = test::start("/bin/sh", {"-c", script, RONDO_PROGRAM});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const std::string text = test::read_file(folder.path("out"));
  EXPECT_EQ(text.substr(0, 6), "first\n");
  EXPECT_NE(text.find("mingru"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_symlink("/dev/stdout"));
}

}  // namespace
}  // namespace rondo::engine
