#include "compiler/backend/nvrtc/nvrtc.h"

#include <fmt/format.h>
#include <nvrtc.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string_view>

#include "compiler/backend/nvrtc/search.h"
#include "compiler/backend/ptxas/ptxas_log.h"

namespace rondo::backend {

struct NvrtcApi {
  explicit NvrtcApi(const DynamicLibrary& library) : imports{library} {}
  Imports imports;
  Imported<decltype(nvrtcVersion)> version{imports, "nvrtcVersion"};
  Imported<decltype(nvrtcGetErrorString)> error_string{imports, "nvrtcGetErrorString"};
  Imported<decltype(nvrtcCreateProgram)> create{imports, "nvrtcCreateProgram"};
  Imported<decltype(nvrtcDestroyProgram)> destroy{imports, "nvrtcDestroyProgram"};
  Imported<decltype(nvrtcCompileProgram)> compile{imports, "nvrtcCompileProgram"};
  Imported<decltype(nvrtcGetProgramLogSize)> log_size{imports, "nvrtcGetProgramLogSize"};
  Imported<decltype(nvrtcGetProgramLog)> log{imports, "nvrtcGetProgramLog"};
  Imported<decltype(nvrtcGetCUBINSize)> cubin_size{imports, "nvrtcGetCUBINSize"};
  Imported<decltype(nvrtcGetCUBIN)> cubin{imports, "nvrtcGetCUBIN"};
  Imported<decltype(nvrtcGetPTXSize)> ptx_size{imports, "nvrtcGetPTXSize"};
  Imported<decltype(nvrtcGetPTX)> ptx{imports, "nvrtcGetPTX"};
  Imported<decltype(nvrtcGetNumSupportedArchs)> arch_count{imports, "nvrtcGetNumSupportedArchs"};
  Imported<decltype(nvrtcGetSupportedArchs)> archs{imports, "nvrtcGetSupportedArchs"};
};

namespace {

constexpr const char* kInstallHint =
    "install the CUDA toolkit or the Python wheel nvidia-cuda-nvrtc, or point RONDO_NVRTC at libnvrtc.so or "
    "its folder";

// One nvrtcProgram, destroyed at the end of its scope.
class Program {
 public:
  Program(const NvrtcApi& api, const std::string& source, const std::string& name) : api_(api) {
    created_ = api_.create(&handle_, source.c_str(), name.c_str(), 0, nullptr, nullptr);
  }
  ~Program() {
    if (handle_ != nullptr) api_.destroy(&handle_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  nvrtcResult created() const { return created_; }

  nvrtcResult compile(const std::vector<std::string>& options) const {
    std::vector<const char*> texts;
    texts.reserve(options.size());
    for (const std::string& option : options) texts.push_back(option.c_str());
    return api_.compile(handle_, static_cast<int>(texts.size()), texts.data());
  }

  std::string log() const {
    std::size_t size = 0;
    if (api_.log_size(handle_, &size) != NVRTC_SUCCESS) return {};
    std::string text(size, '\0');
    if (size == 0 || api_.log(handle_, text.data()) != NVRTC_SUCCESS) return {};
    while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.pop_back();
    return text;
  }

  nvrtcResult cubin(std::string& bytes) const {
    std::size_t size = 0;
    if (const nvrtcResult code = api_.cubin_size(handle_, &size); code != NVRTC_SUCCESS) return code;
    bytes.resize(size);
    return api_.cubin(handle_, bytes.data());
  }

  // Without the zero at its end.
  nvrtcResult ptx(std::string& text) const {
    std::size_t size = 0;
    if (const nvrtcResult code = api_.ptx_size(handle_, &size); code != NVRTC_SUCCESS) return code;
    text.resize(size);
    const nvrtcResult code = api_.ptx(handle_, text.data());
    while (!text.empty() && text.back() == '\0') text.pop_back();
    return code;
  }

 private:
  const NvrtcApi& api_;
  nvrtcProgram handle_ = nullptr;
  nvrtcResult created_ = NVRTC_SUCCESS;
};

Error compile_error(const std::string& source, const std::string& name, const std::string& arch,
                    const char* reason, const std::string& log) {
  std::string message = fmt::format("NVRTC rejected {} for {}: {}", name, arch, reason);
  if (const std::string excerpt = source_excerpt(source, name, log); !excerpt.empty())
    message += "\n" + excerpt;
  if (!log.empty()) message += "\n" + log;
  return Error{ErrorKind::Compile, std::move(message)};
}

}  // namespace

std::string NvrtcVersion::text() const { return fmt::format("{}.{}", major, minor); }

std::string source_excerpt(const std::string& source, const std::string& name, const std::string& log) {
  const std::string marker = name + "(";
  int line = 0;
  for (std::size_t at = log.find(marker); at != std::string::npos && line == 0;
       at = log.find(marker, at + 1)) {
    char* end = nullptr;
    const long number = std::strtol(log.c_str() + at + marker.size(), &end, 10);
    const std::string_view rest = std::string_view(end).substr(0, 16);
    if (number > 0 && (rest.starts_with("): error") || rest.starts_with("): catastrophic")))
      line = static_cast<int>(std::min(number, 1'000'000'000L));
  }
  if (line == 0) return {};

  constexpr int kContext = 3;
  std::string text;
  std::size_t begin = 0;
  for (int number = 1; number <= line + kContext && begin < source.size(); ++number) {
    const std::size_t end = std::min(source.find('\n', begin), source.size());
    if (number >= line - kContext)
      text += fmt::format("{}{} {:>5} | {}", text.empty() ? "" : "\n", number == line ? '>' : ' ', number,
                          source.substr(begin, end - begin));
    begin = end + 1;
  }
  return text;
}

Nvrtc::Nvrtc() = default;
Nvrtc::~Nvrtc() = default;

Status Nvrtc::load(const std::string& path) {
  auto library =
      DynamicLibrary::open(nvrtc_candidates(path), "NVRTC (libnvrtc)", kInstallHint, {.found = path.empty()});
  if (!library) return library.error();
  library_ = std::move(*library);
  api_ = std::make_unique<NvrtcApi>(library_);
  if (!api_->imports.missing.empty())
    return Error{ErrorKind::Unsupported,
                 fmt::format("{} is no NVRTC of version 11.2 or newer", library_.path()), kInstallHint};
  // NVRTC opens its built-ins by bare name; outside the linker's path it finds them only if they are loaded
  // already.
  const std::vector<std::string> beside = nvrtc_builtins_beside(library_.path());
  if (!beside.empty()) {
    if (auto builtins = DynamicLibrary::open(beside, "NVRTC's built-ins", "", {.global = true}))
      builtins_ = std::move(*builtins);
  }
  api_->version(&version_.major, &version_.minor);
  int count = 0;
  if (api_->arch_count(&count) == NVRTC_SUCCESS && count > 0) {
    archs_.resize(static_cast<std::size_t>(count));
    if (api_->archs(archs_.data()) != NVRTC_SUCCESS) archs_.clear();
    std::ranges::sort(archs_);
  }
  return success();
}

Result<std::unique_ptr<const Nvrtc>> Nvrtc::open(const std::string& path) {
  if (path == "none")
    return Error{ErrorKind::Missing, "no NVRTC: RONDO_NVRTC=none hides it", "unset RONDO_NVRTC to compile"};
  std::unique_ptr<Nvrtc> nvrtc(new Nvrtc);
  if (auto loaded = nvrtc->load(path); !loaded) return loaded.error();
  return std::unique_ptr<const Nvrtc>(std::move(nvrtc));
}

Result<const Nvrtc*> Nvrtc::get() { return library_of_process<Nvrtc>("RONDO_NVRTC"); }

Status Nvrtc::check_arch(const std::string& arch) const {
  const std::optional<target::Target> target = target::find_target(arch);
  if (!target || target->is_cpu())
    return Error{ErrorKind::Input, fmt::format("'{}' is no GPU architecture", arch),
                 "write it like sm_90 or sm_90a"};
  if (archs_.empty() || std::binary_search(archs_.begin(), archs_.end(), target->level)) return success();
  return Error{
      ErrorKind::Unsupported, fmt::format("NVRTC {} does not compile for {}", version_.text(), arch),
      fmt::format("it knows sm_{}; another version may know more (RONDO_NVRTC)", fmt::join(archs_, ", sm_"))};
}

Result<Compiled> Nvrtc::compile(const std::string& source, const std::string& name, const std::string& arch,
                                const std::vector<std::string>& flags) const {
  if (auto known = check_arch(arch); !known) return known.error();
  // Verbose ptxas is the only source of spill counts.
  std::vector<std::string> options = {"--gpu-architecture=" + arch, "--ptxas-options=-v"};
  options.insert(options.end(), flags.begin(), flags.end());
  Result<Compiled> compiled = compile_once(source, name, arch, executable::ImageKind::Cubin, options);
  if (!compiled || !compiled->image.resources.empty()) return compiled;
  // NVRTC 13 keeps cubins in the driver's cache, where there is a driver, and code from there comes with an
  // empty log. An NVRTC that does not know the option has no such cache.
  options.push_back("--no-cache");
  Result<Compiled> anew = compile_once(source, name, arch, executable::ImageKind::Cubin, options);
  return anew ? anew : compiled;
}

Result<Compiled> Nvrtc::compile_to_ptx(const std::string& source, const std::string& name,
                                       const std::string& arch, const std::vector<std::string>& flags) const {
  if (auto known = check_arch(arch); !known) return known.error();
  if (target::plain_arch(arch) != arch)
    return Error{ErrorKind::Input, fmt::format("PTX for {} would run on no later GPU", arch),
                 "make it for an architecture without a suffix"};
  std::vector<std::string> options = {
      fmt::format("--gpu-architecture=compute_{}", target::find_target(arch)->level)};
  options.insert(options.end(), flags.begin(), flags.end());
  return compile_once(source, name, arch, executable::ImageKind::Ptx, options);
}

Result<Compiled> Nvrtc::compile_once(const std::string& source, const std::string& name,
                                     const std::string& arch, executable::ImageKind kind,
                                     const std::vector<std::string>& options) const {
  const auto start = std::chrono::steady_clock::now();
  const Program program(*api_, source, name);
  if (program.created() != NVRTC_SUCCESS)
    return compile_error(source, name, arch, api_->error_string(program.created()), "");
  const nvrtcResult code = program.compile(options);
  Compiled compiled;
  compiled.log = program.log();
  if (code == NVRTC_ERROR_BUILTIN_OPERATION_FAILURE)
    return Error{ErrorKind::Missing,
                 fmt::format("NVRTC ({}) cannot open its built-ins library: {}", path(), compiled.log),
                 "libnvrtc-builtins.so must lie in the same folder as libnvrtc.so"};
  if (code != NVRTC_SUCCESS) return compile_error(source, name, arch, api_->error_string(code), compiled.log);
  executable::Image& image = compiled.image;
  const bool ptx = kind == executable::ImageKind::Ptx;
  if (const nvrtcResult got = ptx ? program.ptx(image.bytes) : program.cubin(image.bytes);
      got != NVRTC_SUCCESS)
    return compile_error(source, name, arch, api_->error_string(got), compiled.log);
  compiled.compile_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  image.target = arch;
  image.kind = kind;
  image.compiler = compiler_name(kNvrtc, version_.text());
  if (!ptx) image.resources = read_ptxas_log(compiled.log);
  return compiled;
}

}  // namespace rondo::backend
