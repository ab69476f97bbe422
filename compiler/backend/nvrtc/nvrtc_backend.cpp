#include "compiler/backend/nvrtc/nvrtc_backend.h"

#include "compiler/backend/cuda/emit.h"
#include "compiler/backend/nvrtc/nvrtc.h"
#include "compiler/backend/nvrtc/parts.h"
#include "compiler/backend/nvrtc/search.h"

namespace rondo::backend {
namespace {

class NvrtcBackend final : public Backend {
 public:
  std::string name() const override { return kNvrtc; }
  std::string title() const override { return "NVRTC"; }
  Language language() const override { return Language::CudaCxx; }

  Source lower(const std::vector<const kernel::Kernel*>& kernels,
               const target::Target& target) const override {
    cuda::Unit unit = cuda::emit_unit(kernels, target);
    Source source{std::move(unit.text), {}, std::move(unit.kernels)};
    source.parts = worthwhile_parts(source.text.size(), source.parts);
    for (const kernel::Kernel* kernel : kernels) source.features.merge(kernel::features_of(*kernel));
    return source;
  }

  // The text needs no headers and no relaxed arithmetic: what may be approximate says so.
  const std::vector<std::string>& flags() const override {
    static const std::vector<std::string> flags = {"--std=c++17"};
    return flags;
  }
  const std::vector<std::string>& flags_without_contraction() const override {
    static const std::vector<std::string> flags = {"--std=c++17", "--fmad=false"};
    return flags;
  }

  bool looks_installed() const override { return nvrtc_looks_installed(); }

  Status available() const override {
    const auto nvrtc = Nvrtc::get();
    return nvrtc ? success() : Status(nvrtc.error());
  }
  Result<std::string> version() const override {
    const auto nvrtc = Nvrtc::get();
    if (!nvrtc) return nvrtc.error();
    return (*nvrtc)->version().text();
  }
  Result<std::string> path() const override {
    const auto nvrtc = Nvrtc::get();
    if (!nvrtc) return nvrtc.error();
    return (*nvrtc)->path();
  }
  Result<std::vector<int>> capabilities() const override {
    const auto nvrtc = Nvrtc::get();
    if (!nvrtc) return nvrtc.error();
    return (*nvrtc)->supported_archs();
  }
  Result<Compiled> compile(const Request& request) const override {
    const auto nvrtc = Nvrtc::get();
    if (!nvrtc) return nvrtc.error();
    if (request.kind == executable::ImageKind::Ptx)
      return (*nvrtc)->compile_to_ptx(request.text, request.name, request.target.name(), request.flags);
    return compile_parts(**nvrtc, request);
  }
};

}  // namespace

const Backend& nvrtc_backend() {
  static const NvrtcBackend backend;
  return backend;
}

}  // namespace rondo::backend
