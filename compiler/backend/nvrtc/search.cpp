#include "compiler/backend/nvrtc/search.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "compiler/backend/ptxas/toolkit_search.h"
#include "compiler/support/environment.h"
#include "compiler/support/find_files.h"

namespace rondo::backend {

std::vector<std::string> nvrtc_candidates(const std::string& path) {
  return toolkit_candidates({"libnvrtc", "cuda_nvrtc"}, path);
}

bool nvrtc_looks_installed() {
  const std::string path = environment("RONDO_NVRTC");
  if (path == "none") return false;
  const std::vector<std::string> candidates = nvrtc_candidates(path);
  std::error_code failed;
  return std::ranges::any_of(candidates, [&](const std::string& candidate) {
    return candidate.find('/') != std::string::npos && std::filesystem::exists(candidate, failed);
  });
}

std::vector<std::string> nvrtc_builtins_beside(const std::string& nvrtc) {
  return matching_paths((std::filesystem::path(nvrtc).parent_path() / "libnvrtc-builtins.so*").string());
}

}  // namespace rondo::backend
