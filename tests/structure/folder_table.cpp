#include <sstream>

#include "tests/structure/rules.h"

namespace rondo::structure {
namespace {

constexpr const char* kHeading = "## Which folder may include which";

// The cells of "| a | b |"; empty where the line is no row.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  if (!line.starts_with('|')) return cells;
  for (std::size_t at = 1; at < line.size();) {
    const std::size_t end = line.find('|', at);
    if (end == std::string::npos) break;
    cells.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  return cells;
}

// The names in backticks.
std::vector<std::string> names_in(const std::string& cell) {
  std::vector<std::string> names;
  for (std::size_t open = cell.find('`'); open != std::string::npos;) {
    const std::size_t close = cell.find('`', open + 1);
    if (close == std::string::npos) break;
    names.push_back(cell.substr(open + 1, close - open - 1));
    open = cell.find('`', close + 1);
  }
  return names;
}

void read_row(const std::vector<std::string>& cells, int line, FolderTable& table) {
  const auto fault = [&](const std::string& message) {
    table.faults.push_back({table.file, line, "table", message});
  };
  const std::vector<std::string> folder = names_in(cells[0]);
  if (cells.size() != 3 || folder.size() != 1)
    return fault("a row is | `folder` | what it holds | `folders` that it may include, or - |");
  const std::vector<std::string> targets = names_in(cells[2]);
  if (targets.empty() && cells[2].find('-') == std::string::npos)
    return fault(folder[0] + " includes none: say so by -");
  if (!table.rows.try_emplace(folder[0], FolderTable::Row{line, {targets.begin(), targets.end()}}).second)
    fault(folder[0] + " has two rows");
}

}  // namespace

FolderTable read_folder_table(const std::string& file, const std::string& text) {
  FolderTable table{file, {}, {}};
  std::istringstream stream(text);
  bool below_heading = false;
  int rows = 0, number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (line.starts_with("#")) below_heading = line == kHeading;
    if (!below_heading) continue;
    const std::vector<std::string> cells = cells_of(line);
    if (cells.empty() && rows > 0) break;
    if (!cells.empty() && ++rows > 2) read_row(cells, number, table);  // below the head and its rule
  }
  if (table.rows.empty())
    table.faults.push_back({file, 0, "table", std::string("there is no table below '") + kHeading + "'"});
  return table;
}

}  // namespace rondo::structure
