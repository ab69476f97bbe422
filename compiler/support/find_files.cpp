#include "compiler/support/find_files.h"

#include <glob.h>

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

std::vector<std::string> program_folders(int levels) {
  std::vector<std::string> folders;
  std::error_code failed;
  std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", failed).parent_path();
  for (int level = 0; level < levels && !failed && folder.has_relative_path();
       ++level, folder = folder.parent_path())
    folders.push_back(folder.string());
  return folders;
}

}  // namespace rondo
