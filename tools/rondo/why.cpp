// `rondo why`: the floors under a kernel's time, which of them binds, where the rest goes, and what would
// change it.
#include "tuner/why/why.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/request/problem_text.h"
#include "tools/rondo/arrays.h"
#include "tools/rondo/commands.h"
#include "tools/rondo/report.h"
#include "tools/rondo/session.h"

namespace rondo::tools {
namespace {

using schedule::EstimatePart;
using tuner::Explanation;

constexpr int kRounds = 11;           // samples of the whole and of each part
constexpr double kLeastShare = 0.01;  // of the time: smaller parts are not printed

std::string ms(double seconds) { return fmt::format("{:.4g} ms", seconds * 1e3); }

// Three digits, and all before the point.
std::string ns(double value) {
  return std::abs(value) >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

// A number with a prefix of its unit: "495 TFLOP/s".
std::string with_prefix(double value, const std::string& unit) {
  const std::pair<double, const char*> prefix = value >= 1e12  ? std::pair(1e12, "T")
                                                : value >= 1e9 ? std::pair(1e9, "G")
                                                : value >= 1e6 ? std::pair(1e6, "M")
                                                               : std::pair(1e3, "k");
  return fmt::format("{:.3g} {}{}", value / prefix.first, prefix.second, unit);
}

std::string made_of(const tuner::Floor& floor) {
  if (floor.name == "bytes")
    return fmt::format("{}, each once, at {}", with_prefix(floor.amount, "B"),
                       with_prefix(floor.rate(), "B/s"));
  if (floor.name == "products")
    return fmt::format("{} at {} of {}", with_prefix(floor.amount, "FLOP"),
                       with_prefix(floor.rate(), "FLOP/s"), floor.by);
  return fmt::format("{} steps of {} ns that wait for each other", floor.amount, ns(1e9 / floor.rate()));
}

std::string time_line(const Explanation& why) {
  if (!why.measured) return fmt::format("{}, by model: nothing was run", ms(why.model_s));
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
  return fmt::format("{}: it is {:.0f}% of the time, which is {:.2f} times the floor", floor.name,
                     why.share_of_floor() * 100, over);
}

std::string listed(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : "; ") + item;
  return text.empty() ? "none" : text;
}

std::string parts_line(const Explanation& why, const step::Sizes& sizes) {
  std::vector<std::string> items;
  const double to_ns = 1e9 / static_cast<double>(std::max<std::int64_t>(sizes.time, 1));
  for (const EstimatePart& part : why.parts)
    if (std::abs(part.seconds) >= kLeastShare * why.seconds())
      items.push_back(part.of == EstimatePart::Of::Launches
                          ? fmt::format("{} {}", part.name, ms(part.seconds))
                          : fmt::format("{} {}", part.name, ns(part.seconds * to_ns)));
  return "ns a step, by model: " + listed(items);
}

std::string without_line(const Explanation& why, const step::Sizes& sizes) {
  std::vector<std::string> items;
  const double to_ns = 1e9 / static_cast<double>(std::max<std::int64_t>(sizes.time, 1));
  for (const tuner::PartTime& part : why.without)
    items.push_back(fmt::format("{} {}", part.what, ns(part.difference_s * to_ns)));
  return "ns a step that leaving it out saves: " + listed(items);
}

std::string changes_line(const Explanation& why) {
  std::vector<std::string> items;
  for (const tuner::Change& change : why.changes)
    items.push_back(change.times == change.times_a_row ? fmt::format("{} {:.2f}", change.what, change.times)
                                                       : fmt::format("{} {:.2f} ({:.2f} a row)", change.what,
                                                                     change.times, change.times_a_row));
  return "times as long, by model: " + listed(items);
}

std::string why_text(const step::Cell& cell, const std::string& device, const schedule::Problem& problem,
                     const Explanation& why) {
  std::string text = fmt::format("{} {} {} {} on {}: {} ({})\n", cell.name, engine::shape_text(problem.sizes),
                                 kernel::storage_name(problem.storage), schedule::pass_title(problem), device,
                                 why.choice.strategy, engine::label(why.choice));
  const auto line = [&](const char* name, const std::string& what) {
    text += fmt::format("  {:<9}{}\n", name, what);
  };
  line("time", time_line(why));
  for (std::size_t i = 0; i < why.floors.size(); ++i)
    line(i == 0 ? "floors" : "", fmt::format("{:<9}{:>12}  {}", why.floors[i].name, ms(why.floors[i].seconds),
                                             made_of(why.floors[i])));
  line("binds", binds_line(why));
  line("parts", parts_line(why, problem.sizes));
  if (why.measured) line("without", without_line(why, problem.sizes));
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
    list.push_back(
        {{"name", floor.name}, {"ms", floor.seconds * 1e3}, {"amount", floor.amount}, {"by", floor.by}});
  return list;
}

json parts_json(const Explanation& why) {
  json list = json::array();
  for (const EstimatePart& part : why.parts)
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
    list.push_back({{"what", change.what}, {"times", change.times}, {"times_a_row", change.times_a_row}});
  return list;
}

std::string why_json(const step::Cell& cell, const std::string& device, const schedule::Problem& problem,
                     const Explanation& why) {
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
                     {"parts", parts_json(why)},
                     {"without", without_json(why)},
                     {"changes", changes_json(why)}};
  return made.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace

Status why(const Options& asked) {
  const Result<LoadedCell> loaded = load_cell(asked);
  if (!loaded) return loaded.error();
  const Result<OwnData> own = own_data(asked, loaded->cell);
  if (!own) return own.error();
  const Options& options = own->options;
  const Result<schedule::Pass> pass = single_pass(options);
  if (!pass) return pass.error();
  const Result<schedule::Problem> problem = problem_of(options, loaded->cell, *pass);
  if (!problem) return problem.error();
  const Result<engine::Overrides> overrides = overrides_of(options);
  if (!overrides) return overrides.error();
  Result<Session> session = open_session(options, Use::Optional);
  if (!session) return session.error();
  const engine::Machine& machine = session->machine;
  engine::Request request = request_of(options, *session, loaded->cell, *problem, *overrides, own->given);
  request.outline = options.by_model || !machine.device;
  const Result<engine::Answer> found = engine::answer(request, machine);
  if (!found) return found.error();
  const Result<Explanation> why =
      tuner::explain({loaded->cell, *problem, machine.profile}, machine, *found->kernel, kRounds, own->given);
  if (!why) return why.error();
  print((options.json ? why_json : why_text)(loaded->cell, machine.profile.name, *problem, *why));
  return success();
}

}  // namespace rondo::tools
