#include "compiler/backend/backends.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "compiler/backend/llvm/llvm_backend.h"
#include "compiler/backend/nvrtc/nvrtc_backend.h"
#include "compiler/support/environment.h"

namespace rondo::backend {

// To add a backend, write its line here.
Registry<const Backend*>& backend_registry() {
  static Registry<const Backend*> all({&nvrtc_backend(), &llvm_backend()});
  return all;
}

const Backend* find_backend(const std::string& name) {
  const auto& all = backends();
  const auto found =
      std::ranges::find_if(all, [&](const Backend* backend) { return backend->name() == name; });
  return found == all.end() ? nullptr : *found;
}

namespace {

std::atomic<const Backend*>& wanted() {
  static std::atomic<const Backend*> backend = [] { return find_backend(environment("RONDO_BACKEND")); }();
  return backend;
}

}  // namespace

Status prefer_backend(const std::string& name) {
  const Backend* backend = name == "auto" ? nullptr : find_backend(name);
  if (backend == nullptr && name != "auto") {
    std::string known = "auto";
    for (const Backend* other : backends()) known += ", " + other->name();
    return Error{ErrorKind::Input, fmt::format("there is no backend '{}'", name), "known: " + known};
  }
  wanted() = backend;
  return success();
}

const Backend* wanted_backend() { return wanted(); }

const Backend& preferred_backend() {
  if (const Backend* backend = wanted()) return *backend;
  const auto& all = backends();
  const auto found = std::ranges::find_if(
      all, [](const Backend* backend) { return backend->looks_installed() || backend->available().ok(); });
  return found == all.end() ? *all.front() : **found;
}

const Backend& cpu_backend() { return llvm_backend(); }

const Backend& preferred_backend_for(const target::Target& target) {
  return target.is_cpu() ? cpu_backend() : preferred_backend();
}

const Backend& backend_for(Language language) {
  const auto& all = backends();
  return **std::ranges::find_if(all, [&](const Backend* backend) { return backend->language() == language; });
}

Result<Compiled> compile(const Request& request) {
  const Backend* backend = find_backend(request.backend);
  if (backend != nullptr) return backend->compile(request);
  return Error{ErrorKind::Input, fmt::format("there is no backend '{}'", request.backend)};
}

}  // namespace rondo::backend
