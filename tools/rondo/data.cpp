// `rondo data`: random arrays of a cell as .npy files, and the command that runs the cell over them.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "compiler/schedule/plan/problem_check.h"
#include "engine/arrays/staged_files.h"
#include "engine/data/random_arrays.h"
#include "engine/request/problem_text.h"
#include "tools/rondo/commands.h"
#include "tools/rondo/session.h"

namespace rondo::tools {
namespace {

struct DataFile {
  std::string tensor, path, option;  // option: what `rondo run` takes it by
  const engine::NpyArray* array;
};

// A path as a word of a shell.
std::string quoted(const std::string& text) {
  constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

// States are called by their names and a 0, so that `--last h=h.npy` does not meet what it began with.
std::vector<DataFile> files_of(const engine::RunArrays& arrays, const step::Cell& cell,
                               const std::string& folder) {
  std::vector<DataFile> files;
  std::set<std::string> names;
  const auto add = [&](const engine::NamedArray& entry, std::string name, const std::string& option) {
    while (!names.insert(name).second) name += "_";
    files.push_back(
        {entry.name, (std::filesystem::path(folder) / (name + ".npy")).string(), option, &entry.array});
  };
  for (const auto& entry : arrays.inputs) add(entry, entry.name, "--input " + entry.name + "=");
  for (const auto& entry : arrays.params) add(entry, entry.name, "--param-file " + entry.name + "=");
  for (const step::TensorId id : cell.of_kind(step::TensorKind::State)) {
    const std::string& state = cell.tensor(id).name;
    for (const auto& entry : arrays.states) {
      if (entry.name == state && !step::is_reset_state(cell, id))
        add(entry, state + "0", "--state " + state + "=");
      if (entry.name == step::reset_state_name(state))
        add(entry, state + "_reset", "--reset-state " + state + "=");
    }
  }
  for (const auto& entry : arrays.resets) add(entry, "resets", "--resets ");
  for (const auto& entry : arrays.lengths) add(entry, "lengths", "--lengths ");
  return files;
}

// What runs the cell over the files: the first output goes beside them.
std::string run_command(const Options& options, const step::Cell& cell, const std::vector<DataFile>& files) {
  std::string text = "rondo run " + quoted(options.cell);
  if (!options.cell_name.empty()) text += " --cell " + quoted(options.cell_name);
  for (const std::string& constant : options.constants) text += " --const " + quoted(constant);
  if (!options.clip_forward.empty()) text += " --clip-forward " + quoted(options.clip_forward);
  for (const DataFile& file : files) text += " " + file.option + quoted(file.path);
  if (cell.direction == step::Direction::Reversed) text += " --reversed";
  if (cell.direction == step::Direction::Halves) text += " --directions";
  if (cell.has_tangents) text += " --tangents";
  // What the files' own type does not say.
  if (options.dtype_given && (options.dtype == "bf16" || options.dtype == "fp64"))
    text += " --dtype " + options.dtype;
  const step::TensorId output = cell.of_kind(step::TensorKind::Output).front();
  const std::string& name = cell.tensor(output).name;
  return text + fmt::format(" --out {}=", name) +
         quoted((std::filesystem::path(options.folder) / (name + ".npy")).string());
}

Status write(const std::vector<DataFile>& files, const Options& options) {
  std::error_code error;
  std::filesystem::create_directories(options.folder, error);
  if (error)
    return Error{ErrorKind::Input,
                 fmt::format("cannot make the folder '{}': {}", options.folder, error.message())};
  engine::StagedFiles staged;
  for (const DataFile& file : files) {
    if (!options.force && std::filesystem::exists(std::filesystem::symlink_status(file.path, error)))
      return Error{ErrorKind::Input, fmt::format("'{}' is there already", file.path),
                   "name another folder with -o, or replace it with --force"};
    if (Status status = staged.add(file.path, engine::to_npy(*file.array)); !status) return status;
  }
  return staged.commit();
}

std::string data_json(const step::Cell& cell, const schedule::Problem& problem, std::uint64_t seed,
                      const std::vector<DataFile>& files, const std::string& command) {
  using json = nlohmann::ordered_json;
  json list = json::array();
  for (const DataFile& file : files)
    list.push_back({{"tensor", file.tensor},
                    {"file", file.path},
                    {"type", file.array->descr},
                    {"shape", file.array->shape}});
  const json all = {{"cell", cell.name},
                    {"shape", engine::shape_text(problem.sizes)},
                    {"seed", seed},
                    {"files", list},
                    {"run", command}};
  return all.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace

Status data(const Options& options) {
  const Result<LoadedCell> loaded = load_cell(options);
  if (!loaded) return loaded.error();
  const step::Cell& cell = loaded->cell;
  Options filled = options;
  if (!options.dtype_given) filled.dtype = "fp32";
  const Result<schedule::Problem> problem = problem_of(filled, cell, schedule::Pass::Forward);
  if (!problem) return problem.error();
  if (Status status = schedule::check_problem(cell, *problem); !status) return status;
  const std::uint64_t seed = options.seed != 0 ? options.seed : std::random_device{}();
  const Result<engine::RunArrays> arrays = engine::random_arrays({cell, *problem, {}}, seed);
  if (!arrays) return arrays.error();
  const std::vector<DataFile> files = files_of(*arrays, cell, options.folder);
  if (Status status = write(files, options); !status) return status;
  const std::string command = run_command(options, cell, files);
  if (options.json) {
    print(data_json(cell, *problem, seed, files, command));
    return success();
  }
  std::string text;
  for (const DataFile& file : files)
    text += fmt::format("wrote {}: '{}', {} of {}\n", file.path, file.tensor,
                        engine::shape_tuple(file.array->shape), file.array->descr);
  print(text + command + "\n");
  return success();
}

}  // namespace rondo::tools
