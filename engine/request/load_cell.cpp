#include "engine/request/load_cell.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "compiler/frontend/diagnostics.h"
#include "compiler/step/clip.h"
#include "compiler/step/verify.h"
#include "compiler/support/text_file.h"
#include "engine/request/cell_library.h"

namespace rondo::engine {
namespace {

constexpr std::int64_t kMostBytes = 1 << 20;  // of a cell file

Error nothing_called(const std::string& name, bool may_be_shipped) {
  std::vector<std::string> names;
  for (const EmbeddedCell& cell : embedded_cells()) names.push_back(cell.name);
  const std::string meant = frontend::did_you_mean(std::filesystem::path(name).stem().string(), names);
  return {ErrorKind::Missing,
          may_be_shipped ? fmt::format("there is no shipped cell and no file '{}'", name)
                         : fmt::format("there is no file '{}'", name),
          fmt::format("{}{}give the path of a .cell file or a shipped cell: {}", meant,
                      meant.empty() ? "" : " Or ", fmt::join(names, ", "))};
}

const EmbeddedCell* shipped_cell(const std::string& name) {
  for (const EmbeddedCell& cell : embedded_cells())
    if (cell.name == name) return &cell;
  return nullptr;
}

// A file may have several cells.
pipeline::Made made(const frontend::Parsed& parsed) {
  pipeline::Made made;
  made.print = [&] {
    std::string text;
    for (const step::Cell& cell : parsed.cells) text += step::print(cell);
    return text;
  };
  made.verify = [&] {
    std::vector<std::string> defects;
    for (const step::Cell& cell : parsed.cells)
      for (const std::string& defect : step::verify(cell)) defects.push_back(defect);
    return defects;
  };
  return made;
}

CellFile parsed_file(std::string path, std::string text, pipeline::PassWatcher* watcher) {
  frontend::Parsed parsed = pipeline::watched(
      watcher, pipeline::Pass::Parse, [&] { return frontend::parse(text, path); }, made);
  return {std::move(path), std::move(text), std::move(parsed)};
}

}  // namespace

bool is_shipped_cell(const std::string& name) { return shipped_cell(name) != nullptr; }

Result<CellFile> load_cell_file(const std::string& name, pipeline::PassWatcher* watcher) {
  const bool plain = name.find_first_of("/.") == std::string::npos;
  if (const EmbeddedCell* cell = shipped_cell(name))
    return parsed_file(fmt::format("shipped:{}.cell", name), cell->text, watcher);
  Result<std::string> text = read_text_file(name, kMostBytes);
  if (!text && text.error().kind == ErrorKind::Missing) return nothing_called(name, plain);
  if (!text) return text.error();
  return parsed_file(name, std::move(text).value(), watcher);
}

Result<step::Cell> changed_cell(const step::Cell& cell, const step::Clip& clip, const step::Forms& forms,
                                pipeline::PassWatcher* watcher) {
  const auto made = [](const Result<step::Cell>& changed) {
    return changed ? step::made(*changed) : pipeline::Made{};
  };
  const Result<step::Cell> clipped = pipeline::watched(
      watcher, pipeline::Pass::Clip, [&] { return step::clipped(cell, clip); }, made);
  if (!clipped) return clipped.error();
  return pipeline::watched(
      watcher, pipeline::Pass::Forms, [&] { return step::with_forms(*clipped, forms); }, made);
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
