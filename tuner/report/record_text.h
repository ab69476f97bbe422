// Texts of the JSON of records (benchmarks/results).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace rondo::tuner {

// "" where it has no such text.
inline std::string text_at(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace rondo::tuner
