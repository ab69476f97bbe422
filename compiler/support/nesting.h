// How deep a text of brackets goes: asked before a recursive reader or printer of JSON is let at it.
#pragma once

#include <string_view>

namespace rondo {

// More than any document that Rondo writes.
inline constexpr int kMostNesting = 64;

// Whether more than `most` square and curly brackets are open at once, those in JSON strings left out.
inline bool nested_deeper(std::string_view json, int most = kMostNesting) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '"') quoted = !quoted;
    if (quoted && c == '\\') ++i;
    if (quoted) continue;
    if ((c == '[' || c == '{') && ++depth > most) return true;
    if (c == ']' || c == '}') --depth;
  }
  return false;
}

}  // namespace rondo
