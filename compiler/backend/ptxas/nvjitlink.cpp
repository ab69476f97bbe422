#include "compiler/backend/ptxas/nvjitlink.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "compiler/backend/ptxas/toolkit_search.h"

namespace rondo::backend {

namespace {

// What is used of the interface of CUDA 13.0, whose header the wheels of other libraries do not bring.
// Results are of an enum, 0 is success.
using NvJitLinkHandle = struct nvJitLink*;
constexpr int kNvJitLinkSuccess = 0;
constexpr int kUnrecognizedArch = 16, kUnsupportedArch = 17;
constexpr int kInputPtx = 2;

constexpr const char* kNvJitLinkHint =
    "install a CUDA toolkit or the Python wheel nvidia-nvjitlink, or point RONDO_NVJITLINK at "
    "libnvJitLink.so";

}  // namespace

// The names with a version in them (__nvJitLinkCreate_13_0) change from release to release; these do not.
struct NvJitLinkApi {
  explicit NvJitLinkApi(const DynamicLibrary& library) : imports{library} {}
  Imports imports;
  Imported<int(unsigned* major, unsigned* minor)> version{imports, "nvJitLinkVersion"};
  Imported<int(NvJitLinkHandle* handle, std::uint32_t count, const char* const* options)> create{
      imports, "nvJitLinkCreate"};
  Imported<int(NvJitLinkHandle* handle)> destroy{imports, "nvJitLinkDestroy"};
  Imported<int(NvJitLinkHandle handle, int kind, const void* data, std::size_t size, const char* name)> add{
      imports, "nvJitLinkAddData"};
  Imported<int(NvJitLinkHandle handle)> complete{imports, "nvJitLinkComplete"};
  Imported<int(NvJitLinkHandle handle, std::size_t* size)> cubin_size{imports, "nvJitLinkGetLinkedCubinSize"};
  Imported<int(NvJitLinkHandle handle, void* bytes)> cubin{imports, "nvJitLinkGetLinkedCubin"};
  Imported<int(NvJitLinkHandle handle, std::size_t* size)> error_size{imports, "nvJitLinkGetErrorLogSize"};
  Imported<int(NvJitLinkHandle handle, char* text)> error_log{imports, "nvJitLinkGetErrorLog"};
  Imported<int(NvJitLinkHandle handle, std::size_t* size)> info_size{imports, "nvJitLinkGetInfoLogSize"};
  Imported<int(NvJitLinkHandle handle, char* text)> info_log{imports, "nvJitLinkGetInfoLog"};
};

namespace {

// One link, destroyed at the end of its scope.
class Link {
 public:
  Link(const NvJitLinkApi& api, const std::string& arch) : api_(api) {
    const std::string option = "-arch=" + arch;
    const std::array<const char*, 2> options = {option.c_str(), "-Xptxas=-v"};
    created_ = api_.create(&handle_, static_cast<std::uint32_t>(options.size()), options.data());
  }
  ~Link() {
    if (handle_ != nullptr) api_.destroy(&handle_);
  }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  int run(const std::string& ptx, std::string& cubin) {
    if (created_ != kNvJitLinkSuccess) return created_;
    int code = api_.add(handle_, kInputPtx, ptx.c_str(), ptx.size() + 1, "rondo.ptx");
    if (code == kNvJitLinkSuccess) code = api_.complete(handle_);
    std::size_t size = 0;
    if (code == kNvJitLinkSuccess) code = api_.cubin_size(handle_, &size);
    cubin.resize(size);
    return code == kNvJitLinkSuccess ? api_.cubin(handle_, cubin.data()) : code;
  }

  std::string errors() const { return text(api_.error_size, api_.error_log); }
  std::string log() const { return text(api_.info_size, api_.info_log); }

 private:
  std::string text(const decltype(NvJitLinkApi::info_size)& size_of,
                   const decltype(NvJitLinkApi::info_log)& copy) const {
    std::size_t size = 0;
    if (handle_ == nullptr || size_of(handle_, &size) != kNvJitLinkSuccess || size == 0) return {};
    std::string result(size, '\0');
    if (copy(handle_, result.data()) != kNvJitLinkSuccess) return {};
    while (!result.empty() && (result.back() == '\0' || result.back() == '\n')) result.pop_back();
    return result;
  }

  const NvJitLinkApi& api_;
  NvJitLinkHandle handle_ = nullptr;
  int created_ = kNvJitLinkSuccess;
};

}  // namespace

NvJitLink::NvJitLink() = default;
NvJitLink::~NvJitLink() = default;

Status NvJitLink::load(const std::string& path) {
  auto library = DynamicLibrary::open(toolkit_candidates({"libnvJitLink", "nvjitlink"}, path),
                                      "nvJitLink (libnvJitLink)", kNvJitLinkHint, {.found = path.empty()});
  if (!library) return library.error();
  library_ = std::move(*library);
  api_ = std::make_unique<NvJitLinkApi>(library_);
  unsigned major = 0, minor = 0;
  if (!api_->imports.missing.empty() || api_->version(&major, &minor) != kNvJitLinkSuccess)
    return Error{ErrorKind::Unsupported,
                 fmt::format("{} is no nvJitLink of version 12.0 or newer", library_.path()), kNvJitLinkHint};
  version_ = fmt::format("{}.{}", major, minor);
  return success();
}

Result<std::unique_ptr<const NvJitLink>> NvJitLink::open(const std::string& path) {
  if (path == "none")
    return Error{ErrorKind::Missing, "no nvJitLink: RONDO_NVJITLINK=none hides it", "unset RONDO_NVJITLINK"};
  std::unique_ptr<NvJitLink> linker(new NvJitLink);
  if (auto loaded = linker->load(path); !loaded) return loaded.error();
  return std::unique_ptr<const NvJitLink>(std::move(linker));
}

Result<const NvJitLink*> NvJitLink::get() { return library_of_process<NvJitLink>("RONDO_NVJITLINK"); }

Result<Assembled> NvJitLink::assemble(const std::string& ptx, const std::string& arch) const {
  Link link(*api_, arch);
  Assembled result;
  const int code = link.run(ptx, result.cubin);
  result.log = link.log();
  if (code == kNvJitLinkSuccess) return result;
  if (code == kUnrecognizedArch || code == kUnsupportedArch)
    return Error{ErrorKind::Unsupported,
                 fmt::format("nvJitLink {} ({}) does not know {}: {}", version_, path(), arch, link.errors()),
                 "install a newer one, or hide it (RONDO_NVJITLINK=none): the driver then assembles"};
  return Error{ErrorKind::Compile, fmt::format("nvJitLink {} ({}) rejected the PTX for {} (code {}):\n{}",
                                               version_, path(), arch, code, link.errors())};
}

}  // namespace rondo::backend
