// `rondo data`: arrays that `rondo run` takes, by the command that it prints.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/arrays/npy.h"
#include "tests/tools/program.h"

namespace rondo::test {
namespace {

using nlohmann::json;

// The last line of what `rondo data` printed is the command.
Outcome run_what_it_says(const std::string& out) {
  const std::size_t begin = out.rfind('\n', out.size() - 2) + 1;
  std::string line = out.substr(begin, out.size() - begin - 1);
  EXPECT_EQ(line.rfind("rondo run ", 0), 0U) << out;
  return start("/bin/sh", {"-c", "\"$0\" " + line.substr(6) + " --reference", RONDO_PROGRAM},
               {{"RONDO_LIBCUDA", "none"}, {"RONDO_DB", "/nonexistent/none.db"}});
}

TEST(Data, IsWhatRunTakes) {
  const std::vector<std::vector<std::string>> cases = {
      {"mingru"},
      {"lstm"},
      {"zoneout"},
      {"mingru", "--dtype", "bf16"},
      {"gru", "--forms", "resets,lengths,reset_states,reversed"},
  };
  for (const std::vector<std::string>& words : cases) {
    const Folder folder;
    std::vector<std::string> call = {"data"};
    call.insert(call.end(), words.begin(), words.end());
    const std::string arrays = folder.path("its arrays");
    call.insert(call.end(), {"--shape", "B=2,T=5,H=2,D=3", "-o", arrays, "--seed", "3"});
    const Outcome made = rondo(call);
    ASSERT_EQ(made.status, 0) << made.err;
    EXPECT_EQ(engine::read_npy(arrays + "/x.npy")->shape[1], 5);
    const Outcome ran = run_what_it_says(made.out);
    EXPECT_EQ(ran.status, 0) << ran.err << made.out;
    EXPECT_NE(ran.out.find("wrote " + arrays + "/h.npy"), std::string::npos) << ran.out;
  }
}

TEST(Data, TheSameSeedGivesTheSameNumbers) {
  const Folder folder;
  const auto numbers = [&](const std::string& name, const std::string& seed) {
    const Outcome made = rondo(
        {"data", "mingru", "--shape", "B=1,T=4,H=1,D=8", "-o", folder.path(name), "--seed", seed, "--json"});
    EXPECT_EQ(made.status, 0) << made.err;
    const json parsed = json::parse(made.out);
    EXPECT_EQ(parsed["files"].size(), 2U);
    EXPECT_EQ(parsed["files"][0]["shape"], json({1, 4, 1, 2, 8}));
    EXPECT_EQ(parsed["seed"], std::stoi(seed));
    return read_file(folder.path(name) + "/x.npy");
  };
  const std::string first = numbers("a", "5");
  EXPECT_EQ(numbers("b", "5"), first);
  EXPECT_NE(numbers("c", "6"), first);
}

TEST(Data, ReplacesNothingUnasked) {
  const Folder folder;
  write_file(folder.path("x.npy"), "mine");
  const std::vector<std::string> call = {"data", "mingru",       "--shape", "B=1,T=4,H=1,D=8",
                                         "-o",   folder.path("")};
  const Outcome refused = rondo(call);
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("x.npy' is there already"), std::string::npos) << refused.err;
  EXPECT_EQ(read_file(folder.path("x.npy")), "mine");
  EXPECT_EQ(folder.files(), std::vector<std::string>{"x.npy"});
  std::vector<std::string> forced = call;
  forced.emplace_back("--force");
  EXPECT_EQ(rondo(forced).status, 0);
  EXPECT_NE(read_file(folder.path("x.npy")), "mine");
  const Outcome shapeless = rondo({"data", "mingru", "-o", folder.path("other")});
  EXPECT_EQ(shapeless.status, 2);
  const Outcome huge =
      rondo({"data", "mingru", "--shape", "B=1048576,T=65536,H=1,D=512", "-o", folder.path("huge")});
  EXPECT_EQ(huge.status, 71) << huge.err;
}

}  // namespace
}  // namespace rondo::test
