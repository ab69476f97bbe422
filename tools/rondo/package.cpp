// `rondo package`: kernels ahead of time.
#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "compiler/support/comma_list.h"
#include "compiler/support/text_file.h"
#include "engine/arrays/staged_files.h"
#include "engine/request/load_cell.h"
#include "runtime/package/select.h"
#include "runtime/package/writer/writer.h"
#include "tools/rondo/commands.h"
#include "tools/rondo/package_view.h"
#include "tools/rondo/progress_bar.h"
#include "tools/rondo/session.h"
#include "tools/rondo/stop_signal.h"
#include "tuner/package/build.h"
#include "tuner/package/self_test.h"

namespace rondo::tools {
namespace {

using package::Package;
using package::PackageWriter;

constexpr const char* kArchitectures[] = {"sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"};

// The lines of the command line, then those of the list file.
Result<tuner::PackageList> list_of(const Options& options) {
  tuner::PackageList list;
  for (const std::string& cell : options.cells)
    list.lines.push_back({cell,
                          options.cell_name,
                          options.shapes.empty() ? std::vector<std::string>{options.shape} : options.shapes,
                          between_commas(options.dtype),
                          options.pass,
                          options.math,
                          options.save,
                          options.constants,
                          options.clip_forward,
                          options.clip_gradient,
                          options.forms,
                          {}});
  if (!options.list.empty()) {
    const Result<std::string> text = read_text_file(options.list);
    if (!text) return text.error();
    Result<tuner::PackageList> read = tuner::parse_package_list(*text, options.list);
    if (!read) return read;
    list.lines.insert(list.lines.end(), read->lines.begin(), read->lines.end());
    list.archs = read->archs;
  }
  if (list.lines.empty())
    return Error{ErrorKind::Input, "`rondo package build` needs a cell", "name one, or a --list FILE"};
  if (!options.archs.empty()) list.archs = options.archs;
  if (list.archs.empty()) list.archs.assign(std::begin(kArchitectures), std::end(kArchitectures));
  return list;
}

// What the PTX is made for. A lock file lists what was tuned, and nobody tunes for a PTX.
std::string base_of(const Options& options) {
  if (options.base) return *options.base;
  if (options.lock.empty()) return "sm_80";
  note(
      "no PTX for later GPUs is made, because --lock pins the choices of single GPUs; with --ptx ARCH it is "
      "made from what the file pins for the device 'portable'");
  return "none";
}

Status set_targets(const std::vector<std::string>& archs, const std::string& base, db::Database* database,
                   tuner::PackageOptions& into) {
  for (const std::string& arch : archs) {
    const Result<engine::Machine> machine = engine::find_machine(arch, database, false);
    if (!machine) return machine.error();
    if (!machine->note.empty()) note(machine->note);
    into.targets.push_back(machine->profile);
  }
  if (base == "none") return success();
  Result<target::Profile> profile = target::find_profile(base);
  if (!profile) return profile.error();
  into.base = std::move(profile).value();
  return success();
}

Status check_outputs(const Options& options) {
  for (const auto& [option, file] : {std::pair("--embed", options.embed), {"--depfile", options.depfile}})
    if (file == "-")
      return Error{ErrorKind::Input,
                   fmt::format("{} - is no file: standard output says what was built", option),
                   "name a file"};
  if (options.output != "-" || !options.embed.empty()) return success();
  return Error{ErrorKind::Input, fmt::format("`rondo package {}` needs a file to write", options.action),
               "-o FILE, --embed FILE.c, or both"};
}

// A path in a rule of Make.
std::string in_rule(const std::string& path) {
  std::string text;
  for (const char c : std::filesystem::absolute(path).lexically_normal().string()) {
    if (c == ' ' || c == '#' || c == '\\') text += '\\';
    if (c == '$') text += '$';
    text += c;
  }
  return text;
}

// The output, a colon, and the files that it was made from: who runs the command again knows when.
std::string rule_of(const Options& options, const tuner::PackageList& list) {
  std::string text = in_rule(options.embed.empty() ? options.output : options.embed) + ":";
  for (const std::string& file : {options.list, options.lock})
    if (!file.empty()) text += " " + in_rule(file);
  std::set<std::string> cells;
  for (const tuner::PackageLine& line : list.lines)
    if (!engine::is_shipped_cell(line.cell) && cells.insert(line.cell).second)
      text += " " + in_rule(line.cell);
  return text + "\n";
}

// The package, its C source and the rule of what it was made from: all or none.
Status write_package(const Options& options, const std::string& bytes, const std::string& rule = "") {
  engine::StagedFiles files(input_files_of(options));
  if (options.output != "-")
    if (Status status = files.add(options.output, bytes); !status) return status;
  if (!options.embed.empty())
    if (Status status =
            files.add(options.embed, package::to_c_source(bytes, package::c_name_of(options.embed)));
        !status)
      return status;
  if (!options.depfile.empty())
    if (Status status = files.add(options.depfile, rule); !status) return status;
  if (Status status = files.commit(); !status) return status;
  const Result<Package> package = Package::from_memory(bytes, "the package");
  if (!package) return package.error();
  std::vector<std::string> written;
  for (const std::string& file : {options.output, options.embed, options.depfile})
    if (file != "-" && !file.empty()) written.push_back(file);
  if (options.json) {
    print(built_json(*package, written));
    return success();
  }
  print(package_summary(*package));
  for (const std::string& file : written) print(fmt::format("wrote {}\n", file));
  return success();
}

Status build(const Options& options) {
  if (Status status = check_outputs(options); !status) return status;
  const Result<tuner::PackageList> list = list_of(options);
  if (!list) return list.error();
  const Result<std::vector<tuner::PackagedProblem>> problems = tuner::packaged_problems(list->lines);
  if (!problems) return problems.error();
  Result<std::optional<db::Database>> database = open_database(options, Use::Optional);
  if (!database) return database.error();
  const Result<const engine::ShippedLayer*> shipped = shipped_of(options);
  if (!shipped) return shipped.error();
  const Result<std::optional<db::PinnedChoices>> pinned = open_lock(options);
  if (!pinned) return pinned.error();
  StatusLine line;
  tuner::PackageOptions how;
  how.database = database->has_value() ? &**database : nullptr;
  how.shipped = *shipped;
  how.pinned = pinned->has_value() ? &**pinned : nullptr;
  how.self_tests = options.self_tests;
  how.workers = options.workers;
  how.stop = &stop_flag();
  how.progress = [&](const tuner::PackageProgress& progress) {
    line.show(
        [&](int columns) { return progress_line(progress.done, progress.all, progress.what, columns); });
  };
  how.note = [&](const std::string& text) {
    line.wipe();
    note(text);
  };
  if (Status status = set_targets(list->archs, base_of(options), how.database, how); !status) return status;
  const Result<PackageWriter> built = tuner::build_package(*problems, how);
  line.wipe();
  if (!built) return built.error();
  return write_package(options, built->bytes(), rule_of(options, *list));
}

Status merge(const Options& options) {
  if (Status status = check_outputs(options); !status) return status;
  PackageWriter writer;
  for (const std::string& file : options.files) {
    const Result<Package> package = Package::open(file);
    if (!package) return package.error();
    if (Status status = writer.add(*package); !status) return status;
  }
  return write_package(options, writer.bytes());
}

Status list(const Package& package, const Options& options) {
  print(options.json ? package.manifest() : package_lines(package) + package_summary(package));
  return success();
}

Status show(const Package& package, const Options& options) {
  print(options.json ? package.manifest() : package_details(package));
  return success();
}

// Runs the self-tests of the entries whose code suits the GPU at hand.
Status run_tests(const Package& package, const runtime::Context& context, const runtime::DeviceInfo& gpu,
                 PackageCheck& check) {
  const std::vector<package::Entry>& entries = package.index().entries;
  for (std::size_t i = 0; i < entries.size(); ++i)
    for (std::size_t code = 0; code < entries[i].codes.size(); ++code) {
      if (entries[i].self_test == package::kNoPart ||
          package::suits(entries[i].codes[code], {gpu.cc(), gpu.shared_per_block_optin}) ==
              package::Suits::Not)
        continue;
      const Result<std::string_view> bytes = package.part(entries[i].self_test);
      if (!bytes) return bytes.error();
      const Result<package::SelfTest> test = package::self_test_from_bytes(*bytes, package.origin());
      if (!test) return test.error();
      const Result<executable::Executable> executable = package.executable(i, code);
      if (!executable) return executable.error();
      const Result<std::string> differs = tuner::run_self_test(*test, *executable, context);
      if (!differs && differs.error().kind != ErrorKind::Unsupported) return differs.error();
      check.tests.push_back({package::describe(entries[i]) + ", " + entries[i].codes[code].target,
                             differs ? *differs : "", differs ? "" : differs.error().message});
    }
  return success();
}

Status verify(const Package& package, const Options& options) {
  if (Status status = package.verify(); !status) return status;
  PackageCheck check;
  if (!options.no_gpu) {
    const Result<runtime::DeviceInfo> gpu = runtime::device_info(0);
    if (gpu) {
      const Result<runtime::Context> context = runtime::Context::open(0);
      if (!context) return context.error();
      check.gpu = gpu->name;
      if (Status status = run_tests(package, *context, *gpu, check); !status) return status;
    } else {
      check.no_gpu = gpu.error().message;
    }
  }
  print(options.json ? package_check_json(package, check) : package_check_text(package, check));
  if (check.passed()) return success();
  if (options.json) return already_shown(ErrorKind::Wrong);
  return Error{ErrorKind::Wrong,
               fmt::format("kernels of {} give wrong results on {}", package.origin(), check.gpu),
               "build the package again, and report it if that does not help"};
}

Status extract(const Package& package, const Options& options) {
  std::error_code error;
  std::filesystem::create_directories(options.output, error);
  if (error)
    return Error{ErrorKind::Input,
                 fmt::format("cannot make the folder '{}': {}", options.output, error.message())};
  engine::StagedFiles files(input_files_of(options));
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < package.index().parts.size(); ++i) {
    const Result<std::string_view> bytes = package.part(i);
    if (!bytes) return bytes.error();
    for (const PartFile& file : files_of_part(package.index(), i, *bytes)) {
      names.push_back(options.output + "/" + file.name);
      if (Status status = files.add(names.back(), std::string(file.bytes)); !status) return status;
    }
  }
  if (Status status = files.commit(); !status) return status;
  print(options.json ? files_json(names)
                     : fmt::format("wrote {} files to {}\n", names.size(), options.output));
  return success();
}

}  // namespace

Status package(const Options& options) {
  if (options.action == "build") return build(options);
  if (options.action == "merge") return merge(options);
  const Result<Package> package = Package::open(options.argument);
  if (!package) return package.error();
  if (options.action == "list") return list(*package, options);
  if (options.action == "show") return show(*package, options);
  if (options.action == "verify") return verify(*package, options);
  return extract(*package, options);
}

}  // namespace rondo::tools
