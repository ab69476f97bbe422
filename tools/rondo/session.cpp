#include "tools/rondo/session.h"

#include <fmt/format.h>

#include "compiler/step/extents.h"
#include "engine/choice/shipped_layer.h"
#include "tools/rondo/color.h"
#include "tools/rondo/json_view.h"
#include "tuner/trial/verify_alone.h"

namespace rondo::tools {

Result<LoadedCell> load_cell(const Options& options, pipeline::PassWatcher* watcher) {
  Result<engine::CellFile> file = engine::load_cell_file(options.cell, watcher);
  if (!file) return file.error();
  if (!file->parsed.ok()) {
    std::fputs(painted_diagnostics(frontend::render_all(file->parsed, file->text, file->path)).c_str(),
               stderr);
    if (options.json) print(diagnostics_json(*file));
    return already_shown(ErrorKind::Input);
  }
  Result<step::Cell> cell = engine::select_cell(*file, options.cell_name);
  if (!cell) return cell.error();
  const Result<step::Clip> clip = engine::parse_clip(options.clip_forward, options.clip_gradient);
  if (!clip) return clip.error();
  Result<step::Forms> forms = engine::parse_forms(options.forms);
  if (!forms) return forms.error();
  forms->resets |= !options.resets.empty();
  forms->reset_states |= !options.reset_states.empty();
  forms->lengths |= !options.lengths.empty();
  forms->reversed |= options.reversed;
  forms->directions |= options.directions;
  forms->tangents |= options.tangents;
  cell = engine::changed_cell(*cell, *clip, *forms, watcher);
  if (!cell) return cell.error();
  if (step::has_extents(*cell)) {
    const auto constants = engine::parse_constants(*cell, options.constants);
    if (!constants) return constants.error();
    if (Status status = step::check_extents(*cell, *constants); !status) return status.error();
    cell = step::with_extents(std::move(cell).value(), *constants);
  }
  return LoadedCell{std::move(file).value(), std::move(cell).value()};
}

namespace {

Result<db::Database> open_at(const Options& options, db::Access access) {
  const db::OpenOptions how{access};
  return options.database.empty() ? db::Database::open_default(how)
                                  : db::Database::open(options.database, how);
}

// For reading. A file of an older version of Rondo is brought up to date first, where it can be written.
Result<db::Database> open_to_read(const Options& options) {
  Result<db::Database> opened = open_at(options, db::Access::ReadOnly);
  if (opened || opened.error().kind != ErrorKind::Database) return opened;
  const Result<std::string> path =
      options.database.empty() ? db::default_path() : Result<std::string>(options.database);
  const Result<bool> older = path ? db::Database::is_older(*path) : Result<bool>(false);
  if (!older || !*older || !open_at(options, db::Access::ReadWrite)) return opened;
  note(fmt::format("database '{}' was brought up to this version's schema", *path));
  return open_at(options, db::Access::ReadOnly);
}

}  // namespace

Result<std::optional<db::Database>> open_database(const Options& options, Use use) {
  if (options.no_database && use != Use::Required) return std::optional<db::Database>();
  Result<db::Database> opened =
      use == Use::Written ? open_at(options, db::Access::ReadWrite) : open_to_read(options);
  if (opened) return std::optional(std::move(opened).value());
  if (use != Use::Optional || !options.database.empty()) return opened.error();
  if (opened.error().kind != ErrorKind::Missing)
    note(fmt::format("going on without the database: {}", opened.error().message));
  return std::optional<db::Database>();
}

Result<std::optional<db::PinnedChoices>> open_lock(const Options& options) {
  if (options.lock.empty()) return std::optional<db::PinnedChoices>();
  Result<db::PinnedChoices> pinned = db::PinnedChoices::load(options.lock);
  if (!pinned) return pinned.error();
  return std::optional(std::move(pinned).value());
}

Result<const engine::ShippedLayer*> shipped_of(const Options& options) {
  if (options.no_database) return nullptr;
  const Result<engine::ShippedLayer>& layer = engine::shipped_layer();
  if (!layer) return layer.error();
  return &*layer;
}

Result<Session> open_session(const Options& options, Use use) {
  Result<std::optional<db::Database>> database = open_database(options, use);
  if (!database) return database.error();
  Session session;
  session.database = std::move(database).value();
  Result<const engine::ShippedLayer*> shipped = shipped_of(options);
  if (!shipped) return shipped.error();
  session.shipped = *shipped;
  Result<std::optional<db::PinnedChoices>> pinned = open_lock(options);
  if (!pinned) return pinned.error();
  session.pinned = std::move(pinned).value();
  Result<engine::Machine> machine = engine::find_machine(options.arch, session.db(), !options.no_gpu);
  if (!machine) return machine.error();
  session.machine = std::move(machine).value();
  if (!session.machine.note.empty()) note(session.machine.note);
  return session;
}

std::vector<std::string> input_files_of(const Options& options) {
  std::vector<std::string> files = {options.lock,     options.list,     options.resets, options.lengths,
                                    options.argument, options.database, options.peers,  options.record};
  if (options.database.empty() && !options.no_database)
    if (const Result<std::string> path = db::default_path()) files.push_back(*path);
  const auto add_cell = [&](const std::string& cell) {
    if (!engine::is_shipped_cell(cell)) files.push_back(cell);
  };
  add_cell(options.cell);
  for (const std::string& cell : options.cells) add_cell(cell);
  files.insert(files.end(), options.files.begin(), options.files.end());
  for (const auto* named : {&options.inputs, &options.param_files, &options.states, &options.reset_states,
                            &options.losses, &options.last_losses})
    for (const std::string& text : *named) files.push_back(text.substr(text.find('=') + 1));
  return files;
}

engine::Request request_of(const Options& options, Session& session, const step::Cell& cell,
                           const schedule::Problem& problem, const engine::Overrides& overrides,
                           const engine::Given& given) {
  engine::Request request{&cell, problem, overrides};
  engine::TrustOptions& trust = request.trust;
  static_cast<engine::Sources&>(trust) = session.sources();
  trust.create = [&options] { return open_at(options, db::Access::ReadWrite); };
  trust.strict = options.strict;
  trust.note = note;
  trust.at_shape = !options.no_full_shape;
  trust.arbitrary_states = options.arbitrary_states;
  trust.given = given;
  trust.trial = [given](const auto& task, const auto& executable, std::int64_t turn) {
    return tuner::verify_alone(task, executable, turn, "", given);
  };
  return request;
}

engine::ProblemText problem_text_of(const Options& options) {
  return {options.shape, options.dtype, options.math, options.constants, options.save};
}

Result<schedule::Problem> problem_of(const Options& options, const step::Cell& cell, schedule::Pass pass) {
  return engine::parse_problem(cell, problem_text_of(options), pass);
}

Result<engine::Overrides> overrides_of(const Options& options) {
  Result<schedule::Parameters> parameters = engine::parse_parameters(options.parameters);
  if (!parameters) return parameters.error();
  return engine::Overrides{options.strategy, std::move(parameters).value()};
}

Result<schedule::Pass> single_pass(const Options& options) {
  const Result<std::vector<schedule::Pass>> passes = engine::parse_passes(options.pass);
  if (!passes) return passes.error();
  if (passes->size() != 1)
    return Error{ErrorKind::Input,
                 fmt::format("`rondo {}` takes one pass, not '{}'", options.command, options.pass)};
  return passes->front();
}

}  // namespace rondo::tools
