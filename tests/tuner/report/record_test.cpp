// Records of benchmark runs: what of their rows becomes a report, and what is wrong with others.
#include "tuner/report/record.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compiler/support/text_file.h"

namespace rondo::tuner {
namespace {

using nlohmann::json;

const std::string kOfH200 = std::string(RONDO_SOURCE_DIR) + "/benchmarks/results/h200.json";

json row() {
  return json::parse(R"({"cell": "affine", "shape": {"B": 8, "T": 4096, "H": 1, "D": 1536}, "dtype": "bf16",
      "pass": "fw", "save": null, "strategy": "stream", "parameters": {"channels": 128, "exchange": 0,
      "interleaved_copies": 0, "per_thread": 2, "pipeline_depth": 1, "producer_warps": 0, "rewrite": 0,
      "segments": 4, "stages": 3, "steps": 64, "stream_stores": 0, "time_split": 1, "unroll": 16, "vector": 8},
      "median_ms": 0.5, "peer_ms": 1.5, "peer": "Somebody"})");
}

json record(const std::vector<json>& rows) {
  return {{"device", "NVIDIA H200"}, {"date", "2026-11-29"}, {"copy_bytes_per_s", 4e12}, {"rows", rows}};
}

std::string fault(const json& of) {
  const Result<Report> report = report_of_record(of.dump(), "x.json", {});
  return report ? "" : report.error().message;
}

TEST(ReportOfARecord, HasItsTimesItsCopyAndItsPeers) {
  const Result<Report> report = report_of_record(record({row()}).dump(), "x.json", {});
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->problems.size(), 1U);
  const ReportedProblem& problem = report->problems[0];
  EXPECT_DOUBLE_EQ(problem.seconds.value(), 0.5e-3);
  EXPECT_TRUE(problem.measured);
  EXPECT_EQ(problem.strategy, "stream");
  ASSERT_EQ(report->machines.size(), 1U);
  EXPECT_DOUBLE_EQ(report->machines[0].copy_bytes_per_s, 4e12);
  ASSERT_FALSE(problem.floors.empty()) << problem.remark;
  const auto bytes = std::ranges::find(problem.floors, "bytes", &Floor::name);
  ASSERT_NE(bytes, problem.floors.end());
  EXPECT_DOUBLE_EQ(bytes->rate(), 4e12);
  ASSERT_EQ(report->comparisons.size(), 1U);
  EXPECT_EQ(report->comparisons[0].peer, "Somebody");
  const Result<Report> beside = report_of_record(
      record({row()}).dump(), "x.json", {{"affine", {8, 4096, 1, 1536}, "bf16", "fw", 2, "Another"}});
  ASSERT_EQ(beside->comparisons.size(), 1U);
  EXPECT_EQ(beside->comparisons[0].peer, "Another") << "those that are given come before the record's own";
}

// Each row but sums is a problem of this version, whose choice has floors.
TEST(ReportOfARecord, EveryRowOfTheRecordHasFloors) {
  const Result<std::string> text = read_text_file(kOfH200);
  ASSERT_TRUE(text);
  const Result<Report> report = report_of_record(*text, kOfH200, {});
  ASSERT_TRUE(report) << report.error().message;
  std::size_t rows = 0;
  const json whole = json::parse(*text);
  for (const char* list : {"rows", "dense"})
    for (const json& one : whole[list])
      if (one["pass"] != "fwbw") ++rows;
  EXPECT_EQ(report->problems.size(), rows);
  for (const ReportedProblem& problem : report->problems)
    EXPECT_FALSE(problem.floors.empty()) << problem.cell << ": " << problem.remark;
}

TEST(ReportOfARecord, LeavesSumsOfPassesOut) {
  json sum = row();
  sum["pass"] = "fwbw";
  EXPECT_EQ(report_of_record(record({row(), sum}).dump(), "x.json", {})->problems.size(), 1U);
  EXPECT_NE(fault(record({sum})).find("no rows of kernels"), std::string::npos);
}

TEST(ReportOfARecord, WhatIsWrongIsNamedWithItsPlace) {
  const auto with = [](const char* name, const json& value) {
    json changed = row();
    changed[name] = value;
    return fault(record({row(), changed}));
  };
  EXPECT_NE(with("cell", "../../etc/passwd").find("'x.json' rows[1]: no cell '../../etc/passwd' is shipped"),
            std::string::npos)
      << "no file is read";
  EXPECT_NE(with("median_ms", 0).find("rows[1]: median_ms"), std::string::npos);
  EXPECT_NE(with("shape", "B=8").find("rows[1]: shape is missing"), std::string::npos);
  EXPECT_NE(with("shape", {{"B", "8,T=4"}}).find("rows[1]: "), std::string::npos);
  EXPECT_NE(with("dtype", "fp8").find("fp8"), std::string::npos);
  EXPECT_NE(with("pass", "sideways").find("sideways"), std::string::npos);
  EXPECT_NE(with("parameters", 3).find("the object parameters"), std::string::npos);
  EXPECT_NE(fault(json::array({row()})).find("no JSON object"), std::string::npos);
  json elsewhere = record({row()});
  elsewhere["device"] = "no such board";
  EXPECT_NE(fault(elsewhere).find("'no such board'"), std::string::npos);
  EXPECT_NE(fault({{"device", "NVIDIA H200"}, {"rows", 3}}).find("rows is no list"), std::string::npos);
}

}  // namespace
}  // namespace rondo::tuner
