// `rondo package` as a user calls it, without a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/choice/choose.h"
#include "engine/machine/machine.h"
#include "engine/plan/ready_plan.h"
#include "engine/request/load_cell.h"
#include "runtime/package/package.h"
#include "tests/tools/program.h"
#include "tuner/package/list.h"

namespace rondo::test {
namespace {

using nlohmann::json;

// Small and quick: one cell, one shape.
std::vector<std::string> build(const std::vector<std::string>& more, const std::string& arch = "sm_90") {
  std::vector<std::string> all = {"package", "build", "mingru", "--shape", "B=2,T=16,D=32", "--arch", arch};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

class Packages : public ::testing::Test {
 protected:
  // One package for all tests of this file that only read it.
  static void SetUpTestSuite() {
    folder_ = new Folder;
    const Outcome built = rondo(build({"-o", folder_->path("a.rondo"), "--no-db"}, "sm_80,sm_90"));
    ASSERT_EQ(built.status, 0) << built.err;
  }
  static void TearDownTestSuite() { delete folder_; }
  static std::string path() { return folder_->path("a.rondo"); }

  static Folder* folder_;
  Folder own_;
};
Folder* Packages::folder_ = nullptr;

TEST_F(Packages, AreBuiltAlikeEachTime) {
  const Outcome again = rondo(build({"-o", own_.path("b.rondo"), "--no-db", "--json"}, "sm_90,sm_80"));
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(json::parse(again.out)["written"], json({own_.path("b.rondo")}));
  EXPECT_EQ(read_file(own_.path("b.rondo")), read_file(path()));
  EXPECT_EQ(json::parse(again.out)["entries"].size(), 3U);
  EXPECT_EQ(own_.files(), (std::vector<std::string>{"b.rondo"}));
}

TEST_F(Packages, SayWhatTheyHold) {
  const Outcome listed = rondo({"package", "list", path()});
  ASSERT_EQ(listed.status, 0) << listed.err;
  for (const char* part :
       {"cubin sm_80", "cubin sm_90", "ptx sm_80", "B=2,T=16,H=1,D=32", "by model", "3 entries"})
    EXPECT_NE(listed.out.find(part), std::string::npos) << listed.out;
  const Outcome shown = rondo({"package", "show", path()});
  for (const char* part : {"registers", "with a self-test", "channels=", "nvrtc", "sha256"})
    EXPECT_NE(shown.out.find(part), std::string::npos) << shown.out;
  const json manifest = json::parse(rondo({"package", "show", "--json", path()}).out);
  EXPECT_EQ(manifest["format"], "rondo-package");
  EXPECT_EQ(manifest["entries"][0]["self_test"]["B"], 2);
  const json verified = json::parse(rondo({"package", "verify", "--json", path()}).out);
  EXPECT_EQ(verified["passed"], true);
  EXPECT_TRUE(verified["gpu"].is_null());
  EXPECT_EQ(verified["hash"].get<std::string>().size(), 64U);
}

TEST_F(Packages, AreMergedAndTakenApart) {
  ASSERT_EQ(rondo(build({"-o", own_.path("86.rondo"), "--no-db", "--ptx", "none"}, "sm_86")).status, 0);
  const Outcome merged = rondo({"package", "merge", path(), own_.path("86.rondo"), "-o",
                                own_.path("all.rondo"), "--embed", own_.path("all.c")});
  ASSERT_EQ(merged.status, 0) << merged.err;
  EXPECT_NE(merged.out.find("4 entries"), std::string::npos) << merged.out;
  EXPECT_NE(read_file(own_.path("all.c")).find("const size_t all_size"), std::string::npos);
  const std::string parts = own_.path("parts");
  const Outcome taken = rondo({"package", "extract", own_.path("all.rondo"), "-o", parts, "--json"});
  ASSERT_EQ(taken.status, 0) << taken.err;
  int cubins = 0, texts = 0;
  const json written = json::parse(taken.out);
  for (const auto& name : written["files"]) {
    const std::string file = name;
    const std::string bytes = read_file(file);
    EXPECT_FALSE(bytes.empty()) << file;
    cubins += file.ends_with(".cubin") && bytes.starts_with("\177ELF");
    texts += file.ends_with(".ptx") && bytes.find(".version") != std::string::npos;
  }
  EXPECT_EQ(cubins, 3);
  EXPECT_EQ(texts, 1);
  EXPECT_EQ(json::parse(read_file(parts + "/manifest.json"))["entries"].size(), 4U);
}

// A backward plan's kernels are compiled in parts: one image, of several cubins.
TEST_F(Packages, CubinsOfABundleAreTakenApartToo) {
  const std::string package = own_.path("lstm.rondo"), parts = own_.path("parts");
  const Outcome built =
      rondo({"package", "build", "lstm", "--pass", "bw", "--shape", "B=2,T=16,D=128", "--arch", "sm_90",
             "--ptx", "none", "--no-self-test", "--no-db", "-o", package});
  ASSERT_EQ(built.status, 0) << built.err;
  ASSERT_EQ(rondo({"package", "extract", package, "-o", parts}).status, 0);
  std::vector<std::string> cubins;
  for (const auto& file : std::filesystem::directory_iterator(parts))
    if (file.path().extension() == ".cubin") {
      cubins.push_back(file.path().filename().string());
      EXPECT_TRUE(read_file(file.path().string()).starts_with("\177ELF")) << cubins.back();
    }
  std::ranges::sort(cubins);
  ASSERT_GT(cubins.size(), 1U);
  for (std::size_t i = 0; i < cubins.size(); ++i)
    EXPECT_TRUE(cubins[i].ends_with("-lstm-bw-sm_90." + std::to_string(i + 1) + ".cubin")) << cubins[i];
}

TEST_F(Packages, DamagedOnesAreRefused) {
  const std::string whole = read_file(path());
  const std::string file = own_.path("damaged.rondo");
  write_file(file, whole.substr(0, whole.size() - 1));
  for (const char* action : {"list", "show", "verify"})
    EXPECT_EQ(rondo({"package", action, file}).status, 2) << action;
  std::string altered = whole;
  altered[altered.size() - 10] ^= 1;
  write_file(file, altered);
  EXPECT_EQ(rondo({"package", "verify", file}).status, 2);
  EXPECT_EQ(rondo({"package", "merge", file, "-o", own_.path("new.rondo")}).status, 2);
  EXPECT_FALSE(std::filesystem::exists(own_.path("new.rondo")));
  std::string newer = whole;
  newer[8] = 99;
  write_file(file, newer);
  EXPECT_EQ(rondo({"package", "verify", file}).status, 3);
  EXPECT_EQ(rondo({"package", "verify", own_.path("none.rondo")}).status, 4);
}

TEST_F(Packages, MistakesAreSaidAndLeaveNothing) {
  struct Bad {
    std::vector<std::string> arguments;
    int status;
    std::string message;
  };
  const std::string out = own_.path("out.rondo");
  const Bad cases[] = {
      {{"package", "build", "mingru"}, 2, "needs a file to write"},
      {{"package", "build", "-o", out}, 2, "needs a cell"},
      {{"package", "build", "nosuch", "-o", out}, 4, "nosuch"},
      {{"package", "nosuch"}, 2, "unknown command 'package nosuch'"},
      {build({"-o", out}, "sm_1"), 2, "sm_1"},
      {build({"-o", out, "--ptx", "sm_1"}), 2, "sm_1"},
      {build({"-o", out, "--dtype", "int8"}), 2, "int8"},
      {build({"-o", own_.path("no/such/folder.rondo"), "--no-self-test"}), 2, "folder.rondo"},
      {{"package", "build", "--list", own_.path("none.json"), "-o", out}, 4, "none.json"},
      {{"package", "merge", "-o", out, own_.path("none.rondo")}, 4, "none.rondo"},
  };
  for (const Bad& bad : cases) {
    const Outcome outcome = rondo(bad.arguments);
    EXPECT_EQ(outcome.status, bad.status) << bad.message << outcome.err;
    EXPECT_NE(outcome.err.find(bad.message), std::string::npos) << outcome.err;
    EXPECT_TRUE(own_.files().empty()) << bad.message;
  }
}

// Two values of a constant are two cells, also at the same sizes, from one list or from two packages.
TEST_F(Packages, TellValuesOfConstantsApart) {
  write_file(
      own_.path("leaky.cell"),
      "cell leaky(D) {\n  const k = 0.5\n  input x[D]\n  state s[D]\n  next s = k * s + x\n  output s\n}\n");
  const auto built = [&](const std::string& value, const std::string& name) {
    const Outcome outcome = rondo({"package", "build", own_.path("leaky.cell"), "--const", "k=" + value,
                                   "--dtype", "fp32", "--shape", "B=2,T=8,D=32", "--arch", "sm_90", "--ptx",
                                   "none", "--no-db", "-o", own_.path(name)});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return json::parse(rondo({"package", "show", "--json", own_.path(name)}).out)["entries"][0]["cell_hash"];
  };
  const json half = built("0.5", "half.rondo"), quarter = built("0.25", "quarter.rondo");
  EXPECT_NE(half, quarter);
  const Outcome merged = rondo({"package", "merge", own_.path("half.rondo"), own_.path("quarter.rondo"), "-o",
                                own_.path("both.rondo")});
  ASSERT_EQ(merged.status, 0) << merged.err;
  const json both = json::parse(rondo({"package", "show", "--json", own_.path("both.rondo")}).out)["entries"];
  ASSERT_EQ(both.size(), 2U);
  EXPECT_NE(both[0]["cell_hash"], both[1]["cell_hash"]);
  EXPECT_EQ((std::set{both[0]["variant"].get<std::string>(), both[1]["variant"].get<std::string>()}),
            (std::set<std::string>{"", "k=0.25"}));
  EXPECT_NE(rondo({"package", "list", own_.path("both.rondo")}).out.find("with k=0.25"), std::string::npos);
}

TEST_F(Packages, ANumberBeyondAllIsBadInput) {
  write_file(own_.path("huge.json"), R"({"format": "rondo-package-list", "version": 1e999, "problems": []})");
  const Outcome refused =
      rondo({"package", "build", "--list", own_.path("huge.json"), "-o", own_.path("h.rondo")});
  EXPECT_EQ(refused.status, 2) << refused.err;
  EXPECT_NE(refused.err.find("a number beyond"), std::string::npos) << refused.err;
}

TEST_F(Packages, SayWhatACellHasBesideItsText) {
  write_file(own_.path("list.json"),
             R"({"format": "rondo-package-list", "version": 1, "arch": "sm_90", "problems": [
    {"cell": "zoneout", "shape": "B=2,T=8,D=64", "const": ["p_h=0.25", "p_c=0.5"], "clip_gradient": "2.5",
     "clip_forward": "3", "forms": "lengths,resets"}]})");
  const Outcome built = rondo({"package", "build", "--list", own_.path("list.json"), "--ptx", "none", "-o",
                               own_.path("l.rondo"), "--json", "--no-db", "--no-self-test"});
  ASSERT_EQ(built.status, 0) << built.err;
  const std::string variant =
      "p_h=0.25 clip_forward=3 clip_gradient=2.5 resets lengths";  // p_c is 0.5 anyway
  EXPECT_EQ(json::parse(built.out)["entries"][0]["variant"], variant);
  EXPECT_NE(rondo({"package", "show", own_.path("l.rondo")}).out.find("zoneout (" + variant + ") fw bf16"),
            std::string::npos);
}

TEST_F(Packages, ComeFromAListToo) {
  write_file(own_.path("list.json"), R"({"format": "rondo-package-list", "version": 1, "arch": "sm_90",
    "problems": [{"cell": "mingru", "shape": ["B=2,T=16,D=32", "B=2,T=64,D=32"], "pass": "fw,bw"}]})");
  const Outcome built = rondo({"package", "build", "--list", own_.path("list.json"), "--ptx", "none", "-o",
                               own_.path("l.rondo"), "--json", "--no-db"});
  ASSERT_EQ(built.status, 0) << built.err;
  EXPECT_EQ(json::parse(built.out)["entries"].size(), 4U);
}

