#include "tuning_db/json_fields.h"

#include <fmt/format.h>

#include <limits>

#include "compiler/support/nesting.h"

namespace rondo::db {
using nlohmann::json;
using nlohmann::ordered_json;

void JsonNode::fail(const std::string& what) const {
  const std::string place = place_.empty() ? "" : place_ + ": ";
  throw Failure({ErrorKind::Input, fmt::format("'{}': {}{}", origin_, place, what)});
}

JsonNode JsonNode::member(const char* name) const {
  if (!value_->is_object()) fail("an object is expected");
  const auto found = value_->find(name);
  if (found == value_->end()) fail(fmt::format("'{}' is missing", name));
  return {*found, origin_, place_.empty() ? name : place_ + "." + name};
}

std::string JsonNode::text(const char* name) const {
  const JsonNode node = member(name);
  if (!node.value_->is_string()) node.fail("a string is expected");
  return node.value_->get<std::string>();
}

std::int64_t JsonNode::integer(const char* name) const {
  const JsonNode node = member(name);
  if (!node.value_->is_number_integer()) node.fail("an integer is expected");
  if (node.value_->is_number_unsigned() &&
      node.value_->get<std::uint64_t>() >
          static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    node.fail(fmt::format("{} is too large", node.value_->dump()));
  return node.value_->get<std::int64_t>();
}

int JsonNode::small(const char* name) const {
  const std::int64_t value = integer(name);
  if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max())
    member(name).fail(fmt::format("{} is too large", value));
  return static_cast<int>(value);
}

double JsonNode::real(const char* name) const {
  const JsonNode node = member(name);
  if (!node.value_->is_number()) node.fail("a number is expected");
  return node.value_->get<double>();
}

bool JsonNode::boolean(const char* name) const {
  const JsonNode node = member(name);
  if (!node.value_->is_boolean()) node.fail("true or false is expected");
  return node.value_->get<bool>();
}

std::string JsonNode::object(const char* name) const {
  const JsonNode node = member(name);
  if (!node.value_->is_object()) node.fail("an object is expected");
  return node.value_->dump();
}

void JsonNode::each(const char* name, const std::function<void(const JsonNode&)>& visit) const {
  const JsonNode node = member(name);
  if (!node.value_->is_array()) node.fail("an array is expected");
  std::size_t index = 0;
  for (const json& item : *node.value_) visit({item, origin_, fmt::format("{}[{}]", node.place_, index++)});
}

json parse_document(const std::string& text, const std::string& origin, std::string_view kind,
                    std::string_view format, int version) {
  if (nested_deeper(text))
    throw Failure({ErrorKind::Input,
                   fmt::format("'{}' is no {}: it is nested deeper than {}", origin, kind, kMostNesting)});
  json document;
  try {
    document = json::parse(text);
  } catch (const json::parse_error& error) {
    throw Failure(
        {ErrorKind::Input, fmt::format("'{}' is no {}: not JSON at byte {}", origin, kind, error.byte)});
  } catch (const json::out_of_range& error) {  // 1e999
    throw Failure({ErrorKind::Input, fmt::format("'{}': a number is too large: {}", origin, error.what())});
  }
  const JsonNode root(document, origin);
  if (!root.has("format") || document["format"] != format)
    throw Failure(
        {ErrorKind::Input, fmt::format("'{}' is no {}: its \"format\" is not \"{}\"", origin, kind, format)});
  const std::int64_t found = root.integer("version");
  if (found != version)
    throw Failure(
        {ErrorKind::Input,
         fmt::format("'{}': {} version {}, but this program reads version {}", origin, kind, found, version),
         found > version ? "use the newer Rondo that wrote it" : "write it again with this Rondo"});
  return document;
}

namespace {

std::string print_lines(const ordered_json& document) {
  std::string text;
  for (const auto& [name, value] : document.items()) {
    text += fmt::format("{}\n\"{}\": ", text.empty() ? "{" : ",", name);
    if (!value.is_array()) {
      text += value.dump();
      continue;
    }
    for (std::size_t i = 0; i < value.size(); ++i)
      text += fmt::format("{}\n {}", i == 0 ? "[" : ",", value[i].dump());
    text += value.empty() ? "[]" : "\n]";
  }
  return text + "\n}\n";
}

}  // namespace

std::string print_document(const ordered_json& document, bool line_an_item) {
  try {
    return line_an_item ? print_lines(document) : document.dump(1) + "\n";
  } catch (const json::exception& error) {
    throw Failure({ErrorKind::Input, fmt::format("a text cannot be written as JSON: {}", error.what())});
  }
}

ordered_json embedded(const std::string& object) {
  ordered_json value = ordered_json::parse(object, nullptr, /*allow_exceptions=*/false);
  if (value.is_object()) return value;
  throw Failure({ErrorKind::Database, fmt::format("stored text '{:.80}' is no JSON object", object),
                 "run 'rondo db check'"});
}

ordered_json problem_to_json(const Problem& p) {
  return {
      {"cell", p.cell},   {"device", p.device},
      {"arch", p.arch},   {"shape", {{"B", p.shape.B}, {"T", p.shape.T}, {"H", p.shape.H}, {"D", p.shape.D}}},
      {"dtype", p.dtype}, {"math", p.math},
      {"pass", p.pass}};
}

Problem problem_from_json(const JsonNode& node) {
  const JsonNode shape = node.member("shape");
  Problem problem{.cell = node.text("cell"),
                  .device = node.text("device"),
                  .arch = node.text("arch"),
                  .shape = {shape.integer("B"), shape.integer("T"), shape.integer("H"), shape.integer("D")},
                  .dtype = node.text("dtype"),
                  .math = node.text("math"),
                  .pass = node.text("pass")};
  if (const Status valid = validate(problem); !valid.ok()) node.fail(valid.error().message);
  return problem;
}

}  // namespace rondo::db
