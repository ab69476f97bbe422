// Rondo's version, as recorded with every trial. The same as project(VERSION) in CMakeLists.txt.
#pragma once

namespace rondo {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace rondo
