// Lists that people write with commas: "fw,bw".
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace rondo {

// The texts between commas, empty ones too; of "" one that is empty.
inline std::vector<std::string> between_commas(const std::string& list) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    parts.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

}  // namespace rondo
