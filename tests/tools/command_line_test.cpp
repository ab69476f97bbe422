// Help, its examples and topics, what is said of slips, and completion.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "tests/tools/program.h"
#include "tools/rondo/options/command_tree.h"
#include "tools/rondo/options/completion.h"
#include "tools/rondo/options/topics.h"

namespace rondo::tools {
namespace {

using test::Outcome;
using test::rondo;

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

ParsedOptions parsed(std::vector<std::string> words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  return parse_options(static_cast<int>(pointers.size()), pointers.data());
}

// "package build" and so on, of all that can be called.
std::set<std::string> commands() {
  Options options;
  CLI::App app;
  add_commands(app, options);
  std::set<std::string> all;
  const auto every = [](CLI::App*) { return true; };
  for (CLI::App* sub : app.get_subcommands(every)) {
    const auto below = sub->get_subcommands(every);
    if (below.empty()) all.insert(sub->get_name());
    for (const CLI::App* action : below) all.insert(sub->get_name() + " " + action->get_name());
  }
  return all;
}

TEST(Examples, AreCommandLinesThatAreTaken) {
  for (const Example& example : examples()) {
    std::vector<std::string> words = words_of(example.line);
    if (const auto end = std::find(words.begin(), words.end(), ">"); end != words.end())
      words.erase(end, words.end());  // a shell's
    const ParsedOptions result = parsed(words);
    EXPECT_EQ(result.status, 0) << example.line << ": " << result.text;
    EXPECT_EQ(std::string(example.line).rfind(std::string("rondo ") + example.command, 0), 0U)
        << example.line;
  }
}

TEST(Examples, EachCommandHasOneAndShowsIt) {
  for (const std::string& command : commands()) {
    ASSERT_NE(examples_of(command), "") << command;
    std::vector<std::string> words = words_of(command);
    words.emplace_back("--help");
    const Outcome outcome = rondo(words);
    EXPECT_EQ(outcome.status, 0);
    EXPECT_NE(outcome.out.find(examples_of(command)), std::string::npos) << outcome.out;
  }
}

TEST(Help, OfACommandIsItsHelpOption) {
  for (const std::string& command : commands()) {
    std::vector<std::string> asked = words_of(command), option = asked;
    asked.insert(asked.begin(), "help");
    option.emplace_back("--help");
    EXPECT_EQ(rondo(asked).out, rondo(option).out) << command;
  }
  EXPECT_EQ(rondo({"help"}).out, rondo({"--help"}).out);
}

TEST(Help, TopicsAreTextOnStandardOutput) {
  for (const std::string& topic : topics()) {
    const Outcome outcome = rondo({"help", topic});
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.out, topic_text(topic));
    EXPECT_NE(outcome.out, "");
  }
  const Outcome unknown = rondo({"help", "enviroment"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_NE(unknown.err.find("did you mean 'environment'?"), std::string::npos) << unknown.err;
}

std::set<std::string> matches(const std::string& text, const std::string& pattern) {
  const std::regex of(pattern);
  std::set<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), of), end; at != end; ++at) found.insert((*at)[0]);
  return found;
}

TEST(Help, TheVariablesAreThoseOfThePageAndOfTheSources) {
  const std::string pattern = "(RONDO|CUDA|CLICOLOR|NO)_[A-Z_]+";
  const std::string root = RONDO_SOURCE_DIR;
  const std::string page = test::read_file(root + "/docs/command-line.md");
  const std::set<std::string> told = matches(topic_text("environment"), pattern);
  EXPECT_EQ(matches(page.substr(page.find("\n## Environment")), pattern), told);
  std::set<std::string> read;
  for (const char* folder : {"compiler", "tuning_db", "runtime", "engine", "tuner", "tools/rondo"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root + "/" + folder))
      if (entry.path().extension() == ".cpp")
        for (const std::string& call :
             matches(test::read_file(entry.path().string()), "environment\\(\"[A-Z_]+\"\\)"))
          read.insert(call.substr(13, call.size() - 15));
  for (const std::string& name : read)
    EXPECT_TRUE(told.contains(name) || name == "HOME" || name == "XDG_DATA_HOME" || name == "TERM" ||
                name == "PATH")
        << name;
}

