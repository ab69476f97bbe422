// `rondo run`: a cell over .npy arrays.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/backend/backends.h"
#include "compiler/target/target.h"
#include "engine/arrays/staged_files.h"
#include "engine/request/problem_text.h"
#include "engine/service/run_cell.h"
#include "tools/rondo/commands.h"
#include "tools/rondo/json_view.h"
#include "tools/rondo/session.h"

namespace rondo::tools {
namespace {

using engine::RunArrays;

Status read_arrays(const std::vector<std::string>& texts, const char* option,
                   std::vector<engine::NamedArray>& into) {
  for (const std::string& text : texts) {
    const auto parts = engine::parse_assignment(text, option);
    if (!parts) return parts.error();
    Result<engine::NpyArray> array = engine::read_npy(parts->second);
    if (!array) return array.error();
    into.push_back({parts->first, parts->second, std::move(array).value()});
  }
  return success();
}

Result<RunArrays> arrays_of(const Options& options) {
  RunArrays arrays;
  if (Status status = read_arrays(options.inputs, "--input", arrays.inputs); !status) return status.error();
  if (Status status = read_arrays(options.param_files, "--param-file", arrays.params); !status)
    return status.error();
  if (Status status = read_arrays(options.states, "--state", arrays.states); !status) return status.error();
  std::vector<engine::NamedArray> given;
  if (Status status = read_arrays(options.reset_states, "--reset-state", given); !status)
    return status.error();
  for (engine::NamedArray& array : given) {
    array.name = step::reset_state_name(array.name);
    arrays.states.push_back(std::move(array));
  }
  const auto read_flags = [&](const std::string& path, const char* name,
                              std::vector<engine::NamedArray>& into) -> Status {
    return path.empty() ? success()
                        : read_arrays({fmt::format("{}={}", name, path)}, "--resets or --lengths", into);
  };
  if (Status status = read_flags(options.resets, step::kResetsName, arrays.resets); !status)
    return status.error();
  if (Status status = read_flags(options.lengths, step::kLengthsName, arrays.lengths); !status)
    return status.error();
  return arrays;
}

struct Target {
  const step::Tensor* tensor;
  std::string path;
  bool last;  // the last state, not an output
};

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

// Whether the arrays say other than the extents that --shape names.
bool contradicts(const std::string& shape, const step::Sizes& given, const step::Sizes& found) {
  const auto differs = [&](const char* axis, std::int64_t a, std::int64_t b) {
    return a != b && shape.find(axis) != std::string::npos;
  };
  return differs("B=", given.batch, found.batch) || differs("T=", given.time, found.time) ||
         differs("H=", given.heads, found.heads) || differs("D=", given.dim, found.dim);
}

Result<schedule::Problem> run_problem(const Options& options, const step::Cell& cell,
                                      const RunArrays& arrays) {
  Options filled = options;
  if (!options.dtype_given) {
    const Result<kernel::Storage> storage = engine::deduce_storage(arrays);
    if (!storage) return storage.error();
    filled.dtype = kernel::storage_name(*storage);
  }
  Result<schedule::Problem> problem = problem_of(filled, cell, schedule::Pass::Forward);
  if (!problem) return problem;
  const Result<step::Sizes> sizes =
      engine::deduce_sizes(cell, arrays, options.shape_given ? std::optional(problem->sizes) : std::nullopt);
  if (!sizes) return sizes.error();
  if (options.shape_given && contradicts(options.shape, problem->sizes, *sizes))
    return Error{ErrorKind::Input,
                 fmt::format("--shape says {}, the arrays say {}", engine::shape_text(problem->sizes),
                             engine::shape_text(*sizes)),
                 "leave out --shape"};
  problem->sizes = *sizes;
  return problem;
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

Result<engine::CellRun> compute(const Options& options, const step::Cell& cell,
                                const schedule::Problem& problem,
                                const step::ForwardArguments<double>& arguments, Session& session) {
  if (problem.sizes.batch == 0 || problem.sizes.time == 0)
    return engine::run_of_nothing({cell, problem, session.machine.profile}, arguments);
  say_what_is_left_aside(options, session);
  engine::Request request = request_of(options, session, cell, problem,
                                       {options.reference ? engine::kReference : options.strategy, {}});
  request.stand_in = engine::StandIn::Cpus;
  Result<engine::Answer> answer = engine::answer(request, session.machine);
  if (!answer) return answer.error();
  session.machine = answer->machine;
  const schedule::Task task(cell, problem, session.machine.profile);
  Result<engine::CellRun> run =
      answer->kernel ? engine::run_on_device(task, arguments, *session.machine.device, *answer->kernel->plan)
                     : engine::run_on_reference(task, arguments);
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

Status write_results(const std::vector<Target>& targets, const schedule::Problem& problem,
                     const engine::CellRun& run) {
  engine::StagedFiles files;
  for (const Target& target : targets) {
    const std::vector<double>& values = (target.last ? run.last_states : run.outputs).at(target.tensor->name);
    const kernel::Storage storage = target.last ? kernel::Storage::F32 : problem.storage;
    const engine::NpyArray array =
        engine::npy_from(values, engine::shape_of(*target.tensor, problem.sizes), storage);
    if (Status status = files.add(target.path, engine::to_npy(array)); !status) return status;
  }
  return files.commit();
}

}  // namespace

Status run(const Options& options) {
  const Result<LoadedCell> loaded = load_cell(options);
  if (!loaded) return loaded.error();
  const step::Cell& cell = loaded->cell;
  const auto targets = targets_of(options, cell);
  if (!targets) return targets.error();
  const Result<RunArrays> arrays = arrays_of(options);
  if (!arrays) return arrays.error();
  Options machine_options = options;
  machine_options.no_gpu = options.no_gpu || options.reference;
  Result<Session> session = open_session(machine_options, Use::Optional);
  if (!session) return session.error();
  const Result<schedule::Problem> problem = run_problem(options, cell, *arrays);
  if (!problem) return problem.error();
  auto arguments = engine::to_arguments(*arrays, problem->storage);
  if (!arguments) return arguments.error();
  if (Status status = engine::set_seed(cell, problem->sizes.heads, options.draw_seed, *arguments); !status)
    return status.error();
  const Result<engine::CellRun> result = compute(options, cell, *problem, *arguments, *session);
  if (!result) return result.error();
  say_what_is_not_finite(*problem, *result);
  if (Status status = write_results(*targets, *problem, *result); !status) return status;
  std::vector<std::string> files;
  for (const Target& target : *targets) files.push_back(target.path);
  if (options.json) {
    print(run_json({cell, *problem, session->machine.profile}, *result, files));
    return success();
  }
  std::string text = fmt::format("{} {} {} on {}\n", cell.name, engine::shape_text(problem->sizes),
                                 kernel::storage_name(problem->storage), result->where);
  if (result->convergence) text += executable::describe(*result->convergence) + "\n";
  for (const std::string& file : files) text += fmt::format("wrote {}\n", file);
  if (files.empty()) text += "nothing written: name outputs with --out NAME=FILE.npy\n";
  print(text);
  return success();
}

}  // namespace rondo::tools
