// Where NVRTC may be installed. Internal to compiler/backend/nvrtc.
#pragma once

#include <string>
#include <vector>

namespace rondo::backend {

// Names and paths of libnvrtc to try, best first (compiler/backend/ptxas/toolkit_search.h).
std::vector<std::string> nvrtc_candidates(const std::string& path);

// Whether a file of these names lies where Nvrtc::get() would look, without opening one. What only the linker
// knows of is not seen.
bool nvrtc_looks_installed();

// The built-ins libraries that lie beside the library file `nvrtc`.
std::vector<std::string> nvrtc_builtins_beside(const std::string& nvrtc);

}  // namespace rondo::backend
