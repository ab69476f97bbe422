// `rondo run`: a cell over .npy arrays.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "compiler/backend/backends.h"
#include "compiler/target/target.h"
#include "engine/arrays/array_ranges.h"
#include "engine/arrays/loss_arrays.h"
#include "engine/arrays/staged_files.h"
#include "engine/request/problem_text.h"
#include "engine/service/run_training.h"
#include "tools/rondo/arrays.h"
#include "tools/rondo/commands.h"
#include "tools/rondo/json_view.h"
#include "tools/rondo/saving.h"
#include "tools/rondo/session.h"

namespace rondo::tools {
namespace {

using engine::RunArrays;

// A result that is written to a file.
struct Target {
  enum class Kind { Output, LastState, Gradient } kind = Kind::Output;
  const step::Tensor* tensor = nullptr;
  std::string path;
};

constexpr std::array<const char*, 3> kOptions = {"--out", "--last", "--grad"};  // by kind
constexpr std::array<const char*, 3> kNames = {"output", "state", "input, parameter or state"};

bool is_of(const step::Tensor& tensor, Target::Kind kind) {
  switch (kind) {
    case Target::Kind::Output: return tensor.kind == step::TensorKind::Output;
    case Target::Kind::LastState: return tensor.kind == step::TensorKind::State;
    case Target::Kind::Gradient: break;
  }
  return tensor.kind == step::TensorKind::Input || tensor.kind == step::TensorKind::Param ||
         tensor.kind == step::TensorKind::State;
}

Result<Target> target_of(const step::Cell& cell, Target::Kind kind, const std::string& text) {
  const auto index = static_cast<std::size_t>(kind);
  const auto parts = engine::parse_assignment(text, kOptions[index]);
  if (!parts) return parts.error();
  const step::Tensor* found = nullptr;
  std::string known;
  for (const step::Tensor& tensor : cell.tensors) {
    if (!is_of(tensor, kind)) continue;
    if (tensor.name == parts->first) found = &tensor;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", tensor.name);
  }
  if (found == nullptr)
    return Error{ErrorKind::Input,
                 fmt::format("cell {} has no {} '{}'", cell.name, kNames[index], parts->first),
                 "it has: " + known};
  return Target{kind, found, parts->second};
}

bool is_standard_output(const std::string& path) { return path == "-" || path == "/dev/stdout"; }

// Whether an array goes to the standard output, which then has nothing else.
Result<bool> writes_to_standard_output(const Options& options, const std::vector<Target>& targets) {
  const auto found =
      std::ranges::find_if(targets, [](const Target& target) { return is_standard_output(target.path); });
  if (found == targets.end()) return false;
  if (!options.json) return true;
  return Error{ErrorKind::Input,
               fmt::format("{} {}={} and --json both write to the standard output",
                           kOptions[static_cast<std::size_t>(found->kind)], found->tensor->name, found->path),
               "name a file, or leave out --json"};
}

Result<std::vector<Target>> targets_of(const Options& options, const step::Cell& cell) {
  std::vector<Target> targets;
  for (const auto& [kind, texts] :
       {std::pair(Target::Kind::Output, &options.outs), std::pair(Target::Kind::LastState, &options.lasts),
        std::pair(Target::Kind::Gradient, &options.grads)})
    for (const std::string& text : *texts) {
      Result<Target> target = target_of(cell, kind, text);
      if (!target) return target.error();
      targets.push_back(std::move(target).value());
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

// Of what is asked, with the reference in the place of a kernel.
engine::Request request_to_run(const Options& options, const step::Cell& cell,
                               const schedule::Problem& problem, Session& session) {
  engine::Request request = request_of(options, session, cell, problem,
                                       {options.reference ? engine::kReference : options.strategy, {}});
  request.stand_in = engine::StandIn::Cpus;
  return request;
}

Result<engine::CellRun> compute(const Options& options, const step::Cell& cell,
                                const schedule::Problem& problem, const RunArrays& arrays, Session& session) {
  if (problem.sizes.batch == 0 || problem.sizes.time == 0) {
    const auto arguments = engine::to_arguments(arrays, problem.storage);
    if (!arguments) return arguments.error();
    return engine::run_of_nothing({cell, problem, session.machine.profile}, *arguments);
  }
  say_what_is_left_aside(options, session);
  Result<engine::Answer> answer =
      engine::answer(request_to_run(options, cell, problem, session), session.machine);
  if (!answer) return answer.error();
  session.machine = answer->machine;
  const schedule::Task task(cell, problem, session.machine.profile);
  Result<engine::CellRun> run =
      answer->kernel ? engine::run_on_device(task, arrays, *session.machine.device, *answer->kernel->plan)
                     : run_on_reference(task, arrays);
  if (run) run->where = answer->where();
  return run;
}

Result<step::LossGradients<double>> loss_of(const Options& options, const step::Cell& cell,
                                            const schedule::Problem& problem) {
  engine::LossArrays arrays;
  if (Status status = read_arrays(options.losses, "--loss", arrays.outputs); !status) return status.error();
  if (Status status = read_arrays(options.last_losses, "--loss-last", arrays.last_states); !status)
    return status.error();
  return engine::to_loss(cell, problem.sizes, arrays, problem.storage);
}

// What --save and --memory ask for.
struct Saving {
  engine::Save save = engine::Save::States;
  std::int64_t every = 0;   // steps of a part of time; 0: not in parts
  std::int64_t memory = 0;  // most bytes; 0: any
};

Result<Saving> saving_of(const Options& options) {
  const Result<std::int64_t> every = engine::parse_every(options.save);
  if (!every) return every.error();
  const Result<std::int64_t> memory = memory_of(options);
  if (!memory) return memory.error();
  const engine::Save save = options.save == "auto"       ? engine::Save::Faster
                            : options.save == "products" ? engine::Save::Products
                                                         : engine::Save::States;
  return Saving{save, *every, *memory};
}

Result<engine::TrainingAnswer> plans_of(const engine::Request& request, const Session& session,
                                        const Saving& saving) {
  if (saving.memory > 0) return engine::answer_training_within(request, session.machine, saving.memory);
  if (saving.every > 0) return engine::answer_training_in_parts(request, session.machine, saving.every);
  return engine::answer_training(request, session.machine, saving.save);
}

// Both passes. Where one of them has no kernel on the machine of the other, the reference computes both.
Result<engine::TrainingRun> compute_gradients(const Options& options, const step::Cell& cell,
                                              const schedule::Problem& forward, const RunArrays& arrays,
                                              const Saving& saving, Session& session) {
  const auto loss = loss_of(options, cell, forward);
  if (!loss) return loss.error();
  const auto found = engine::to_arguments(arrays, forward.storage);
  if (!found) return found.error();
  const step::ForwardArguments<double>& arguments = *found;
  schedule::Problem problem = forward;
  problem.pass = schedule::Pass::Backward;
  if (problem.sizes.batch == 0 || problem.sizes.time == 0)
    return engine::train_on_nothing({cell, problem, session.machine.profile}, arguments, *loss);
  say_what_is_left_aside(options, session);
  Result<engine::TrainingAnswer> answer =
      plans_of(request_to_run(options, cell, problem, session), session, saving);
  if (!answer) return answer.error();
  const bool kernels = answer->has_kernels();
  if (!kernels && (saving.every > 0 || saving.memory > 0))
    note("the reference executor keeps all steps, whatever --save and --memory say");
  problem.save_products = answer->save == engine::Save::Products;
  session.machine = answer->backward.machine;
  const schedule::Task task(cell, problem, session.machine.profile);
  Result<engine::TrainingRun> run =
      kernels ? engine::train_on_device(task, arguments, *loss, *session.machine.device, answer->plans(),
                                        answer->parts.every)
              : engine::train_on_reference(task, arguments, *loss);
  if (run) run->forward.where = kernels ? answer->backward.where() : engine::Answer{}.where();
  return run;
}

// Says which results left the range of their type, or are no numbers.
void say_what_is_not_finite(const schedule::Problem& problem, const engine::TrainingRun& all) {
  const engine::CellRun& run = all.forward;
  const auto look_at = [&](const step::TensorMap<double>& results, const char* what,
                           kernel::Storage storage) {
    for (const auto& [name, values] : results) {
      const auto bad = std::ranges::count_if(values, [](double value) { return !std::isfinite(value); });
      if (bad == 0) continue;
      note(fmt::format(
          "{} '{}': {} of {} elements are infinite or no number in {}{}", what, name, bad, values.size(),
          kernel::storage_name(storage),
          storage == kernel::Storage::F16 ? ", which ends at 65504: bf16 and fp32 hold larger ones" : ""));
    }
  };
  look_at(run.outputs, "output", problem.storage);
  const kernel::Storage computed = scalar::computed_in(problem.storage);
  look_at(run.last_states, "last state", computed);
  look_at(all.gradients.inputs, "gradient of", problem.storage);
  look_at(all.gradients.params, "gradient of", computed);
  look_at(all.gradients.initial_states, "gradient of", computed);
}

const std::vector<double>& values_of(const Target& target, const engine::TrainingRun& run) {
  const std::string& name = target.tensor->name;
  if (target.kind == Target::Kind::Output) return run.forward.outputs.at(name);
  if (target.kind == Target::Kind::LastState) return run.forward.last_states.at(name);
  switch (target.tensor->kind) {
    case step::TensorKind::Input: return run.gradients.inputs.at(name);
    case step::TensorKind::Param: return run.gradients.params.at(name);
    default: return run.gradients.initial_states.at(name);
  }
}

// Of outputs, inputs and their gradients the storage type, of all else fp32 or fp64.
kernel::Storage storage_of(const Target& target, const schedule::Problem& problem) {
  const bool timed =
      target.tensor->kind == step::TensorKind::Output || target.tensor->kind == step::TensorKind::Input;
  return timed ? problem.storage : scalar::computed_in(problem.storage);
}

Status write_results(const Options& options, const std::vector<Target>& targets,
                     const schedule::Problem& problem, const engine::TrainingRun& run) {
  engine::StagedFiles files(input_files_of(options));
  for (const Target& target : targets) {
    const engine::NpyArray array = engine::npy_from(
        values_of(target, run), engine::shape_of(*target.tensor, problem.sizes), storage_of(target, problem));
    if (Status status = files.add(target.path, engine::to_npy(array)); !status) return status;
  }
  return files.commit();
}

// Weights are of a loss that is differentiated.
Status check_losses(const Options& options) {
  if (!options.grads.empty() || (options.losses.empty() && options.last_losses.empty())) return success();
  return Error{ErrorKind::Input, "--loss and --loss-last weigh what is differentiated, and nothing is",
               "name a gradient with --grad NAME=FILE.npy"};
}

// So is what is saved.
Status check_save(const Options& options) {
  if (!options.grads.empty() || options.save == Options().save) return success();
  return Error{ErrorKind::Input,
               fmt::format("--save {} is for a backward pass, and nothing is differentiated", options.save),
               "name a gradient with --grad NAME=FILE.npy"};
}

Result<engine::TrainingRun> without_gradients(Result<engine::CellRun> run) {
  if (!run) return run.error();
  return engine::TrainingRun{std::move(run).value(), {}};
}

std::string run_text(const step::Cell& cell, const schedule::Problem& problem,
                     const engine::TrainingRun& results, const std::vector<std::string>& files) {
  const engine::CellRun& result = results.forward;
  std::string text = fmt::format("{} {} {} on {}\n", cell.name, engine::shape_text(problem.sizes),
                                 kernel::storage_name(problem.storage), result.where);
  if (results.memory)
    text += fmt::format(
        "both passes in {}: saved for backward {}{}, workspace {}\n",
        results.memory->parts > 1 ? fmt::format("{} parts of time", results.memory->parts) : "one piece",
        size_text(results.memory->saved_bytes), results.memory->products ? " with products" : "",
        size_text(results.memory->workspace_bytes));
  if (result.convergence) text += executable::describe(*result.convergence) + "\n";
  for (const std::string& file : files)
    text += fmt::format("wrote {}\n", is_standard_output(file) ? "to standard output" : file);
  if (files.empty()) text += "nothing written: name outputs with --out NAME=FILE.npy\n";
  return text;
}

}  // namespace

Status run(const Options& asked) {
  const Result<Saving> saving = saving_of(asked);
  if (!saving) return saving.error();
  if (Status status = check_save(asked); !status) return status;
  const Options options = in_one_piece(asked);
  const Result<LoadedCell> loaded = load_cell(options);
  if (!loaded) return loaded.error();
  const step::Cell& cell = loaded->cell;
  const auto targets = targets_of(options, cell);
  if (!targets) return targets.error();
  if (Status status = check_losses(options); !status) return status;
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
  const Result<engine::TrainingRun> results =
      options.grads.empty() ? without_gradients(compute(options, cell, *problem, *arrays, *session))
                            : compute_gradients(options, cell, *problem, *arrays, *saving, *session);
  if (!results) return results.error();
  say_what_is_not_finite(*problem, *results);
  if (Status status = write_results(options, *targets, *problem, *results); !status) return status;
  std::vector<std::string> files;
  for (const Target& target : *targets) files.push_back(target.path);
  const std::string text = options.json
                               ? run_json({cell, *problem, session->machine.profile}, *results, files)
                               : run_text(cell, *problem, *results, files);
  if (*piped)
    std::fputs(printable(text).c_str(), stderr);
  else
    print(text);
  return success();
}

}  // namespace rondo::tools
