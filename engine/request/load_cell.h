// Cells by name: a file of the user's, or one shipped with Rondo.
#pragma once

#include <string>

#include "compiler/frontend/frontend.h"
#include "compiler/pipeline/watch.h"
#include "compiler/step/forms.h"
#include "compiler/support/result.h"

namespace rondo::engine {

struct CellFile {
  std::string path;  // "shipped:gru.cell" for one that travels in the program
  std::string text;
  frontend::Parsed parsed;
};

// A name without '/' and '.' is a shipped cell if there is one; all else is a path. Text that does not parse
// is no error here: see parsed. Errors: Missing (neither; names the shipped cells), Input (cannot be read, or
// above 1 MB).
Result<CellFile> load_cell_file(const std::string& name, pipeline::PassWatcher* watcher = nullptr);
// Is it the name of a shipped cell, and no path?
bool is_shipped_cell(const std::string& name);

// The cell with what a request changes of it (step/clip.h, step/forms.h). Errors (Input): theirs.
Result<step::Cell> changed_cell(const step::Cell& cell, const step::Clip& clip, const step::Forms& forms,
                                pipeline::PassWatcher* watcher = nullptr);

// The cell `name` of a file that parsed; "" is its only cell. Error Input naming the cells there are.
Result<step::Cell> select_cell(const CellFile& file, const std::string& name);

}  // namespace rondo::engine
