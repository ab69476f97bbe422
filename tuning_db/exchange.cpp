#include "tuning_db/exchange.h"

#include <algorithm>

#include "tuning_db/json_fields.h"
#include "tuning_db/rows.h"

namespace rondo::db {
using nlohmann::json;
using nlohmann::ordered_json;
namespace {

constexpr const char* kFormat = "rondo-tuning";
constexpr int kVersion = 1;

ordered_json device_to_json(const Device& d) {
  return {{"key", d.key},
          {"name", d.name},
          {"compute", {d.compute_major, d.compute_minor}},
          {"sm_count", d.sm_count},
          {"driver", d.driver},
          {"origin", to_text(d.origin)},
          {"calibrated_at", d.calibrated_at},
          {"profile", embedded(d.profile)}};
}

Device device_from_json(const JsonNode& node) {
  const JsonNode compute = node.member("compute");
  const json& version = compute.value();
  if (!version.is_array() || version.size() != 2 || !version[0].is_number_integer() ||
      !version[1].is_number_integer())
    compute.fail("two integers are expected");
  const std::optional<Origin> origin = origin_from_text(node.text("origin"));
  if (!origin)
    node.member("origin").fail("'shipped' or 'measured' is expected, not '" + node.text("origin") + "'");
  if (node.text("key").empty()) node.member("key").fail("is empty");
  return {.key = node.text("key"),
          .name = node.text("name"),
          .compute_major = version[0].get<int>(),
          .compute_minor = version[1].get<int>(),
          .sm_count = node.small("sm_count"),
          .driver = node.text("driver"),
          .profile = node.object("profile"),
          .origin = *origin,
          .calibrated_at = node.integer("calibrated_at")};
}

Cell cell_from_json(const JsonNode& node) {
  if (node.text("hash").empty()) node.member("hash").fail("is empty");
  return {.hash = node.text("hash"), .name = node.text("name"), .source = node.text("source")};
}

ordered_json trial_to_json(const Trial& t, bool best) {
  ordered_json out = {{"strategy", t.strategy},
                      {"parameters", embedded(t.parameters)},
                      {"status", to_text(t.status)},
                      {"verified", t.verified},
                      {"reason", t.reason},
                      {"median_ms", nullptr},
                      {"spread", t.spread},
                      {"samples", t.samples},
                      {"registers", t.registers},
                      {"shared_bytes", t.shared_bytes},
                      {"spill_bytes", t.spill_bytes},
                      {"cubin_key", t.cubin_key},
                      {"rondo_version", t.rondo_version},
                      {"created_at", t.created_at}};
  if (t.median_ms) out["median_ms"] = *t.median_ms;
  if (best) out["best"] = true;
  return out;
}

Trial trial_from_json(const JsonNode& node, const Problem& problem) {
  const std::optional<TrialStatus> status = trial_status_from_text(node.text("status"));
  if (!status) node.member("status").fail("unknown status '" + node.text("status") + "'");
  Trial trial;
  trial.strategy = node.text("strategy");
  trial.parameters = node.object("parameters");
  trial.status = *status;
  trial.verified = node.boolean("verified");
  trial.reason = node.text("reason");
  if (!node.member("median_ms").value().is_null()) trial.median_ms = node.real("median_ms");
  trial.spread = node.real("spread");
  trial.samples = node.small("samples");
  trial.registers = node.small("registers");
  trial.shared_bytes = node.small("shared_bytes");
  trial.spill_bytes = node.small("spill_bytes");
  trial.cubin_key = node.text("cubin_key");
  trial.rondo_version = node.text("rondo_version");
  trial.created_at = node.integer("created_at");
  try {
    check_time(problem, trial = checked(trial));
    return trial;
  } catch (const Failure& failure) {
    node.fail(failure.error().message);
  }
}

ordered_json tuned_to_json(const TunedProblem& tuned) {
  ordered_json problem = problem_to_json(tuned.problem);
  problem["trials"] = ordered_json::array();
  for (std::size_t i = 0; i < tuned.trials.size(); ++i)
    problem["trials"].push_back(trial_to_json(tuned.trials[i], tuned.best == i));
  return problem;
}

TunedProblem tuned_from_json(const JsonNode& node) {
  TunedProblem tuned{.problem = problem_from_json(node), .trials = {}, .best = std::nullopt};
  node.each("trials", [&](const JsonNode& item) {
    const bool best = item.has("best") && item.boolean("best");
    if (best && tuned.best) item.fail("a second trial is marked best");
    if (best) tuned.best = tuned.trials.size();
    tuned.trials.push_back(trial_from_json(item, tuned.problem));
    if (best && !tuned.trials.back().may_be_best())
      item.fail("is marked best, but is not verified and timed");
  });
  return tuned;
}

}  // namespace

Contents best_of(const Contents& contents) {
  Contents best;
  for (const TunedProblem& tuned : contents.problems)
    if (tuned.best) best.problems.push_back({tuned.problem, {tuned.trials[*tuned.best]}, 0});
  const auto named = [&](std::string Problem::*by, const std::string& key) {
    return std::ranges::any_of(best.problems,
                               [&](const TunedProblem& tuned) { return tuned.problem.*by == key; });
  };
  for (const Device& device : contents.devices)
    if (named(&Problem::device, device.key)) best.devices.push_back(device);
  for (const Cell& cell : contents.cells)
    if (named(&Problem::cell, cell.hash)) best.cells.push_back(cell);
  return best;
}

Result<std::string> to_json(const Contents& contents, Layout layout) {
  try {
    ordered_json devices = ordered_json::array(), cells = ordered_json::array(),
                 problems = ordered_json::array();
    for (const Device& device : contents.devices) devices.push_back(device_to_json(device));
    for (const Cell& c : contents.cells)
      cells.push_back(ordered_json{{"hash", c.hash}, {"name", c.name}, {"source", c.source}});
    for (const TunedProblem& tuned : contents.problems) problems.push_back(tuned_to_json(tuned));
    return print_document({{"format", kFormat},
                           {"version", kVersion},
                           {"devices", std::move(devices)},
                           {"cells", std::move(cells)},
                           {"problems", std::move(problems)}},
                          layout == Layout::LineAnItem);
  } catch (const Failure& failure) {
    return failure.error();
  }
}

Result<Contents> contents_from_json(const std::string& text, const std::string& origin) {
  try {
    const json document = parse_document(text, origin, "tuning export", kFormat, kVersion);
    const JsonNode root(document, origin);
    Contents contents;
    root.each("devices", [&](const JsonNode& node) { contents.devices.push_back(device_from_json(node)); });
    root.each("cells", [&](const JsonNode& node) { contents.cells.push_back(cell_from_json(node)); });
    root.each("problems", [&](const JsonNode& node) { contents.problems.push_back(tuned_from_json(node)); });
    return contents;
  } catch (const Failure& failure) {
    return failure.error();
  }
}

}  // namespace rondo::db
