// The remaining commands without a GPU, and bad input to every command.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <algorithm>
#include <cstdlib>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "engine/request/load_cell.h"
#include "tests/support/slow_tests.h"
#include "tests/tools/program.h"
#include "tuner/trial/process.h"
#include "tuning_db/database.h"

namespace rondo::test {
namespace {

const char* const kCommands[] = {"check", "emit", "tune",      "run",    "verify", "bench",
                                 "why",   "db",   "calibrate", "doctor", "package"};

struct BadCall {
  std::vector<std::string> arguments;
  int status;
  std::string message;
};

void expect_refused(const BadCall& bad, const std::map<std::string, std::string>& environment = {}) {
  const Outcome outcome = rondo(bad.arguments, environment);
  std::string call;
  for (const std::string& argument : bad.arguments) call += argument + " ";
  EXPECT_EQ(outcome.status, bad.status) << call << outcome.err;
  EXPECT_NE(outcome.err.find(bad.message), std::string::npos) << call << outcome.err;
  EXPECT_EQ(outcome.err.rfind("rondo: error: ", 0), 0U) << call << outcome.err;
  EXPECT_LE(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 2) << call << outcome.err;
  EXPECT_EQ(outcome.out, "") << call;
}

TEST(Commands, EachHasHelpWithExitCodes) {
  for (const char* command : kCommands) {
    const Outcome outcome = rondo({command, "--help"});
    EXPECT_EQ(outcome.status, 0) << command;
    EXPECT_NE(outcome.out.find("exit status"), std::string::npos) << command;
    EXPECT_EQ(outcome.err, "");
  }
  EXPECT_EQ(rondo({"--version"}).out.rfind("rondo ", 0), 0U);
}

TEST(Commands, TuneByModelRecordsAndExplains) {
  if (rondo::testing::waits_for_its_turn()) GTEST_SKIP() << rondo::testing::kAnotherTurn;
  const Folder folder;
  const std::string file = folder.path("t.db");
  const std::vector<std::string> tune = {"tune", "mingru",   "--shape", "B=2,T=16,D=64", "--db",
                                         file,   "--budget", "60s",     "--workers",     "1"};
  const Outcome outcome = rondo(tune);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("choice: stream "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("no GPU measured it"), std::string::npos) << outcome.out;
  // What all rows have in common stands in one line, and in that of the choice, which is complete.
  const std::string mark = "\n  all stream: ";
  const std::size_t common = outcome.out.find(mark);
  ASSERT_NE(common, std::string::npos) << outcome.out;
  const std::size_t first = common + mark.size();
  const std::string parameter = outcome.out.substr(first, outcome.out.find_first_of(" \n", first) - first);
  int lines = 0;
  std::istringstream stream(outcome.out);
  for (std::string line; std::getline(stream, line);)
    lines += line.find(" " + parameter) != std::string::npos;
  EXPECT_EQ(lines, 2) << parameter << "\n" << outcome.out;
  const Outcome listed = rondo({"db", "list", "--json", "--db", file});
  ASSERT_EQ(listed.status, 0) << listed.err;
  EXPECT_EQ(nlohmann::json::parse(listed.out)["problems"][0]["cell_name"], "mingru");
  EXPECT_EQ(rondo({"db", "show", "mingru", "--db", file}).status, 0);
  EXPECT_EQ(rondo({"db", "check", "--db", file}).status, 0);
  EXPECT_EQ(rondo({"db", "prune", "--db", file, "--before", "0s"}).status, 0);
  EXPECT_EQ(rondo({"db", "lock", "--db", file, "-o", folder.path("lock.json")}).status, 0);
  // Nothing is stored as best without a GPU, so the file pins nothing: commands that read it must fail.
  const Outcome locked =
      rondo({"emit", "mingru", "--shape", "B=2,T=16,D=64", "--lock", folder.path("lock.json")});
  EXPECT_EQ(locked.status, 4);
  EXPECT_NE(locked.err.find("pins no choice for mingru"), std::string::npos) << locked.err;
  EXPECT_EQ(rondo({"db", "export", "--db", file, "-o", folder.path("all.json")}).status, 0);
  EXPECT_EQ(rondo({"db", "import", folder.path("all.json"), "--db", folder.path("other.db")}).status, 0);
  EXPECT_EQ(rondo({"db", "merge", file, "--db", folder.path("other.db")}).status, 0);
  EXPECT_EQ(rondo({"db", "show", "nosuch", "--db", file}).status, 4);
}

// What is read from a file proves nothing: an absurd time is refused, and the rest is said to be from
// elsewhere.
TEST(Commands, RecordsFromElsewhereAreCalledThat) {
  const Folder folder;
  const std::string root = std::string(RONDO_SOURCE_DIR) + "/tests/tuning_db/fixtures/earlier_names";
  const std::string file = folder.path("t.db");
  ASSERT_EQ(rondo({"db", "import", root + ".json", "--db", file}).status, 0);
  const Outcome listed = rondo({"db", "list", "--db", file});
  EXPECT_NE(listed.out.find(", recorded elsewhere\n"), std::string::npos) << listed.out;
  EXPECT_EQ(nlohmann::json::parse(
                rondo({"db", "list", "--db", file, "--json"}).out)["problems"][0]["verified_here"],
            false);
  nlohmann::json absurd = nlohmann::json::parse(read_file(root + ".json"));
  absurd["problems"][1]["trials"][0]["median_ms"] = 1e-9;
  write_file(folder.path("absurd.json"), absurd.dump());
  const Outcome refused = rondo({"db", "import", folder.path("absurd.json"), "--db", file});
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("claims a median of 1e-09 ms; nothing takes less than"), std::string::npos)
      << refused.err;
}

// What `db export --best` writes serves as what is shipped, under the user's database.
TEST(Commands, WhatIsShippedIsChosen) {
  const Folder folder;
  const std::string root = std::string(RONDO_SOURCE_DIR) + "/tests/tuning_db/fixtures/earlier_names";
  const std::string file = folder.path("t.db"), shipped = folder.path("shipped.json");
  ASSERT_EQ(rondo({"db", "import", root + ".json", "--db", file}).status, 0);
  ASSERT_EQ(rondo({"db", "export", "--best", "--db", file, "-o", shipped}).status, 0);
  const nlohmann::json first = nlohmann::json::parse(read_file(shipped))["problems"][0];
  const nlohmann::json cells = nlohmann::json::parse(read_file(shipped))["cells"];
  ASSERT_EQ(first["trials"].size(), 1u);
  std::string cell;
  for (const nlohmann::json& each : cells)
    if (each["hash"] == first["cell"]) cell = each["name"];
  const nlohmann::json& shape = first["shape"];
  std::vector<std::string> emit = {"emit",
                                   cell,
                                   "--stage",
                                   "launches",
                                   "--arch",
                                   first["device"],
                                   "--no-gpu",
                                   "--dtype",
                                   first["dtype"],
                                   "--pass",
                                   first["pass"],
                                   "--shape",
                                   fmt::format("B={},T={},H={},D={}", shape["B"].dump(), shape["T"].dump(),
                                               shape["H"].dump(), shape["D"].dump())};
  const Outcome by_shipped = rondo(emit, {{"RONDO_SHIPPED", shipped}});
  ASSERT_EQ(by_shipped.status, 0) << by_shipped.err;
  emit.insert(emit.end(), {"--db", file});
  EXPECT_EQ(rondo(emit).out, by_shipped.out) << "what the database itself says";
  emit.resize(emit.size() - 2);
  const Outcome by_model = rondo(emit);
  EXPECT_NE(by_model.out, by_shipped.out);
  emit.push_back("--no-db");
  EXPECT_EQ(rondo(emit, {{"RONDO_SHIPPED", shipped}}).out, by_model.out) << "nor what is shipped";
  emit.pop_back();
  const Outcome broken = rondo(emit, {{"RONDO_SHIPPED", root + ".lock"}});
  EXPECT_EQ(broken.status, 2);
  EXPECT_NE(broken.err.find("is no tuning export"), std::string::npos) << broken.err;
}

// On a GPU a shipped choice is verified before it is used: here by kernels that compute nothing, so it is
// wrong. What is found is kept in a database that is made for it.
TEST(Commands, WhatIsShippedIsVerifiedOnTheGpu) {
  if (rondo::testing::waits_for_its_turn()) GTEST_SKIP() << rondo::testing::kAnotherTurn;
  const Folder folder;
  const std::string root = std::string(RONDO_SOURCE_DIR) + "/tests/tuning_db/fixtures/earlier_names";
  const std::string file = folder.path("t.db"), shipped = folder.path("shipped.json");
  ASSERT_EQ(rondo({"db", "import", root + ".json", "--db", file}).status, 0);
  ASSERT_EQ(rondo({"db", "export", "--best", "--db", file, "-o", shipped}).status, 0);
  const nlohmann::json all = nlohmann::json::parse(read_file(shipped));
  const nlohmann::json& first = all["problems"][0];
  std::string cell;
  for (const nlohmann::json& each : all["cells"])
    if (each["hash"] == first["cell"]) cell = each["name"];
  const nlohmann::json& of = first["shape"];
  const std::string shape = fmt::format("B={},T={},H={},D={}", of["B"].dump(), of["T"].get<int>() / 2,
                                        of["H"].dump(), of["D"].dump());
  const std::map<std::string, std::string> environment = {{"RONDO_SHIPPED", shipped},
                                                          {"RONDO_LIBCUDA", RONDO_FAKE_CUDA},
                                                          {"RONDO_DB", folder.path("mine/tuning.db")}};
  std::vector<std::string> bench = {"bench",       cell,      "--dtype", first["dtype"], "--pass",
                                    first["pass"], "--shape", shape,     "--strict"};
  const Outcome strict = rondo(bench, environment);
  EXPECT_EQ(strict.status, 4) << strict.err;
  EXPECT_NE(strict.err.find("shipped for B="), std::string::npos) << strict.err;
  bench.pop_back();
  const Outcome used = rondo(bench, environment);
  EXPECT_NE(used.err.find("nearest shipped, so verified on first use"), std::string::npos) << used.err;
  EXPECT_NE(used.err.find("kept, the next use is free of it"), std::string::npos) << used.err;
  const Outcome again = rondo(bench, environment);
  EXPECT_EQ(again.err.find("verified on first use"), std::string::npos) << again.err;
}

// A file of an earlier version is brought up to date by the first command that reads it.
TEST(Commands, ADatabaseOfAnEarlierSchemaIsBroughtUpToDate) {
  const Folder folder;
  const std::string file = folder.path("t.db");
  write_file(file, read_file(std::string(RONDO_SOURCE_DIR) + "/tests/tuning_db/fixtures/earlier_names.db"));
  const Outcome first = rondo({"db", "list", "--db", file});
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_NE(first.err.find("brought up to this version's schema"), std::string::npos) << first.err;
  EXPECT_NE(first.out.find("mingru"), std::string::npos);
  const Outcome second = rondo({"db", "list", "--db", file});
  EXPECT_EQ(second.err, "");
  EXPECT_EQ(second.out, first.out);
}

// What is tuned with a bound is not found without it, nor with another; `--json` says which bound it was.
TEST(Commands, ClippingIsAnotherProblem) {
  std::set<std::string> hashes;
  for (const std::vector<std::string>& clip : std::vector<std::vector<std::string>>{
           {}, {"--clip-forward", "2"}, {"--clip-gradient", "2"}, {"--clip-gradient", "3"}}) {
    std::vector<std::string> call = {"check", "lstm", "--json"};
    call.insert(call.end(), clip.begin(), clip.end());
    const Outcome outcome = rondo(call);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const nlohmann::json object = nlohmann::json::parse(outcome.out);
    hashes.insert(object["hash"].get<std::string>());
    const bool forward = !clip.empty() && clip[0] == "--clip-forward";
    EXPECT_EQ(object["clip"]["forward"], forward ? nlohmann::json(2.0) : nlohmann::json());
    EXPECT_EQ(object["clip"]["gradient"].is_null(), clip.empty() || forward);
  }
  EXPECT_EQ(hashes.size(), 4U);
  EXPECT_NE(rondo({"check", "lstm", "--clip-gradient", "2"}).out.find("the gradient through h to [-2, 2]"),
            std::string::npos);
  const auto emitted = [](const char* option) {
    std::vector<std::string> call = {"emit", "lstm", "--no-db", "--shape", "D=64"};
    if (*option != '\0') call.insert(call.end(), {option, "2"});
    return rondo(call).out;
  };
  EXPECT_NE(body_of(emitted("")), body_of(emitted("--clip-forward")));
  EXPECT_EQ(body_of(emitted("")), body_of(emitted("--clip-gradient"))) << "the forward pass does not see it";
  EXPECT_NE(heading_of(emitted("--clip-gradient")).find("clip-gradient=2"), std::string::npos);
}

TEST(Commands, WhatIsSavedIsPartOfTheProblem) {
  const auto checked = [](const char* pass, const char* save) {
    const Outcome outcome = rondo({"check", "lstm", "--json", "--pass", pass, "--save", save});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out);
  };
  EXPECT_EQ(checked("bw", "products")["problem"]["save"], "products");
  EXPECT_EQ(checked("bw", "states")["problem"]["save"], "states");
  EXPECT_TRUE(checked("fw", "products")["problem"]["save"].is_null()) << "a forward pass alone saves nothing";
  const auto emitted = [](const char* pass, const char* save) {
    return rondo({"emit", "lstm", "--no-db", "--shape", "D=64", "--pass", pass, "--save", save}).out;
  };
  EXPECT_EQ(emitted("fws", "states").find("R_products"), std::string::npos);
  EXPECT_NE(emitted("fws", "products").find("R_products"), std::string::npos);
  EXPECT_NE(emitted("bw", "products").find("R_products"), std::string::npos);
  EXPECT_EQ(emitted("fw", "products"), emitted("fw", "states"));
}

