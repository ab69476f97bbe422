// SHA-256 (FIPS 180-4) of bytes, as lower-case hex: the content address of cells, kernels and cubins.
#pragma once

#include <string>
#include <string_view>

namespace rondo {

// 64 hex digits. Any input length.
std::string sha256_hex(std::string_view bytes);

// The same without the processor's own instructions for it: what processors without them run, and tests
// compare.
std::string sha256_hex_portable(std::string_view bytes);

}  // namespace rondo
