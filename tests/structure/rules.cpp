#include "tests/structure/rules.h"

#include <algorithm>
#include <optional>
#include <sstream>

#include "tests/structure/functions.h"

namespace rondo::structure {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// The path in `#include "path"`.
std::optional<std::string> included_by(const std::string& line) {
  const std::string text = trimmed(line);
  if (!text.starts_with('#')) return std::nullopt;
  const std::string directive = trimmed(text.substr(1));
  if (!directive.starts_with("include")) return std::nullopt;
  const std::string path = trimmed(directive.substr(std::string("include").size()));
  const std::size_t end = path.find('"', 1);
  if (!path.starts_with('"') || end == std::string::npos) return std::nullopt;
  return path.substr(1, end - 1);
}

std::set<std::string> folders_of(const std::vector<SourceFile>& files) {
  std::set<std::string> folders;
  for (const SourceFile& file : files) folders.insert(folder_of(file.path));
  return folders;
}

// Walks along the arrows of the table. A folder that is met again on the way to itself closes a cycle.
class CycleSearch {
 public:
  explicit CycleSearch(const FolderTable& table) : table_(table) {}

  Findings run() {
    for (const auto& [folder, row] : table_.rows) visit(folder);
    return std::move(findings_);
  }

 private:
  void visit(const std::string& folder) {
    const auto row = table_.rows.find(folder);
    if (row == table_.rows.end() || done_.contains(folder)) return;
    if (const auto met = std::ranges::find(way_, folder); met != way_.end()) {
      std::string cycle;
      for (auto step = met; step != way_.end(); ++step) cycle += *step + " -> ";
      findings_.push_back({table_.file, row->second.line, "cycle", cycle + folder});
      return;
    }
    way_.push_back(folder);
    for (const std::string& next : row->second.may_include) visit(next);
    way_.pop_back();
    done_.insert(folder);
  }

  const FolderTable& table_;
  std::vector<std::string> way_;
  std::set<std::string> done_;
  Findings findings_;
};

void check_file(const SourceFile& file, Findings& findings) {
  const auto lines = std::count(file.text.begin(), file.text.end(), '\n');
  if (lines > kMostLinesOfFile)
    findings.push_back(
        {file.path, 0, "long file",
         std::to_string(lines) + " lines; a file has at most " + std::to_string(kMostLinesOfFile)});
  if (!file.path.ends_with(".cpp") && !file.path.ends_with(".h")) return;
  const FunctionsOfFile read = functions_of(file.text);
  if (read.unclosed)
    findings.push_back({file.path, *read.unclosed, "brackets", "no bracket closes this one"});
  for (const Function& function : read.functions)
    if (function.lines() > kMostLinesOfFunction)
      findings.push_back({file.path, function.first_line, "long function",
                          function.name + " has " + std::to_string(function.lines()) +
                              " lines; a function has at most " + std::to_string(kMostLinesOfFunction)});
}

}  // namespace

std::string Finding::text() const {
  return file + (line > 0 ? ":" + std::to_string(line) : "") + ": " + rule + ": " + message;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

Findings check_arrows(const std::vector<SourceFile>& files, const FolderTable& table) {
  Findings findings;
  std::set<std::string> unknown;
  for (const SourceFile& file : files) {
    const std::string folder = folder_of(file.path);
    const auto row = table.rows.find(folder);
    if (row == table.rows.end()) {
      if (unknown.insert(folder).second)
        findings.push_back({file.path, 0, "folder", folder + " has no row in " + table.file});
      continue;
    }
    const std::vector<std::string> lines = lines_of(file.text);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::optional<std::string> path = included_by(lines[i]);
      if (!path) continue;
      const std::string target = folder_of(*path);
      if (target != folder && !row->second.may_include.contains(target))
        findings.push_back({file.path, static_cast<int>(i + 1), "arrow",
                            folder + " may not include " +
                                (target.empty() ? "a path without a folder" : target) + " (" + table.file +
                                ")"});
    }
  }
  return findings;
}

Findings check_table(const std::vector<SourceFile>& files, const FolderTable& table) {
  Findings findings = table.faults;
  const std::set<std::string> folders = folders_of(files);
  for (const auto& [folder, row] : table.rows) {
    if (!folders.contains(folder))
      findings.push_back({table.file, row.line, "table", "there is no folder " + folder + " with sources"});
    for (const std::string& target : row.may_include)
      if (!table.rows.contains(target))
        findings.push_back(
            {table.file, row.line, "table", folder + " may include " + target + ", which has no row"});
  }
  std::ranges::move(CycleSearch(table).run(), std::back_inserter(findings));
  return findings;
}

Findings check_layers(const std::vector<SourceFile>& files) {
  const auto layer_of = [](const std::string& path) {
    return std::ranges::find(kLayers, path.substr(0, path.find('/'))) - kLayers.begin();
  };
  const auto none = static_cast<std::ptrdiff_t>(kLayers.size());
  Findings findings;
  for (const SourceFile& file : files) {
    const std::ptrdiff_t layer = layer_of(file.path);
    if (layer == none) findings.push_back({file.path, 0, "layer", "its top-level folder is no layer"});
    const std::vector<std::string> lines = lines_of(file.text);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::optional<std::string> path = included_by(lines[i]);
      const std::ptrdiff_t target = path ? layer_of(*path) : none;
      if (target != none && target > layer)
        findings.push_back({file.path, static_cast<int>(i + 1), "layer",
                            std::string("an arrow climbs from ") + kLayers[static_cast<std::size_t>(layer)] +
                                " to " + kLayers[static_cast<std::size_t>(target)]});
    }
  }
  return findings;
}

Findings check_sizes(const std::vector<SourceFile>& files) {
  Findings findings;
  std::map<std::string, std::size_t> sources;
  for (const SourceFile& file : files) {
    check_file(file, findings);
    if (file.path.ends_with(".cpp")) ++sources[folder_of(file.path)];
  }
  for (const auto& [folder, count] : sources)
    if (count > kMostSourcesOfFolder)
      findings.push_back({folder, 0, "full folder",
                          std::to_string(count) + " .cpp files; a folder has at most " +
                              std::to_string(kMostSourcesOfFolder)});
  return findings;
}

Findings check_mirror(const std::set<std::string>& test_folders, const std::set<std::string>& product_folders,
                      const std::set<std::string>& helpers) {
  Findings findings;
  for (const std::string& folder : test_folders) {
    const std::string path = folder.substr(std::string("tests/").size());
    const bool helper = std::ranges::any_of(
        helpers, [&](const std::string& name) { return path == name || path.starts_with(name + "/"); });
    if (!helper && !product_folders.contains(path) && !product_folders.contains("compiler/" + path))
      findings.push_back({folder, 0, "mirror", "there is no folder " + path + " or compiler/" + path});
  }
  return findings;
}

}  // namespace rondo::structure
