#include "tuner/package/list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "compiler/support/nesting.h"
#include "engine/request/load_cell.h"
#include "engine/request/problem_text.h"

namespace rondo::tuner {

using nlohmann::json;

namespace {

constexpr const char* kFormat = "rondo-package-list";
constexpr int kVersion = 1;

// Reads members of an object and keeps what is wrong with them.
class Members {
 public:
  Members(const json& object, std::string place) : object_(object), place_(std::move(place)) {
    if (!object.is_object()) fail("is no JSON object");
  }

  void text(const char* name, std::string& into) {
    if (const json* value = find(name)) {
      if (value->is_string())
        into = value->get<std::string>();
      else
        fail(fmt::format("'{}' is no text", name));
    }
  }
  // A list of texts, or one text.
  void texts(const char* name, std::vector<std::string>& into) {
    const json* value = find(name);
    if (value == nullptr) return;
    into.clear();
    for (const json& item : value->is_array() ? *value : json::array({*value})) {
      if (!item.is_string()) return fail(fmt::format("'{}' is no text and no list of texts", name));
      into.push_back(item.get<std::string>());
    }
  }
  const json* find(const char* name) {
    known_.emplace_back(name);
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }
  // Of what was read into `value`: it must not be empty. What was no text has been said.
  template <class Value>
  void need(const Value& value, const char* name) {
    const json* found = find(name);
    if (value.empty() && (found == nullptr || found->empty() || *found == ""))
      fail(fmt::format("'{}' is missing", name));
  }
  void fail(const std::string& what) { faults_.push_back(fmt::format("{} {}", place_, what)); }
  // What was wrong, members that nobody asked for included.
  std::vector<std::string> faults() {
    if (!object_.is_object()) return {faults_.front()};  // nothing is missing from what is no object
    for (const auto& [name, value] : object_.items())
      if (std::ranges::find(known_, name) == known_.end())
        fail(fmt::format("has an unknown member '{}'", name));
    return faults_;
  }

 private:
  const json& object_;
  std::string place_;
  std::vector<std::string> faults_, known_;
};

void append(std::vector<std::string>& all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

// A cell's path as the list's folder gives it; names of shipped cells stay.
std::string beside(const std::string& list, const std::string& cell) {
  if (cell.empty() || engine::is_shipped_cell(cell)) return cell;
  return (std::filesystem::path(list).parent_path() / cell).string();
}

PackageLine line_of(const json& object, const std::string& origin, const std::string& place,
                    std::vector<std::string>& faults) {
  PackageLine line;
  line.place = fmt::format("{}: {}", origin, place);
  Members members(object, place);
  members.text("cell", line.cell);
  line.cell = beside(origin, line.cell);
  members.text("cell_name", line.cell_name);
  members.texts("shape", line.shapes);
  members.texts("dtype", line.dtypes);
  members.text("pass", line.passes);
  members.text("math", line.math);
  members.text("save", line.save);
  members.texts("const", line.constants);
  members.text("clip_forward", line.clip_forward);
  members.text("clip_gradient", line.clip_gradient);
  members.text("forms", line.forms);
  members.need(line.cell, "cell");
  members.need(line.shapes, "shape");
  members.need(line.dtypes, "dtype");
  append(faults, members.faults());
  return line;
}

Result<step::Cell> cell_of(const PackageLine& line) {
  const Result<engine::CellFile> file = engine::load_cell_file(line.cell);
  if (!file) return file.error();
  if (!file->parsed.ok())
    return Error{ErrorKind::Input, frontend::render_all(file->parsed, file->text, file->path)};
  const Result<step::Cell> cell = engine::select_cell(*file, line.cell_name);
  if (!cell) return cell.error();
  const Result<step::Clip> clip = engine::parse_clip(line.clip_forward, line.clip_gradient);
  if (!clip) return clip.error();
  const Result<step::Forms> forms = engine::parse_forms(line.forms);
  if (!forms) return forms.error();
  return engine::changed_cell(*cell, *clip, *forms);
}

}  // namespace

Result<PackageList> parse_package_list(const std::string& text, const std::string& origin) {
  const auto refused = [&](const std::string& what) {
    return Error{ErrorKind::Input, fmt::format("{}: {}", origin, what), "docs/packages.md shows one"};
  };
  if (nested_deeper(text)) return refused(fmt::format("nested deeper than {}", kMostNesting));
  json document;
  try {
    document = json::parse(text);
  } catch (const json::parse_error& error) {
    return refused(fmt::format("no JSON, at byte {}", error.byte));
  } catch (const json::out_of_range&) {
    return refused("it holds a number beyond what a double holds");
  }
  PackageList list;
  Members members(document, "the list");
  std::string format;
  members.text("format", format);
  members.texts("arch", list.archs);
  const json* version = members.find("version");
  const json* problems = members.find("problems");
  if (format != kFormat) members.fail(fmt::format("has not the format \"{}\"", kFormat));
  if (version == nullptr || *version != kVersion) members.fail(fmt::format("has not version {}", kVersion));
  if (problems == nullptr || !problems->is_array())
    members.fail("has no list 'problems'");
  else if (problems->empty())
    members.fail("has no problem in 'problems'");
  std::vector<std::string> faults = members.faults();
  if (faults.empty())
    for (std::size_t i = 0; i < problems->size(); ++i)
      list.lines.push_back(line_of((*problems)[i], origin, fmt::format("problems[{}]", i), faults));
  if (!faults.empty()) return refused(fmt::to_string(fmt::join(faults, "\n")));
  return list;
}

namespace {

Result<std::vector<PackagedProblem>> problems_of(const PackageLine& line) {
  Result<step::Cell> read = cell_of(line);
  if (!read) return read.error();
  const auto cell = std::make_shared<const step::Cell>(std::move(read).value());
  const auto passes = engine::parse_passes(line.passes);
  if (!passes) return passes.error();
  std::vector<PackagedProblem> problems;
  for (const std::string& shape : line.shapes)
    for (const std::string& dtype : line.dtypes)
      for (const schedule::Pass pass : *passes) {
        const engine::ProblemText text{shape, dtype, line.math, line.constants, line.save};
        Result<schedule::Problem> problem = engine::parse_problem(*cell, text, pass);
        if (!problem) return problem.error();
        problems.push_back({cell, std::move(problem).value()});
      }
  return problems;
}

}  // namespace

Result<std::vector<PackagedProblem>> packaged_problems(const std::vector<PackageLine>& lines) {
  std::vector<PackagedProblem> problems;
  std::optional<Error> wrong;
  for (const PackageLine& line : lines) {
    const Result<std::vector<PackagedProblem>> some = problems_of(line);
    if (some) {
      problems.insert(problems.end(), some->begin(), some->end());
      continue;
    }
    const std::string message =
        line.place.empty() ? some.error().message : fmt::format("{}: {}", line.place, some.error().message);
    if (!wrong)
      wrong = Error{some.error().kind, message, some.error().hint};
    else if (wrong->message.find(message) == std::string::npos)
      wrong->message += "\n" + message;
  }
  if (wrong) return *wrong;
  return problems;
}

}  // namespace rondo::tuner
