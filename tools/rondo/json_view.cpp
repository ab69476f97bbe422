#include "tools/rondo/json_view.h"

#include <fmt/format.h>
#include <cmath>

#include <nlohmann/json.hpp>

#include "compiler/step/forms.h"
#include "compiler/step/structure.h"
#include "engine/request/problem_text.h"

namespace rondo::tools {

using nlohmann::json;

namespace {

// Text that is not UTF-8 (from a user's file) is replaced, not refused.
std::string dump(const json& value) {
  return value.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

json sizes_json(const step::Sizes& sizes) {
  return {{"B", sizes.batch}, {"T", sizes.time}, {"H", sizes.heads}, {"D", sizes.dim}};
}

json clip_json(const step::Clip& clip) {
  return {{"forward", clip.forward ? json(*clip.forward) : json()},
          {"gradient", clip.gradient ? json(*clip.gradient) : json()}};
}

json forms_json(const step::Cell& cell) { return step::form_names(step::forms_of(cell)); }

// What goes from forward to backward; a forward pass alone saves nothing.
json save_json(const schedule::Problem& problem) {
  if (problem.pass == schedule::Pass::Forward) return nullptr;
  return passes_products(problem) ? "products" : "states";
}

// What both passes took beside the caller's tensors.
json training_json(const std::optional<engine::PartsMemory>& memory) {
  if (!memory) return nullptr;
  return {{"parts_of_time", memory->parts},
          {"save", memory->products ? "products" : "states"},
          {"saved_bytes", memory->saved_bytes},
          {"workspace_bytes", memory->workspace_bytes}};
}

json problem_json(const schedule::Problem& problem, const target::Profile& profile) {
  return {{"shape", sizes_json(problem.sizes)},
          {"dtype", kernel::storage_name(problem.storage)},
          {"math", engine::math_name(problem.math)},
          {"pass", schedule::pass_name(problem.pass)},
          {"save", save_json(problem)},
          {"arch", profile.arch()},
          {"constants", problem.constants}};
}

json row_json(const tuner::Row& row) {
  json object = {{"strategy", row.candidate.strategy},
                 {"parameters", row.candidate.parameters},
                 {"status", db::to_text(row.status)},
                 {"reason", row.reason},
                 {"verified", row.verified},
                 {"full_shape", row.at_shape},
                 {"confirmed", row.confirmed},
                 {"model_ms", row.candidate.estimate.seconds * 1e3},
                 {"median_ms", nullptr},
                 {"spread", row.timing.spread},
                 {"samples", row.timing.samples},
                 {"registers", row.registers},
                 {"shared_bytes", row.shared_bytes},
                 {"compiler", row.compiler},
                 {"spill_bytes", row.spill_bytes}};
  if (row.timing.samples > 0) object["median_ms"] = row.timing.median_s * 1e3;
  return object;
}

json convergence_json(const std::optional<executable::Convergence>& found) {
  if (!found) return nullptr;
  return {{"sweeps", found->sweeps},
          {"segments", found->segments},
          {"extra_sweeps", found->extra_sweeps},
          {"segments_in_order", found->segments_in_order},
          {"worst_jump", std::isfinite(found->worst_jump) ? json(found->worst_jump) : json(nullptr)}};
}

// As this version reads them, or as they stand there.
json recorded_json(const db::Trial& trial) {
  const auto parameters = engine::recorded_parameters(trial);
  return parameters ? json(*parameters) : json::parse(trial.parameters, nullptr, false);
}

json trial_json(const db::Trial& trial) {
  json object = {{"id", trial.id},
                 {"strategy", trial.strategy},
                 {"parameters", recorded_json(trial)},
                 {"status", db::to_text(trial.status)},
                 {"verified", trial.verified},
                 {"reason", trial.reason},
                 {"median_ms", nullptr},
                 {"spread", trial.spread},
                 {"samples", trial.samples},
                 {"registers", trial.registers},
                 {"shared_bytes", trial.shared_bytes},
                 {"spill_bytes", trial.spill_bytes},
                 {"rondo_version", trial.rondo_version},
                 {"created_at", trial.created_at}};
  if (trial.median_ms) object["median_ms"] = *trial.median_ms;
  return object;
}

json problem_key_json(const db::Problem& problem) {
  return {{"cell", problem.cell},
          {"device", problem.device},
          {"arch", problem.arch},
          {"shape",
           {{"B", problem.shape.B}, {"T", problem.shape.T}, {"H", problem.shape.H}, {"D", problem.shape.D}}},
          {"dtype", problem.dtype},
          {"math", problem.math},
          {"pass", problem.pass}};
}

const char* coupling_name(step::Coupling coupling) {
  return coupling == step::Coupling::None       ? "none"
         : coupling == step::Coupling::Diagonal ? "diagonal"
                                                : "dense";
}

json structure_json(const step::Structure& structure) {
  json pairs = json::array();
  for (int next = 0; next < structure.states; ++next)
    for (int previous = 0; previous < structure.states; ++previous)
      pairs.push_back({{"next", next},
                       {"previous", previous},
                       {"coupling", coupling_name(structure.at(next, previous))},
                       {"state_dependent", structure.depends_on_state(next, previous)}});
  return {{"states", structure.states},
          {"all_diagonal", structure.all_diagonal},
          {"affine", structure.affine},
          {"has_matrix", structure.has_matrix},
          {"has_reduction", structure.has_reduction},
          {"has_along", structure.has_along},
          {"pairs", pairs}};
}

// One object a form, pass and board.
json fits_json(const engine::FitTable& table) {
  json list = json::array();
  for (const engine::FitRow& row : table.rows)
    for (std::size_t i = 0; i < table.profiles.size(); ++i) {
      const engine::Fit& fit = row.fits[i];
      list.push_back({{"strategy", row.strategy},
                      {"form", row.variant},
                      {"pass", schedule::pass_name(row.pass)},
                      {"gpu", table.profiles[i]},
                      {"legal", fit.kind != engine::Fit::Kind::NotLegal},
                      {"fits", fit.kind == engine::Fit::Kind::Fits},
                      {"missed", fit.missed},
                      {"detail", fit.detail}});
    }
  return list;
}

std::string choice_text(const engine::Choice& choice) {
  return fmt::format("{}, about {:.4f} ms by model", schedule::print(choice.parameters), choice.expected_ms);
}

json diagnostics_of(const std::vector<frontend::Diagnostic>& diagnostics) {
  json list = json::array();
  for (const frontend::Diagnostic& diagnostic : diagnostics)
    list.push_back({{"line", diagnostic.span.line},
                    {"column", diagnostic.span.column},
                    {"length", diagnostic.span.length},
                    {"message", diagnostic.message},
                    {"help", diagnostic.help}});
  return list;
}

}  // namespace

std::string diagnostics_json(const engine::CellFile& file) {
  return dump({{"file", file.path}, {"ok", false}, {"diagnostics", diagnostics_of(file.parsed.diagnostics)}});
}

std::string check_json(const std::vector<frontend::Diagnostic>& remarks, const schedule::Task& task,
                       const std::vector<StrategyVerdict>& verdicts,
                       const std::vector<CheckedTensor>& tensors, const CheckedMemory& memory,
                       const engine::FitTable& fits, const std::optional<engine::Crossover>& crossover) {
  json strategies = json::array();
  for (const StrategyVerdict& verdict : verdicts)
    strategies.push_back({{"name", verdict.name},
                          {"legal", verdict.legality.legal},
                          {"reason", verdict.legality.reason},
                          {"choice", verdict.choice ? choice_text(*verdict.choice) : ""},
                          {"workspace_bytes", verdict.memory.workspace_bytes},
                          {"saved_bytes", verdict.memory.saved_bytes}});
  json list = json::array();
  for (const CheckedTensor& tensor : tensors)
    list.push_back({{"kind", tensor.kind},
                    {"name", tensor.name},
                    {"axes", tensor.axes},
                    {"declared", tensor.declared.empty() ? "" : tensor.declared.substr(1)},
                    {"elements", tensor.elements},
                    {"bytes", tensor.bytes}});
  return dump({{"file", task.written.path},
               {"ok", true},
               {"remarks", diagnostics_of(remarks)},
               {"cell", task.written.name},
               {"clip", clip_json(task.written.clip)},
               {"forms", forms_json(task.written)},
               {"hash", step::canonical_hash(task.written)},
               {"structure", structure_json(task.structure)},
               {"problem", problem_json(task.problem, task.profile)},
               {"strategies", strategies},
               {"crossover", crossover ? json{{"few", crossover->few},
                                              {"many", crossover->many},
                                              {"channels", crossover->channels}}
                                       : json(nullptr)},
               {"fits", fits_json(fits)},
               {"tensors", list},
               {"tensors_bytes", memory.tensors},
               {"board_bytes", memory.board}});
}

std::string emit_json(const step::Cell& cell, const std::string& stage, const std::string& text,
                      const std::vector<pipeline::PassRecord::Text>* passes,
                      const std::vector<pipeline::PassRecord::Row>* times) {
  json result = {{"cell", cell.name},
                 {"clip", clip_json(cell.clip)},
                 {"forms", forms_json(cell)},
                 {"stage", stage},
                 {"text", text}};
  const auto row = [&](const char* list, pipeline::Pass pass) -> json& {
    const pipeline::PassInfo& info = pipeline::info(pass);
    result[list].push_back({{"pass", info.text}, {"level", to_text(pipeline::kLevels, info.level)}});
    return result[list].back();
  };
  if (passes != nullptr)
    for (const auto& made : *passes) row("passes", made.pass)["text"] = made.text;
  if (times != nullptr)
    for (const auto& took : *times)
      row("times", took.pass)
          .update({{"runs", took.runs}, {"ms", took.ms}, {"verifier_ms", took.verifier_ms}});
  return dump(result);
}

std::string tune_json(const step::Cell& cell, const target::Profile& profile,
                      const std::vector<TunedPass>& passes,
                      const std::optional<engine::SaveComparison>& saving) {
  json list = json::array();
  for (const TunedPass& pass : passes) {
    const tuner::SearchResult& search = pass.result.search;
    json rows = json::array();
    for (const tuner::Row& row : search.rows) rows.push_back(row_json(row));
    json object = {{"problem", problem_json(pass.problem, profile)},
                   {"measured", pass.result.measured},
                   {"best", nullptr},
                   {"known_before", nullptr},
                   {"tried", search.tried},
                   {"total", search.total},
                   {"seconds", search.seconds},
                   {"end", tuner::end_name(search.end)},
                   {"copy_bytes_per_s", pass.result.copy_bytes_per_s},
                   {"stored_as_best", pass.result.stored_as_best},
                   {"note", pass.result.note},
                   {"database_trouble", pass.result.database_trouble},
                   {"rows", rows}};
    if (const tuner::Row* best = pass.result.best()) object["best"] = row_json(*best);
    if (const tuner::Row* known = pass.result.known_before()) object["known_before"] = row_json(*known);
    list.push_back(std::move(object));
  }
  json compared;
  if (saving)
    compared = {{"states_ms", saving->states_s * 1e3},
                {"products_ms", saving->products_s * 1e3},
                {"measured", saving->measured},
                {"faster", saving->faster()}};
  return dump({{"cell", cell.name},
               {"clip", clip_json(cell.clip)},
               {"forms", forms_json(cell)},
               {"device", profile.name},
               {"passes", list},
               {"saving", compared}});
}

std::string written_json(const std::vector<std::string>& files) { return dump({{"written", files}}); }

std::string run_json(const schedule::Task& task, const engine::TrainingRun& results,
                     const std::vector<std::string>& files) {
  const engine::CellRun& run = results.forward;
  json outputs = json::array(), states = json::array();
  for (const auto& [name, values] : run.outputs)
    outputs.push_back({{"name", name}, {"elements", values.size()}});
  for (const auto& [name, values] : run.last_states)
    states.push_back({{"name", name}, {"elements", values.size()}});
  return dump({{"cell", task.written.name},
               {"clip", clip_json(task.written.clip)},
               {"forms", forms_json(task.written)},
               {"problem", problem_json(task.problem, task.profile)},
               {"where", run.where},
               {"outputs", outputs},
               {"last_states", states},
               {"convergence", convergence_json(run.convergence)},
               {"training", training_json(results.memory)},
               {"written", files}});
}

std::string verify_json(const step::Cell& cell, const std::string& where, const target::Profile& profile,
                        const std::vector<VerifiedPass>& passes) {
  json list = json::array();
  bool passed = true;
  for (const VerifiedPass& pass : passes) {
    json checks = json::array();
    for (const engine::TensorCheck& check : pass.result.verification.checks)
      checks.push_back({{"tensor", check.name},
                        {"where", check.where},
                        {"error", check.error},
                        {"spread", check.spread},
                        {"limit", check.limit},
                        {"ratio", check.ratio},
                        {"worst", check.worst},
                        {"ill_conditioned", check.ill_conditioned},
                        {"unwritten", check.unwritten},
                        {"verdict", engine::said_name(check.said())},
                        {"passed", check.passed}});
    passed = passed && pass.result.passed();
    list.push_back({{"problem", problem_json(pass.problem, profile)},
                    {"strategy", pass.choice.strategy},
                    {"parameters", pass.choice.parameters},
                    {"passed", pass.result.passed()},
                    {"verdict", engine::said_name(pass.result.faults.empty() ? pass.result.verification.said()
                                                                             : engine::Said::Wrong)},
                    {"agree", pass.result.verification.count(engine::Said::Agrees)},
                    {"wrong", pass.result.verification.count(engine::Said::Wrong)},
                    {"cannot_tell", pass.result.verification.count(engine::Said::CannotTell)},
                    {"covered", pass.result.verification.covered},
                    {"faults", pass.result.faults},
                    {"checks", checks}});
    if (pass.every > 0) list.back()["steps_of_a_part"] = pass.every;
  }
  return dump({{"cell", cell.name},
               {"clip", clip_json(cell.clip)},
               {"forms", forms_json(cell)},
               {"where", where},
               {"passed", passed},
               {"passes", list}});
}

std::string bench_json(const std::string& device, const std::vector<tuner::BenchRow>& rows) {
  json list = json::array();
  for (const tuner::BenchRow& row : rows)
    list.push_back({{"cell", row.cell},
                    {"clip", clip_json(row.clip)},
                    {"shape", sizes_json(row.problem.sizes)},
                    {"dtype", kernel::storage_name(row.problem.storage)},
                    {"pass", schedule::pass_name(row.problem.pass)},
                    {"save", save_json(row.problem)},
                    {"strategy", row.choice.strategy},
                    {"parameters", row.choice.parameters},
                    {"origin", engine::origin_name(row.choice.origin)},
                    {"median_ms", row.timing.median_s * 1e3},
                    {"spread", row.timing.spread},
                    {"bytes", row.bytes},
                    {"share_of_copy_bandwidth", row.share()},
                    {"ready_ms", row.ready_s * 1e3},
                    {"from_cache", row.from_cache},
                    {"convergence", convergence_json(row.convergence)},
                    {"target_ms", nullptr},
                    {"peer_ms", nullptr}});
  const double copy = rows.empty() ? 0 : rows.front().copy_bytes_per_s;
  return dump({{"device", device}, {"copy_bytes_per_s", copy}, {"rows", list}});
}

std::vector<TimedStep::Pass> TimedStep::passes() const {
  std::vector<Pass> all;
  const auto add = [&](const engine::Answer& answer) {
    all.push_back({schedule::pass_name(answer.problem.pass), schedule::pass_title(answer.problem), &answer});
  };
  if (training.walk) add(*training.walk);
  add(training.forward);
  add(training.backward);
  if (training.again) all.push_back({"again", "states again, of outputs", &*training.again});
  return all;
}

std::string step_json(const std::string& device, const step::Cell& cell, const TimedStep& step) {
  const tuner::StepRow& row = step.row;
  json passes = json::array();
  for (const auto& [key, title, answer] : step.passes())
    passes.push_back({{"pass", key},
                      {"strategy", answer->kernel->choice.strategy},
                      {"parameters", answer->kernel->choice.parameters},
                      {"origin", engine::origin_name(answer->kernel->choice.origin)}});
  const json object = {{"cell", cell.name},
                       {"clip", clip_json(cell.clip)},
                       {"forms", forms_json(cell)},
                       {"shape", sizes_json(row.problem.sizes)},
                       {"dtype", kernel::storage_name(row.problem.storage)},
                       {"pass", "training"},
                       {"steps_of_a_part", row.every},
                       {"training", training_json(row.memory)},
                       {"passes", passes},
                       {"median_ms", row.timing.median_s * 1e3},
                       {"spread", row.timing.spread}};
  return dump({{"device", device}, {"rows", json::array({object})}});
}

std::string parts_json(const step::Cell& cell, const std::string& device,
                       const std::vector<PartedPass>& passes) {
  json list = json::array();
  for (const PartedPass& pass : passes) {
    const double to_ns = 1e9 / static_cast<double>(pass.problem.sizes.time);
    json parts = json::array();
    for (const tuner::PartTime& part : pass.times.parts)
      parts.push_back({{"part", part.what},
                       {"beside", part.beside},
                       {"without_ns", part.timing.median_s * to_ns},
                       {"difference_ns", part.difference_s * to_ns},
                       {"spread", part.timing.spread}});
    list.push_back({{"cell", cell.name},
                    {"clip", clip_json(cell.clip)},
                    {"forms", forms_json(cell)},
                    {"shape", sizes_json(pass.problem.sizes)},
                    {"dtype", kernel::storage_name(pass.problem.storage)},
                    {"pass", schedule::pass_name(pass.problem.pass)},
                    {"strategy", pass.times.choice.strategy},
                    {"parameters", pass.times.choice.parameters},
                    {"origin", engine::origin_name(pass.times.choice.origin)},
                    {"whole_ns", pass.times.whole.median_s * to_ns},
                    {"spread", pass.times.whole.spread},
                    {"parts", parts}});
  }
  return dump({{"device", device}, {"rows", list}});
}

std::string doctor_json(const std::vector<engine::Finding>& findings) {
  json list = json::array();
  for (const engine::Finding& finding : findings)
    list.push_back({{"subject", finding.subject},
                    {"health", engine::health_name(finding.health)},
                    {"found", finding.found},
                    {"advice", finding.advice}});
  return dump({{"findings", list}});
}

std::string list_json(const std::vector<db::ProblemSummary>& problems) {
  json list = json::array();
  for (const db::ProblemSummary& summary : problems) {
    json object = problem_key_json(summary.problem);
    object["cell_name"] = summary.cell_name;
    object["trials"] = summary.trials;
    object["best"] = summary.best ? trial_json(*summary.best) : json();
    object["verified_here"] = summary.verified_here;
    object["kernel"] = summary.kernel_origin ? json(db::provenance(*summary.kernel_origin)) : json();
    list.push_back(std::move(object));
  }
  return dump({{"problems", list}});
}

std::string trials_json(const std::vector<TrialsOfProblem>& problems) {
  json list = json::array();
  for (const auto& [problem, trials, models_ms] : problems) {
    json rows = json::array();
    for (std::size_t i = 0; i < trials.size(); ++i) {
      json& row = rows.emplace_back(trial_json(trials[i]));
      row["model_ms"] = models_ms[i] ? json(*models_ms[i]) : json();
    }
    json object = problem_key_json(problem);
    object["trials"] = std::move(rows);
    list.push_back(std::move(object));
  }
  return dump({{"problems", list}});
}

std::string merge_json(const db::MergeReport& report) {
  return dump({{"devices", report.devices},
               {"cells", report.cells},
               {"problems", report.problems},
               {"trials", report.trials},
               {"cubins", report.cubins},
               {"known_trials", report.known_trials},
               {"best", report.best}});
}

std::string prune_json(const db::PruneReport& report) {
  return dump({{"trials", report.trials},
               {"cubins", report.cubins},
               {"bytes_before", report.bytes_before},
               {"bytes_after", report.bytes_after}});
}

std::string findings_json(const std::vector<std::string>& findings) {
  return dump({{"sound", findings.empty()}, {"findings", findings}});
}

}  // namespace rondo::tools
