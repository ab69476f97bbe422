// The commands that run kernels, on the CPUs of the machine that the tests run on. No test looks at how fast
// anything is.
#ifdef RONDO_BUILT_LLVM
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "compiler/target/profile.h"
#include "compiler/target/target.h"
#include "engine/arrays/npy.h"
#include "tests/support/turns.h"
#include "tests/tools/program.h"
#include "tuning_db/database.h"

namespace rondo::test {
namespace {

using nlohmann::json;

const char* const kShape = "B=2,T=24,D=40";

// `rondo COMMAND mingru --arch cpu` for a small fp32 problem.
std::vector<std::string> on_cpu(const std::string& command, const std::vector<std::string>& more = {}) {
  std::vector<std::string> all = {command, "mingru", "--arch", "cpu", "--shape", kShape, "--dtype", "fp32"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

json parsed(const Outcome& outcome) {
  EXPECT_EQ(outcome.status, 0) << outcome.err << outcome.out;
  return json::parse(outcome.out, nullptr, false);
}

target::Profile host() { return target::host_profile(); }

TEST(OnCpus, BenchPrintsTimesBesideACopy) {
  const json bench = parsed(rondo(on_cpu("bench", {"--no-db", "--json", "--pass", "fw,fws,bw"})));
  EXPECT_EQ(bench["device"], host().name);
  EXPECT_GT(bench["copy_bytes_per_s"], 0);
  ASSERT_EQ(bench["rows"].size(), 3u);
  for (const json& row : bench["rows"]) {
    EXPECT_EQ(row["strategy"], "host");
    EXPECT_EQ(row["origin"], "by model");
    EXPECT_GT(row["median_ms"], 0);
    EXPECT_GT(row["bytes"], 0);
    EXPECT_GT(row["share_of_copy_bandwidth"], 0);
  }
  const Outcome text = rondo(on_cpu("bench", {"--no-db"}));
  EXPECT_NE(text.out.find("B/s, host (by model, not verified)"), std::string::npos) << text.out;
  const Outcome parts = rondo(on_cpu("bench", {"--no-db", "--ablate", "--samples", "3"}));
  EXPECT_EQ(parts.status, 0) << parts.err;
  EXPECT_NE(parts.out.find("without stores"), std::string::npos) << parts.out;
}

// The products of a cell's text may be more than those of its kernels, as here, where two are equal: whoever
// allocates, computes or compares what is saved goes by the kernels'.
TEST(OnCpus, SavedProductsAreThoseOfTheSimplifiedCell) {
  Folder folder;
  const std::string cell = folder.path("twice.cell");
  write_file(cell,
             "cell twice(D) {\n  input x[2, D]\n  param R[D, D]\n  state h[D]\n"
             "  u = tanh(h)\n  v = tanh(h)\n  a = sigmoid(x[0] + R @ u)\n  b = tanh(x[1] + R @ v)\n"
             "  next h = a * h + b\n  output h\n}\n");
  const std::vector<std::string> problem = {"--arch", "cpu",    "--shape",  "B=2,T=5,D=16", "--dtype",
                                            "fp32",   "--save", "products", "--pass",       "fws,bw"};
  const auto of = [&](const std::string& command, std::vector<std::string> more) {
    std::vector<std::string> all = {command, cell};
    all.insert(all.end(), problem.begin(), problem.end());
    all.insert(all.end(), more.begin(), more.end());
    return rondo(all);
  };
  const Outcome verified = of("verify", {"--no-db"});
  EXPECT_EQ(verified.status, 0) << verified.err << verified.out;
  const Outcome tuned = of("tune", {"--no-db", "--budget", "2s"});
  EXPECT_EQ(tuned.status, 0) << tuned.err << tuned.out;
}

// Under a limit of the address space, from one where the compiler's library does not fit to one where all
// does.
TEST(OnCpus, ShortMemoryIsAnErrorAndNoCrash) {
  std::set<int> seen;
  constexpr int kLeast = 40, kMost = 1600;
  int turn = 0;
  for (int megabytes = kLeast; megabytes <= kMost; megabytes += megabytes < 320 ? 20 : 320) {
    const bool end = megabytes == kLeast || megabytes == kMost;
    if (!rondo::testing::has_turn(++turn, 2) && !end) continue;
    const Outcome outcome =
        start("/bin/sh", {"-c", "ulimit -v " + std::to_string(megabytes * 1024) + "; exec \"$@\"", "sh",
                          RONDO_PROGRAM, "bench", "lstm", "--arch", "cpu", "--shape", "B=2,T=4,D=64",
                          "--pass", "bw", "--samples", "1", "--no-db", "--json"});
    EXPECT_TRUE(outcome.status == 0 || outcome.status == 71 || outcome.status == 4)
        << megabytes << " MB: " << outcome.status << ": " << outcome.err;
    seen.insert(outcome.status);
  }
  EXPECT_TRUE(seen.contains(0) && seen.contains(71)) << "neither limit is near";
}

TEST(OnCpus, CalibrateMeasuresAndStores) {
  const Folder folder;
  const std::string file = folder.path("t.db");
  const Outcome outcome = rondo({"calibrate", "--arch", "cpu", "--json", "--db", file});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Result<target::Profile> profile = target::profile_from_json(outcome.out);
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_TRUE(profile->is_cpu());
  EXPECT_EQ(profile->name, host().name);
  EXPECT_EQ(profile->key, host().key);
  EXPECT_EQ(profile->origin, "measured");
  EXPECT_EQ(profile->cpu.threads, target::usable_threads());
  EXPECT_EQ(profile->cpu.vector_bytes, host().cpu.vector_bytes);
  EXPECT_EQ(profile->cpu.l2_bytes, host().cpu.l2_bytes);
  EXPECT_NE(profile->speeds.copy_bytes_per_s, host().speeds.copy_bytes_per_s);
  EXPECT_NE(profile->speeds.clock_hz, host().speeds.clock_hz);
  EXPECT_NE(profile->speeds.launch_s, host().speeds.launch_s);
  if (*target::host_target() !=
      target::Target{target::Target::Kind::X86_64, 2}) {  // which has no such instruction
    EXPECT_NE(profile->speeds.alu_per_cycle_sm, host().speeds.alu_per_cycle_sm);
  }
  const auto stored = db::Database::open(file).value().get_device(profile->key);
  ASSERT_TRUE(stored.ok() && stored->has_value());
  EXPECT_EQ((*stored)->origin, db::Origin::Measured);
  // It is a device like another: exported, checked and imported.
  ASSERT_EQ(rondo({"db", "export", "--db", file, "-o", folder.path("e.json")}).status, 0);
  const Outcome imported = rondo({"db", "import", folder.path("e.json"), "--db", folder.path("other.db")});
  EXPECT_EQ(imported.status, 0) << imported.err;
  const Outcome text = rondo({"calibrate", "--arch", "cpu", "--no-db"});
  EXPECT_NE(text.out.find("fused multiply-adds a cycle"), std::string::npos) << text.out;
}

TEST(OnCpus, WhatIsTunedIsTakenWithItsProof) {
  const Folder folder;
  const std::string file = folder.path("t.db");
  const std::vector<std::string> tune = {"--budget", "600s", "--pass", "fw,bw", "--json", "--db", file};
  const json tuned = parsed(rondo(on_cpu("tune", tune)));
  EXPECT_EQ(tuned["device"], host().name);
  ASSERT_EQ(tuned["passes"].size(), 2u);
  for (const json& pass : tuned["passes"]) {
    EXPECT_EQ(pass["measured"], true) << pass;
    EXPECT_EQ(pass["stored_as_best"], true) << pass;
    EXPECT_NE(pass["best"]["full_shape"].get<std::string>().find("every element beside a plain kernel"),
              std::string::npos)
        << pass["best"]["full_shape"];
  }
  // With --strict nothing without a proof runs.
  const json bench = parsed(rondo(on_cpu("bench", {"--strict", "--pass", "fw,bw", "--json", "--db", file})));
  for (const json& row : bench["rows"]) {
    EXPECT_EQ(row["origin"], "tuned");
    EXPECT_EQ(row["from_cache"], true);
  }
  EXPECT_EQ(bench["rows"][0]["parameters"], tuned["passes"][0]["best"]["parameters"]) << tuned;
  const json verified = parsed(rondo(on_cpu("verify", {"--pass", "fw,bw", "--json", "--db", file})));
  EXPECT_EQ(verified["passed"], true);
  // `run` without a GPU takes it too, unasked.
  write_array(folder.path("x.npy"), {2, 24, 1, 2, 40});
  const Outcome run = rondo({"run", "mingru", "--strict", "--db", file, "--input",
                             "x=" + folder.path("x.npy"), "--out", "h=" + folder.path("h.npy")});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find(host().name), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("(tuned)"), std::string::npos) << run.out;
  // Another number of threads is another machine: its choice is near, and not proven there.
  const Outcome other = rondo(on_cpu("bench", {"--strict", "--db", file}), {{"RONDO_THREADS", "201"}});
  EXPECT_EQ(other.status, 4) << other.out;
  // A second tune times what it knows again.
  const json again = parsed(rondo(on_cpu("tune", {"--budget", "600s", "--json", "--db", file})));
  EXPECT_FALSE(again["passes"][0]["known_before"].is_null()) << again;
}

// A cell with matrices, in a space of a few points, all of which are tried.
TEST(OnCpus, TunesCellsWithMatrices) {
  const Folder folder;
  const json tuned = parsed(rondo({"tune", "gru", "--arch", "cpu", "--shape", "B=1,T=6,D=20", "--dtype",
                                   "fp32", "--budget", "600s", "--json", "--db", folder.path("t.db")}));
  ASSERT_EQ(tuned["passes"].size(), 1u);
  EXPECT_EQ(tuned["passes"][0]["measured"], true);
  EXPECT_EQ(tuned["passes"][0]["stored_as_best"], true);
  EXPECT_EQ(tuned["passes"][0]["best"]["verified"], true);
}

// What doubles every difference a step, so that nothing can be said of the last of 64 steps, is compared
// where something can, and its choice stays.
TEST(OnCpus, TunesWhatIsIllConditionedAtTheFullShape) {
  const Folder folder;
  write_file(folder.path("gain.cell"),
             "cell gain(D) {\n  input x[D]\n  param R[D, D], b[D]\n  state h[D]\n"
             "  next h = tanh(4 * (R @ h) + x + b)\n  output h\n}\n");
  const json tuned = parsed(rondo({"tune", folder.path("gain.cell"), "--arch", "cpu", "--shape",
                                   "B=2,T=64,D=32", "--budget", "600s", "--json", "--seed", "5", "--no-db"}));
  const std::string said = tuned["passes"][0]["best"]["full_shape"];
  EXPECT_NE(said.find("too ill-conditioned to be compared"), std::string::npos) << said;
  EXPECT_EQ(tuned["passes"][0]["best"]["verified"], true);
}

TEST(OnCpus, WithoutADatabaseNothingIsKept) {
  const Folder folder;
  const Outcome tuned =
      rondo(on_cpu("tune", {"--budget", "600s", "--no-db"}), {{"RONDO_DB", folder.path("t.db")}});
  EXPECT_EQ(tuned.status, 0) << tuned.err;
  EXPECT_NE(tuned.out.find("not stored: no database"), std::string::npos) << tuned.out;
  EXPECT_TRUE(folder.files().empty());
  const Outcome strict = rondo(on_cpu("bench", {"--strict", "--no-db"}));
  EXPECT_EQ(strict.status, 4) << strict.out;
}

TEST(OnCpus, CtrlCEndsTuningAndKeepsWhatIsKnown) {
  const Folder folder;
  const std::string script = "\"$0\" tune gru --arch cpu --shape B=4,T=6,D=48 --dtype fp32 --db " +
                             folder.path("t.db") +
                             " --exhaustive --budget 300s & sleep 3; kill -INT $!; wait $!";
  const Outcome outcome = start("/bin/bash", {"-c", "set -m; " + script, RONDO_PROGRAM});
  EXPECT_EQ(outcome.status, 130) << outcome.err << outcome.out;
  EXPECT_EQ(rondo({"db", "check", "--db", folder.path("t.db")}).status, 0);
}

TEST(OnCpus, WithoutLlvmItSaysSo) {
  const std::map<std::string, std::string> hidden = {{"RONDO_LLVM", "none"}};
  for (const char* command : {"bench", "tune", "verify"}) {
    const Outcome outcome = rondo(on_cpu(command, {"--no-db"}), hidden);
    EXPECT_EQ(outcome.status, 4) << command << outcome.err;
    EXPECT_NE(outcome.err.find("no LLVM"), std::string::npos) << outcome.err;
  }
  for (const bool there : {true, false}) {
    const json findings =
        parsed(rondo({"doctor", "--json"}, there ? std::map<std::string, std::string>{} : hidden));
    const auto cpus = std::find_if(findings["findings"].begin(), findings["findings"].end(),
                                   [](const json& f) { return f["subject"] == "CPUs"; });
    ASSERT_NE(cpus, findings["findings"].end());
    EXPECT_EQ((*cpus)["health"], there ? "ok" : "missing");
    EXPECT_NE((*cpus)["found"].get<std::string>().find(host().name), std::string::npos) << *cpus;
  }
}

// Kernels for other CPUs are emitted, and cannot run.
TEST(OnCpus, OtherCpusAreRefused) {
  const char* other = target::host_target()->kind == target::Target::Kind::AArch64 ? "x86-64-v2" : "aarch64";
  for (const char* command : {"bench", "verify"}) {
    const Outcome outcome = rondo({command, "mingru", "--arch", other, "--no-db", "--shape", kShape});
    EXPECT_EQ(outcome.status, 4) << outcome.err;
    EXPECT_NE(outcome.err.find("the CPUs here are "), std::string::npos) << outcome.err;
  }
}

}  // namespace
}  // namespace rondo::test
#endif
