// The header of a .npy file: a Python dictionary literal. Internal to engine/arrays.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rondo::engine {

struct NpyHeader {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

// {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }, keys in any order and each once, blanks
// anywhere. Nothing for all other texts, for more than 32 axes, and for extents above 2^62.
std::optional<NpyHeader> parse_npy_header(std::string_view text);

}  // namespace rondo::engine
