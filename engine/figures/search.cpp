#include "engine/figures/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/support/units.h"
#include "engine/figures/bars.h"
#include "engine/figures/plot.h"

namespace rondo::figures {
namespace {

constexpr double kPlotHeight = 320;
constexpr std::size_t kMostRows = 40;    // of a table of trials
constexpr std::size_t kMostOfName = 60;  // characters beside a point: each is written for two widths
constexpr Shape kShapes[] = {Shape::Circle, Shape::Square, Shape::Triangle, Shape::Diamond, Shape::Cross};

// Strategies in the order of their names.
std::vector<std::string> strategies_of(const std::vector<TriedPoint>& trials) {
  std::vector<std::string> names;
  for (const TriedPoint& trial : trials)
    if (std::ranges::find(names, trial.strategy) == names.end()) names.push_back(trial.strategy);
  std::ranges::sort(names);
  return names;
}

// One series a strategy, of the trials that `place` gives a place.
template <class Place>
std::vector<Series> series_of(const std::vector<TriedPoint>& trials, const Place& place) {
  std::vector<Series> all;
  const std::vector<std::string> names = strategies_of(trials);
  for (std::size_t i = 0; i < names.size(); ++i) {
    Series series{shortened(names[i], 30),
                  fmt::format("s{}", i % std::size(kShapes)),
                  kShapes[i % std::size(kShapes)],
                  {}};
    for (std::size_t at = 0; at < trials.size(); ++at)
      if (trials[at].strategy == names[i])
        if (std::optional<PlotPoint> point = place(at)) series.points.push_back(std::move(*point));
    if (!series.points.empty()) all.push_back(std::move(series));
  }
  return all;
}

bool has_both(const TriedPoint& trial) {
  return trial.measured_s && trial.predicted_s && *trial.measured_s > 0 && *trial.predicted_s > 0;
}

// The fastest first.
std::vector<std::size_t> by_time(const std::vector<TriedPoint>& trials) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < trials.size(); ++i)
    if (trials[i].measured_s) order.push_back(i);
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return *trials[a].measured_s < *trials[b].measured_s; });
  return order;
}

std::string title_of(const TriedPoint& trial, std::size_t number) {
  return fmt::format("trial {}, {} {}: measured {}, by the model {}", number + 1, trial.strategy,
                     shortened(trial.name, kMostOfName),
                     trial.measured_s ? duration(*trial.measured_s) : "nothing",
                     trial.predicted_s ? duration(*trial.predicted_s) : "nothing");
}

Plot model_plot(const std::vector<TriedPoint>& trials) {
  Plot plot;
  plot.x = {"measured", Spacing::Log, 0, 1, 0, 1, duration};
  plot.y = {"by the model", Spacing::Log, 0, 1, 0, 1, duration};
  std::vector<double> xs, ys;
  for (const TriedPoint& trial : trials)
    if (has_both(trial)) xs.push_back(*trial.measured_s), ys.push_back(*trial.predicted_s);
  fit(plot.x, xs);
  fit(plot.y, ys);
  const double low = std::min(plot.x.low, plot.y.low), high = std::max(plot.x.high, plot.y.high);
  const double first = std::max(plot.x.low, plot.y.low), last = std::min(plot.x.high, plot.y.high);
  if (first < last)
    plot.curves.push_back({"", "roof", {{first, first}, {last, last}}, "as predicted"});
  else
    plot.curves.push_back({"", "roof", {{low, low}, {high, high}}, ""});
  plot.series = series_of(trials, [&](std::size_t at) -> std::optional<PlotPoint> {
    if (!has_both(trials[at])) return std::nullopt;
    return PlotPoint{*trials[at].measured_s, *trials[at].predicted_s, title_of(trials[at], at),
                     trials[at].best};
  });
  return plot;
}

