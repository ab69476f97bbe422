#include "engine/request/load_cell.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/support/text_file.h"
#include "engine/request/cell_library.h"

namespace rondo::engine {
namespace {

constexpr std::int64_t kMostBytes = 1 << 20;  // of a cell file

std::string shipped_names() {
  std::vector<std::string> names;
  for (const EmbeddedCell& cell : embedded_cells()) names.push_back(cell.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

const EmbeddedCell* shipped_cell(const std::string& name) {
  for (const EmbeddedCell& cell : embedded_cells())
    if (cell.name == name) return &cell;
  return nullptr;
}

CellFile parsed_file(std::string path, std::string text) {
  frontend::Parsed parsed = frontend::parse(text, path);
  return {std::move(path), std::move(text), std::move(parsed)};
}

}  // namespace

bool is_shipped_cell(const std::string& name) { return shipped_cell(name) != nullptr; }

Result<CellFile> load_cell_file(const std::string& name) {
  const bool plain = name.find_first_of("/.") == std::string::npos;
  if (const EmbeddedCell* cell = shipped_cell(name))
    return parsed_file(fmt::format("shipped:{}.cell", name), cell->text);
  Result<std::string> text = read_text_file(name, kMostBytes);
  if (!text && text.error().kind == ErrorKind::Missing)
    return Error{ErrorKind::Missing,
                 plain ? fmt::format("there is no shipped cell and no file '{}'", name)
                       : fmt::format("there is no file '{}'", name),
                 fmt::format("give the path of a .cell file or a shipped cell: {}", shipped_names())};
  if (!text) return text.error();
  return parsed_file(name, std::move(text).value());
}

Result<step::Cell> select_cell(const CellFile& file, const std::string& name) {
  std::vector<std::string> names;
  for (const step::Cell& cell : file.parsed.cells) {
    if (cell.name == name || (name.empty() && file.parsed.cells.size() == 1)) return cell;
    names.push_back(cell.name);
  }
  const std::string hint = fmt::format("it has: {}", fmt::join(names, ", "));
  if (name.empty())
    return Error{ErrorKind::Input,
                 fmt::format("'{}' has {} cells; choose one with --cell", file.path, names.size()), hint};
  return Error{ErrorKind::Input, fmt::format("'{}' has no cell '{}'", file.path, name), hint};
}

}  // namespace rondo::engine
