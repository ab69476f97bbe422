#include "engine/choice/fits.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "compiler/constraint/explain.h"
#include "compiler/schedule/strategies_for.h"
#include "compiler/target/cluster_cost.h"

namespace rondo::engine {

using schedule::Pass;
using schedule::Strategy;
using schedule::Task;
using schedule::Variant;

namespace {

constexpr const char* kVariantLabel = "variant";

// Of one variant on one GPU, searches and reasons: a dozen of them take less than a second.
constexpr constraint::Limits kFitLimits{.work = 15'000'000};

// The space's part where the variant's parameters have their values.
constraint::System space_of_variant(constraint::System space, const Variant& variant) {
  const auto& variables = space.names().variables;
  for (const auto& [name, value] : variant.fixed) {
    const auto found = std::ranges::find_if(
        variables, [&, wanted = name](const auto& variable) { return variable.name == wanted; });
    if (found == variables.end())
      throw std::logic_error(
          fmt::format("variant '{}' fixes '{}', which its space does not have", variant.name, name));
    const auto index = static_cast<std::size_t>(found - variables.begin());
    space.require(constraint::Var(index, name) == value, kVariantLabel);
  }
  return space;
}

Fit shortage(const constraint::Explanation& why) {
  Fit fit{Fit::Kind::Short, "", ""};
  for (const constraint::ConflictMember& member : constraint::one_a_label(why.conflict)) {
    if (member.label == kVariantLabel) continue;
    const char* between = fit.missed.empty() ? "" : "; ";
    fit.missed += (fit.missed.empty() ? "" : ", ") + member.label;
    fit.told += between + member.text;
    fit.detail += between + member.text + (member.place.empty() ? "" : " (" + member.place + ")");
  }
  if (fit.missed.empty()) fit.missed = fit.told = fit.detail = "no such configuration";
  return fit;
}

Fit fit_of(const Strategy& strategy, const Variant& variant, const Task& task) {
  if (const schedule::Legality served = strategy.serves(task.profile); !served.legal)
    return {Fit::Kind::Short, "compute capability", served.reason};
  if (const int largest = target::largest_cluster(task.profile.limits); variant.cluster > largest)
    return {Fit::Kind::Short, "cluster size",
            fmt::format("clusters of {}: {} has {}", variant.cluster, task.profile.name,
                        largest > 1 ? fmt::format("at most {} blocks", largest) : "none")};
  const constraint::System space = space_of_variant(strategy.space(task), variant);
  const Result<constraint::First> first = constraint::find_first(space, kFitLimits);
  if (first && first->solution) return {};
  const Result<constraint::Explanation> why =
      constraint::explain(space, constraint::Blame::Limits, kFitLimits);
  return why ? shortage(*why) : Fit{Fit::Kind::Short, "unknown", why.error().message};
}

std::string title(const FitRow& row) {
  return row.variant.empty() ? row.strategy : fmt::format("{}, {}", row.strategy, row.variant);
}

// With one GPU there is room for the numbers.
std::string shown(const Fit& fit, bool numbers) {
  if (fit.kind == Fit::Kind::Fits) return "fits";
  if (fit.kind == Fit::Kind::NotLegal) return "-";
  return !numbers ? fit.missed : fit.told.empty() ? fit.detail : fit.told;
}

}  // namespace

FitTable fit_table(const Task& task, const std::vector<target::Profile>& profiles) {
  if (profiles.empty()) return {};
  FitTable table;
  for (const target::Profile& profile : profiles) table.profiles.push_back(profile.key);
  for (const Pass pass : {Pass::Forward, Pass::Backward})
    for (const Strategy* strategy : schedule::strategies_for(profiles.front())) {
      Task asked = task;
      asked.problem.pass = pass;
      const schedule::Legality legality = strategy->legal(asked);
      for (const Variant& variant : strategy->variants()) {
        FitRow row{strategy->name(), variant.name, pass, {}};
        for (const target::Profile& profile : profiles) {
          asked.profile = profile;
          row.fits.push_back(legality.legal ? fit_of(*strategy, variant, asked)
                                            : Fit{Fit::Kind::NotLegal, "not legal", legality.reason});
        }
        table.rows.push_back(std::move(row));
      }
    }
  return table;
}

std::string print(const FitTable& table) {
  std::vector<std::vector<std::string>> lines;
  const FitRow* before = nullptr;
  for (const FitRow& row : table.rows) {
    if (before == nullptr || before->pass != row.pass) {
      lines.push_back({schedule::pass_title(schedule::pass_name(row.pass))});
      lines.back().insert(lines.back().end(), table.profiles.begin(), table.profiles.end());
    }
    before = &row;
    lines.push_back({title(row)});
    for (const Fit& fit : row.fits) lines.back().push_back(shown(fit, table.profiles.size() == 1));
  }
  std::vector<std::size_t> widths(table.profiles.size() + 1, 0);
  for (const auto& line : lines)
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  std::string text;
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i)
      text +=
          i + 1 < line.size() ? fmt::format("  {:<{}}", line[i], widths[i]) : fmt::format("  {}\n", line[i]);
  }
  return text;
}

}  // namespace rondo::engine