// The stand-in for the driver computes nothing: the self-tests must say so.
TEST_F(Packages, SelfTestsFindKernelsThatComputeNothing) {
  const std::map<std::string, std::string> gpu = {{"RONDO_LIBCUDA", RONDO_FAKE_CUDA}};
  const Outcome outcome = rondo({"package", "verify", path()}, gpu);
  EXPECT_EQ(outcome.status, 8) << outcome.err;
  EXPECT_NE(outcome.out.find("WRONG mingru fw"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("0 of 2 self-tests for this GPU, NVIDIA H100 80GB HBM3, pass"),
            std::string::npos)
      << outcome.out << "the cubin for sm_90 and the PTX";
  const json found = json::parse(rondo({"package", "verify", "--json", path()}, gpu).out);
  EXPECT_EQ(found["passed"], false);
  EXPECT_EQ(found["tests"].size(), 2U);
  EXPECT_EQ(rondo({"package", "verify", "--no-gpu", path()}, gpu).status, 0);
}

TEST_F(Packages, StoppedBuildsLeaveNothing) {
  const Outcome stopped = start("/usr/bin/timeout",
                                {"--preserve-status", "-s", "INT", "1", RONDO_PROGRAM, "package", "build",
                                 "lstm", "gru", "slstm", "--shape", "B=16,T=128,D=64", "--pass", "fw,fws,bw",
                                 "--workers", "1", "--no-db", "-o", own_.path("s.rondo")},
                                {{"RONDO_LIBCUDA", "none"}});
  EXPECT_EQ(stopped.status, 130) << stopped.err;
  EXPECT_TRUE(own_.files().empty());
}

// A database with a tuned choice and its code.
class TunedPackages : public Packages {
 protected:
  void SetUp() override {
    file_ = own_.path("tuned.db");
    tuner::PackageLine line{"mingru", "", {"B=2,T=16,D=32"}};
    const tuner::PackagedProblem packaged = tuner::packaged_problems({line})->front();
    const target::Profile profile = target::find_profile("sm_90").value();
    const schedule::Problem& problem = packaged.problem;
    db::Database database = db::Database::open(file_).value();
    const engine::Candidate second = engine::ranked_candidates({*packaged.cell, problem, profile})->at(1);
    engine::Choice choice;
    choice.strategy = second.strategy;
    choice.parameters = second.parameters;
    const auto code = engine::code_of_choice({*packaged.cell, problem, profile}, choice, &database);
    ASSERT_TRUE(code.ok()) << code.error().message;
    db::Device device;
    device.key = profile.key;
    device.name = profile.name;
    ASSERT_TRUE(database.put_device(device).ok());
    const db::Problem key = engine::database_problem({*packaged.cell, problem, profile});
    ASSERT_TRUE(database.put_cell({key.cell, packaged.cell->name, packaged.cell->source}).ok());
    db::Trial trial;
    trial.strategy = second.strategy;
    trial.parameters = engine::parameters_to_json(second.parameters);
    trial.verified = true;
    trial.median_ms = 1;
    trial.cubin_key = code->code;
    trial.rondo_version = "0.0.9";
    trial.created_at = 1795132800;  // 2026-11-20
    const auto id = database.record_trial(database.upsert_problem(key).value(), trial);
    ASSERT_TRUE(database.set_best(*id, db::Replace::Always).ok());
    parameters_ = schedule::print(second.parameters);
  }
  std::string file_, parameters_;
};

TEST_F(TunedPackages, NeedNoCompilerWhereTheDatabaseHasTheCode) {
  const std::map<std::string, std::string> bare = {{"RONDO_NVRTC", "none"}, {"RONDO_LLVM", "none"}};
  const Outcome built = rondo(build({"--db", file_, "-o", own_.path("t.rondo"), "--json"}), bare);
  ASSERT_EQ(built.status, 0) << built.err;
  EXPECT_NE(built.err.find("no PTX for later GPUs"), std::string::npos) << built.err;
  const json entries = json::parse(built.out)["entries"];
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0]["origin"], "tuned");
  EXPECT_EQ(entries[0]["note"], "tuned for this problem by rondo 0.0.9 on 2026-11-20");
  EXPECT_EQ(entries[0]["expected_ms"], 1);
  EXPECT_EQ(entries[0]["parameters"], parameters_);
  const Outcome none = rondo(build({"--no-db", "-o", own_.path("n.rondo")}), bare);
  EXPECT_EQ(none.status, 4) << none.err;
  EXPECT_FALSE(std::filesystem::exists(own_.path("n.rondo")));
}

