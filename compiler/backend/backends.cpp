#include "compiler/backend/backends.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/backend/nvrtc/nvrtc_backend.h"

namespace rondo::backend {

// To add a backend, write its line here.
Registry<const Backend*>& backend_registry() {
  static Registry<const Backend*> all({&nvrtc_backend()});
  return all;
}

const Backend* find_backend(const std::string& name) {
  const auto& all = backends();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Backend* backend) { return backend->name() == name; });
  return found == all.end() ? nullptr : *found;
}

const Backend& preferred_backend() {
  const auto& all = backends();
  if (all.size() == 1) return *all.front();
  const auto found =
      std::find_if(all.begin(), all.end(), [](const Backend* backend) { return backend->available().ok(); });
  return found == all.end() ? *all.front() : **found;
}

const Backend& backend_for(Language language) {
  const auto& all = backends();
  return **std::find_if(all.begin(), all.end(),
                        [&](const Backend* backend) { return backend->language() == language; });
}

Result<Compiled> compile(const Request& request) {
  const Backend* backend = find_backend(request.backend);
  if (backend != nullptr) return backend->compile(request);
  return Error{ErrorKind::Input, fmt::format("there is no backend '{}'", request.backend), ""};
}

}  // namespace rondo::backend
