// What most commands begin with: the cell, the database, the machine.
#pragma once

#include <optional>

#include "engine/emit/emit_stages.h"
#include "engine/request/load_cell.h"
#include "engine/request/problem_text.h"
#include "engine/service/service.h"
#include "tools/rondo/options/options.h"
#include "tools/rondo/report.h"

namespace rondo::tools {

struct LoadedCell {
  engine::CellFile file;
  step::Cell cell;
};
// Clipped and with its forms, as the options say. Shows the diagnostics of a file that does not parse: as
// text on standard error, with --json on standard output.
Result<LoadedCell> load_cell(const Options& options, pipeline::PassWatcher* watcher = nullptr);

struct Session {
  std::optional<db::Database> database;
  std::optional<db::PinnedChoices> pinned;  // of --lock
  engine::Machine machine;
  const engine::ShippedLayer* shipped = nullptr;  // none with --no-db
  db::Database* db() { return database ? &*database : nullptr; }
  engine::Sources sources() { return {db(), shipped, pinned ? &*pinned : nullptr}; }
};

enum class Use {
  Optional,  // read if it is there; an unwritable or damaged default database is a note, one named by --db an
             // error
  Required,  // must be there
  Written,   // made if it is not there
};
Result<std::optional<db::Database>> open_database(const Options& options, Use use);
// The choices of --lock; none without it.
Result<std::optional<db::PinnedChoices>> open_lock(const Options& options);
// What is shipped; null with --no-db. Error Input: the file of RONDO_SHIPPED cannot be read.
Result<const engine::ShippedLayer*> shipped_of(const Options& options);
// Database, what is shipped, lock file and machine.
Result<Session> open_session(const Options& options, Use use);

// All files that the options name for reading, the database among them: no output may take their place.
std::vector<std::string> input_files_of(const Options& options);

// What a command asks of the service. The cell outlives it.
engine::Request request_of(const Options& options, Session& session, const step::Cell& cell,
                           const schedule::Problem& problem, const engine::Overrides& overrides,
                           const engine::Given& given = nullptr);
engine::ProblemText problem_text_of(const Options& options);
Result<schedule::Problem> problem_of(const Options& options, const step::Cell& cell, schedule::Pass pass);
Result<engine::Overrides> overrides_of(const Options& options);
// Where exactly one pass makes sense. Error Input.
Result<schedule::Pass> single_pass(const Options& options);

}  // namespace rondo::tools