TEST(Commands, VerifiesSavedProducts) {
  if (rondo::testing::waits_for_its_turn()) GTEST_SKIP() << rondo::testing::kAnotherTurn;
  const Outcome outcome = rondo({"verify", "gru", "--simulate", "--no-db", "--json", "--shape", "H=1,D=40",
                                 "--pass", "fws,bw", "--save", "products"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const nlohmann::json forward = nlohmann::json::parse(outcome.out)["passes"][0];
  EXPECT_EQ(forward["problem"]["save"], "products");
  EXPECT_EQ(std::count_if(forward["checks"].begin(), forward["checks"].end(),
                          [](const auto& check) { return check["tensor"] == "R_products"; }),
            3)
      << "of the shape, of two turns of the rings, and of one step";
}

// Both ways are stored as the problems they are, and their sums compared.
TEST(Commands, TunesBothWaysOfSaving) {
  if (rondo::testing::waits_for_its_turn()) GTEST_SKIP() << rondo::testing::kAnotherTurn;
  const Folder folder;
  const std::string file = folder.path("t.db");
  const Outcome outcome =
      rondo({"tune", "elman", "--shape", "B=2,T=16,D=32", "--db", file, "--workers", "1", "--no-gpu",
             "--pass", "fw,fws,bw", "--save", "auto", "--strategy", "alternating", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const nlohmann::json object = nlohmann::json::parse(outcome.out);
  std::vector<std::string> tuned;
  double states = 0, products = 0;
  for (const nlohmann::json& pass : object["passes"]) {
    const nlohmann::json& save = pass["problem"]["save"];
    tuned.push_back(pass["problem"]["pass"].get<std::string>() + (save == "products" ? "+products" : ""));
    if (!save.is_null()) (save == "products" ? products : states) += pass["best"]["model_ms"].get<double>();
  }
  EXPECT_EQ(tuned, (std::vector<std::string>{"fw", "fws", "fws+products", "bw", "bw+products"}));
  const nlohmann::json& saving = object["saving"];
  EXPECT_DOUBLE_EQ(saving["states_ms"].get<double>(), states);
  EXPECT_DOUBLE_EQ(saving["products_ms"].get<double>(), products);
  EXPECT_EQ(saving["faster"], products < states ? "products" : "states");
  EXPECT_EQ(saving["measured"], false);
  const nlohmann::json listed = nlohmann::json::parse(rondo({"db", "list", "--json", "--db", file}).out);
  std::set<std::string> stored;
  for (const nlohmann::json& problem : listed["problems"]) stored.insert(problem["pass"].get<std::string>());
  EXPECT_EQ(stored, std::set<std::string>(tuned.begin(), tuned.end()));
}

TEST(Commands, BackendsByName) {
  const Outcome unknown = rondo({"verify", "mingru", "--backend", "gcc", "--simulate"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_NE(unknown.err.find("there is no backend 'gcc'"), std::string::npos) << unknown.err;
  EXPECT_NE(unknown.err.find("auto, nvrtc, llvm"), std::string::npos) << unknown.err;
  const std::vector<std::string> tune = {"tune",     "mingru", "--backend", "llvm",
                                         "--budget", "2s",     "--shape",   "B=2,T=64,H=1,D=64"};
  const Outcome missing = rondo(tune, {{"RONDO_LLVM", "none"}});
  EXPECT_EQ(missing.status, 4);
  EXPECT_NE(missing.err.find("no LLVM: RONDO_LLVM=none hides it"), std::string::npos) << missing.err;
  const Outcome absent = rondo(tune, {{"RONDO_LLVM", "/nowhere"}});
  EXPECT_EQ(absent.status, 4);
  EXPECT_NE(absent.err.find("cannot open LLVM (librondo_llvm.so)"), std::string::npos) << absent.err;
}

#ifdef RONDO_BUILT_LLVM
TEST(Commands, WithoutNvrtcLlvmCompiles) {
  const std::map<std::string, std::string> driver_only = {
      {"RONDO_NVRTC", "none"}, {"RONDO_NVJITLINK", "none"}, {"RONDO_PTXAS", "none"}};
  const Outcome doctor = rondo({"doctor"}, driver_only);
  ASSERT_NE(doctor.out.find("ok       LLVM"), std::string::npos) << doctor.out;
  EXPECT_NE(doctor.out.find(" driver ("), std::string::npos) << doctor.out;
#ifdef RONDO_NVCC
  EXPECT_NE(rondo({"doctor"}, {{"RONDO_PTXAS", "none"}}).out.find(" nvjitlink "), std::string::npos);
#endif
  const Outcome tuned =
      rondo({"tune", "mingru", "--budget", "5s", "--shape", "B=2,T=64,H=1,D=64", "--json"}, driver_only);
  ASSERT_EQ(tuned.status, 0) << tuned.err;
  EXPECT_NE(tuned.out.find("\"compiler\": \"llvm "), std::string::npos) << tuned.out.substr(0, 2000);
}
#endif

// The program serves as the process of a tuning run's trials: what comes back is what that process found.
TEST(Commands, ServesTrials) {
  ASSERT_EQ(::setenv("RONDO_LIBCUDA", "none", 1), 0);
  tuner::TrialProcessOptions options;
  options.executable = RONDO_PROGRAM;
  step::Cell cell = engine::select_cell(engine::load_cell_file("lstm").value(), "").value();
  tuner::TrialProcess trials({{std::move(cell), {}, target::find_profile("h200").value()}, 1}, options);
  const Status status = trials.start();
  ::unsetenv("RONDO_LIBCUDA");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::Missing);
  EXPECT_NE(status.error().message.find("RONDO_LIBCUDA"), std::string::npos) << status.error().message;
  expect_refused({{"tune", "mingru", "--trial-limit", "soon"}, 2, "no duration"});
}

TEST(Commands, OutputThatCannotBeWritten) {
  const Outcome full = rondo_into("/dev/full", {"emit", "mingru", "--no-db"});
  EXPECT_EQ(full.status, 2);
  EXPECT_NE(full.err.find("cannot write to standard output"), std::string::npos) << full.err;
  // A reader that leaves early is no failure, and no signal ends the program.
  const Outcome closed =
      start("/bin/sh", {"-c", "(\"$0\" emit mingru --no-db; echo status $? >&2) | true", RONDO_PROGRAM});
  EXPECT_EQ(closed.err, "status 0\n");
}

TEST(Commands, CtrlCEndsTuning) {
  const std::string script =
      "\"$0\" tune mingru --no-db --no-gpu --exhaustive --budget 60s --workers 1 & sleep 1; kill -TERM $!; "
      "wait $!";
  const Outcome outcome = start("/bin/sh", {"-c", script, RONDO_PROGRAM}, {{"RONDO_LIBCUDA", "none"}});
  EXPECT_EQ(outcome.status, 130) << outcome.err;
}

TEST(BadInput, CommandLine) {
  const BadCall cases[] = {
      {{}, 2, "no command given"},
      {{"frobnicate"}, 2, "unknown command 'frobnicate'"},
      {{"check"}, 2, "cell is required"},
      {{"check", "mingru", "--nosuch"}, 2, "--nosuch"},
      {{"check", "mingru", "--shape", "B=0"}, 2, "B must be a whole number"},
      {{"check", "mingru", "--dtype", "fp8"}, 2, "unknown dtype 'fp8'"},
      {{"check", "mingru", "--math", "sloppy"}, 2, "unknown math"},
      {{"check", "lstm", "--dtype", "bf16", "--math", "tf32"}, 2, "math 'tf32' with dtype 'bf16'"},
      {{"check", "mingru", "--pass", "fw,bw"}, 2, "takes one pass"},
      {{"check", "mingru", "--const", "nosuch=1"}, 2, "has no constant"},
      {{"check", "lstm", "--clip-forward=-1"}, 2, "--clip-forward '-1' is no positive number"},
      {{"emit", "lstm", "--clip-gradient", "nan"}, 2, "--clip-gradient 'nan' is no positive number"},
      {{"tune", "lstm", "--clip-gradient", "0"}, 2, "--clip-gradient '0' is no positive number"},
      {{"verify", "lstm", "--clip-forward", "1e300"}, 2, "positive number of fp32"},
      {{"emit", "mingru", "--stage", "sass"}, 2, "unknown stage 'sass'"},
      {{"emit", "mingru", "--strategy", "magic"}, 2, "no strategy 'magic'"},
      {{"emit", "mingru", "--param", "channels"}, 2, "name=value"},
      {{"emit", "mingru", "--param", "bogus=1"}, 2, "the variables are channels, "},
      {{"emit", "mingru", "--pass", "bw", "--save", "products"}, 2, "its step multiplies by no matrix"},
      {{"emit", "lstm", "--save", "auto"}, 2, "unknown --save 'auto'"},
      {{"tune", "lstm", "--pass", "fws", "--save", "auto"},
       2,
       "compares the sums of forward (training) and backward"},
      {{"tune", "mingru", "--pass", "fws,bw", "--save", "auto"}, 2, "its step multiplies by no matrix"},
      {{"tune", "mingru", "--budget", "soon"}, 2, "no duration"},
      {{"run", "mingru", "--lengths", ""}, 2, "--lengths is given nothing"},
      {{"db", "prune", "--before", "0s", "--db", ""}, 2, "--db is given nothing"},
      {{"tune", "mingru", "--workers", "-1"}, 2, "--workers"},
      {{"bench", "mingru", "--samples", "0"}, 2, "--samples"},
      {{"db"}, 2, "subcommand"},
      {{"db", "drop"}, 2, "unknown command 'db drop'"},
      {{"db", "show"}, 2, "argument is required"},
      {{"db", "prune", "--before", "yesterday"}, 2, "no duration"},
  };
  for (const BadCall& bad : cases) expect_refused(bad);
}

TEST(BadInput, MissingFilesAndUnknownArchitectures) {
  for (const char* command : {"check", "emit", "tune", "run", "verify", "bench"}) {
    expect_refused({{command, "nosuch.cell"}, 4, "nosuch.cell"});
    expect_refused({{command, "nosuch"}, 4, "no shipped cell"});
    expect_refused({{command, "/tmp"}, 2, "/tmp"});
    expect_refused({{command, "mingru", "--arch", "sm_42"}, 2, "sm_42"});
  }
  for (const char* action : {"list", "export", "prune", "check", "lock"})
    expect_refused({{"db", action, "--db", "/nowhere/t.db"}, 4, "/nowhere"});
  expect_refused({{"db", "import", "/nowhere/all.json"}, 4, "all.json"});
  expect_refused({{"db", "merge", "/nowhere/t.db"}, 4, "t.db"});
}

// What has no end is not read to its end.
TEST(BadInput, DevicesAndFolders) {
  const Folder folder;
  const std::string file = folder.path("t.db");
  const BadCall cases[] = {
      {{"check", "/dev/zero"}, 2, "'/dev/zero' has no end, or too many bytes; at most 1048576 are read"},
      {{"run", "mingru", "--input", "x=/dev/zero"}, 2, "'/dev/zero' is no regular file"},
      {{"run", "mingru", "--input", "x=/tmp"}, 2, "'/tmp'"},
      {{"db", "import", "/dev/zero", "--db", file}, 2, "'/dev/zero' has no end, or too many bytes"},
      {{"db", "import", "/tmp", "--db", file}, 2, "'/tmp'"},
      {{"db", "merge", "/tmp", "--db", file}, 2, "'/tmp'"},
  };
  for (const BadCall& bad : cases) expect_refused(bad);
  EXPECT_TRUE(folder.files().empty());
}

// Both ways in; nothing of the file is taken over, and all that is wrong is said at once.
TEST(BadInput, ImportedProfilesThatNoBoardHas) {
  const Folder folder;
  const std::string file = folder.path("t.db"), source = folder.path("source.db");
  const char* moved = std::getenv("RONDO_SOURCE_DIR");
  std::string text = read_file(std::string(moved != nullptr ? moved : RONDO_SOURCE_DIR) +
                               "/tests/tuning_db/fixtures/earlier_names.json");
  write_file(folder.path("sound.json"), text);
  EXPECT_EQ(rondo({"db", "import", folder.path("sound.json"), "--db", file}).status, 0);
  for (const auto& [from, to] :
       {std::pair("\"max_cluster\": 16", "\"max_cluster\": 2147483647"),
        std::pair("\"sm_count\": 132,\n     \"threads", "\"sm_count\": 0,\n     \"threads")}) {
    ASSERT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), std::string(from).size(), to);
  }
  write_file(folder.path("all.json"), text);
  const std::string wrong =
      "device 'h200' has no device profile: limits.sm_count is 0, outside 1 ... 4096; "
      "limits.max_cluster is 2147483647, outside 1 ... 64";
  expect_refused({{"db", "import", folder.path("all.json"), "--db", file}, 2, wrong});
  ASSERT_TRUE(db::Database::open(source)->import_json(text, "all.json").ok());
  expect_refused({{"db", "merge", source, "--db", file}, 2, wrong});
}

TEST(BadInput, NoGpu) {
  for (const std::vector<std::string>& call :
       std::vector<std::vector<std::string>>{{"verify", "mingru"},
                                             {"bench", "mingru"},
                                             {"bench", "mingru", "--ablate"},
                                             {"bench", "mingru", "--leave-out"},
                                             {"calibrate"}})
    expect_refused({call, 4, "this needs a GPU"});
}

TEST(BadInput, NoNvrtc) {
  expect_refused({{"tune", "mingru", "--no-db", "--no-gpu", "--shape", "B=2,T=16,D=64"}, 4, "no NVRTC"},
                 {{"RONDO_NVRTC", "none"}, {"RONDO_LLVM", "none"}});
  EXPECT_EQ(rondo({"emit", "mingru", "--shape", "D=64"}, {{"RONDO_NVRTC", "none"}}).status, 0);
}

TEST(BadInput, CellsThatNoStrategyComputes) {
  const Folder folder;
  const std::string file = folder.path("norm.cell");
  write_file(file, "cell norm(D) {\n  input x[D]\n  state h[D]\n  next h = x / sum(x) + h\n  output h\n}\n");
  for (const char* command : {"emit", "tune"})
    expect_refused(
        {{command, file, "--no-db", "--no-gpu", "--shape", "D=70000"}, 3, "no strategy computes cell norm"});
  expect_refused({{"verify", file, "--simulate", "--shape", "D=70000"}, 3, "no strategy computes cell norm"});
}

TEST(BadInput, ForeignFilesAreNoDatabase) {
  const Folder folder;
  const std::string file = folder.path("t.db");
  write_file(file,
             "this is a letter, not a database, and it is long enough to hold a header of one hundred bytes "
             "or so.....");
  const std::string before = read_file(file);
  for (const std::vector<std::string>& call :
       std::vector<std::vector<std::string>>{{"db", "list", "--db", file},
                                             {"tune", "mingru", "--db", file},
                                             {"emit", "mingru", "--db", file},
                                             {"db", "prune", "--db", file}})
    expect_refused({call, 5, file});
  EXPECT_EQ(read_file(file), before);
  // A mistake in the options leaves no database behind.
  expect_refused({{"tune", "mingru", "--db", folder.path("new.db"), "--dtype", "fp8"}, 2, "fp8"});
  EXPECT_EQ(folder.files(), std::vector<std::string>{"t.db"});
}

}  // namespace
}  // namespace rondo::test
