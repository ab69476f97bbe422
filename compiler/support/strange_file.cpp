#include "compiler/support/strange_file.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

namespace rondo {
namespace {

// With links followed; "" for what there is not.
std::string canonical(const char* path) {
  char* const found = ::realpath(path, nullptr);
  if (found == nullptr) return {};
  std::string result = found;
  std::free(found);
  return result;
}

// Whose file it is that this code was loaded from.
std::optional<uid_t> own_owner() {
  Dl_info found{};
  struct stat about = {};
  if (::dladdr(reinterpret_cast<const void*>(&others_may_change), &found) == 0 ||
      found.dli_fname == nullptr || ::stat(found.dli_fname, &about) != 0)
    return std::nullopt;
  return about.st_uid;
}

bool is_strange(uid_t owner) { return owner != 0 && owner != ::geteuid() && owner != own_owner(); }

}  // namespace

bool others_may_change(const std::string& path) {
  if (path.find('/') == std::string::npos) return false;
  std::string at = canonical(path.c_str());
  if (at.empty()) return false;  // there is nothing to be run
  for (int level = 0;; ++level) {
    struct stat about = {};
    if (::stat(at.c_str(), &about) != 0 || is_strange(about.st_uid)) return true;
    // In a sticky folder only the owner of what lies in it can put something else there.
    const bool kept = level > 1 && (about.st_mode & S_ISVTX) != 0;
    if ((about.st_mode & S_IWOTH) != 0 && !kept) return true;
    if (at == "/") return false;
    at.resize(at.rfind('/'));
    if (at.empty()) at = "/";
  }
}

}  // namespace rondo
