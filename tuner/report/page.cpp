#include "tuner/report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/support/units.h"
#include "engine/figures/roofline.h"
#include "engine/figures/search.h"
#include "engine/figures/step_graph.h"
#include "engine/figures/timeline.h"
#include "engine/figures/times.h"
#include "tuner/report/html.h"
#include "tuner/report/machine_figures.h"
#include "tuner/report/spread.h"

namespace rondo::tuner {
namespace {

using figures::escaped;
using figures::Figure;

constexpr std::size_t kMostSearches = 24;  // that have pictures; more make a page too large to open
constexpr std::size_t kLeastTimed = 2;     // trials of a search that is worth a picture

// "B=16 T=1024 12×64 bf16 fw": a row's label, where the cell is known.
std::string short_name(const db::Problem& problem) {
  return fmt::format("B={} T={} {}×{} {}{} {}", problem.shape.B, problem.shape.T, problem.shape.H,
                     problem.shape.D, problem.dtype, unusual_math(problem), problem.pass);
}

std::vector<figures::TriedPoint> tried(const ReportedProblem& problem) {
  std::vector<figures::TriedPoint> points;
  for (const ReportedTrial& one : problem.trials) {
    figures::TriedPoint point;
    point.strategy = one.trial.strategy;
    point.name = one.parameters.empty() ? one.trial.parameters : schedule::print(one.parameters);
    if (one.trial.median_ms) point.measured_s = *one.trial.median_ms * 1e-3;
    if (one.model_ms) point.predicted_s = *one.model_ms * 1e-3;
    point.best = one.best;
    point.fate = std::string(db::to_text(one.trial.status));
    points.push_back(std::move(point));
  }
  return points;
}

std::string counted(std::size_t count, const std::string& what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::size_t timed(const ReportedProblem& problem) {
  return static_cast<std::size_t>(std::ranges::count_if(
      problem.trials, [](const ReportedTrial& one) { return one.trial.median_ms.has_value(); }));
}

class Writer {
 public:
  explicit Writer(const Report& report) : report_(report) {}

  Page page() {
    std::string body = fmt::format(
        "<header>\n<div><p class=\"brand\">Rondo report</p>\n<h1>{}</h1>\n{}</div>\n<button type=\"button\" "
        "id=\"theme\" "
        "hidden=\"hidden\">dark</button>\n</header>\n<main>\n",
        escaped(report_.title), paragraph(report_.source, "source"));
    body += facts();
    for (const std::string& remark : report_.remarks) body += paragraph(remark, "remark");
    const bool one = report_.problems.size() == 1 && report_.problems.front().changes.size() > 0;
    if (one) body += section("Where the time goes", problem_figures(report_.problems.front()));
    body += overview();
    body += peers();
    if (!one) body += shares() + searches();
    body += steps();
    return {html_page(report_.title + " - Rondo report", body + "</main>\n"), figures_};
  }

 private:
  std::string add(const Figure& figure) { return figure_of(figure, fmt::format("f{}", ++figures_)); }

  static std::string section(const std::string& title, const std::string& inside) {
    if (inside.empty()) return "";
    return fmt::format("<section>\n<h2>{}</h2>\n<div class=\"figures\">\n{}</div>\n</section>\n",
                       escaped(title), inside);
  }

  std::string facts() const {
    std::string machines;
    for (const ReportedMachine& machine : report_.machines)
      machines += fmt::format("{}{} ({}, copy {})", machines.empty() ? "" : "; ", machine.name,
                              machine.measured ? "calibrated" : "public figures",
                              with_prefix(machine.copy_bytes_per_s, "B/s"));
    const auto fact = [](const std::string& name, const std::string& value) {
      return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escaped(name), escaped(value));
    };
    return "<dl class=\"facts\">\n" + fact("problems", fmt::format("{}", report_.problems.size())) +
           fact("trials", fmt::format("{}", report_.trials())) +
           fact("machines", machines.empty() ? "none known" : machines) + "</dl>\n";
  }

  std::string overview() {
    std::string inside;
    for (const MachineFigure& one : machine_figures(report_)) inside += add(one.figure);
    return section("Beside what the machine allows", inside);
  }

  std::string peers() {
    if (report_.comparisons.empty()) return "";
    std::vector<figures::Ratio> ratios;
    for (const Comparison& one : report_.comparisons)
      ratios.push_back(
          {one.problem, one.peer_s / one.seconds, {duration(one.seconds), duration(one.peer_s), one.peer}});
    return section("Beside peers",
                   add(figures::ratio_bars(
                       "How many times as long peers take",
                       "Each bar is the time of another implementation over that of the fastest "
                       "kernel here; beyond the line it is slower. Its times were measured in other "
                       "runs.",
                       "time of the peer over that of Rondo", {"time", "of the peer", "peer"}, ratios)));
  }

  // Of one cell: a picture for each machine, and what is missing.
  std::string shares_of(const std::string& cell, const std::vector<const ReportedProblem*>& problems) {
    std::map<std::string, std::vector<figures::MeasuredPoint>> on_machine;
    std::map<std::string, std::size_t> remarks;
    for (const ReportedProblem* problem : problems) {
      if (!problem->remark.empty()) ++remarks[problem->remark];
      if (problem->seconds && !problem->floors.empty())
        on_machine[problem->machine].push_back(point_of(*problem, short_name(problem->problem)));
    }
    std::string html;
    for (const ReportedMachine& machine : report_.machines)
      if (const auto found = on_machine.find(machine.key); found != on_machine.end())
        html += add(figures::floor_shares(fmt::format("{} on {}", cell, machine.name), found->second));
    for (const auto& [remark, count] : remarks)
      html += paragraph(fmt::format("{} of {}: {}.", counted(count, "problem"), cell, remark), "remark");
    return html;
  }

  std::string shares() {
    std::map<std::string, std::vector<const ReportedProblem*>> of_cell;
    for (const ReportedProblem& problem : report_.problems) of_cell[problem.cell].push_back(&problem);
    std::string inside;
    for (const auto& [cell, problems] : of_cell)
      if (const std::string of = shares_of(cell, problems); !of.empty())
        inside += fmt::format(
            "<details class=\"problem\"{}><summary>{}</summary>\n<div "
            "class=\"figures\">\n{}</div></details>\n",
            inside.empty() ? " open=\"open\"" : "",
            escaped(fmt::format("{}: {}", cell, counted(problems.size(), "problem"))), of);
    return inside.empty()
               ? ""
               : fmt::format("<section>\n<h2>Times beside their floors</h2>\n{}</section>\n", inside);
  }

  std::string searches() {
    std::vector<const ReportedProblem*> searched;
    for (const ReportedProblem& problem : report_.problems)
      if (timed(problem) >= kLeastTimed) searched.push_back(&problem);
    std::ranges::stable_sort(
        searched, [](const auto* a, const auto* b) { return a->trials.size() > b->trials.size(); });
    std::string inside;
    if (searched.empty() && !report_.problems.empty())
      inside = paragraph(
          "Only one timed trial a problem is recorded here, so there are no pictures of searches.", "remark");
    const std::size_t shown = std::min(searched.size(), kMostSearches);
    for (std::size_t i = 0; i < shown; ++i) {
      const ReportedProblem& problem = *searched[i];
      inside += fmt::format(
          "<details class=\"problem\"{}><summary>{}</summary>\n<div class=\"figures\">\n{}</div></details>\n",
          i == 0 ? " open=\"open\"" : "",
          escaped(fmt::format("{}: {}{}", problem_name(problem.cell, problem.problem),
                              counted(problem.trials.size(), "trial"),
                              problem.seconds ? ", best " + duration(*problem.seconds) : "")),
          problem_figures(problem));
    }
    if (shown < searched.size())
      inside +=
          paragraph(fmt::format("{} more problems have trials: `rondo report CELL --shape ...` shows one.",
                                searched.size() - shown),
                    "remark");
    return inside.empty() ? "" : fmt::format("<section>\n<h2>Searches</h2>\n{}</section>\n", inside);
  }

  std::string problem_figures(const ReportedProblem& problem) {
    std::string html;
    if (!problem.strategy.empty())
      html += fmt::format("<p class=\"choice\">{} <code>{}</code></p>\n", escaped(problem.strategy),
                          escaped(problem.parameters));
    if (!problem.remark.empty()) html += paragraph(problem.remark + ".", "remark");
    if (problem.seconds) html += add(times_of(problem));
    if (!problem.parts.empty() && problem.problem.shape.T > 0) html += add(timeline_of(problem));
    if (!problem.without.empty()) html += add(without_of(problem));
    if (!problem.changes.empty()) html += add(changes_of(problem));
    return html + search_figures(problem);
  }

  std::string search_figures(const ReportedProblem& problem) {
    if (timed(problem) < kLeastTimed) return "";
    const std::vector<figures::TriedPoint> points = tried(problem);
    std::string html = add(figures::best_so_far(points));
    if (std::ranges::any_of(points, [](const auto& point) { return point.measured_s && point.predicted_s; }))
      html += add(figures::model_beside_time(points));
    std::map<std::string, std::vector<TimedPoint>> of_strategy;
    for (const ReportedTrial& one : problem.trials)
      if (one.trial.median_ms && !one.parameters.empty())
        of_strategy[one.trial.strategy].push_back({one.parameters, *one.trial.median_ms * 1e-3});
    for (const auto& [strategy, timed_points] : of_strategy) {
      std::vector<figures::ParameterShare> shares;
      for (const ExplainedSpread& each : explained_spread(timed_points))
        shares.push_back({each.parameter, each.share, each.values});
      if (!shares.empty()) html += add(figures::parameter_shares(strategy, timed_points.size(), shares));
    }
    return html;
  }

  Figure times_of(const ReportedProblem& problem) const {
    std::vector<figures::NamedTime> all;
    all.push_back({problem.measured ? "measured" : "by the model", "time", *problem.seconds,
                   problem.measured ? "the median of its samples" : "nothing was run"});
    if (problem.measured && problem.model_s)
      all.push_back({"by the model", "model", *problem.model_s, "as predicted"});
    for (const Floor& floor : problem.floors)
      all.push_back({"floor of " + floor.name, floor.name, floor.seconds, made_of(floor)});
    const std::string name = problem_name(problem.cell, problem.problem) + " on " + problem.problem.device;
    for (const Comparison& one : report_.comparisons)
      if (one.problem == name)
        all.push_back({one.peer, "peer", one.peer_s, "a peer, measured in another run"});
    std::string about =
        "The floors are the least times of the pass if nothing else held it up: every tensor moved once, all "
        "products, "
        "and the chain of steps that wait for each other.";
    if (!problem.floors.empty()) {
      const Floor& first = problem.floors.front();
      about += fmt::format(" The {} {}: the time is {} its floor.", first.name,
                           first.name == "chain" ? "binds" : "bind", times(*problem.seconds / first.seconds));
    }
    return figures::time_bars("Time beside the floors", about, all);
  }

  static Figure timeline_of(const ReportedProblem& problem) {
    using To = figures::TimelinePart::Of;
    using From = schedule::EstimatePart::Of;
    const auto steps = static_cast<double>(problem.problem.shape.T);
    std::vector<figures::TimelinePart> parts;
    double once = 0;
    for (const schedule::EstimatePart& part : problem.parts) {
      const bool launches = part.of == From::Launches;
      if (launches) once += part.seconds;
      parts.push_back({launches                 ? To::Launches
                       : part.of == From::Chain ? To::Chain
                                                : To::Work,
                       part.name, launches ? part.seconds : part.seconds / steps});
    }
    const double whole = problem.model_s.value_or(problem.seconds.value_or(0));
    return figures::timeline(parts, std::max(whole - once, 0.0) / steps,
                             "by the cost model: nothing of it was measured");
  }

  static Figure without_of(const ReportedProblem& problem) {
    std::vector<figures::NamedTime> all;
    for (const PartTime& part : problem.without)
      all.push_back({"without " + part.what, "model", part.timing.median_s,
                     fmt::format("{} less", duration(part.difference_s))});
    if (problem.seconds) all.insert(all.begin(), {"as it is", "time", *problem.seconds, "measured"});
    return figures::time_bars(
        "What leaving out a part saves",
        "The kernels timed without one part after the other. Parts overlap, so what they save need "
        "not add up.",
        all);
  }

  static Figure changes_of(const ReportedProblem& problem) {
    std::vector<figures::Ratio> ratios;
    for (const Change& change : problem.changes)
      ratios.push_back({change.what, change.times, {times(change.times_a_row)}});
    return figures::ratio_bars(
        "What would change the time",
        "The model's time for the best kernel of a changed problem, over that of this problem. "
        "Nothing of it was measured.",
        "times as long", {"for each batch row"}, ratios);
  }

  std::string steps() {
    std::string inside;
    for (const ReportedCell& cell : report_.cells) {
      inside += add(figures::step_graph(cell.cell));
      if (cell.backward) inside += add(figures::backward_graph(cell.cell, *cell.backward));
    }
    return section("The steps as graphs", inside);
  }

  const Report& report_;
  std::size_t figures_ = 0;
};

}  // namespace

Page page_of(const Report& report) { return Writer(report).page(); }

}  // namespace rondo::tuner
