#include "compiler/backend/ptxas/toolkit_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "compiler/support/environment.h"
#include "compiler/support/find_files.h"

namespace rondo::backend {
namespace {

// Collects names and paths of one library, best first.
class ToolkitSearch {
 public:
  explicit ToolkitSearch(const ToolkitLibrary& library) : library_(library) {}

  // The libraries in `folder`, the newest version first; `folder` may hold wildcards.
  void add_folder(const std::string& folder) {
    std::vector<std::string> found = matching_paths(fmt::format("{}/{}.so*", folder, library_.stem));
    std::ranges::reverse(found);
    candidates_.insert(candidates_.end(), found.begin(), found.end());
  }

  // What NVIDIA's wheels put into a folder of Python packages: those of CUDA 13 and newer into one folder,
  // those of CUDA 12 into one a library.
  void add_python_packages(const std::string& packages) {
    for (const std::string& wheel : {std::string("cu1[3-9]"), library_.wheel})
      add_folder(fmt::format("{}/nvidia/{}/lib", packages, wheel));
  }

  void add_python_prefix(const std::string& prefix) {
    for (const char* packages :
         {"/lib/python3*/site-packages", "/lib/python3*/dist-packages", "/lib/python3/dist-packages"})
      add_python_packages(prefix + packages);
  }

  // In a Python environment this code lies in rondo/lib of the packages: PyTorch and JAX bring NVRTC there.
  void add_own_environment() {
    constexpr int kLevels = 3;
    for (const std::string& folder : own_folders(kLevels)) add_python_packages(folder);
  }

  // tools/setup unpacks wheels under .deps of the source tree, where the program is built too.
  void add_unpacked_wheels() {
    constexpr int kLevels = 5;
    for (const std::string& folder : own_folders(kLevels))
      for (const char* place : {"/.deps/cuda/lib", "/.deps/cuda/lib64"}) add_folder(folder + place);
  }

  // What `use` adds for the value of an environment variable, where it has one.
  template <class Use>
  void with(const char* variable, const Use& use) {
    if (const std::string value = environment(variable); !value.empty()) use(value);
  }

  std::vector<std::string> everywhere() {
    for (const char* version : {".so.13", ".so.12", ".so"}) candidates_.push_back(library_.stem + version);
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
      with(variable, [&](const std::string& root) { add_folder(root + "/lib64"); });
    add_own_environment();
    for (const char* folder :
         {"/usr/local/cuda/lib64", "/usr/local/cuda/lib", "/usr/local/cuda/targets/*/lib",
          "/usr/local/cuda-*/lib64", "/opt/cuda/lib64", "/usr/lib/x86_64-linux-gnu"})
      add_folder(folder);
    add_unpacked_wheels();
    for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
      with(variable, [&](const std::string& prefix) {
        add_python_prefix(prefix);
        add_folder(prefix + "/lib");
      });
    with("HOME", [&](const std::string& home) { add_python_prefix(home + "/.local"); });
    for (const char* prefix :
         {"/opt/torch/.venv", "/opt/*/.venv", "/opt/venv", "/opt/conda", "/usr/local", "/usr"})
      add_python_prefix(prefix);
    return candidates_;
  }

  std::vector<std::string> in_folder(const std::string& folder) {
    add_folder(folder);
    // So that the error of an empty folder names it.
    if (candidates_.empty()) candidates_.push_back(fmt::format("{}/{}.so", folder, library_.stem));
    return candidates_;
  }

 private:
  const ToolkitLibrary& library_;
  std::vector<std::string> candidates_;
};

}  // namespace

std::vector<std::string> toolkit_candidates(const ToolkitLibrary& library, const std::string& path) {
  ToolkitSearch search(library);
  if (path.empty()) return search.everywhere();
  std::error_code failed;
  if (!std::filesystem::is_directory(path, failed)) return {path};
  return search.in_folder(path);
}

}  // namespace rondo::backend
