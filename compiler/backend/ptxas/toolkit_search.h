// Where libraries of CUDA toolkits may be installed: with a toolkit, as Python wheels, or unpacked by
// tools/setup.
#pragma once

#include <string>
#include <vector>

namespace rondo::backend {

struct ToolkitLibrary {
  std::string stem;   // of its files: "libnvrtc"
  std::string wheel;  // the folder of its own wheel below nvidia/: "cuda_nvrtc"
};

// Names and paths of the library to try, best first. `path` "" searches the linker's path, the Python
// environment that this code is installed in, CUDA toolkits, the wheels unpacked under .deps by tools/setup,
// and other Python environments; a folder gives the libraries in it; a file itself.
std::vector<std::string> toolkit_candidates(const ToolkitLibrary& library, const std::string& path);

}  // namespace rondo::backend
