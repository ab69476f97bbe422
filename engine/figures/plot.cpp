#include "engine/figures/plot.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace rondo::figures {
namespace {

constexpr double kPlotLine = 16, kRight = 14, kSwatch = 22;
constexpr double kTick = 5;  // between a tick's end and its number

struct Entry {
  std::string name, kind;
  std::optional<Shape> shape;  // none: a curve
};

std::vector<Entry> entries_of(const Plot& plot) {
  std::vector<Entry> entries;
  for (const Series& series : plot.series)
    if (!series.name.empty()) entries.push_back({series.name, series.kind, series.shape});
  for (const Curve& curve : plot.curves)
    if (!curve.name.empty()) entries.push_back({curve.name, curve.kind, std::nullopt});
  return entries;
}

// Draws the legend from `y` on, in as many lines as it needs; where what is below it may begin.
double draw_legend(Svg& svg, const std::vector<Entry>& entries, double y) {
  double x = 4;
  for (const Entry& entry : entries) {
    const double width = kSwatch + text_width(entry.name) + 12;
    if (x > 4 && x + width > svg.width()) {
      x = 4;
      y += kPlotLine;
    }
    if (entry.shape)
      svg.mark(*entry.shape, {x + 8, y - 4}, "mark " + entry.kind);
    else
      svg.line({x, y - 4}, {x + 16, y - 4}, "curve " + entry.kind);
    svg.text({x + kSwatch, y}, entry.name);
    x += width;
  }
  return entries.empty() ? y - kPlotLine : y;
}

double widest(const Axis& axis, const std::vector<double>& ticks) {
  double width = 0;
  for (const double tick : ticks) width = std::max(width, text_width(axis.label(tick)));
  return width;
}

void draw_axes(Svg& svg, const Axis& x, const Axis& y, const std::vector<double>& y_ticks) {
  for (const double tick : y_ticks) {
    svg.line({x.from, y.at(tick)}, {x.to, y.at(tick)}, "grid");
    svg.text({x.from - kTick, y.at(tick) + 4}, y.label(tick), Anchor::End, "tick");
  }
  double used = -1e9;  // pixels that the numbers drawn so far reach to
  for (const double tick : x.ticks(static_cast<int>((x.to - x.from) / 55))) {
    svg.line({x.at(tick), y.from}, {x.at(tick), y.to}, "grid");
    const std::string label = x.label(tick);
    const double half = text_width(label) / 2;
    const double middle = middle_within(x.at(tick), label, svg.width());
    if (middle - half < used + 6) continue;
    svg.text({middle, y.from + kPlotLine}, label, Anchor::Middle, "tick");
    used = middle + half;
  }
  svg.line({x.from, y.from}, {x.to, y.from}, "axis");
  svg.line({x.from, y.from}, {x.from, y.to}, "axis");
  svg.text({x.to, y.from + 2 * kPlotLine + 2}, x.title, Anchor::End, "title");
}

bool within(const Axis& axis, double value) {
  const double slack = 1e-9 * std::abs(axis.high);
  return value >= axis.low - slack && value <= axis.high + slack;
}

// The point of the way from an inner to an outer point where it leaves the plot, found by halving: axes may
// be logarithmic.
Point leaving(const Axis& x, const Axis& y, Point inner, Point outer) {
  const auto middle = [](const Axis& axis, double one, double other) {
    return axis.spacing == Spacing::Log && one > 0 && other > 0 ? std::sqrt(one * other) : (one + other) / 2;
  };
  for (int i = 0; i < 50; ++i) {
    const Point half{middle(x, inner.first, outer.first), middle(y, inner.second, outer.second)};
    (within(x, half.first) && within(y, half.second) ? inner : outer) = half;
  }
  return inner;
}

// What of a curve lies within the plot, in pixels. A part between two points that both lie outside is left
// out.
std::vector<Point> visible(const Axis& x, const Axis& y, const std::vector<Point>& points) {
  std::vector<Point> shown;
  const auto in = [&](Point p) { return within(x, p.first) && within(y, p.second); };
  const auto add = [&](Point p) { shown.emplace_back(x.at(p.first), y.at(p.second)); };
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (in(points[i])) {
      if (i > 0 && !in(points[i - 1])) add(leaving(x, y, points[i], points[i - 1]));
      add(points[i]);
    } else if (i > 0 && in(points[i - 1])) {
      add(leaving(x, y, points[i - 1], points[i]));
    }
  }
  return shown;
}

// Whether a line is long enough for a label beside it.
bool is_long(const std::vector<Point>& line) {
  return !line.empty() &&
         std::hypot(line.back().first - line.front().first, line.back().second - line.front().second) > 40;
}

// Where labels stand, so that no two of them share pixels.
class Labels {
 public:
  Labels(Svg& svg, double left, double right, double top)
      : svg_(svg), left_(left), right_(right), top_(top) {}

