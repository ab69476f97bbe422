// `rondo tune --list`: all problems of a list, or of one part of it, side by side on several GPUs.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "compiler/support/environment.h"
#include "compiler/support/text_file.h"
#include "compiler/target/target.h"
#include "engine/choice/choose.h"
#include "engine/request/problem_text.h"
#include "runtime/cuda/driver_device.h"
#include "tools/rondo/commands.h"
#include "tools/rondo/session.h"
#include "tools/rondo/stop_signal.h"
#include "tuner/package/list.h"
#include "tuner/queue/queue.h"
#include "tuner/queue/shard.h"

namespace rondo::tools {
namespace {

using nlohmann::json;

// A problem of the list, and what became of it.
struct Listed {
  std::string text;                // "lstm B=16,T=1024,H=1,D=768 bf16 fw"
  std::vector<std::string> words;  // of `rondo tune`, that tell the problem
  tuner::PackagedProblem problem;
  std::string status = "left";  // or "known", "tuned", "failed"
  std::optional<double> median_ms = {};
  std::string strategy = {};
  std::string why = {};  // what a failed one printed last
  int exit = 0;
};

std::vector<std::string> words_of(const tuner::PackageLine& line, const schedule::Problem& problem) {
  std::vector<std::string> words = {line.cell,
                                    "--shape",
                                    engine::shape_text(problem.sizes),
                                    "--dtype",
                                    kernel::storage_name(problem.storage),
                                    "--pass",
                                    schedule::pass_name(problem.pass)};
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  add("--cell", line.cell_name);
  add("--math", line.math);
  add("--save", line.save == "states" ? "" : line.save);
  for (const std::string& constant : line.constants) add("--const", constant);
  add("--clip-forward", line.clip_forward);
  add("--clip-gradient", line.clip_gradient);
  add("--forms", line.forms);
  return words;
}

std::string text_of(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] != "--shape" && words[i] != "--dtype" && words[i] != "--pass")
      text += (text.empty() ? "" : " ") + words[i];
  return text;
}

// Each problem once, in the order of the file.
Result<std::vector<Listed>> listed_in(const std::string& file) {
  const Result<std::string> text = read_text_file(file);
  if (!text) return text.error();
  const Result<tuner::PackageList> list = tuner::parse_package_list(*text, file);
  if (!list) return list.error();
  if (const auto all = tuner::packaged_problems(list->lines); !all)
    return all.error();  // with all that is wrong
  std::vector<Listed> found;
  std::set<std::string> seen;
  for (const tuner::PackageLine& line : list->lines) {
    const auto problems = tuner::packaged_problems({line});
    if (!problems) return problems.error();
    for (const tuner::PackagedProblem& problem : *problems) {
      std::vector<std::string> words = words_of(line, problem.problem);
      std::string name = text_of(words);
      if (seen.insert(name).second) found.push_back({std::move(name), std::move(words), problem});
    }
  }
  return found;
}

Result<tuner::Shard> shard_of(const Options& options) {
  if (!options.shard.empty()) return tuner::parse_shard(options.shard);
  return tuner::shard_of_environment(environment);
}

// The database that this part writes, and the one that all parts begin with.
struct Files {
  std::string own, whole;
};

Result<Files> files_of(const Options& options, const tuner::Shard& shard) {
  if (options.no_database)
    return Error{ErrorKind::Input, "--list needs a database: what is tuned is kept there alone",
                 "leave --no-db out"};
  const Result<std::string> whole =
      options.database.empty() ? db::default_path() : Result<std::string>(options.database);
  if (!whole) return whole.error();
  return Files{shard.file(*whole), *whole};
}

// GPUs and how many problems each has at a time; one slot on a machine that tunes for its CPUs.
Result<std::vector<tuner::Slot>> slots_of(const Options& options, const target::Profile& profile) {
  std::vector<std::string> gpus = {""};
  if (!options.gpus.empty() && profile.is_cpu())
    return Error{ErrorKind::Input, "--gpus, and --arch cpu tunes for CPUs", "leave one of them out"};
  if (!options.gpus.empty()) {
    const Result<int> count = runtime::device_count();
    if (!count) return count.error();
    auto named = tuner::gpus_of(options.gpus, *count, environment("CUDA_VISIBLE_DEVICES"));
    if (!named) return named.error();
    gpus = std::move(named).value();
    const std::string first = runtime::device_info(0) ? runtime::device_info(0)->name : "";
    for (int gpu = 1; gpu < *count; ++gpu)
      if (const auto info = runtime::device_info(gpu); info && info->name != first)
        return Error{
            ErrorKind::Unsupported,
            fmt::format("GPU 0 is {} and GPU {} is {}: a database is for one kind", first, gpu, info->name),
            "let CUDA_VISIBLE_DEVICES show GPUs of one kind"};
  }
  std::vector<tuner::Slot> slots;
  for (int side = 0; side < options.side; ++side)
    for (const std::string& gpu : gpus) slots.push_back({gpu});
  return slots;
}

