// `rondo db`: what the tuning database holds, and moving it around.
#include "tuning_db/database.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "compiler/support/text_file.h"
#include "engine/arrays/staged_files.h"
#include "engine/choice/choose.h"
#include "engine/choice/models_times.h"
#include "engine/machine/device_profile.h"
#include "engine/request/problem_text.h"
#include "engine/request/recorded_problem.h"
#include "tools/rondo/commands.h"
#include "tools/rondo/json_view.h"
#include "tools/rondo/session.h"

namespace rondo::tools {
namespace {

using db::Database;

// What the database calls the cells that the argument means: a name that several may have, one's hash, or ""
// for no argument.
Result<std::string> cells_of(Database& database, const std::string& argument) {
  if (argument.empty()) return std::string();
  Result<std::optional<db::Cell>> cell = database.find_cell(argument);
  if (!cell) return cell.error();
  if (!cell->has_value())
    return Error{ErrorKind::Missing, fmt::format("'{}' holds no cell '{}'", database.path(), argument),
                 "`rondo db list` shows what it holds"};
  return (*cell)->name == argument ? argument : (*cell)->hash;
}

// What a trial chose, under the names of this version.
std::string choice_text(const db::Trial& trial) {
  const auto parameters = engine::recorded_parameters(trial);
  return fmt::format("{} {}", trial.strategy, parameters ? schedule::print(*parameters) : trial.parameters);
}

std::string best_text(const db::ProblemSummary& summary) {
  const std::optional<db::Trial>& best = summary.best;
  if (!best) return "no best yet";
  return fmt::format("{:.4f} ms, {}{}{}", best->median_ms.value_or(0), choice_text(*best),
                     summary.verified_here ? "" : ", recorded elsewhere",
                     summary.kernel_origin ? ", kernel " + db::provenance(*summary.kernel_origin) : "");
}

// How cells are called in lists: by name, and those that share one also by the beginning of their hashes.
// Clips, constants and forms make other cells of a text.
class CellNames {
 public:
  explicit CellNames(const std::vector<db::ProblemSummary>& problems) {
    for (const db::ProblemSummary& summary : problems)
      hashes_[summary.cell_name].insert(summary.problem.cell);
  }
  std::string of(const db::ProblemSummary& summary) const {
    if (hashes_.at(summary.cell_name).size() == 1) return summary.cell_name;
    return fmt::format("{} ({:.12})", summary.cell_name, summary.problem.cell);
  }

