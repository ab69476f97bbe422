// Internal to tuning_db: reading JSON documents with errors that name the place.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "tuning_db/failure.h"
#include "tuning_db/records.h"

namespace rondo::db {

// A value within a document and the way to it. Refers to the document; every function throws Failure of kind
// Input.
class JsonNode {
 public:
  JsonNode(const nlohmann::json& value, std::string origin, std::string place = "")
      : value_(&value), origin_(std::move(origin)), place_(std::move(place)) {}

  bool has(const char* name) const { return value_->is_object() && value_->contains(name); }
  JsonNode member(const char* name) const;
  std::string text(const char* name) const;
  std::int64_t integer(const char* name) const;
  int small(const char* name) const;  // an integer that fits int
  double real(const char* name) const;
  bool boolean(const char* name) const;
  std::string object(const char* name) const;  // a JSON object, as canonical text
  void each(const char* name, const std::function<void(const JsonNode&)>& visit) const;  // of an array
  [[noreturn]] void fail(const std::string& what) const;

  const nlohmann::json& value() const { return *value_; }

 private:
  const nlohmann::json* value_;
  std::string origin_;
  std::string place_;
};

// The document, whose "format" and "version" must be these; `kind` names it in messages ("lock file").
nlohmann::json parse_document(const std::string& text, const std::string& origin, std::string_view kind,
                              std::string_view format, int version);
// The text with line breaks; Failure of kind Input where a string is not UTF-8. `line_an_item`: each item of
// a list of the document is one line.
std::string print_document(const nlohmann::ordered_json& document, bool line_an_item = false);

// A stored JSON object as part of a document; Failure of kind Database where it is none (a damaged row).
nlohmann::ordered_json embedded(const std::string& object);

nlohmann::ordered_json problem_to_json(const Problem& problem);
Problem problem_from_json(const JsonNode& node);

}  // namespace rondo::db