// Marks what the database has a tuned choice of.
Status mark_known(db::Database& database, const target::Profile& profile, std::vector<Listed>& list) {
  for (Listed& each : list) {
    const schedule::Task task{*each.problem.cell, each.problem.problem, profile};
    const auto best = database.find_best(engine::database_problem(task));
    if (!best) return best.error();
    if (!*best) continue;
    each.status = "known";
    each.median_ms = (*best)->trial.median_ms;
    each.strategy = (*best)->trial.strategy;
  }
  return success();
}

std::vector<std::string> tune_words(const Options& options, const Listed& each, const std::string& database,
                                    std::size_t slots) {
  std::vector<std::string> words = {"tune"};
  words.insert(words.end(), each.words.begin(), each.words.end());
  const int shared = std::max(1, target::usable_threads() / static_cast<int>(slots));
  const int workers = options.workers > 0 ? options.workers : shared;
  for (const auto& [option, value] :
       std::vector<std::pair<const char*, std::string>>{{"--db", database},
                                                        {"--arch", options.arch},
                                                        {"--backend", options.backend},
                                                        {"--budget", options.budget},
                                                        {"--workers", std::to_string(workers)},
                                                        {"--trial-limit", options.trial_limit},
                                                        {"--strategy", options.strategy},
                                                        {"--seed", std::to_string(options.seed)}})
    if (!value.empty()) words.insert(words.end(), {option, value});
  if (options.exhaustive) words.emplace_back("--exhaustive");
  if (options.again) words.emplace_back("--again");
  words.emplace_back("--json");
  return words;
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

// What the process told of the problem.
void take(const tuner::JobEnd& end, Listed& each) {
  if (!end.begun) return;
  each.exit = end.status;
  const json told = json::parse(end.out, nullptr, false);
  const json none;
  const json& pass =
      told.is_object() && told.contains("passes") && !told["passes"].empty() ? told["passes"][0] : none;
  const bool has_best = pass.is_object() && pass.contains("best") && pass["best"].is_object();
  if (has_best && pass.value("measured", false) && end.status == 0) {
    each.status = "tuned";
    each.median_ms = pass["best"].value("median_ms", 0.0);
    each.strategy = pass["best"].value("strategy", "");
    return;
  }
  each.status = end.status == exit_status(ErrorKind::Cancelled) ? "left" : "failed";
  each.why = end.err.empty() ? fmt::format("ended with status {}", end.status) : last_line(end.err);
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<long>(seconds + 0.5);
  if (whole < 100) return fmt::format("{} s", whole);
  return whole < 6000 ? fmt::format("{} min", (whole + 30) / 60) : fmt::format("{:.1f} h", seconds / 3600);
}

std::string outcome_text(const Listed& each) {
  if (each.status == "tuned") return fmt::format("{:.4g} ms, {}", *each.median_ms, each.strategy);
  return each.status + (each.why.empty() ? "" : ": " + each.why);
}

json list_json(const std::vector<Listed>& list, const tuner::Shard& shard, const Files& files) {
  json problems = json::array();
  for (const Listed& each : list)
    problems.push_back({{"problem", each.text},
                        {"status", each.status},
                        {"median_ms", each.median_ms ? json(*each.median_ms) : json()},
                        {"strategy", each.strategy},
                        {"why", each.why}});
  return {{"problems", problems}, {"shard", shard.text()}, {"database", files.own}};
}

ErrorKind kind_of(int status) {
  for (const ErrorKind kind :
       {ErrorKind::Input, ErrorKind::Unsupported, ErrorKind::Missing, ErrorKind::Database, ErrorKind::Device,
        ErrorKind::Compile, ErrorKind::Wrong, ErrorKind::Memory})
    if (exit_status(kind) == status) return kind;
  return ErrorKind::Internal;
}

class TuneList {
 public:
  TuneList(const Options& options, tuner::Shard shard, Files files, std::vector<Listed> list)
      : options_(options), shard_(std::move(shard)), files_(std::move(files)), list_(std::move(list)) {}

  Status run() {
    Result<std::vector<tuner::Slot>> slots = prepared();
    if (!slots) return slots.error();
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < list_.size(); ++i)
      if (options_.again || list_[i].status != "known") open.push_back(i);
    say(fmt::format("{} problems{}, {} of them tuned already, {} to tune, {} at a time\n", list_.size(),
                    shard_.is_whole() ? "" : fmt::format(" of part {} ({})", shard_.text(), shard_.source),
                    list_.size() - open.size(), open.size(), slots->size()));
    tune(open, *slots);
    return finish();
  }

 private:
  // Text for people: on standard error where the result is for programs.
  void say(const std::string& text) const {
    if (options_.json)
      note(text.substr(0, text.size() - 1));
    else
      print(text);
  }

  Result<std::vector<tuner::Slot>> prepared() {
    Options own = options_;
    own.database = files_.own;
    Result<Session> session = open_session(own, Use::Written);
    if (!session) return session.error();
    const engine::Machine& machine = session->machine;
    if (machine.device == nullptr)
      return Error{ErrorKind::Missing,
                   "a list is tuned where it can be measured, and that is not here: " + machine.why_no_device,
                   "--arch cpu tunes for the CPUs of this machine"};
    if (Status status = mark_known(*session->db(), machine.profile, list_); !status) return status.error();
    if (!shard_.is_whole() && std::filesystem::exists(files_.whole)) {
      Result<db::Database> whole = db::Database::open(files_.whole, {db::Access::ReadOnly});
      if (!whole) return whole.error();
      if (Status status = mark_known(*whole, machine.profile, list_); !status) return status.error();
    }
    return slots_of(options_, machine.profile);
  }

  void tune(const std::vector<std::size_t>& open, const std::vector<tuner::Slot>& slots) {
    std::vector<std::vector<std::string>> jobs;
    for (const std::size_t i : open) jobs.push_back(tune_words(options_, list_[i], files_.own, slots.size()));
    const auto begin = std::chrono::steady_clock::now();
    std::size_t done = 0;
    const auto told = [&](const tuner::JobEnd& end) {
      Listed& each = list_[open[end.job]];
      take(end, each);
      ++done;
      const double taken = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      const double left = taken / static_cast<double>(done) * static_cast<double>(open.size() - done);
      const std::string& gpu = slots[end.slot].visible;
      say(fmt::format("{:>4}/{} {}: {} ({}{}{})\n", done, open.size(), each.text, outcome_text(each),
                      gpu.empty() ? "" : fmt::format("GPU {}, ", gpu), duration_text(end.seconds),
                      done < open.size() ? fmt::format(", about {} left", duration_text(left)) : ""));
    };
    tuner::run_jobs("/proc/self/exe", jobs, slots, told, stop_flag());
  }

  Status finish() const {
    const std::string results = options_.json ? list_json(list_, shard_, files_).dump(2) + "\n" : "";
    std::size_t failures = 0;
    const Listed* first = nullptr;
    for (const Listed& each : list_)
      if (each.status == "failed") {
        ++failures;
        if (first == nullptr) first = &each;
      }
    if (!shard_.is_whole())
      note(fmt::format("this part is in {}; `rondo db merge {} --db {}` brings it to the others", files_.own,
                       files_.own, files_.whole));
    if (failures == 0 || stop_flag()) {
      print(results);
      return stop_flag() ? Status(already_shown(ErrorKind::Cancelled)) : success();
    }
    const Error error{kind_of(first->exit),
                      fmt::format("{} of {} problems could not be tuned, the first of them {}: {}", failures,
                                  list_.size(), first->text, first->why),
                      "the same call tries them again, and skips what is tuned"};
    return after_results(results, error, options_.json);
  }

  const Options& options_;
  const tuner::Shard shard_;
  const Files files_;
  std::vector<Listed> list_;
};

}  // namespace

Status tune_list(const Options& options) {
  (void)stop_flag();  // from here on Ctrl-C is a request
  if (!options.cell.empty())
    return Error{ErrorKind::Input, "a cell and --list", "the list names its cells: leave one of them out"};
  const auto budget = engine::parse_duration(options.budget),
             trial = engine::parse_duration(options.trial_limit);
  if (!budget) return budget.error();
  if (!trial) return trial.error();
  const Result<tuner::Shard> shard = shard_of(options);
  if (!shard) return shard.error();
  const Result<Files> files = files_of(options, *shard);
  if (!files) return files.error();
  Result<std::vector<Listed>> all = listed_in(options.list);
  if (!all) return all.error();
  std::vector<Listed> own;
  for (std::size_t i = 0; i < all->size(); ++i)
    if (shard->has(i)) own.push_back(std::move((*all)[i]));
  return TuneList(options, *shard, *files, std::move(own)).run();
}

}  // namespace rondo::tools
