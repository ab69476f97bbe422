#include "engine/figures/bars.h"

#include <algorithm>
#include <cmath>

namespace rondo::figures {
namespace {

constexpr double kBarLine = 16;
constexpr double kNarrow = 480;        // pixels below which labels stand above their bars
constexpr double kWidestLabel = 0.48;  // of the picture's width

double thickness(const BarRow& row) { return row.bars.size() > 1 ? 5 : 10; }
double bars_height(const BarRow& row) { return static_cast<double>(row.bars.size()) * (thickness(row) + 1); }

double widest(const std::vector<BarRow>& rows, std::string BarRow::*text) {
  double width = 0;
  for (const BarRow& row : rows) width = std::max(width, text_width(row.*text));
  return width;
}

double draw_legend(Svg& svg, const std::vector<BarChart::Entry>& legend) {
  double x = 4, y = 12;
  for (const BarChart::Entry& entry : legend) {
    const double width = 20 + text_width(entry.name) + 12;
    if (x > 4 && x + width > svg.width()) {
      x = 4;
      y += kBarLine;
    }
    svg.box({x, y - 9}, 12, 10, "bar " + entry.kind);
    svg.text({x + 17, y}, entry.name);
    x += width;
  }
  return legend.empty() ? 0 : y + 8;
}

void draw_axis(Svg& svg, const Axis& axis, double top, double bottom) {
  double used = -1e9;
  for (const double tick : axis.ticks(static_cast<int>((axis.to - axis.from) / 60))) {
    svg.line({axis.at(tick), top}, {axis.at(tick), bottom}, "grid");
    const std::string label = axis.label(tick);
    const double half = text_width(label) / 2;
    const double middle = middle_within(axis.at(tick), label, svg.width());
    if (middle - half < used + 6) continue;
    svg.text({middle, bottom + kBarLine - 2}, label, Anchor::Middle, "tick");
    used = middle + half;
  }
  svg.line({axis.from, top}, {axis.from, bottom}, "axis");
  svg.text({axis.to, bottom + 2 * kBarLine}, axis.title, Anchor::End, "title");
}

void fit_to(Axis& axis, const BarChart& chart) {
  std::vector<double> values = {chart.line, chart.reach};
  for (const BarRow& row : chart.rows)
    for (const Bar& bar : row.bars) values.push_back(bar.value);
  axis.spacing = Spacing::Linear;
  fit(axis, values);
}

void draw_bars(Svg& svg, const Axis& axis, const BarRow& row, double y) {
  for (const Bar& bar : row.bars) {
    const double from = axis.at(0), to = axis.at(bar.value);
    svg.box({std::min(from, to), y}, std::abs(to - from), thickness(row), "bar " + bar.kind, bar.title);
    y += thickness(row) + 1;
  }
}

}  // namespace

Svg draw(BarChart chart, double width) {
  const bool narrow = width < kNarrow;
  const double label_height = narrow ? kBarLine : 0, gap = narrow ? 5 : 7;
  const auto height_of = [&](const BarRow& row) { return std::max(bars_height(row), narrow ? 0.0 : 12.0); };
  double rows_height = gap;
  for (const BarRow& row : chart.rows) rows_height += label_height + height_of(row) + gap;
  // How many lines the legend takes is not known before it is drawn: the first time to measure.
  Svg measured(width, 0);
  const double top = draw_legend(measured, chart.legend), bottom = top + rows_height;
  Svg svg(width, bottom + 2 * kBarLine + 8);
  draw_legend(svg, chart.legend);
  const double label_width = std::min(widest(chart.rows, &BarRow::label), width * kWidestLabel);
  chart.axis.from = narrow ? 4 : label_width + 14;
  chart.axis.to = width - (narrow ? 8 : widest(chart.rows, &BarRow::value) + 16);
  fit_to(chart.axis, chart);
  draw_axis(svg, chart.axis, top, bottom);
  std::vector<double> tops;  // of the rows
  double y = top + gap;
  for (const BarRow& row : chart.rows) {
    tops.push_back(y);
    draw_bars(svg, chart.axis, row, y + label_height + (height_of(row) - bars_height(row)) / 2);
    y += label_height + height_of(row) + gap;
  }
  if (chart.line > 0)
    svg.line({chart.axis.at(chart.line), top}, {chart.axis.at(chart.line), bottom}, "reference");
  for (std::size_t i = 0; i < chart.rows.size(); ++i) {
    const BarRow& row = chart.rows[i];
    const double base = tops[i] + (narrow ? 11 : height_of(row) / 2 + 4);
    const double room = narrow ? width - text_width(row.value) - 20 : label_width;
    svg.text({narrow ? 4 : label_width + 6, base}, fitting(row.label, room),
             narrow ? Anchor::Start : Anchor::End, row.marked ? "halo strong" : "halo");
    svg.text({width - 4, base}, row.value, Anchor::End, "tick halo");
  }
  return svg;
}

}  // namespace rondo::figures