Plot history_plot(const std::vector<TriedPoint>& trials) {
  Plot plot;
  plot.x = {"trial", Spacing::Linear, 0, 1, 0, 1, plain};
  plot.y = {"time", Spacing::Log, 0, 1, 0, 1, duration};
  std::vector<double> ys;
  Curve best{"best so far", "best", {}, ""};
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t at = 0; at < trials.size(); ++at) {
    if (!trials[at].measured_s || *trials[at].measured_s <= 0) continue;
    ys.push_back(*trials[at].measured_s);
    if (*trials[at].measured_s >= least) continue;
    const auto x = static_cast<double>(at + 1);
    if (!best.points.empty()) best.points.emplace_back(x, least);
    least = *trials[at].measured_s;
    best.points.emplace_back(x, least);
  }
  fit(plot.x, {static_cast<double>(trials.size())});
  fit(plot.y, ys);
  if (!best.points.empty()) best.points.emplace_back(plot.x.high, least);
  plot.curves.push_back(std::move(best));
  plot.series = series_of(trials, [&](std::size_t at) -> std::optional<PlotPoint> {
    if (!trials[at].measured_s) return std::nullopt;
    return PlotPoint{static_cast<double>(at + 1), *trials[at].measured_s, title_of(trials[at], at),
                     trials[at].best};
  });
  return plot;
}

}  // namespace

Figure model_beside_time(const std::vector<TriedPoint>& trials) {
  Figure figure;
  figure.title = "The model beside the clock";
  figure.about =
      "Each point is a candidate of the search, across as measured and upwards as the cost model predicts "
      "it; the ring is "
      "the one that was kept. What lies above the line is faster than the model says, what lies below is "
      "slower.";
  figure.table.head = {"trial", "strategy", "measured", "by the model", "model over measured", "parameters"};
  std::size_t timed = 0;
  for (const std::size_t at : by_time(trials)) {
    const TriedPoint& trial = trials[at];
    if (!has_both(trial) || ++timed > kMostRows) continue;
    figure.table.rows.push_back({fmt::format("{}", at + 1), trial.strategy, duration(*trial.measured_s),
                                 duration(*trial.predicted_s), times(*trial.predicted_s / *trial.measured_s),
                                 trial.name});
  }
  if (timed > kMostRows)
    figure.table.rows.push_back(
        {"", fmt::format("{} slower ones are left out", timed - kMostRows), "", "", "", ""});
  figure.draw = [trials](double width) { return figures::draw(model_plot(trials), width, kPlotHeight); };
  return figure;
}

Figure best_so_far(const std::vector<TriedPoint>& trials) {
  Figure figure;
  figure.title = "The search in order";
  std::map<std::string, int> fates;
  double least = std::numeric_limits<double>::infinity();
  figure.table.head = {"trial", "strategy", "time", "parameters"};
  for (std::size_t at = 0; at < trials.size(); ++at) {
    const TriedPoint& trial = trials[at];
    if (!trial.measured_s) ++fates[trial.fate];
    if (!trial.measured_s || *trial.measured_s >= least) continue;
    least = *trial.measured_s;
    figure.table.rows.push_back({fmt::format("{}", at + 1), trial.strategy, duration(least), trial.name});
  }
  figure.about =
      "Each point is a candidate in the order of recording, and the line is the best so far. The table has "
      "those that "
      "were faster than all before.";
  std::string untimed;
  for (const auto& [fate, count] : fates)
    untimed += fmt::format("{}{} {}", untimed.empty() ? "" : ", ", count, fate);
  if (!untimed.empty()) figure.about += fmt::format(" Not timed, and so not shown: {}.", untimed);
  figure.draw = [trials](double width) { return figures::draw(history_plot(trials), width, kPlotHeight); };
  return figure;
}

Figure parameter_shares(const std::string& strategy, std::size_t trials,
                        const std::vector<ParameterShare>& shares) {
  Figure figure;
  figure.title = "Which parameters of " + strategy + " matter";
  figure.about = fmt::format(
      "Of the spread of the logarithm of {} measured times, the share that the values of one parameter "
      "explain, without "
      "what chance would explain. A search tries good values more often than bad ones, and parameters hang "
      "together, so "
      "the shares are a hint and need not add up to 100%.",
      trials);
  figure.table.head = {"parameter", "share of the spread", "values tried"};
  BarChart chart;
  chart.axis.title = "share of the spread of times";
  chart.axis.label = [](double share) { return plain(share * 100) + "%"; };
  chart.reach = 0.25;  // a few percent are to look like a few percent
  for (const ParameterShare& each : shares) {
    chart.rows.push_back({each.name, percent(each.share), {{each.share, "s0", ""}}});
    figure.table.rows.push_back({each.name, percent(each.share), fmt::format("{}", each.values)});
  }
  figure.draw = [chart](double width) { return figures::draw(chart, width); };
  return figure;
}

}  // namespace rondo::figures
