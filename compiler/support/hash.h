// SHA-256 (FIPS 180-4) of bytes, as lower-case hex: the content address of cells, kernels and cubins.
#pragma once

#include <string>
#include <string_view>

namespace rondo {

// 64 hex digits. Any input length.
std::string sha256_hex(std::string_view bytes);

}  // namespace rondo