TEST(Slips, AreAnsweredWithWhatWasMeant) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"chek", "mingru"}, "did you mean 'check'?"},
      {{"package", "biuld", "lstm"}, "did you mean 'build'?"},
      {{"db", "exprot"}, "did you mean 'export'?"},
      {{"check", "mingru", "--shpae", "B=1"}, "did you mean '--shape'?"},
      {{"check", "mingru", "--shpae=B=1"}, "did you mean '--shape'?"},
      {{"package", "build", "mingru", "--self-tests"}, "did you mean '--no-self-test'?"},
      {{"check", "minigru"}, "did you mean 'mingru'?"},
      {{"check", "mingru.cel"}, "did you mean 'mingru'?"},
      {{"frobnicate"}, "list what there is"},
      {{"check", "mingru", "--frobnicate"}, "list what there is"},
  };
  for (const auto& [words, hint] : cases) {
    const Outcome outcome = rondo(words);
    EXPECT_TRUE(outcome.status == 2 || outcome.status == 4) << words.front();
    EXPECT_NE(outcome.err.find(hint), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
}

std::string script_of(const std::string& shell) {
  const Outcome outcome = rondo({"completion", shell});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return outcome.out;
}

// What bash offers for the last of the words, which are those that it takes a line apart to.
std::set<std::string> offered(const std::vector<std::string>& words) {
  static const test::Folder folder;
  static const std::string script = [] {
    const std::string path = folder.path("rondo.bash");
    test::write_file(path, script_of("bash"));
    return path;
  }();
  std::vector<std::string> call = {"-c",
                                   "source \"$0\"; COMP_WORDS=(rondo \"$@\"); COMP_CWORD=$#; _rondo; "
                                   "printf '%s\\n' \"${COMPREPLY[@]}\"",
                                   script};
  call.insert(call.end(), words.begin(), words.end());
  const Outcome outcome = test::start("/bin/bash", call);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  const std::vector<std::string> list = words_of(outcome.out);
  return {list.begin(), list.end()};
}

TEST(Completion, BashOffersWhatMayFollow) {
  using Set = std::set<std::string>;
  EXPECT_EQ(offered({"pa"}), Set{"package"});
  EXPECT_EQ(offered({"d"}), (Set{"data", "db", "doctor"}));
  EXPECT_EQ(offered({"check", "ming"}), Set{"mingru"});
  EXPECT_EQ(offered({"package", "build", "lstm", "ln"}), (Set{"lngru", "lnlstm"}));
  EXPECT_EQ(offered({"check", "mingru", "--dt"}), Set{"--dtype"});
  EXPECT_EQ(offered({"check", "mingru", "--dtype", ""}), (Set{"bf16", "fp16", "fp32", "fp64"}));
  EXPECT_EQ(offered({"check", "mingru", "--dtype", "=", "b"}), Set{"bf16"});
  EXPECT_EQ(offered({"check", "mingru", "--dtype", "="}), (Set{"bf16", "fp16", "fp32", "fp64"}));
  EXPECT_EQ(offered({"tune", "mingru", "--pass", "fw,b"}), Set{"fw,bw"});
  EXPECT_EQ(offered({"emit", "mingru", "--stage", "cu"}), Set{"cuda"});
  EXPECT_EQ(offered({"emit", "mingru", "--arch", "h1"}), Set{"h100"});
  EXPECT_EQ(offered({"db", "lo"}), Set{"lock"});
  EXPECT_EQ(offered({"package", "build", "check", "--emb"}), Set{"--embed"}) << "check is a file there";
  EXPECT_EQ(offered({"emit", "mingru", "-o", ""}), Set{}) << "bash's own files";
  EXPECT_EQ(offered({"run", "mingru", "--input", "x", "=", "x."}), Set{});
  EXPECT_EQ(offered({"completion", "z"}), Set{"zsh"});
  EXPECT_EQ(offered({"help", "env"}), Set{"environment"});
}

TEST(Completion, AllShellsKnowAllCommandsAndOptions) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string script = script_of(shell);
    const bool fish = std::string(shell) == "fish";
    for (const char* word : {"mingru", "bf16", "persistent", "doctor", "reset_states", "portable"})
      EXPECT_EQ(script.find(word) != std::string::npos, std::string(word) != "portable") << shell << word;
    EXPECT_NE(script.find(fish ? "-l ablate" : "--ablate"), std::string::npos) << shell;
    EXPECT_NE(script.find("package build"), std::string::npos) << shell;
    EXPECT_EQ(script.find("leave-out"), std::string::npos) << "an earlier name";
  }
  const Outcome unknown = rondo({"completion", "tcsh"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_NE(unknown.err.find("bash, zsh and fish"), std::string::npos) << unknown.err;
}

// Where these shells are, they take the scripts.
TEST(Completion, OtherShellsParseTheirs) {
  const test::Folder folder;
  for (const std::string shell : {"zsh", "fish"}) {
    const std::string program = "/usr/bin/" + shell, path = folder.path("script." + shell);
    if (!std::filesystem::exists(program)) continue;
    test::write_file(path, script_of(shell));
    const Outcome outcome = test::start(program, {"-n", path});
    EXPECT_EQ(outcome.status, 0) << shell << outcome.err;
  }
}

}  // namespace
}  // namespace rondo::tools
