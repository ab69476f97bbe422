// `rondo run`: a cell over .npy arrays.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/backend/backends.h"
#include "compiler/target/target.h"
#include "engine/arrays/array_ranges.h"
#include "engine/arrays/staged_files.h"
#include "engine/request/problem_text.h"
#include "engine/service/run_cell.h"
#include "tools/rondo/arrays.h"
#include "tools/rondo/commands.h"
#include "tools/rondo/json_view.h"
#include "tools/rondo/session.h"

namespace rondo::tools {
namespace {

using engine::RunArrays;

struct Target {
  const step::Tensor* tensor;
  std::string path;
  bool last;  // the last state, not an output
};

bool is_standard_output(const std::string& path) { return path == "-" || path == "/dev/stdout"; }

// Whether an array goes to the standard output, which then has nothing else.
Result<bool> writes_to_standard_output(const Options& options, const std::vector<Target>& targets) {
  const auto found = std::find_if(targets.begin(), targets.end(),
                                  [](const Target& target) { return is_standard_output(target.path); });
  if (found == targets.end()) return false;
  if (!options.json) return true;
  return Error{ErrorKind::Input,
               fmt::format("{} {}={} and --json both write to the standard output",
                           found->last ? "--last" : "--out", found->tensor->name, found->path),
               "name a file, or leave out --json"};
}

Result<std::vector<Target>> targets_of(const Options& options, const step::Cell& cell) {
  std::vector<Target> targets;
  for (const bool last : {false, true})
    for (const std::string& text : last ? options.lasts : options.outs) {
      const auto parts = engine::parse_assignment(text, last ? "--last" : "--out");
      if (!parts) return parts.error();
      const step::TensorKind kind = last ? step::TensorKind::State : step::TensorKind::Output;
      const step::Tensor* found = nullptr;
      std::string known;
      for (const step::TensorId id : cell.of_kind(kind)) {
        const step::Tensor& tensor = cell.tensors[static_cast<std::size_t>(id)];
        if (tensor.name == parts->first) found = &tensor;
        known += fmt::format("{}{}", known.empty() ? "" : ", ", tensor.name);
      }
      if (found == nullptr)
        return Error{
            ErrorKind::Input,
            fmt::format("cell {} has no {} '{}'", cell.name, last ? "state" : "output", parts->first),
            "it has: " + known};
      targets.push_back({found, parts->second, last});
    }
  return targets;
}

// An option that names a machine or a compiler other than what is there says what becomes of it.
void say_what_is_left_aside(const Options& options, const Session& session) {
  if (session.machine.gpu_info || options.reference) return;
  if (options.arch != "auto" && !session.machine.profile.is_cpu())
    note(fmt::format("there is no GPU here for --arch {}; running on CPUs", options.arch));
  const backend::Backend* const wanted = backend::wanted_backend();
  const backend::Backend& used = backend::cpu_backend();
  if (wanted != nullptr && wanted != &used)
    note(fmt::format("--backend {} compiles for GPUs alone; kernels for CPUs are made by {}", wanted->name(),
                     used.name()));
}

Result<engine::CellRun> run_on_reference(const schedule::Task& task, const RunArrays& arrays) {
  const auto arguments = engine::to_arguments(arrays, task.problem.storage);
  if (!arguments) return arguments.error();
  return engine::run_on_reference(task, *arguments);
}

Result<engine::CellRun> compute(const Options& options, const step::Cell& cell,
                                const schedule::Problem& problem, const RunArrays& arrays, Session& session) {
  if (problem.sizes.batch == 0 || problem.sizes.time == 0) {
    const auto arguments = engine::to_arguments(arrays, problem.storage);
    if (!arguments) return arguments.error();
    return engine::run_of_nothing({cell, problem, session.machine.profile}, *arguments);
  }
  say_what_is_left_aside(options, session);
  engine::Request request = request_of(options, session, cell, problem,
                                       {options.reference ? engine::kReference : options.strategy, {}});
  request.stand_in = engine::StandIn::Cpus;
  Result<engine::Answer> answer = engine::answer(request, session.machine);
  if (!answer) return answer.error();
  session.machine = answer->machine;
  const schedule::Task task(cell, problem, session.machine.profile);
  Result<engine::CellRun> run =
      answer->kernel ? engine::run_on_device(task, arrays, *session.machine.device, *answer->kernel->plan)
                     : run_on_reference(task, arrays);
  if (run) run->where = answer->where();
  return run;
}

// Says which results left the range of their type, or are no numbers.
void say_what_is_not_finite(const schedule::Problem& problem, const engine::CellRun& run) {
  const auto look_at = [&](const step::TensorMap<double>& results, const char* what,
                           kernel::Storage storage) {
    for (const auto& [name, values] : results) {
      const auto bad =
          std::count_if(values.begin(), values.end(), [](double value) { return !std::isfinite(value); });
      if (bad == 0) continue;
      note(fmt::format(
          "{} '{}': {} of {} elements are infinite or no number in {}{}", what, name, bad, values.size(),
          kernel::storage_name(storage),
          storage == kernel::Storage::F16 ? ", which ends at 65504: bf16 and fp32 hold larger ones" : ""));
    }
  };
  look_at(run.outputs, "output", problem.storage);
  look_at(run.last_states, "last state", kernel::Storage::F32);
}

Status write_results(const Options& options, const std::vector<Target>& targets,
                     const schedule::Problem& problem, const engine::CellRun& run) {
  engine::StagedFiles files(input_files_of(options));
  for (const Target& target : targets) {
    const std::vector<double>& values = (target.last ? run.last_states : run.outputs).at(target.tensor->name);
    const kernel::Storage storage = target.last ? kernel::Storage::F32 : problem.storage;
    const engine::NpyArray array =
        engine::npy_from(values, engine::shape_of(*target.tensor, problem.sizes), storage);
    if (Status status = files.add(target.path, engine::to_npy(array)); !status) return status;
  }
  return files.commit();
}

std::string run_text(const step::Cell& cell, const schedule::Problem& problem, const engine::CellRun& result,
                     const std::vector<std::string>& files) {
  std::string text = fmt::format("{} {} {} on {}\n", cell.name, engine::shape_text(problem.sizes),
                                 kernel::storage_name(problem.storage), result.where);
  if (result.convergence) text += executable::describe(*result.convergence) + "\n";
  for (const std::string& file : files)
    text += fmt::format("wrote {}\n", is_standard_output(file) ? "to standard output" : file);
  if (files.empty()) text += "nothing written: name outputs with --out NAME=FILE.npy\n";
  return text;
}

}  // namespace

Status run(const Options& options) {
  const Result<LoadedCell> loaded = load_cell(options);
  if (!loaded) return loaded.error();
  const step::Cell& cell = loaded->cell;
  const auto targets = targets_of(options, cell);
  if (!targets) return targets.error();
  const Result<bool> piped = writes_to_standard_output(options, *targets);
  if (!piped) return piped.error();
  Result<RunArrays> arrays = arrays_of(options);
  if (!arrays) return arrays.error();
  Options machine_options = options;
  machine_options.no_gpu = options.no_gpu || options.reference;
  Result<Session> session = open_session(machine_options, Use::Optional);
  if (!session) return session.error();
  const Result<schedule::Problem> problem = problem_of_arrays(options, cell, *arrays, engine::Needed::All);
  if (!problem) return problem.error();
  if (Status status = engine::check_arrays(*arrays, problem->storage); !status) return status;
  if (Status status = engine::check_ranges(cell, *arrays, problem->storage, problem->constants); !status)
    return status;
  if (Status status = engine::set_seed(cell, problem->sizes.heads, options.draw_seed, *arrays); !status)
    return status.error();
  const Result<engine::CellRun> result = compute(options, cell, *problem, *arrays, *session);
  if (!result) return result.error();
  say_what_is_not_finite(*problem, *result);
  if (Status status = write_results(options, *targets, *problem, *result); !status) return status;
  std::vector<std::string> files;
  for (const Target& target : *targets) files.push_back(target.path);
  const std::string text = options.json ? run_json({cell, *problem, session->machine.profile}, *result, files)
                                        : run_text(cell, *problem, *result, files);
  if (*piped)
    std::fputs(printable(text).c_str(), stderr);
  else
    print(text);
  return success();
}

}  // namespace rondo::tools