 private:
  std::map<std::string, std::set<std::string>> hashes_;
};

std::string problem_text(const db::Problem& p) {
  return fmt::format("B={},T={},H={},D={} {} {} {}, {} {}", p.shape.B, p.shape.T, p.shape.H, p.shape.D,
                     p.dtype, p.math, schedule::pass_title(p.pass), p.device, p.arch);
}

// Reading goes on as far as it goes.
void warn_of_damage(Database& database) {
  const auto damage = database.damage();
  if (damage && !damage->empty())
    note(fmt::format(
        "'{}' is damaged, so what follows may be wrong or not all: {}; `rondo db check` says more",
        database.path(), damage->front()));
}

Status list(Database& database, const Options& options) {
  warn_of_damage(database);
  const Result<std::string> cells = cells_of(database, options.argument);
  if (!cells) return cells.error();
  const auto problems = database.list(*cells);
  if (!problems) return problems.error();
  if (options.json) {
    print(list_json(*problems));
    return success();
  }
  const CellNames names(*problems);
  for (const db::ProblemSummary& summary : *problems)
    print(fmt::format("{:<10} {}: {} trials, {}\n", names.of(summary), problem_text(summary.problem),
                      summary.trials, best_text(summary)));
  if (problems->empty()) print("nothing is tuned yet\n");
  return success();
}

std::string trial_text(const db::Trial& trial, const std::optional<double>& models_ms) {
  const std::string time = trial.median_ms ? fmt::format("{:.4f} ms", *trial.median_ms) : "not timed";
  const std::string model = models_ms ? fmt::format("model {:.4f} ms ", *models_ms) : "";
  return fmt::format("  {:<13} {:>12} {}{}{}{}{}\n", db::to_text(trial.status), time, model,
                     trial.verified ? "verified " : "", choice_text(trial), trial.reason.empty() ? "" : ": ",
                     trial.reason);
}

// What the models say of a problem's trials, with the profile that the database has of its device, else the
// shipped one of that name. Nothing of all of them where problem or profile cannot be made again of what is
// recorded. Errors: those of the database.
Result<std::vector<std::optional<double>>> by_model(Database& database, const db::Problem& recorded,
                                                    const std::vector<db::Trial>& trials) {
  const auto source = database.find_cell(recorded.cell);
  if (!source) return source.error();
  const auto device = database.get_device(recorded.device);
  if (!device) return device.error();
  const std::optional<target::Profile> profile = engine::recorded_profile(recorded.device, *device);
  const std::optional<schedule::Problem> problem = engine::recorded_problem(recorded);
  const std::optional<step::Cell> cell = source->has_value() ? engine::recorded_cell(**source) : std::nullopt;
  if (!cell || !problem || !profile) return std::vector<std::optional<double>>(trials.size());
  return engine::models_times({*cell, *problem, *profile}, trials);
}

Status show(Database& database, const Options& options) {
  const Result<std::string> cells = cells_of(database, options.argument);
  if (!cells) return cells.error();
  const auto problems = database.list(*cells);
  if (!problems) return problems.error();
  std::vector<TrialsOfProblem> all;
  const CellNames names(*problems);
  for (const db::ProblemSummary& summary : *problems) {
    auto trials = database.trials(summary.problem);
    if (!trials) return trials.error();
    const auto models_ms = by_model(database, summary.problem, *trials);
    if (!models_ms) return models_ms.error();
    if (!options.json) {
      print(fmt::format("{} {}\n  best: {}\n", names.of(summary), problem_text(summary.problem),
                        best_text(summary)));
      for (std::size_t i = 0; i < trials->size(); ++i) print(trial_text((*trials)[i], (*models_ms)[i]));
    }
    all.push_back({summary.problem, std::move(trials).value(), *models_ms});
  }
  if (options.json) print(trials_json(all));
  return success();
}

Status write_text(const Result<std::string>& text, const Options& options) {
  if (!text) return text.error();
  if (options.output != "-") {
    if (Status status = engine::write_output(options.output, *text, input_files_of(options)); !status)
      return status;
    if (options.json) print(written_json({options.output}));
    return success();
  }
  print(*text);
  return success();
}

Status export_all(Database& database, const Options& options) {
  const Result<std::string> cells = cells_of(database, options.argument);
  if (!cells) return cells.error();
  if (!options.best) return write_text(database.export_json(*cells), options);
  const Result<db::Contents> contents = database.contents(*cells);
  if (!contents) return contents.error();
  return write_text(db::to_json(db::best_of(*contents), db::Layout::LineAnItem), options);
}

Status lock(Database& database, const Options& options) {
  const Result<std::string> cells = cells_of(database, options.argument);
  return cells ? write_text(database.export_lock(*cells), options) : Status(cells.error());
}

Status merged(const Result<db::MergeReport>& report, const Options& options) {
  if (!report) return report.error();
  print(options.json ? merge_json(*report)
                     : fmt::format("added {} devices, {} cells, {} problems, {} trials, {} kernels; {} "
                                   "trials were known; {} problems have a "
                                   "new best\n",
                                   report->devices, report->cells, report->problems, report->trials,
                                   report->cubins, report->known_trials, report->best));
  return success();
}

Database::Check profiles_of(const Options& options) {
  return [origin = options.argument](const db::Contents& contents) {
    return engine::check_profiles(contents.devices, origin);
  };
}

Result<Database> open_needed(const Options& options, Use use) {
  Result<std::optional<Database>> opened = open_database(options, use);
  if (!opened) return opened.error();
  if (!opened->has_value())
    return Error{ErrorKind::Input, fmt::format("`rondo db {}` needs a database", options.action),
                 "leave out --no-db"};
  return std::move(*opened).value();
}

// Reads before it opens: a file that is not there must not leave a new database behind.
Status import_file(const Options& options) {
  const Result<std::string> text = read_text_file(options.argument);
  if (!text) return text.error();
  Result<Database> database = open_needed(options, Use::Written);
  if (!database) return database.error();
  return merged(database->import_json(*text, options.argument, profiles_of(options)), options);
}

Status merge(Database& database, const Options& options) {
  using Kernels = Database::Kernels;
  return merged(database.merge_database(options.argument, profiles_of(options),
                                        options.with_kernels ? Kernels::Taken : Kernels::Left),
                options);
}

Status prune(Database& database, const Options& options) {
  const Result<double> age = engine::parse_duration(options.before);
  if (!age) return age.error();
  const auto report = database.prune(db::now() - static_cast<std::int64_t>(*age));
  if (!report) return report.error();
  print(options.json ? prune_json(*report)
                     : fmt::format("removed {} trials and {} kernels; {} bytes became {}\n", report->trials,
                                   report->cubins, report->bytes_before, report->bytes_after));
  return success();
}

Status check_file(Database& database, const Options& options) {
  const auto findings = database.check();
  if (!findings) return findings.error();
  if (options.json)
    print(findings_json(*findings));
  else if (findings->empty())
    print(fmt::format("'{}' is sound\n", database.path()));
  else
    for (const std::string& finding : *findings) print(finding + "\n");
  if (findings->empty()) return success();
  if (options.json) return already_shown(ErrorKind::Database);
  return Error{ErrorKind::Database,
               fmt::format("'{}' is damaged: {} findings", database.path(), findings->size()),
               "export what can be read, and import it into a new file"};
}

struct Action {
  Status (*run)(Database&, const Options&);
  Use use;
};

}  // namespace

Status database(const Options& options) {
  static const std::map<std::string, Action> actions = {
      {"list", {list, Use::Required}},         {"show", {show, Use::Required}},
      {"export", {export_all, Use::Required}}, {"merge", {merge, Use::Written}},
      {"prune", {prune, Use::Required}},       {"check", {check_file, Use::Required}},
      {"lock", {lock, Use::Required}}};
  if (options.action == "import") return import_file(options);
  const Action& action = actions.at(options.action);
  // Nor must these leave a new database behind.
  if (options.action == "merge")
    if (const auto other = InputFile::open(options.argument); !other) return other.error();
  if (options.action == "prune") {
    if (const auto age = engine::parse_duration(options.before); !age) return age.error();
    if (const auto there = open_database(options, Use::Required); !there) return there.error();
  }
  Result<Database> opened = open_needed(options, options.action == "prune" ? Use::Written : action.use);
  if (!opened) return opened.error();
  return action.run(*opened, options);
}

}  // namespace rondo::tools
