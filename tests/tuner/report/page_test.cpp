// Pages of hand-made records: what they tell, and that nothing in a record becomes markup.
#include "tuner/report/page.h"

#include <gtest/gtest.h>

#include <map>

#include "engine/choice/candidates.h"
#include "engine/choice/choose.h"
#include "tests/engine/figures/markup.h"
#include "tests/engine/plan/cells.h"
#include "tuner/report/machine_figures.h"

namespace rondo::tuner {
namespace {

using Texts = std::vector<std::string>;
const std::string kHostile = "</title><script>alert('x')</script>&\"\xff";

schedule::Task tuned_task(const std::string& cell, schedule::Pass pass = schedule::Pass::Forward) {
  schedule::Problem problem;
  problem.sizes = {16, 1024, 1, 256};
  problem.pass = pass;
  return {rondo::testing::library_cell(cell), problem, target::find_profile("h200").value()};
}

// The best by the model first. Listing them is most of these tests' time.
const std::vector<engine::Candidate>& candidates_of(const schedule::Task& task) {
  static std::map<std::string, std::vector<engine::Candidate>> known;
  std::vector<engine::Candidate>& candidates = known[task.written.name + schedule::pass_key(task.problem)];
  if (candidates.empty()) candidates = engine::ranked_candidates(task).value();
  return candidates;
}

// Of one cell, tuned on an H200, with candidates of which the second is the best.
db::Contents contents_of(const schedule::Task& task, std::size_t trials) {
  db::Contents contents;
  db::Problem problem = engine::database_problem(task);
  contents.cells.push_back({problem.cell, task.written.name, task.written.source});
  db::Device device;
  device.key = "h200";
  device.name = "NVIDIA H200";
  contents.devices.push_back(device);
  const std::vector<engine::Candidate>& candidates = candidates_of(task);
  db::TunedProblem tuned{problem, {}, 1};
  for (std::size_t i = 0; i < trials; ++i) {
    db::Trial trial;
    trial.strategy = candidates[i].strategy;
    trial.parameters = engine::parameters_to_json(candidates[i].parameters);
    trial.median_ms = 2.0 + static_cast<double>(i % 5) - (i == 1 ? 2.0 : 0);
    trial.verified = i == 1;
    tuned.trials.push_back(trial);
  }
  contents.problems.push_back(std::move(tuned));
  return contents;
}

bool has(const Page& page, const std::string& text) { return page.html.find(text) != std::string::npos; }

TEST(Report, FloorsAreThoseOfWhy) {
  const schedule::Task task = tuned_task("lstm");
  const Report report = report_of(contents_of(task, 20), "A test.");
  ASSERT_EQ(report.problems.size(), 1U);
  const ReportedProblem& problem = report.problems[0];
  EXPECT_EQ(problem.remark, "");
  EXPECT_DOUBLE_EQ(problem.seconds.value(), 1e-3);
  const double copy = task.profile.speeds.copy_bytes_per_s;
  const auto floor = [&](const std::string& name) {
    for (const Floor& each : problem.floors)
      if (each.name == name) return each.seconds;
    return 0.0;
  };
  EXPECT_DOUBLE_EQ(floor("bytes"), bytes_floor(task, copy).seconds);
  EXPECT_DOUBLE_EQ(floor("products"), products_floor(task).seconds);
  EXPECT_DOUBLE_EQ(floor("chain"), chain_floor(task, problem.parts).seconds);
  EXPECT_TRUE(problem.trials[0].model_ms.has_value());
  EXPECT_EQ(report.machines.at(0).name, "NVIDIA H200");
}

TEST(Page, OfADatabaseHasEveryPicture) {
  const Page page = page_of(report_of(contents_of(tuned_task("lstm"), 20), "A test."));
  EXPECT_EQ(test::markup_faults(page.html), Texts());
  for (const char* title :
       {"Roofline of NVIDIA H200", "Time over the highest floor on NVIDIA H200", "lstm on NVIDIA H200",
        "Time beside the floors", "One step over time", "The search in order", "The model beside the clock",
        "Which parameters of ", "One step of lstm"})
    EXPECT_TRUE(has(page, std::string("<h3>") + title)) << title;
  EXPECT_EQ(page.figures, test::contents_of(page.html, "<figure").size());
  for (const char* elsewhere : {"http://", "https://", "src=", "@import", "url("})
    EXPECT_FALSE(has(page, elsewhere) && std::string(elsewhere) != "http://") << elsewhere;
}

TEST(Page, OfABackwardPassHasItsGradients) {
  const Page page =
      page_of(report_of(contents_of(tuned_task("mingru", schedule::Pass::Backward), 9), "A test."));
  EXPECT_EQ(test::markup_faults(page.html), Texts());
  EXPECT_TRUE(has(page, "<h3>The backward step of mingru"));
  EXPECT_FALSE(has(page, "<h3>Roofline")) << "no products, no roofline";
}

TEST(Page, TextsOfARecordStayText) {
  const schedule::Task task = tuned_task("lstm");
  db::Contents contents = contents_of(task, 20);
  contents.cells[0].name = kHostile;
  contents.devices[0].name = kHostile;
  contents.problems[0].trials[3].strategy = kHostile;
  contents.problems[0].trials[4].parameters = "{\"" + std::string("<i>") + "\": 1}";
  contents.problems[0].trials[5].reason = kHostile;
  db::TunedProblem odd = contents.problems[0];
  odd.problem.device = odd.problem.dtype = odd.problem.math = odd.problem.pass = kHostile;
  odd.problem.shape = {9'000'000'000'000'000'000, 1, 1, 1};
  contents.problems.push_back(odd);
  const Page page = page_of(report_of(contents, kHostile, {{kHostile, {}, kHostile, kHostile, 1, kHostile}}));
  EXPECT_EQ(test::markup_faults(page.html), Texts());
  EXPECT_EQ(test::contents_of(page.html, "<script").size(), 1U) << "the page's own";
  EXPECT_FALSE(has(page, "<i>"));
  EXPECT_TRUE(
      has(page, "&lt;/title&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;&quot;\xEF\xBF\xBD"));
}

TEST(Page, OfAnEmptyDatabaseSaysSo) {
  const Page page = page_of(report_of(db::Contents(), "A test."));
  EXPECT_EQ(test::markup_faults(page.html), Texts());
  EXPECT_EQ(page.figures, 0U);
  EXPECT_TRUE(has(page, "Nothing is tuned yet"));
}

TEST(Page, WithoutTrialsBesideTheBestSaysSo) {
  db::Contents contents = contents_of(tuned_task("lstm"), 2);
  contents.problems[0].trials.erase(contents.problems[0].trials.begin());
  contents.problems[0].best = 0;
  const Page page = page_of(report_of(contents, "A test."));
  EXPECT_TRUE(has(page, "Only one timed trial a problem is recorded here"));
  EXPECT_FALSE(has(page, "The search in order"));
  EXPECT_TRUE(has(page, "<h3>Roofline"));
}

TEST(Page, WhatCannotBeMadeAgainIsARemark) {
  const schedule::Task task = tuned_task("lstm");
  const auto remark = [&](void (*change)(db::Contents&)) {
    db::Contents contents = contents_of(task, 4);
    change(contents);
    const Report report = report_of(contents, "A test.");
    EXPECT_EQ(test::markup_faults(page_of(report).html), Texts());
    EXPECT_TRUE(report.problems[0].floors.empty());
    return report.problems[0].remark;
  };
  EXPECT_NE(remark([](db::Contents& c) {
              c.cells[0].source = "cell other(D) { state h[D] next h = h output h }";
            }).find("not the whole cell"),
            std::string::npos);
  EXPECT_NE(remark([](db::Contents& c) {
              c.problems[0].problem.device = "no such board";
            }).find("nothing is known"),
            std::string::npos);
  EXPECT_NE(remark([](db::Contents& c) { c.problems[0].problem.dtype = "fp8"; }).find("does not know"),
            std::string::npos);
  EXPECT_NE(
      remark([](db::Contents& c) { c.problems[0].trials[1].strategy = "older"; }).find("does not offer"),
      std::string::npos);
}

TEST(Page, OfOneProblemTellsWhatWouldChangeIt) {
  const schedule::Task task = tuned_task("lstm");
  const engine::Candidate best = engine::best_candidate(task).value();
  Explanation why;
  why.choice.strategy = best.strategy;
  why.choice.parameters = best.parameters;
  why.model_s = best.estimate.seconds;
  why.copy_bytes_per_s = 4e12;
  why.changes = {{"B=32", true, 1.15, 0.57}};
  const Report report = report_of(task, why, contents_of(task, 12), "A test.");
  const Page page = page_of(report);
  EXPECT_EQ(test::markup_faults(page.html), Texts());
  EXPECT_TRUE(has(page, "<h3>What would change the time"));
  EXPECT_TRUE(has(page, "<h3>The search in order")) << "the trials of the problem are those of the records";
  EXPECT_FALSE(has(page, "<h2>Searches"));
  EXPECT_TRUE(has(page_of(report_of(task, why, {}, "A test.")), "No trial of this problem is recorded"));
}

TEST(Page, OfManySearchesShowsThoseWithTheMostTrials) {
  db::Contents contents = contents_of(tuned_task("mingru"), 4);
  const db::TunedProblem first = contents.problems[0];
  for (std::int64_t i = 0; i < 25; ++i) {
    contents.problems.push_back(first);
    contents.problems.back().problem.shape.B = 100 + i;
    if (i < 2) contents.problems.back().trials.resize(3);
  }
  const Page page = page_of(report_of(contents, "A test."));
  EXPECT_EQ(test::contents_of(page.html, "<h3>The search in order").size(), 24U);
  EXPECT_TRUE(has(page, "2 more problems have trials"));
  EXPECT_FALSE(has(page, "<summary>mingru B=100,"));
  EXPECT_TRUE(has(page, "<summary>mingru B=102,"));
}

TEST(Page, IsTheSameEachTime) {
  const db::Contents contents = contents_of(tuned_task("lstm"), 20);
  EXPECT_EQ(page_of(report_of(contents, "A test.")).html, page_of(report_of(contents, "A test.")).html);
}

TEST(Picture, StandsAloneAndNamesItsPoints) {
  const Report report = report_of(contents_of(tuned_task("lstm"), 5), "A test.");
  const Result<std::string> roofline = picture_of(report, "roofline");
  ASSERT_TRUE(roofline) << roofline.error().message;
  EXPECT_EQ(test::markup_faults(*roofline), Texts());
  EXPECT_NE(roofline->find("Roofline of NVIDIA H200"), std::string::npos);
  EXPECT_NE(roofline->find(">lstm 1×256 B=16 fw<"), std::string::npos) << *roofline;
  EXPECT_TRUE(picture_of(report, "floors"));
}

TEST(Picture, ThatThereIsNotIsSaid) {
  const auto fault = [](const Report& report, const std::string& name) {
    const Result<std::string> picture = picture_of(report, name);
    return picture ? "" : picture.error().message + "; " + picture.error().hint;
  };
  const schedule::Task task = tuned_task("lstm");
  db::Contents two = contents_of(task, 2);
  two.problems.push_back(two.problems[0]);
  two.problems[1].problem.device = "h100";
  EXPECT_NE(fault(report_of(two, ""), "roofline").find("several machines: NVIDIA H100"), std::string::npos);
  EXPECT_NE(fault(report_of(db::Contents(), ""), "roofline").find("has no picture 'roofline'"),
            std::string::npos);
  EXPECT_NE(fault(report_of(two, ""), "search").find("'roofline' and 'floors' are pictures"),
            std::string::npos);
}

}  // namespace
}  // namespace rondo::tuner
