#include "compiler/backend/llvm/llvm_backend.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "compiler/backend/llvm/host/emit.h"
#include "compiler/backend/llvm/nvptx/emit.h"
#include "compiler/backend/ptxas/assembler.h"
#include "compiler/backend/ptxas/ptxas_log.h"

namespace rondo::backend {
namespace {

constexpr const char* kLlvm = "llvm";

// The version of PTX, ten times, for a compute capability (PTX ISA 9.0, "Release notes").
struct PtxOf {
  int capability;
  int ptx;
};
// 8.1 has st.async of 32-bit words.
constexpr std::array<PtxOf, 11> kPtx = {{{75, 81},
                                         {80, 81},
                                         {86, 81},
                                         {87, 81},
                                         {89, 81},
                                         {90, 81},
                                         {100, 86},
                                         {103, 88},
                                         {110, 90},
                                         {120, 87},
                                         {121, 88}}};

const PtxOf* ptx_of(int capability) {
  const auto found = std::ranges::find(kPtx, capability, &PtxOf::capability);
  return found == kPtx.end() ? nullptr : &*found;
}

// The names of the kernels in a module: what its image has.
std::vector<executable::KernelResources> kernels_in(const std::string& ir, const target::Target& target) {
  const std::string_view kDefine = target.is_cpu() ? "define void @" : "define ptx_kernel void @";
  std::vector<executable::KernelResources> kernels;
  for (std::size_t at = ir.find(kDefine); at != std::string::npos; at = ir.find(kDefine, at)) {
    at += kDefine.size();
    kernels.emplace_back();
    kernels.back().name = ir.substr(at, ir.find('(', at) - at);
  }
  return kernels;
}

// Contraction is a flag of each operation (LLVM's language reference, "Fast-Math Flags").
std::string without_contraction(std::string ir) {
  constexpr std::string_view kFlag = " contract ";
  for (std::size_t at = ir.find(kFlag); at != std::string::npos; at = ir.find(kFlag, at))
    ir.replace(at, kFlag.size(), " ");
  return ir;
}

class LlvmBackend final : public Backend {
 public:
  std::string name() const override { return kLlvm; }
  std::string title() const override { return "LLVM"; }
  Language language() const override { return Language::LlvmIr; }

  Source lower(const std::vector<const kernel::Kernel*>& kernels,
               const target::Target& target) const override {
    Source source;
    for (const kernel::Kernel* kernel : kernels) source.features.merge(kernel::features_of(*kernel));
    if (target.is_cpu())
      source.text = host::emit(kernels, target);
    else
      source.text = nvptx::emit(kernels, target_for(target, source.features));
    if (!kernel::may_contract(kernels)) source.text = without_contraction(std::move(source.text));
    return source;
  }

  const std::vector<std::string>& flags() const override {
    static const std::vector<std::string> flags = {"-O3"};
    return flags;
  }

  bool looks_installed() const override { return Llvm::looks_installed(); }

  Status available() const override {
    const auto llvm = Llvm::get();
    return llvm ? success() : Status(llvm.error());
  }
  Result<std::string> version() const override {
    const auto llvm = Llvm::get();
    if (!llvm) return llvm.error();
    return fmt::format("{} {}", (*llvm)->version(), assembler_name());
  }
  Result<std::string> path() const override {
    const auto llvm = Llvm::get();
    if (!llvm) return llvm.error();
    return (*llvm)->path();
  }
  Result<std::vector<int>> capabilities() const override {
    const auto llvm = Llvm::get();
    if (!llvm) return llvm.error();
    std::vector<int> known;
    if (std::ranges::find((*llvm)->targets(), "nvptx64") != (*llvm)->targets().end())
      for (const PtxOf& row : kPtx) known.push_back(row.capability);
    return known;
  }

  Result<std::string> assembly(const Request& request) const override {
    const auto llvm = Llvm::get();
    if (!llvm) return llvm.error();
    const bool cpu = request.target.is_cpu();
    if (!cpu && ptx_of(request.target.level) == nullptr)
      return unknown_target(request, capabilities().value());
    const bool optimise = std::ranges::find(request.flags, "-O0") == request.flags.end();
    return (*llvm)->compile(request.text, request.name,
                            cpu ? host_machine(request.target) : nvptx_machine(request.target),
                            LlvmOutput::Assembly, optimise);
  }

  Result<Compiled> compile(const Request& request) const override {
    const auto start = std::chrono::steady_clock::now();
    Result<Compiled> compiled = request.target.is_cpu() ? compile_for_cpu(request) : compile_for_gpu(request);
    if (!compiled) return compiled.error();
    compiled->image.target = request.target.name();
    compiled->compile_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    return compiled;
  }

 private:
  static Result<Compiled> compile_for_cpu(const Request& request) {
    const auto llvm = Llvm::get();
    if (!llvm) return llvm.error();
    const bool optimise = std::ranges::find(request.flags, "-O0") == request.flags.end();
    Result<std::string> object = (*llvm)->compile(request.text, request.name, host_machine(request.target),
                                                  LlvmOutput::Object, optimise);
    if (!object) return object.error();
    Compiled compiled;
    compiled.image.kind = executable::ImageKind::Object;
    compiled.image.compiler = compiler_name(kLlvm, (*llvm)->version());
    compiled.image.bytes = std::move(*object);
    compiled.image.resources = kernels_in(request.text, request.target);
    return compiled;
  }

  Result<Compiled> compile_for_gpu(const Request& request) const {
    Result<std::string> ptx = assembly(request);
    if (!ptx) return ptx.error();
    Compiled compiled;
    executable::Image& image = compiled.image;
    image.target = request.target.name();
    image.compiler = compiler_name(kLlvm, version().value());
    if (request.kind != executable::ImageKind::Ptx && can_assemble(*ptx)) {
      Result<Assembled> assembled = assemble(*ptx, image.target);
      if (!assembled) return assembled.error();
      image.kind = executable::ImageKind::Cubin;
      image.bytes = std::move(assembled->cubin);
      compiled.log = std::move(assembled->log);
      image.resources = read_ptxas_log(compiled.log);
    } else {
      // The driver assembles it when it is loaded, and alone knows what the kernels use.
      image.kind = executable::ImageKind::Ptx;
      image.bytes = std::move(*ptx);
      image.resources = kernels_in(request.text, request.target);
    }
    return compiled;
  }

  static Error unknown_target(const Request& request, const std::vector<int>& known) {
    if (request.target.level <= 0)
      return Error{ErrorKind::Input, fmt::format("'{}' is no GPU architecture", request.target.name()),
                   "write it like sm_90 or sm_90a"};
    return Error{ErrorKind::Unsupported,
                 fmt::format("the LLVM backend does not compile for {}", request.target.name()),
                 fmt::format("it knows sm_{}", fmt::join(known, ", sm_"))};
  }
};

}  // namespace

LlvmMachine nvptx_machine(const target::Target& target) {
  const PtxOf* row = ptx_of(target.level);
  return {"nvptx64-nvidia-cuda", target.name(), row == nullptr ? "" : fmt::format("+ptx{}", row->ptx)};
}

LlvmMachine host_machine(const target::Target& target) {
  if (target.kind == target::Target::Kind::AArch64) return {"aarch64-unknown-linux-gnu", "generic", ""};
  if (target.has_matrix_tiles()) return {"x86_64-unknown-linux-gnu", "x86-64-v4", "+amx-tile,+amx-bf16"};
  return {"x86_64-unknown-linux-gnu", target.name(), ""};
}

const Backend& llvm_backend() {
  static const LlvmBackend backend;
  return backend;
}

}  // namespace rondo::backend
