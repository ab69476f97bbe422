// Texts and marks of pictures, and the axes they stand on.
#include "engine/figures/svg.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compiler/support/units.h"
#include "engine/figures/axis.h"
#include "engine/figures/bars.h"
#include "engine/figures/plot.h"
#include "tests/engine/figures/markup.h"

namespace rondo::figures {
namespace {

using test::markup_faults;
using Texts = std::vector<std::string>;

TEST(Escaped, NothingOfATextIsMarkup) {
  EXPECT_EQ(escaped("<script>alert(\"1\")</script> & 'x'"),
            "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;x&#39;");
  EXPECT_EQ(escaped("é € 𝛿\n\t"), "é € 𝛿\n\t");
}

TEST(Escaped, WhatXmlCannotHoldIsReplaced) {
  const std::string gone = "\xEF\xBF\xBD";
  EXPECT_EQ(escaped(std::string("a\0b", 3)), "a" + gone + "b");
  EXPECT_EQ(escaped("\x1b[31m"), gone + "[31m");
  EXPECT_EQ(escaped("\xff\xfe"), gone + gone);
  EXPECT_EQ(escaped("\xc2"), gone);                                   // cut short
  EXPECT_EQ(escaped("\xc0\xaf"), gone + gone);                        // an overlong '/'
  EXPECT_EQ(escaped("\xed\xa0\x80"), gone + gone + gone);             // half of a pair of UTF-16
  EXPECT_EQ(escaped("\xef\xbf\xbf"), gone + gone + gone);             // U+FFFF
  EXPECT_EQ(escaped("\xc2\x9b"), gone);                               // a control character beyond ASCII
  EXPECT_EQ(escaped("\xf4\x90\x80\x80"), gone + gone + gone + gone);  // beyond U+10FFFF
}

TEST(Shortened, CountsCharactersAndKeepsThemWhole) {
  EXPECT_EQ(shortened("abc", 3), "abc");
  EXPECT_EQ(shortened("abcd", 3), "ab…");
  EXPECT_EQ(shortened("ééé", 3), "ééé");
  EXPECT_EQ(shortened("éééé", 3), "éé…");
}

TEST(Svg, EveryMarkIsWellFormedAndNamed) {
  Svg svg(100, 50);
  svg.line({0, 0}, {1, 2}, "grid");
  svg.lines({{0, 0}, {1, 1}, {2, 0.5}}, "curve");
  svg.box({1, 2}, -3, 4, "bar", "a < b", 2);
  for (const Shape shape : {Shape::Circle, Shape::Square, Shape::Triangle, Shape::Diamond, Shape::Cross})
    svg.mark(shape, {5, 5}, "mark s0", "\"quoted\"");
  svg.text({1, 1}, "<&>", Anchor::End, "tick");
  const std::string text = svg.finish("f1", "A & B", "what < it shows");
  EXPECT_EQ(markup_faults(text), Texts());
  EXPECT_NE(text.find("<title id=\"f1-t\">A &amp; B</title>"), std::string::npos) << text;
  EXPECT_NE(text.find("<desc id=\"f1-d\">what &lt; it shows</desc>"), std::string::npos) << text;
  EXPECT_NE(text.find("d=\"M0 0L1 1L2 0.5\""), std::string::npos) << text;
  EXPECT_NE(text.find("width=\"0\" height=\"4\""), std::string::npos) << "no box is narrower than nothing";
}

TEST(Markup, FaultsAreFound) {
  EXPECT_EQ(markup_faults("<a id=\"1\"/><b id=\"1\"/>"), Texts{"an id given twice: 1"});
  for (const char* wrong :
       {"<a><b></a>", "<a>", "</a>", "<a x=1/>", "<a x=\"1\" x=\"2\"/>", "<a>&nbsp;</a>", "<a>1 < 2</a>"})
    EXPECT_FALSE(markup_faults(wrong).empty()) << wrong;
  EXPECT_EQ(markup_faults("<!DOCTYPE html>\n<a x=\"1\"><b/>&amp;</a>\n"), Texts());
}

Axis axis_of(Spacing spacing, double low, double high) { return {"", spacing, low, high, 0, 300, plain}; }

TEST(Axis, TicksAreRound) {
  const auto ticks = [](const Axis& axis, int most) {
    Texts texts;
    for (const double tick : axis.ticks(most)) texts.push_back(plain(tick));
    return texts;
  };
  EXPECT_EQ(ticks(axis_of(Spacing::Linear, 0, 1), 5), (Texts{"0", "0.2", "0.4", "0.6", "0.8", "1"}));
  EXPECT_EQ(ticks(axis_of(Spacing::Linear, 0, 730), 5), (Texts{"0", "200", "400", "600"}));
  EXPECT_EQ(ticks(axis_of(Spacing::Log, 0.05, 2), 9), (Texts{"0.05", "0.1", "0.2", "0.5", "1", "2"}));
  EXPECT_EQ(ticks(axis_of(Spacing::Log, 1e-3, 1e3), 8),
            (Texts{"0.001", "0.01", "0.1", "1", "10", "100", "1000"}));
  EXPECT_EQ(ticks(axis_of(Spacing::Log, 1e-12, 1e12), 6).size(), 5U);
  EXPECT_EQ(ticks(axis_of(Spacing::Log, 1.1, 1.9), 5), (Texts{"1.2", "1.4", "1.6", "1.8"}));
}

TEST(Axis, ValuesBecomePixels) {
  const Axis log = axis_of(Spacing::Log, 1, 1000);
  EXPECT_DOUBLE_EQ(log.at(10), 100);
  EXPECT_DOUBLE_EQ(log.at(5000), 300);
  EXPECT_DOUBLE_EQ(log.at(0), 0);
  EXPECT_DOUBLE_EQ(axis_of(Spacing::Linear, 0, 2).at(0.5), 75);
}

TEST(Axis, EndsHoldAllValuesAndOutlastNonsense) {
  Axis axis = axis_of(Spacing::Log, 0, 0);
  fit(axis, {3, 30, -1, 0, std::numeric_limits<double>::infinity(), std::nan("")});
  EXPECT_LT(axis.low, 3);
  EXPECT_GT(axis.high, 30);
  EXPECT_LT(axis.high, 50);
  fit(axis, {});
  EXPECT_EQ(axis.high, 1);
  fit(axis, {5});
  EXPECT_LT(axis.low, 4);
  Axis linear = axis_of(Spacing::Linear, 0, 0);
  fit(linear, {2, 8});
  EXPECT_EQ(linear.low, 0);
  EXPECT_EQ(linear.high, 8);
}

TEST(Plot, PointsStandWhereTheirValuesSay) {
  Plot plot;
  plot.x = axis_of(Spacing::Linear, 0, 10);
  plot.y = axis_of(Spacing::Linear, 0, 100);
  plot.series.push_back({"all", "s0", Shape::Circle, {{0, 0, "low"}, {10, 100, "high", true}}});
  plot.curves.push_back({"", "roof", {{-10, -100}, {20, 200}}, "beyond"});
  const std::string text = draw(plot, 400, 300).finish("f", "t", "d");
  EXPECT_EQ(markup_faults(text), Texts());
  const std::vector<double> xs = test::numbers_of(text, "<circle", "mark s0", "cx");
  const std::vector<double> ys = test::numbers_of(text, "<circle", "mark s0", "cy");
  ASSERT_EQ(xs.size(), 3U);  // one is the legend's
  EXPECT_EQ(xs[2], 400 - 14);
  EXPECT_GT(ys[1], ys[2]);
  EXPECT_EQ(test::numbers_of(text, "<circle", "ring", "cx"), std::vector<double>{xs[2]});
  EXPECT_EQ(text.find("curve roof"), std::string::npos) << "a line whose ends both lie outside is left out";
}

TEST(Plot, ACurveIsCutWhereItLeaves) {
  Plot plot;
  plot.x = axis_of(Spacing::Linear, 0, 10);
  plot.y = axis_of(Spacing::Linear, 0, 10);
  plot.curves.push_back({"", "roof", {{0, 0}, {20, 40}}, "twice"});
  const std::string text = draw(plot, 400, 300).finish("f", "t", "d");
  const std::size_t at = text.find("<path d=\"M");
  ASSERT_NE(at, std::string::npos);
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  ASSERT_EQ(std::sscanf(text.c_str() + at, "<path d=\"M%lf %lfL%lf %lf", &x0, &y0, &x1, &y1), 4);
  EXPECT_NEAR((x1 - x0) / (400 - 14 - x0), 0.5, 0.01) << "y = 2 x leaves at the top, half way across";
}

TEST(Bars, LengthsAreSharesOfTheAxis) {
  BarChart chart;
  chart.axis.title = "share";
  chart.axis.label = percent;
  chart.rows = {{"one", "100%", {{1, "bytes", "whole"}}},
                {"quarter", "25%", {{0.25, "bytes", ""}, {0.5, "chain", ""}}}};
  for (const double width : {560.0, 352.0}) {
    const std::string text = draw(chart, width).finish("f", "t", "d");
    EXPECT_EQ(markup_faults(text), Texts());
    const std::vector<double> widths = test::numbers_of(text, "<rect", "bar bytes", "width");
    ASSERT_EQ(widths.size(), 2U);
    EXPECT_NEAR(widths[1], widths[0] / 4, 0.02);
    EXPECT_NEAR(test::numbers_of(text, "<rect", "bar chain", "width").at(0), widths[0] / 2, 0.02);
  }
}

}  // namespace
}  // namespace rondo::figures