// Nothing tunes for the PTX of later GPUs, so a lock file has no choice for it unless someone puts one there.
TEST_F(TunedPackages, HavePtxFromALockFileOnlyWhereItIsAskedFor) {
  const std::string lock = own_.path("fleet.lock");
  ASSERT_EQ(rondo({"db", "lock", "--db", file_, "-o", lock}).status, 0);
  const auto locked = [&](const std::string& file, const std::vector<std::string>& more) {
    std::vector<std::string> all = {"--lock", file, "--no-db", "-o", own_.path("p.rondo"), "--json"};
    all.insert(all.end(), more.begin(), more.end());
    return rondo(build(all));
  };
  const Outcome built = locked(lock, {});
  ASSERT_EQ(built.status, 0) << built.err;
  EXPECT_NE(built.err.find("note: no PTX for later GPUs is made, because --lock"), std::string::npos)
      << built.err;
  const json entries = json::parse(built.out)["entries"];
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0]["arch"], "sm_90");
  EXPECT_EQ(locked(lock, {"--ptx", "none"}).err, "") << "what was asked for needs no note";

  std::filesystem::remove(own_.path("p.rondo"));
  const Outcome refused = locked(lock, {"--ptx", "sm_80"});
  EXPECT_EQ(refused.status, 4) << refused.err;
  EXPECT_NE(refused.err.find("for PTX: '" + lock + "' pins no choice for mingru"), std::string::npos)
      << refused.err;
  const std::string hint = json::parse(refused.out)["error"]["hint"];
  EXPECT_NE(hint.find("`--ptx none`"), std::string::npos) << hint;
  EXPECT_NE(hint.find("device 'portable'"), std::string::npos) << hint;
  EXPECT_FALSE(std::filesystem::exists(own_.path("p.rondo")));

  json pinned = json::parse(read_file(lock));
  json portable = pinned["choices"][0];
  portable["device"] = "portable";
  portable["arch"] = "sm_80";
  pinned["choices"].push_back(portable);
  write_file(own_.path("more.lock"), pinned.dump());
  const Outcome both = locked(own_.path("more.lock"), {"--ptx", "sm_80"});
  ASSERT_EQ(both.status, 0) << both.err << "what the hint says works";
  EXPECT_EQ(json::parse(both.out)["entries"].size(), 2U);
}

