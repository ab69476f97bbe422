#include "tuner/report/record.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "engine/choice/choose.h"
#include "engine/machine/device_profile.h"
#include "engine/request/load_cell.h"
#include "engine/request/problem_text.h"
#include "tuner/report/record_text.h"

namespace rondo::tuner {
namespace {

using nlohmann::json;

constexpr const char* kRecord =
    "a record of benchmarks/results has `device` and rows with cell, shape, dtype, pass, strategy, "
    "parameters and "
    "median_ms";
constexpr const char* kSum = "fwbw";  // the pass of a row that adds up two others

Result<step::Cell> shipped_cell(const std::string& name) {
  if (!engine::is_shipped_cell(name))
    return Error{ErrorKind::Input, fmt::format("no cell '{}' is shipped", name), kRecord};
  const Result<engine::CellFile> file = engine::load_cell_file(name);
  if (!file) return file.error();
  return engine::select_cell(*file, "");
}

std::string shape_words(const json& shape) {
  std::string words;
  for (const auto& [name, extent] : shape.items())
    words += fmt::format("{}{}={}", words.empty() ? "" : ",", name, extent.dump());
  return words;
}

// What a row was measured of.
Result<schedule::Task> task_of(const json& row, const target::Profile& profile) {
  Result<step::Cell> cell = shipped_cell(text_at(row, "cell"));
  if (!cell) return cell.error();
  const auto passes = engine::parse_passes(text_at(row, "pass"));
  if (!passes) return passes.error();
  engine::ProblemText problem;
  if (!row.contains("shape") || !row["shape"].is_object())
    return Error{ErrorKind::Input, "shape is missing", kRecord};
  problem.shape = shape_words(row["shape"]);
  problem.dtype = text_at(row, "dtype");
  if (const std::string save = text_at(row, "save"); !save.empty()) problem.save = save;
  const auto parsed = engine::parse_problem(*cell, problem, passes->front());
  if (!parsed) return parsed.error();
  return schedule::Task(*cell, *parsed, profile);
}

// The trials and cells of rows, as a database holds them.
class Rows {
 public:
  Rows(std::string origin, const target::Profile& profile) : origin_(std::move(origin)), profile_(profile) {
    contents_.devices.push_back(engine::to_device(profile));
  }

  Status add(const json& list, const char* name) {
    if (!list.is_array())
      return Error{ErrorKind::Input, fmt::format("'{}' {} is no list", origin_, name), kRecord};
    for (std::size_t i = 0; i < list.size(); ++i)
      if (Status status = add_row(list[i]); !status) {
        Error error = status.error();
        error.message = fmt::format("'{}' {}[{}]: {}", origin_, name, i, error.message);
        return error;
      }
    return success();
  }

  const db::Contents& contents() const { return contents_; }

 private:
  Status add_row(const json& row) {
    if (!row.is_object()) return Error{ErrorKind::Input, "it is no object", kRecord};
    if (text_at(row, "pass") == kSum) return success();
    const auto wrong = [](const char* what) { return Error{ErrorKind::Input, what, kRecord}; };
    if (!row.contains("median_ms") || !row["median_ms"].is_number() || !(row["median_ms"].get<double>() > 0))
      return wrong("median_ms is no number above zero");
    db::Trial trial;
    trial.strategy = text_at(row, "strategy");
    if (trial.strategy.empty() || !row.contains("parameters") || !row["parameters"].is_object())
      return wrong("it needs the text strategy and the object parameters");
    trial.parameters = row["parameters"].dump();
    trial.median_ms = row["median_ms"].get<double>();
    trial.verified = true;
    const Result<schedule::Task> task = task_of(row, profile_);
    if (!task) return task.error();
    db::Problem problem = engine::database_problem(*task);
    if (cells_.insert(problem.cell).second)
      contents_.cells.push_back({problem.cell, task->written.name, task->written.source});
    contents_.problems.push_back({std::move(problem), {std::move(trial)}, 0});
    return success();
  }

  std::string origin_;
  const target::Profile& profile_;
  db::Contents contents_;
  std::set<std::string> cells_;
};

// The profile of its device, with the copy that the run timed.
Result<target::Profile> profile_of(const json& record, const std::string& origin) {
  const std::string device = text_at(record, "device");
  if (device.empty())
    return Error{ErrorKind::Input, fmt::format("'{}' does not name its device", origin), kRecord};
  Result<target::Profile> profile = target::find_profile(device);
  if (!profile)
    return Error{
        ErrorKind::Unsupported,
        fmt::format("'{}' is of the device '{}', of which this version has no profile", origin, device),
        kRecord};
  if (const auto copy = record.find("copy_bytes_per_s"); copy != record.end() && copy->is_number())
    profile->speeds.copy_bytes_per_s = copy->get<double>();
  return profile;
}

}  // namespace

Result<Report> report_of_record(const std::string& text, const std::string& origin,
                                const std::vector<PeerRow>& peers) {
  const json record = json::parse(text, nullptr, false);
  if (!record.is_object())
    return Error{ErrorKind::Input, fmt::format("'{}' is no JSON object", origin), kRecord};
  const Result<target::Profile> profile = profile_of(record, origin);
  if (!profile) return profile.error();
  Rows rows(origin, *profile);
  for (const char* name : {"rows", "dense"})
    if (record.contains(name))
      if (Status status = rows.add(record[name], name); !status) return status.error();
  if (rows.contents().problems.empty())
    return Error{ErrorKind::Input, fmt::format("'{}' has no rows of kernels", origin), kRecord};
  const Result<std::vector<PeerRow>> own = peers_from_json(text, origin);
  Report report = report_of(rows.contents(),
                            fmt::format("The record {}: {}, measured on {}.", origin, profile->name,
                                        record.contains("date") ? text_at(record, "date") : "an unknown day"),
                            peers.empty() && own ? *own : peers, {{profile->key, *profile}});
  report.title = "What was measured on " + profile->name;
  return report;
}

}  // namespace rondo::tuner
