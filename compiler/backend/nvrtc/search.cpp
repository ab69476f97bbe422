#include "compiler/backend/nvrtc/search.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "compiler/support/find_files.h"

namespace rondo::backend {
namespace {

namespace fs = std::filesystem;

// Appends the libraries matching `folder`/libnvrtc.so*, the newest version first; `folder` may hold
// wildcards.
void add_folder(std::vector<std::string>& candidates, const std::string& folder) {
  std::vector<std::string> found = matching_paths(folder + "/libnvrtc.so*");
  std::reverse(found.begin(), found.end());
  candidates.insert(candidates.end(), found.begin(), found.end());
}

void add_python_prefix(std::vector<std::string>& candidates, const std::string& prefix) {
  for (const char* packages :
       {"/lib/python3*/site-packages", "/lib/python3*/dist-packages", "/lib/python3/dist-packages"})
    for (const char* wheel : {"/nvidia/cu1[3-9]/lib", "/nvidia/cuda_nvrtc/lib"})
      add_folder(candidates, prefix + packages + wheel);
}

// tools/setup unpacks the wheel under .deps of the source tree, where the program is built too.
void add_unpacked_wheels(std::vector<std::string>& candidates) {
  constexpr int kLevels = 5;
  for (const std::string& folder : own_folders(kLevels))
    for (const char* place : {"/.deps/cuda/lib", "/.deps/cuda/lib64"}) add_folder(candidates, folder + place);
}

void add_environment(std::vector<std::string>& candidates, const char* variable, const char* below) {
  if (const char* value = std::getenv(variable); value != nullptr && *value != '\0')
    add_folder(candidates, std::string(value) + below);
}

}  // namespace

std::vector<std::string> nvrtc_candidates(const std::string& path) {
  std::vector<std::string> candidates;
  std::error_code failed;
  if (!path.empty()) {
    if (!fs::is_directory(path, failed)) return {path};
    add_folder(candidates, path);
    // So that the error of an empty folder names it.
    if (candidates.empty()) candidates.push_back(path + "/libnvrtc.so");
    return candidates;
  }
  candidates = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) add_environment(candidates, variable, "/lib64");
  for (const char* folder : {"/usr/local/cuda/lib64", "/usr/local/cuda/lib", "/usr/local/cuda/targets/*/lib",
                             "/usr/local/cuda-*/lib64", "/opt/cuda/lib64", "/usr/lib/x86_64-linux-gnu"})
    add_folder(candidates, folder);
  add_unpacked_wheels(candidates);
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const char* prefix = std::getenv(variable); prefix != nullptr && *prefix != '\0') {
      add_python_prefix(candidates, prefix);
      add_folder(candidates, std::string(prefix) + "/lib");
    }
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    add_python_prefix(candidates, std::string(home) + "/.local");
  for (const char* prefix :
       {"/opt/torch/.venv", "/opt/*/.venv", "/opt/venv", "/opt/conda", "/usr/local", "/usr"})
    add_python_prefix(candidates, prefix);
  return candidates;
}

bool nvrtc_looks_installed() {
  const char* given = std::getenv("RONDO_NVRTC");
  const std::string path = given != nullptr ? given : "";
  if (path == "none") return false;
  const std::vector<std::string> candidates = nvrtc_candidates(path);
  std::error_code failed;
  return std::any_of(candidates.begin(), candidates.end(), [&](const std::string& candidate) {
    return candidate.find('/') != std::string::npos && fs::exists(candidate, failed);
  });
}

std::vector<std::string> nvrtc_builtins_beside(const std::string& nvrtc) {
  return matching_paths((fs::path(nvrtc).parent_path() / "libnvrtc-builtins.so*").string());
}

}  // namespace rondo::backend
