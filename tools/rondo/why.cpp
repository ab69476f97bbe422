// `rondo why`: the floors under a kernel's time, which of them binds, where the rest goes, and what would
// change it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "compiler/support/text_file.h"
#include "compiler/support/units.h"
#include "engine/request/problem_text.h"
#include "tools/rondo/commands.h"
#include "tools/rondo/explained.h"
#include "tools/rondo/report.h"
#include "tuner/why/counters.h"

namespace rondo::tools {
namespace {

using schedule::EstimatePart;
using tuner::Explanation;

constexpr double kLeastShare = 0.01;  // of the time: smaller parts are not printed

std::string ms(double seconds) { return fmt::format("{:.4g} ms", seconds * 1e3); }

std::string time_line(const Explanation& why) {
  if (!why.measured)
    return fmt::format("{}, by model: nothing was run, so how near a GPU comes to its floors is not known",
                       ms(why.model_s));
  return fmt::format("{}, measured, spread {:.1f}%; the model says {}", ms(why.measured->median_s),
                     why.measured->spread * 100, ms(why.model_s));
}

std::string binds_line(const Explanation& why) {
  if (why.floors.empty()) return "no floor: the pass does nothing";
  const tuner::Floor& floor = why.floors.front();
  const double over = why.seconds() / floor.seconds;
  if (over < 1)
    return fmt::format("{}; the time is {:.0f}% of that floor: it stands on figures that this run beat",
                       floor.name, over * 100);
  return fmt::format("{}: the {}time is {:.2f} times that floor (the floor is {:.0f}% of it)", floor.name,
                     why.measured ? "" : "model's own ", over, why.share_of_floor() * 100);
}

std::string listed(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : "; ") + item;
  return text.empty() ? "none" : text;
}

double ns_a_step(const step::Sizes& sizes) {
  return 1e9 / static_cast<double>(std::max<std::int64_t>(sizes.time, 1));
}

// What is done once stands behind what each step does, in time of its own; small parts are told as one.
std::string parts_line(const Explanation& why, const step::Sizes& sizes) {
  std::vector<std::string> items, once;
  const double to_ns = ns_a_step(sizes), least = kLeastShare * why.seconds();
  double sum = 0, small = 0;
  for (const EstimatePart& part : why.parts) {
    if (part.seconds > 0) sum += part.seconds;
    if (part.of == EstimatePart::Of::Launches)
      once.push_back(fmt::format("{} {}", part.name, ms(part.seconds)));
    else if (part.seconds >= least)
      items.push_back(fmt::format("{} {}", part.name, digits(part.seconds * to_ns)));
    else
      small += std::max(0.0, part.seconds);
  }
  if (small > 0) items.push_back(fmt::format("others {}", digits(small * to_ns)));
  if (const double hidden = sum - why.model_s; hidden >= least)
    items.push_back(fmt::format("hidden behind each other {}", digits(-hidden * to_ns)));
  return "ns a step, by model: " + listed(items) + (once.empty() ? "" : "; once: " + listed(once));
}

// What the floor of the chain is made of. Parts below zero are what others hide.
std::string chain_line(const Explanation& why, const tuner::Floor& chain, const step::Sizes& sizes) {
  std::vector<std::string> items;
  for (const EstimatePart& part : why.chain)
    items.push_back(fmt::format("{} {}", part.name, digits(part.seconds * ns_a_step(sizes))));
  return fmt::format("ns a step, {}: {}", chain.source, listed(items));
}

std::string account_line(const Explanation& why, const step::Sizes& sizes) {
  std::vector<std::string> items;
  const double to_ns = ns_a_step(sizes);
  for (const tuner::AccountPart& part : why.account.parts)
    if (part.seconds >= kLeastShare * why.seconds())
      items.push_back(fmt::format("{} {}", part.name, digits(part.seconds * to_ns)));
  std::string text = "ns a step, left out one after the other: " + listed(items);
  if (why.account.hidden_alone_s >= kLeastShare * why.seconds())
    text += fmt::format("; left out one at a time they save {} less, as one hides the other",
                        digits(why.account.hidden_alone_s * to_ns));
  return text;
}

std::string above_line(const Explanation& why, const step::Sizes& sizes) {
  if (why.excesses.empty()) return "no part takes longer than its floor";
  const tuner::Excess& most = why.excesses.front();
  const double to_ns = ns_a_step(sizes);
  const std::string floor = most.floor_s > 0 ? "its floor " + digits(most.floor_s * to_ns)
                                             : std::string("it has no floor of its own");
  return fmt::format("{} most: {} ns a step, and {}", most.name, digits(most.seconds * to_ns), floor);
}

// What no part that was left out accounts for, but a floor asks for, is told beside it.
std::string not_explained(const Explanation& why) {
  const double seconds = why.account.not_explained_s, whole = std::max(why.seconds(), 1e-12);
  std::string text = fmt::format("{:.4g} us, {:.0f}% of the time", seconds * 1e6, seconds / whole * 100);
  if (const tuner::AccountPart* rest = why.account.by_floor_alone(); rest != nullptr)
    text += fmt::format("; {}, {:.4g} us or {:.0f}%, counts as explained, though no part left out saves it",
                        rest->name, rest->seconds * 1e6, rest->seconds / whole * 100);
  return "  not explained: " + text + "\n";
}

std::string without_line(const Explanation& why, const step::Sizes& sizes) {
  std::vector<std::string> items;
  for (const tuner::PartTime& part : why.without)
    items.push_back(fmt::format("{}{} {}", part.what,
                                part.beside.empty() ? "" : " (beside " + part.beside + ")",
                                digits(part.difference_s * ns_a_step(sizes))));
  return "ns a step that leaving it out saves: " + listed(items);
}

std::string changes_line(const Explanation& why) {
  std::vector<std::string> same, other;
  for (const tuner::Change& change : why.changes)
    (change.other_problem ? other : same)
        .push_back(change.times == change.times_a_row ? fmt::format("{} {:.2f}", change.what, change.times)
                                                      : fmt::format("{} {:.2f} ({:.2f} a row)", change.what,
                                                                    change.times, change.times_a_row));
  return fmt::format("times as long, by model: {}; other problems: {}", listed(same), listed(other));
}

// ncu's figures beside the floors': of bytes, and of the tensor cores' time at their full rate.
std::string counters_line(const Explanation& why, const tuner::Counters& counters) {
  std::string text = fmt::format("of ncu, {} launch{} of {}: ", counters.launches,
                                 counters.launches == 1 ? "" : "es", ms(counters.seconds));
  const auto floor_of = [&](const char* name) {
    const auto found = std::ranges::find(why.floors, name, &tuner::Floor::name);
    return found == why.floors.end() ? tuner::Floor{} : *found;
  };
  text += fmt::format("{} moved", with_prefix(counters.bytes, "B"));
  if (const tuner::Floor bytes = floor_of("bytes"); bytes.amount > 0)
    text += fmt::format(", {:.2f} of what must move", counters.bytes / bytes.amount);
  text += fmt::format("; tensor cores work in {:.1f}% of the cycles", counters.tensor_share * 100);
  if (const tuner::Floor products = floor_of("products"); products.seconds > 0 && why.seconds() > 0)
    text += fmt::format(", by the floor of products {:.1f}%", products.seconds / why.seconds() * 100);
  return text;
}

std::string why_text(const step::Cell& cell, const std::string& device, const schedule::Problem& problem,
                     const Explanation& why, const std::optional<tuner::Counters>& counters) {
  std::string text = fmt::format("{} {} {} {} on {}: {} ({})\n", cell.name, engine::shape_text(problem.sizes),
                                 kernel::storage_name(problem.storage), schedule::pass_title(problem), device,
                                 why.choice.strategy, engine::label(why.choice));
  const auto line = [&](const char* name, const std::string& what) {
    text += fmt::format("  {:<9}{}\n", name, what);
  };
  line("kernel", schedule::print(why.choice.parameters));
  line("time", time_line(why));
  for (std::size_t i = 0; i < why.floors.size(); ++i)
    line(i == 0 ? "floors" : "", fmt::format("{:<9}{:>12}  {}", why.floors[i].name, ms(why.floors[i].seconds),
                                             made_of(why.floors[i])));
  const auto chain = std::ranges::find(why.floors, "chain", &tuner::Floor::name);
  if (chain != why.floors.end() && why.chain.size() > 1)
    line("chain", chain_line(why, *chain, problem.sizes));
  line("binds", binds_line(why));
  line("parts", parts_line(why, problem.sizes));
  if (why.measured) {
    line("account", account_line(why, problem.sizes));
    text += not_explained(why);
    line("above", above_line(why, problem.sizes));
    line("without", without_line(why, problem.sizes));
  } else if (why.account.not_explained_s > kLeastShare * why.seconds()) {
    text += not_explained(why);
  }
  if (counters) line("counters", counters_line(why, *counters));
  line("changes", changes_line(why));
  return text;
}

using nlohmann::json;

const char* kind_name(EstimatePart::Of of) {
  switch (of) {
    case EstimatePart::Of::Chain: return "chain";
    case EstimatePart::Of::Work: return "work";
    case EstimatePart::Of::Launches: break;
  }
  return "launches";
}

json floors_json(const Explanation& why) {
  json list = json::array();
  for (const tuner::Floor& floor : why.floors)
    list.push_back({{"name", floor.name},
                    {"ms", floor.seconds * 1e3},
                    {"amount", floor.amount},
                    {"by", floor.by},
                    {"calibrated", floor.calibrated}});
  return list;
}

json account_json(const Explanation& why) {
  json parts = json::array();
  for (const tuner::AccountPart& part : why.account.parts)
    parts.push_back({{"name", part.name}, {"ms", part.seconds * 1e3}});
  return {{"parts", parts},
          {"not_explained_ms", why.account.not_explained_s * 1e3},
          {"overlapped_ms", why.account.overlapped_s * 1e3},
          {"hidden_alone_ms", why.account.hidden_alone_s * 1e3}};
}

json above_json(const Explanation& why) {
  json list = json::array();
  for (const tuner::Excess& excess : why.excesses)
    list.push_back({{"name", excess.name}, {"ms", excess.seconds * 1e3}, {"floor_ms", excess.floor_s * 1e3}});
  return list;
}

json parts_json(const std::vector<EstimatePart>& parts) {
  json list = json::array();
  for (const EstimatePart& part : parts)
    list.push_back({{"name", part.name}, {"ms", part.seconds * 1e3}, {"of", kind_name(part.of)}});
  return list;
}

json without_json(const Explanation& why) {
  json list = json::array();
  for (const tuner::PartTime& part : why.without)
    list.push_back({{"name", part.what},
                    {"beside", part.beside},
                    {"ms", part.timing.median_s * 1e3},
                    {"difference_ms", part.difference_s * 1e3}});
  return list;
}

json changes_json(const Explanation& why) {
  json list = json::array();
  for (const tuner::Change& change : why.changes)
    list.push_back({{"what", change.what},
                    {"other_problem", change.other_problem},
                    {"times", change.times},
                    {"times_a_row", change.times_a_row}});
  return list;
}

json counters_json(const std::optional<tuner::Counters>& counters) {
  if (!counters) return {};
  return {{"bytes", counters->bytes},
          {"tensor_share", counters->tensor_share},
          {"ms", counters->seconds * 1e3},
          {"launches", counters->launches}};
}

json lines_of(const std::string& text) {
  json lines = json::array();
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

json account_of_measured(const Explanation& why) { return why.measured ? account_json(why) : json(); }

std::string why_json(const step::Cell& cell, const std::string& device, const schedule::Problem& problem,
                     const Explanation& why, const std::optional<tuner::Counters>& counters) {
  const step::Sizes& sizes = problem.sizes;
  const json made = {{"cell", cell.name},
                     {"device", device},
                     {"shape", {{"B", sizes.batch}, {"T", sizes.time}, {"H", sizes.heads}, {"D", sizes.dim}}},
                     {"dtype", kernel::storage_name(problem.storage)},
                     {"pass", schedule::pass_key(problem)},
                     {"strategy", why.choice.strategy},
                     {"parameters", why.choice.parameters},
                     {"origin", engine::origin_name(why.choice.origin)},
                     {"measured_ms", why.measured ? json(why.measured->median_s * 1e3) : json()},
                     {"spread", why.measured ? json(why.measured->spread) : json()},
                     {"model_ms", why.model_s * 1e3},
                     {"copy_bytes_per_s", why.copy_bytes_per_s},
                     {"floors", floors_json(why)},
                     {"binds", why.floors.empty() ? json() : json(why.floors.front().name)},
                     {"share_of_floor", why.share_of_floor()},
                     {"chain", parts_json(why.chain)},
                     {"parts", parts_json(why.parts)},
                     {"account", account_of_measured(why)},
                     {"above", above_json(why)},
                     {"without", without_json(why)},
                     {"changes", changes_json(why)},
                     {"counters", counters_json(counters)},
                     {"text", lines_of(why_text(cell, device, problem, why, counters))}};
  return made.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace

Status why(const Options& asked) {
  std::optional<tuner::Counters> counters;
  if (!asked.counters.empty()) {
    const Result<std::string> csv = read_text_file(asked.counters);
    if (!csv) return csv.error();
    const Result<tuner::Counters> read = tuner::counters_of(*csv);
    if (!read) return read.error();
    counters = *read;
  }
  const Result<Explained> found = explained(asked);
  if (!found) return found.error();
  const schedule::Task& task = found->task;
  print((asked.json ? why_json : why_text)(task.written, task.profile.name, task.problem, found->why,
                                           counters));
  return success();
}

}  // namespace rondo::tools
