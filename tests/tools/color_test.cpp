// Messages have colours on a terminal, and nowhere else unless that is asked for.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/tools/program.h"

namespace rondo::test {
namespace {

using Environment = std::map<std::string, std::string>;

bool has_color(const std::string& text) { return text.find("\x1b[") != std::string::npos; }

TEST(Color, FollowsTheVariables) {
  const Folder folder;
  write_file(folder.path("bad.cell"),
             "cell bad(D) {\n  input x[D]\n  state h[D]\n  next h = hh + x\n  output h\n}\n");
  for (const std::vector<std::string>& call :
       {std::vector<std::string>{"check", "nosuch"}, {"check", folder.path("bad.cell")}}) {
    const auto with = [&](const Environment& environment) { return rondo(call, environment).err; };
    const std::string plain = with({});
    EXPECT_FALSE(has_color(plain)) << plain;
    const std::string forced = with({{"CLICOLOR_FORCE", "1"}});
    EXPECT_NE(forced.find("\x1b[1;31m"), std::string::npos) << forced;
    EXPECT_NE(forced.find("\x1b[1;36m"), std::string::npos) << forced;
    EXPECT_EQ(with({{"CLICOLOR_FORCE", "0"}}), plain);
    EXPECT_EQ(with({{"CLICOLOR_FORCE", "1"}, {"NO_COLOR", "1"}}), plain);
    std::string without;
    for (std::size_t i = 0; i < forced.size(); ++i)
      if (forced[i] == '\x1b')
        i = forced.find('m', i);
      else
        without += forced[i];
    EXPECT_EQ(without, plain);
  }
  EXPECT_FALSE(has_color(rondo({"check", "mingru"}, {{"CLICOLOR_FORCE", "1"}}).out)) << "results have none";
}

// What the program writes to a terminal as its standard error.
std::string on_a_terminal(const Environment& environment) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
  if (terminal < 0 || ::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0) return "no terminal";
  const std::string name = ::ptsname(terminal);
  const int held = ::open(name.c_str(), O_RDWR | O_NOCTTY);  // what is written stays until it is read
  const Outcome outcome =
      start("/bin/sh", {"-c", "exec \"$0\" check nosuch 2>\"$1\"", RONDO_PROGRAM, name}, environment);
  EXPECT_EQ(outcome.status, 4);
  std::string text(4096, '\0');
  const ssize_t count = ::read(terminal, text.data(), text.size());
  ::close(held);
  ::close(terminal);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  return text;
}

TEST(Color, IsForTerminals) {
  const std::string text = on_a_terminal({{"TERM", "xterm"}});
  EXPECT_TRUE(has_color(text)) << text;
  const std::string forbidden = on_a_terminal({{"TERM", "xterm"}, {"NO_COLOR", "1"}});
  EXPECT_NE(forbidden.find("rondo: error:"), std::string::npos) << forbidden;
  EXPECT_FALSE(has_color(forbidden));
  EXPECT_FALSE(has_color(on_a_terminal({{"TERM", "dumb"}})));
}

}  // namespace
}  // namespace rondo::test
