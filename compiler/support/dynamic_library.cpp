#include "compiler/support/dynamic_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <utility>

#include "compiler/support/strange_file.h"

namespace rondo {

Result<DynamicLibrary> DynamicLibrary::open(std::span<const std::string> candidates, const std::string& what,
                                            const std::string& hint, How how) {
  std::string reasons;
  for (const std::string& name : candidates) {
    if (how.found && others_may_change(name)) {
      reasons += fmt::format("{}{}: other users may change it or its folder, so it is not opened",
                             reasons.empty() ? "" : "; ", name);
      continue;
    }
    DynamicLibrary library;
    library.handle_ = ::dlopen(name.c_str(), RTLD_NOW | (how.global ? RTLD_GLOBAL : RTLD_LOCAL));
    if (library.handle_ != nullptr) {
      library.opened_as_ = name;
      return library;
    }
    const char* reason = ::dlerror();
    reasons += fmt::format("{}{}", reasons.empty() ? "" : "; ", reason != nullptr ? reason : name);
  }
  if (reasons.empty()) reasons = "no candidate to try";
  for (const char* sign : {"failed to map segment", "annot allocate memory"})
    if (reasons.find(sign) != std::string::npos)
      return Error{ErrorKind::Memory, fmt::format("the memory is short to open {}: {}", what, reasons),
                   "free some, or raise the limit of the process"};
  return Error{ErrorKind::Missing, fmt::format("cannot open {}: {}", what, reasons), hint};
}

DynamicLibrary::DynamicLibrary(DynamicLibrary&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), opened_as_(std::move(other.opened_as_)) {}

DynamicLibrary& DynamicLibrary::operator=(DynamicLibrary&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(opened_as_, other.opened_as_);
  return *this;
}

DynamicLibrary::~DynamicLibrary() {
  if (handle_ != nullptr) ::dlclose(handle_);
}

void* DynamicLibrary::symbol(const char* name) const {
  return handle_ != nullptr ? ::dlsym(handle_, name) : nullptr;
}

std::string DynamicLibrary::path() const {
  link_map* map = nullptr;
  if (handle_ == nullptr || ::dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr)
    return opened_as_;
  return map->l_name != nullptr && *map->l_name != '\0' ? map->l_name : opened_as_;
}

}  // namespace rondo