TEST_F(TunedPackages, TakeTheirChoicesFromALockFile) {
  const std::string lock = own_.path("fleet.lock");
  ASSERT_EQ(rondo({"db", "lock", "--db", file_, "-o", lock}).status, 0);
  const Outcome built =
      rondo(build({"--lock", lock, "--no-db", "--ptx", "none", "-o", own_.path("l.rondo"), "--json"}));
  ASSERT_EQ(built.status, 0) << built.err;
  const json entry = json::parse(built.out)["entries"][0];
  EXPECT_EQ(entry["origin"], "pinned");
  EXPECT_EQ(entry["note"], "pinned by 'fleet.lock' for this problem, tuned by rondo 0.0.9");
  EXPECT_EQ(entry["parameters"], parameters_);
  EXPECT_EQ(
      rondo(build({"--lock", lock, "--no-db", "--ptx", "none", "-o", own_.path("m.rondo")}, "sm_80")).status,
      4)
      << "nothing is pinned for sm_80";
  const std::vector<std::string> shape = {"--shape",  "B=2,T=16,D=32", "--no-db",
                                          "--no-gpu", "--arch",        "sm_90"};
  const auto with = [&](std::vector<std::string> call) {
    call.insert(call.end(), shape.begin(), shape.end());
    return rondo(call);
  };
  EXPECT_NE(with({"emit", "mingru", "--lock", lock}).out.find(parameters_.substr(0, 12)), std::string::npos);
  EXPECT_EQ(with({"emit", "mingru", "--lock", lock, "--strategy", "stream"}).status, 2);
  EXPECT_EQ(with({"emit", "gru", "--lock", lock}).status, 4);
  EXPECT_EQ(with({"emit", "mingru", "--lock", own_.path("none.lock")}).status, 4);
}

}  // namespace
}  // namespace rondo::test
