#include "compiler/backend/interface/backend.h"

namespace rondo::backend {

target::Target target_for(int capability, const kernel::FeatureSet& features) {
  constexpr int kFirstWithOwnNames = 90;
  return {capability, capability >= kFirstWithOwnNames && kernel::architecture_specific(features)};
}

Request request_for(const Backend& backend, const std::vector<const kernel::Kernel*>& kernels, int capability,
                    std::string name) {
  Source source = backend.lower(kernels);
  return {backend.name(), std::move(source.text), std::move(name), target_for(capability, source.features),
          backend.flags()};
}

}  // namespace rondo::backend
