#include "compiler/support/find_files.h"

#include <dlfcn.h>
#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace rondo {

std::vector<std::string> matching_paths(const std::string& pattern) {
  std::vector<std::string> paths;
  glob_t found{};
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0)
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  return paths;
}

namespace {

// The file that this code was loaded from; empty if the system cannot tell, as of a program found by PATH.
std::filesystem::path own_file() {
  Dl_info found{};
  std::error_code failed;
  if (::dladdr(reinterpret_cast<const void*>(&own_folders), &found) == 0 || found.dli_fname == nullptr)
    return {};
  const std::filesystem::path file = std::filesystem::canonical(found.dli_fname, failed);
  return failed ? std::filesystem::path() : file;
}

}  // namespace

std::vector<std::string> own_folders(int levels) {
  std::vector<std::string> folders;
  std::error_code failed;
  for (const std::filesystem::path& file :
       {own_file(), std::filesystem::read_symlink("/proc/self/exe", failed)}) {
    std::filesystem::path folder = file.parent_path();
    for (int level = 0; level < levels && folder.has_relative_path(); ++level, folder = folder.parent_path())
      if (std::ranges::find(folders, folder.string()) == folders.end()) folders.push_back(folder.string());
  }
  return folders;
}

}  // namespace rondo
