// Pictures of hand-made data: the numbers that they show are those that were put in.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "compiler/step/derive.h"
#include "compiler/step/simplify.h"
#include "engine/figures/alone.h"
#include "engine/figures/layers.h"
#include "engine/figures/plot.h"
#include "engine/figures/roofline.h"
#include "engine/figures/search.h"
#include "engine/figures/step_graph.h"
#include "engine/figures/timeline.h"
#include "engine/figures/times.h"
#include "tests/engine/figures/markup.h"
#include "tests/engine/plan/cells.h"

namespace rondo::figures {
namespace {

using Texts = std::vector<std::string>;
const std::string kHostile = "<b onmouseover=\"alert(1)\">&'\x01";

std::string drawn(const Figure& figure, double width) {
  return figure.draw(width).finish("f", figure.title, figure.about);
}

// Both widths are well-formed, and hold no markup of the hostile name.
void expect_sound(const Figure& figure) {
  for (const double width : {560.0, 352.0}) {
    const std::string text = drawn(figure, width);
    EXPECT_EQ(test::markup_faults(text), Texts()) << figure.title;
    EXPECT_EQ(text.find("<b "), std::string::npos) << figure.title;
    EXPECT_EQ(text.find("nan"), std::string::npos) << figure.title;
  }
}

bool shows(const std::string& svg, const std::string& content) {
  return std::ranges::any_of(test::contents_of(svg, "<text"), [&](const std::string& text) {
    return text.find(content) != std::string::npos;
  });
}

// 1 GFLOP and 10 MB in 1 ms: 100 operations a byte at 1 TFLOP/s, of which the chain allows twice as many.
std::vector<MeasuredPoint> points() {
  return {
      {kHostile, 1e-3, {{"chain", 0.5e-3, 1024}, {"products", 0.1e-3, 1e9}, {"bytes", 0.01e-3, 10e6}}, true},
      {"without products", 2e-5, {{"bytes", 1e-5, 40e6}}}};
}

TEST(Roofline, HasTheRatesOfItsPoints) {
  const Figure figure = roofline("a machine", 1e12, {{"mma.sync", 10e12}}, points());
  ASSERT_EQ(figure.table.rows.size(), 1U) << "a point without products has no place in it";
  EXPECT_EQ(figure.table.rows[0], (Texts{kHostile, "100", "1 TFLOP/s", "2 TFLOP/s", "chain"}));
  expect_sound(figure);
  const std::string text = drawn(figure, 560);
  EXPECT_TRUE(shows(text, "copy 1 TB/s"));
  EXPECT_TRUE(shows(text, "mma.sync 10 TFLOP/s"));
  EXPECT_TRUE(shows(text, "the chain binds"));
  EXPECT_TRUE(shows(text, "what the chain allows"));
}

TEST(TimeOverFloor, SaysHowFarAboveEachIs) {
  const Figure figure = time_over_floor("a machine", points());
  ASSERT_EQ(figure.table.rows.size(), 2U);
  EXPECT_EQ(figure.table.rows[0], (Texts{kHostile, "1 ms", "500 µs", "chain", "2.00×"}));
  EXPECT_EQ(figure.table.rows[1], (Texts{"without products", "20 µs", "10 µs", "bytes", "2.00×"}));
  expect_sound(figure);
}

TEST(FloorShares, BarsAreTheSharesOfTheTime) {
  const Figure figure = floor_shares("shares", points());
  expect_sound(figure);
  const std::string text = drawn(figure, 560);
  const auto width = [&](const char* kind, std::size_t at) {
    return test::numbers_of(text, "<rect", std::string("bar ") + kind, "width").at(at);
  };
  // The first of each kind is the legend's.
  EXPECT_NEAR(width("products", 1), 0.2 * width("chain", 1), 0.02);
  EXPECT_NEAR(width("bytes", 2), width("chain", 1), 0.02) << "both are half of their times";
}

std::vector<TriedPoint> trials() {
  return {{"stream", "channels=64", 3e-3, 1e-3, false, "ok"},
          {"stream", kHostile, 1e-3, 1e-3, true, "ok"},
          {kHostile, "x=1", std::nullopt, 2e-3, false, "spill"},
          {"shoot", "channels=32", 2e-3, std::nullopt, false, "ok"}};
}

TEST(Search, TheBestSoFarNeverRises) {
  const Figure figure = best_so_far(trials());
  ASSERT_EQ(figure.table.rows.size(), 2U);
  EXPECT_EQ(figure.table.rows[0][2], "3 ms");
  EXPECT_EQ(figure.table.rows[1][2], "1 ms");
  EXPECT_NE(figure.about.find("Not timed, and so not shown: 1 spill."), std::string::npos) << figure.about;
  expect_sound(figure);
  EXPECT_TRUE(shows(drawn(figure, 560), "best so far"));
}

TEST(Search, TheModelStandsBesideTheClock) {
  const Figure figure = model_beside_time(trials());
  ASSERT_EQ(figure.table.rows.size(), 2U);
  EXPECT_EQ(figure.table.rows[0], (Texts{"2", "stream", "1 ms", "1 ms", "1.00×", kHostile}));
  EXPECT_EQ(figure.table.rows[1], (Texts{"1", "stream", "3 ms", "1 ms", "0.33×", "channels=64"}));
  expect_sound(figure);
  EXPECT_EQ(test::numbers_of(drawn(figure, 560), "<circle", "ring", "cx").size(), 1U);
}

TEST(Search, ManyTrialsAreATableOfTheFastest) {
  std::vector<TriedPoint> many;
  for (int i = 0; i < 100; ++i) many.push_back({"stream", "a", 1e-3 * (100 - i), 1e-3, false, "ok"});
  const Figure figure = model_beside_time(many);
  ASSERT_EQ(figure.table.rows.size(), 41U);
  EXPECT_EQ(figure.table.rows[40][1], "60 slower ones are left out");
}

TEST(Search, ParametersAreBars) {
  const Figure figure = parameter_shares(kHostile, 12, {{"channels", 0.75, 3}, {"steps", 0, 2}});
  EXPECT_EQ(figure.table.rows[0], (Texts{"channels", "75%", "3"}));
  expect_sound(figure);
}

TEST(Timeline, PartsOfTheChainFollowEachOther) {
  using Of = TimelinePart::Of;
  const Figure figure = timeline({{Of::Chain, "exchange", 600e-9},
                                  {Of::Chain, kHostile, 300e-9},
                                  {Of::Chain, "hidden behind each other", -100e-9},
                                  {Of::Work, "memory", 200e-9},
                                  {Of::Launches, "launches", 3e-6}},
                                 800e-9, "by the cost model");
  expect_sound(figure);
  const std::string text = drawn(figure, 560);
  const double first = test::numbers_of(text, "<rect", "bar s0", "x").at(0);
  const double length = test::numbers_of(text, "<rect", "bar s0", "width").at(0);
  EXPECT_NEAR(test::numbers_of(text, "<rect", "bar s1", "x").at(0), first + length, 0.02);
  EXPECT_NEAR(test::numbers_of(text, "<rect", "bar s1", "width").at(0), length / 2, 0.02);
  EXPECT_NEAR(test::numbers_of(text, "<rect", "bar work", "x").at(0), first, 0.02);
  EXPECT_TRUE(shows(text, "a step: 800 ns"));
  EXPECT_NE(figure.about.find("hide 100 ns of each other"), std::string::npos) << figure.about;
  EXPECT_EQ(figure.table.rows.size(), 5U);
}

TEST(Times, BarsHaveTheirTimes) {
  const Figure figure =
      time_bars("times", "about", {{"measured", "time", 2e-3, ""}, {kHostile, "bytes", 1e-3, ""}});
  expect_sound(figure);
  const std::string text = drawn(figure, 560);
  EXPECT_NEAR(test::numbers_of(text, "<rect", "bar bytes", "width").at(0),
              test::numbers_of(text, "<rect", "bar time", "width").at(0) / 2, 0.02);
  expect_sound(
      ratio_bars("peers", "about", "times as long", {"peer"}, {{kHostile, 2.5, {"x"}}, {"b", 0.5, {"y"}}}));
}

TEST(Layers, EdgesGoDownAndNothingOverlaps) {
  // A diamond with a long edge beside it: 0 over 1 and 2, these over 3, and 0 over 4 directly, which is last.
  const LayeredGraph graph{{40, 60, 30, 40, 50}, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {0, 4}}, {4}};
  const LayeredPlaces places = places_of(graph, 10);
  for (const auto& [from, to] : graph.edges) EXPECT_LT(places.layer[from], places.layer[to]);
  EXPECT_EQ(places.layer[4], places.layers - 1);
  EXPECT_EQ(places.ways[4].size(), 1U) << "it passes the middle layer";
  for (std::size_t a = 0; a < 5; ++a) {
    EXPECT_GE(places.x[a] - graph.widths[a] / 2, -1e-9);
    EXPECT_LE(places.x[a] + graph.widths[a] / 2, places.width + 1e-9);
    for (std::size_t b = 0; b < a; ++b)
      if (places.layer[a] == places.layer[b]) {
        EXPECT_GE(std::abs(places.x[a] - places.x[b]) + 1e-9, (graph.widths[a] + graph.widths[b]) / 2 + 10);
      }
  }
  EXPECT_EQ(places_of({}, 10).width, 0);
}

TEST(StepGraph, HasWhatTheCellSays) {
  const Figure figure = step_graph(step::simplify(rondo::testing::library_cell("mingru")));
  expect_sound(figure);
  const std::string text = drawn(figure, 560);
  for (const char* box : {">h<", ">z = sigmoid x[0]<", ">1 − ·<", ">· × x[1]<", ">next h, output h<"})
    EXPECT_NE(text.find(box), std::string::npos) << box << "\n" << text;
}

// Of points that lie on each other one has its name, and no name lies on another or on a point.
TEST(Plot, PointsHaveNamesWhereThereIsRoom) {
  Plot plot;
  plot.x = {"across", Spacing::Linear, 0, 100, 0, 1, [](double) { return std::string("x"); }};
  plot.y = {"up", Spacing::Linear, 0, 100, 0, 1, [](double) { return std::string("y"); }};
  Series series{"points", "bytes", Shape::Circle, {}};
  for (int i = 0; i < 5; ++i) series.points.push_back({50, 50.0 + 0.1 * i, "", false, "crowded"});
  series.points.push_back({20, 20, "", false, "alone"});
  plot.series.push_back(series);
  const std::vector<std::string> texts =
      test::contents_of(draw(plot, 560, 336).finish("f", "t", "a"), "<text");
  const auto count = [&](const std::string& name) {
    return std::ranges::count_if(texts,
                                 [&](const std::string& text) { return text.find(name) != text.npos; });
  };
  EXPECT_EQ(count("alone"), 1);
  EXPECT_GE(count("crowded"), 1);
  EXPECT_LE(count("crowded"), 3) << "right, left and above";
}

// A shipped cell, with keys of two numbers where they have 64: more boxes than kMostNodes are not drawn.
step::Cell cell_to_draw(const engine::EmbeddedCell& embedded) {
  std::string text(embedded.text);
  for (std::size_t at; (at = text.find("[64")) != std::string::npos;) text.replace(at, 3, "[2");
  return step::simplify(rondo::testing::cell_from(text));
}

TEST(StepGraph, OfEveryShippedCellIsSoundBothWays) {
  for (const engine::EmbeddedCell& embedded : engine::embedded_cells()) {
    const step::Cell cell = cell_to_draw(embedded);
    for (const Figure& figure : {step_graph(cell), backward_graph(cell, step::backward_step(cell))}) {
      ASSERT_TRUE(figure.draw) << embedded.name;
      EXPECT_EQ(test::markup_faults(drawn(figure, 560)), Texts()) << embedded.name;
    }
  }
}

// What a picture that stands alone draws has rules, which hold within it and need nothing of a page.
TEST(Alone, HasRulesOfItsOwn) {
  for (const engine::EmbeddedCell& embedded : engine::embedded_cells()) {
    const step::Cell cell = cell_to_draw(embedded);
    const std::string text = alone(step_graph(cell), "f");
    ASSERT_EQ(test::markup_faults(text), Texts()) << embedded.name;
    const std::vector<std::string> rules = test::contents_of(text, "<style");
    ASSERT_EQ(rules.size(), 1U);
    for (const char* of_a_page : {"var(", "light-dark(", "--", ":root", "svg"})
      EXPECT_EQ(rules[0].find(of_a_page), std::string::npos) << of_a_page << "\n" << rules[0];
    EXPECT_NE(text.find("class=\"rondo-figure\""), std::string::npos);
    const std::regex kinds("<(?:path|rect)[^>]* class=\"(?:node )?([a-z]+)\"");
    for (std::sregex_iterator at(text.begin(), text.end(), kinds), end; at != end; ++at)
      EXPECT_TRUE(
          std::regex_search(rules[0], std::regex("\\.rondo-figure [.a-z]*\\." + (*at)[1].str() + " \\{")))
          << (*at)[1];
  }
}

}  // namespace
}  // namespace rondo::figures
