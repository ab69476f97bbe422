#include "compiler/backend/interface/backend.h"

namespace rondo::backend {

target::Target target_for(const target::Target& target, const kernel::FeatureSet& features) {
  constexpr int kFirstWithOwnNames = 90;
  constexpr int kWithoutTiles = 4;  // x86-64-v4
  if (target.has_matrix_tiles() && !features.contains(kernel::Feature::MatrixTiles))
    return {target.kind, kWithoutTiles};
  const bool own = !target.is_cpu() && target.level >= kFirstWithOwnNames;
  return {target.kind, target.level, own && kernel::architecture_specific(features)};
}

Result<std::string> Backend::assembly(const Request&) const {
  return Error{ErrorKind::Unsupported, title() + " gives no text of the assembler",
               "`--backend llvm` has one"};
}

std::string compiler_name(const std::string& backend, const std::string& version) {
  return backend + " " + version;
}

std::string backend_of_compiler(const std::string& compiler) {
  const std::size_t blank = compiler.find(' ');
  return blank == std::string::npos ? "nvrtc" : compiler.substr(0, blank);
}

Request request_for(const Backend& backend, const std::vector<const kernel::Kernel*>& kernels,
                    const target::Target& target, std::string name) {
  Source source = backend.lower(kernels, target);
  return {backend.name(),
          std::move(source.text),
          std::move(name),
          target_for(target, source.features),
          kernel::may_contract(kernels) ? backend.flags() : backend.flags_without_contraction(),
          executable::ImageKind::Cubin,
          std::move(source.parts)};
}

}  // namespace rondo::backend