  void put(Point at, const std::string& text, bool below) {
    const double width = text_width(text);
    double y = below ? at.second + 14 : std::max(at.second - 5, top_ + 10);
    // A line that rises to the top edge leaves room for its label at the left.
    const double aside = below ? width + 8 : at.second < top_ + 2 ? -18 : 0;
    const double end = std::clamp(at.first + aside, std::min(left_ + width, right_), right_);
    while (is_taken({end - width - 2, end + 2, y - kHeight, y})) y += kHeight;
    taken_.push_back({end - width, end, y - kHeight, y});
    svg_.text({end, y}, text, Anchor::End, "halo");
  }

  // What names of points keep off: a mark, or a line that is no longer than one.
  void keep_off(double left, double right, double top, double bottom) {
    taken_.push_back({left, right, top, bottom});
  }

  // Right or left of a point, or above it; nowhere where all are taken.
  void put_beside(Point at, const std::string& text) {
    const double width = text_width(text, kNameSize), y = at.second + 3;
    const Point ways[] = {
        {at.first + kBeside, y}, {at.first - kBeside - width, y}, {at.first - width / 2, y - 10}};
    for (const auto& [begin, base] : ways) {
      const Place place{begin, begin + width, base - 8, base + 2};
      if (begin < left_ || begin + width > right_ || is_taken(place)) continue;
      taken_.push_back(place);
      svg_.text({begin, base}, text, Anchor::Start, "halo name");
      return;
    }
  }

 private:
  static constexpr double kHeight = 12;
  static constexpr double kBeside = 7, kNameSize = 9.5;  // as figures.css has it for `name`
  struct Place {
    double left, right, top, bottom;
  };
  bool is_taken(const Place& wanted) const {
    return std::ranges::any_of(taken_, [&](const Place& place) {
      return wanted.left < place.right + 2 && place.left < wanted.right + 2 && wanted.top < place.bottom &&
             place.top < wanted.bottom;
    });
  }

  Svg& svg_;
  double left_, right_, top_;
  std::vector<Place> taken_;
};

// Names of points, of as many as have room: those of one picture are read off beside the others.
void draw_names(const Plot& plot, Labels& labels) {
  constexpr double kMark = 4;  // pixels from the middle of a mark to its edge
  for (const Series& series : plot.series)
    for (const PlotPoint& point : series.points) {
      const double x = plot.x.at(point.x), y = plot.y.at(point.y);
      labels.keep_off(x - kMark, x + kMark, y - kMark, y + kMark);
    }
  for (const Series& series : plot.series)
    for (const PlotPoint& point : series.points)
      if (!point.label.empty()) labels.put_beside({plot.x.at(point.x), plot.y.at(point.y)}, point.label);
}

void draw_points(Svg& svg, const Plot& plot) {
  for (const bool marked : {false, true})
    for (const Series& series : plot.series)
      for (const PlotPoint& point : series.points) {
        if (point.marked != marked || !std::isfinite(point.x) || !std::isfinite(point.y)) continue;
        const Point at{plot.x.at(point.x), plot.y.at(point.y)};
        if (marked) svg.mark(Shape::Circle, at, "ring", "", 8);
        svg.mark(series.shape, at, "mark " + series.kind, point.title);
      }
}

}  // namespace

Svg draw(Plot plot, double width, double height) {
  Svg svg(width, height);
  const double legend = draw_legend(svg, entries_of(plot), 12);
  svg.text({4, legend + kPlotLine + 2}, plot.y.title, Anchor::Start, "title");
  plot.y.from = height - 2 * kPlotLine - 8;
  plot.y.to = legend + kPlotLine + 14;
  const std::vector<double> y_ticks = plot.y.ticks(static_cast<int>((plot.y.from - plot.y.to) / 34));
  plot.x.from = widest(plot.y, y_ticks) + kTick + 4;
  plot.x.to = width - kRight;
  draw_axes(svg, plot.x, plot.y, y_ticks);
  Labels labels(svg, plot.x.from, plot.x.to, plot.y.to);
  std::vector<std::pair<Point, const Curve*>> ends;
  std::vector<std::vector<Point>> dashes;
  for (const Curve& curve : plot.curves) {
    const std::vector<Point> shown = visible(plot.x, plot.y, curve.points);
    svg.lines(shown, "curve " + curve.kind);
    if (!is_long(shown)) dashes.push_back(shown);
    if (!curve.label.empty() && is_long(shown)) ends.emplace_back(shown.back(), &curve);
  }
  draw_points(svg, plot);
  for (const auto& [at, curve] : ends) labels.put(at, curve->label, curve->below);
  for (const std::vector<Point>& dash : dashes)
    if (!dash.empty())
      labels.keep_off(dash.front().first, dash.back().first, dash.front().second - 1, dash.back().second + 1);
  draw_names(plot, labels);
  return svg;
}

}  // namespace rondo::figures
