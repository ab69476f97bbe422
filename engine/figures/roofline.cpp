#include "engine/figures/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/support/units.h"
#include "engine/figures/bars.h"
#include "engine/figures/plot.h"

namespace rondo::figures {
namespace {

// The floors that there are, in the order of legends, with the shape of the points that they bind.
struct Kind {
  const char* name;
  const char* legend;
  Shape shape;
};
constexpr Kind kKinds[] = {{"bytes", "bytes bind", Shape::Square},
                           {"products", "products bind", Shape::Triangle},
                           {"chain", "the chain binds", Shape::Circle}};

constexpr double kBeforeCorner = 8;

double highest(const MeasuredPoint& point) { return point.floors.empty() ? 0 : point.floors.front().seconds; }

// One series for each floor that binds some point, through what `place` makes of a point.
template <class Place>
std::vector<Series> series_of(const std::vector<MeasuredPoint>& points, const Place& place) {
  std::vector<Series> all;
  for (const Kind& kind : kKinds) {
    Series series{kind.legend, kind.name, kind.shape, {}};
    for (const MeasuredPoint& point : points)
      if (!point.floors.empty() && point.floors.front().name == kind.name)
        series.points.push_back(place(point));
    if (!series.points.empty()) all.push_back(std::move(series));
  }
  return all;
}

struct Intensity {
  double operations_a_byte = 0, operations_per_s = 0, chain_allows = 0;  // of the last 0: no chain
};

// Of points that have products and bytes.
bool has_intensity(const MeasuredPoint& point) {
  const FloorOfPoint* products = point.floor("products");
  const FloorOfPoint* bytes = point.floor("bytes");
  return products != nullptr && bytes != nullptr && bytes->amount > 0 && products->amount > 0 &&
         point.seconds > 0;
}

Intensity intensity_of(const MeasuredPoint& point) {
  const double operations = point.floor("products")->amount;
  const FloorOfPoint* chain = point.floor("chain");
  return {operations / point.floor("bytes")->amount, operations / point.seconds,
          chain == nullptr ? 0 : operations / chain->seconds};
}

std::string title_of(const MeasuredPoint& point) {
  std::string text = fmt::format("{}: {}", point.name, duration(point.seconds));
  for (const FloorOfPoint& floor : point.floors)
    text += fmt::format("; {} {}", floor.name, duration(floor.seconds));
  return text;
}

std::string rate_label(double value) { return with_prefix(value, "FLOP/s"); }

// The slanted line, in two parts: the name of the rate stands between them.
void add_roof_of_copies(double copy_bytes_per_s, double top, Plot& plot) {
  const double corner = top / copy_bytes_per_s,
               middle = std::sqrt(corner * std::max(plot.x.low, corner / 1e3));
  const Point between{middle, middle * copy_bytes_per_s};
  plot.curves.push_back({"",
                         "roof",
                         {{plot.x.low / 10, plot.x.low / 10 * copy_bytes_per_s}, between},
                         fmt::format("copy {}", with_prefix(copy_bytes_per_s, "B/s")),
                         true});
  plot.curves.push_back({"", "roof", {between, {corner, top}}, "", false});
}

Plot roofline_plot(double copy_bytes_per_s, const std::vector<Roof>& roofs,
                   const std::vector<MeasuredPoint>& points) {
  Plot plot;
  plot.x = {"operations of products a byte", Spacing::Log, 0, 1, 0, 1, plain};
  plot.y = {"operations a second", Spacing::Log, 0, 1, 0, 1, rate_label};
  std::vector<double> xs, ys;
  double top = 0;
  for (const Roof& roof : roofs) {
    ys.push_back(roof.operations_per_s);
    xs.push_back(roof.operations_per_s / copy_bytes_per_s);
    xs.push_back(xs.back() / kBeforeCorner);  // so that the slanted line can be seen
    top = std::max(top, roof.operations_per_s);
  }
  for (const MeasuredPoint& point : points) {
    const Intensity of = intensity_of(point);
    xs.push_back(of.operations_a_byte);
    ys.push_back(of.operations_per_s);
  }
  fit(plot.x, xs);
  fit(plot.y, ys);
  plot.series = series_of(points, [](const MeasuredPoint& point) {
    const Intensity of = intensity_of(point);
    return PlotPoint{of.operations_a_byte, of.operations_per_s, title_of(point), point.marked, point.label};
  });
  add_roof_of_copies(copy_bytes_per_s, top, plot);
  for (const Roof& roof : roofs)
    plot.curves.push_back({"",
                           "roof",
                           {{roof.operations_per_s / copy_bytes_per_s, roof.operations_per_s},
                            {plot.x.high, roof.operations_per_s}},
                           fmt::format("{} {}", roof.name, rate_label(roof.operations_per_s))});
  bool named = false;
  for (const MeasuredPoint& point : points)
    if (const Intensity of = intensity_of(point); of.chain_allows > 0) {
      const double x = of.operations_a_byte;
      plot.curves.push_back({named ? "" : "what the chain allows",
                             "allowed",
                             {{x * 0.93, of.chain_allows}, {x * 1.07, of.chain_allows}},
                             ""});
      named = true;
    }
  return plot;
}

}  // namespace

const FloorOfPoint* MeasuredPoint::floor(const std::string& of) const {
  const auto found = std::ranges::find(floors, of, &FloorOfPoint::name);
  return found == floors.end() ? nullptr : &*found;
}

Figure roofline(const std::string& machine, double copy_bytes_per_s, const std::vector<Roof>& roofs,
                const std::vector<MeasuredPoint>& all) {
  Figure figure;
  figure.title = "Roofline of " + machine;
  figure.about =
      "Each point is a problem with products of matrices. Its height is the rate that its fastest kernel "
      "reached. The "
      "slanted line is the rate of a copy, the level ones are those of products, and a dash above a point is "
      "what the "
      "chain of its dependent steps allows.";
  std::vector<MeasuredPoint> points;
  for (const MeasuredPoint& point : all)
    if (has_intensity(point)) points.push_back(point);
  figure.table.head = {"problem", "operations a byte", "reached", "the chain allows", "binds"};
  for (const MeasuredPoint& point : points) {
    const Intensity of = intensity_of(point);
    figure.table.rows.push_back(
        {point.name, fmt::format("{:.3g}", of.operations_a_byte), rate_label(of.operations_per_s),
         of.chain_allows > 0 ? rate_label(of.chain_allows) : "", point.floors.front().name});
  }
  figure.draw = [=](double width) {
    return figures::draw(roofline_plot(copy_bytes_per_s, roofs, points), width,
                         std::clamp(width * 0.6, 300.0, 430.0));
  };
  return figure;
}

Figure time_over_floor(const std::string& machine, const std::vector<MeasuredPoint>& points) {
  Figure figure;
  figure.title = "Time over the highest floor on " + machine;
  figure.about =
      "Each point is a problem. Across stands the highest of its floors, upwards the time of its fastest "
      "kernel. On the "
      "lowest line a kernel takes no longer than its floor; what lies above the others is not explained by a "
      "floor.";
  figure.table.head = {"problem", "time", "highest floor", "binds", "time over floor"};
  for (const MeasuredPoint& point : points)
    if (highest(point) > 0)
      figure.table.rows.push_back({point.name, duration(point.seconds), duration(highest(point)),
                                   point.floors.front().name, times(point.seconds / highest(point))});
  figure.draw = [points](double width) {
    Plot plot;
    plot.x = {"highest floor", Spacing::Log, 0, 1, 0, 1, duration};
    plot.y = {"time", Spacing::Log, 0, 1, 0, 1, duration};
    std::vector<double> xs, ys;
    for (const MeasuredPoint& point : points)
      if (highest(point) > 0) xs.push_back(highest(point)), ys.push_back(point.seconds);
    fit(plot.x, xs);
    fit(plot.y, ys);
    for (const double factor : {1.0, 2.0, 4.0})
      plot.curves.push_back({"",
                             factor == 1 ? "roof" : "allowed",
                             {{plot.x.low, plot.x.low * factor}, {plot.x.high, plot.x.high * factor}},
                             factor == 1 ? "the floor" : fmt::format("{:g}×", factor)});
    plot.y.low = std::min(plot.y.low, plot.x.low);
    plot.series = series_of(points, [](const MeasuredPoint& point) {
      return PlotPoint{highest(point), point.seconds, title_of(point), point.marked, point.label};
    });
    return figures::draw(plot, width, std::clamp(width * 0.6, 300.0, 430.0));
  };
  return figure;
}

Figure floor_shares(const std::string& title, const std::vector<MeasuredPoint>& points) {
  Figure figure;
  figure.title = title;
  figure.about =
      "Of each problem's time the share that its floors explain, each as if nothing else held the kernel up. "
      "A bar of "
      "100% leaves nothing to gain without lowering that floor.";
  figure.table.head = {"problem", "time", "bytes", "products", "chain", "binds"};
  BarChart chart;
  chart.axis.title = "share of the time";
  chart.axis.label = [](double share) { return plain(share * 100) + "%"; };
  chart.line = 1;
  for (const Kind& kind : kKinds) chart.legend.push_back({kind.name, kind.name});
  for (const MeasuredPoint& point : points) {
    if (point.seconds <= 0) continue;
    std::vector<std::string> cells = {point.name, duration(point.seconds)};
    BarRow row{point.name, duration(point.seconds), {}, point.marked};
    for (const Kind& kind : kKinds) {
      const FloorOfPoint* floor = point.floor(kind.name);
      cells.push_back(floor == nullptr ? "" : duration(floor->seconds));
      if (floor != nullptr)
        row.bars.push_back({floor->seconds / point.seconds, kind.name,
                            fmt::format("{}: {} {}, {} of the time", point.name, kind.name,
                                        duration(floor->seconds), percent(floor->seconds / point.seconds))});
    }
    cells.push_back(point.floors.empty() ? "" : point.floors.front().name);
    figure.table.rows.push_back(std::move(cells));
    chart.rows.push_back(std::move(row));
  }
  figure.draw = [chart](double width) { return figures::draw(chart, width); };
  return figure;
}

}  // namespace rondo::figures
