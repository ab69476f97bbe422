#include "runtime/cuda/driver_library.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <vector>

#include "compiler/support/environment.h"
#include "runtime/cuda/driver_api.h"

namespace rondo::runtime {
namespace {

constexpr const char* kInstallHint =
    "install the NVIDIA driver, or point RONDO_LIBCUDA at libcuda.so.1; check, emit and model-based tuning "
    "work without";

std::atomic<const DriverApi*> loaded_api{nullptr};

struct CodeAdvice {
  CUresult code;
  ErrorKind kind;
  const char* hint;
};

constexpr std::array kAdvice{
    CodeAdvice{CUDA_ERROR_OUT_OF_MEMORY, ErrorKind::Device,
               "choose a smaller shape, or free GPU memory used by other processes (nvidia-smi lists them)"},
    CodeAdvice{CUDA_ERROR_NO_DEVICE, ErrorKind::Missing,
               "no GPU is visible: check nvidia-smi, CUDA_VISIBLE_DEVICES and the container's GPU access"},
    CodeAdvice{CUDA_ERROR_INVALID_DEVICE, ErrorKind::Input, "rondo doctor lists the GPUs and their numbers"},
    CodeAdvice{CUDA_ERROR_INVALID_VALUE, ErrorKind::Device,
               "a size or address is outside what this GPU accepts; above 48 KB of dynamic shared memory a "
               "kernel must "
               "opt in (Function::set_dynamic_shared)"},
    CodeAdvice{CUDA_ERROR_INVALID_CONTEXT, ErrorKind::Device,
               "make the device's context current on this thread first (Context::make_current)"},
    CodeAdvice{CUDA_ERROR_NO_BINARY_FOR_GPU, ErrorKind::Unsupported,
               "the kernel was compiled for another GPU: compile it with --arch auto on this one"},
    CodeAdvice{CUDA_ERROR_INVALID_IMAGE, ErrorKind::Unsupported,
               "the kernel image was made by a newer compiler than this driver reads: update the driver"},
    CodeAdvice{CUDA_ERROR_INVALID_SOURCE, ErrorKind::Unsupported,
               "the kernel image was made by a newer compiler than this driver reads: update the driver"},
    CodeAdvice{CUDA_ERROR_INVALID_PTX, ErrorKind::Unsupported,
               "the driver cannot compile this PTX: update the driver, or build the package with --arch of "
               "this GPU"},
    CodeAdvice{CUDA_ERROR_UNSUPPORTED_PTX_VERSION, ErrorKind::Unsupported,
               "the driver is older than the compiler that made this PTX: update the driver, or build the "
               "package with --arch of this GPU"},
    CodeAdvice{CUDA_ERROR_NOT_FOUND, ErrorKind::Device, "the module holds no kernel of that name"},
    CodeAdvice{CUDA_ERROR_ILLEGAL_ADDRESS, ErrorKind::Device,
               "a kernel touched memory outside its buffers; the process must restart before it can use the "
               "GPU again. "
               "compute-sanitizer names the access"},
    CodeAdvice{CUDA_ERROR_MISALIGNED_ADDRESS, ErrorKind::Device,
               "a kernel made an unaligned access; the process must restart before it can use the GPU again"},
    CodeAdvice{CUDA_ERROR_LAUNCH_FAILED, ErrorKind::Device,
               "a kernel failed; the process must restart before it can use the GPU again"},
    CodeAdvice{CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, ErrorKind::Device,
               "the launch asks for more registers, threads or shared memory than a multiprocessor has"},
    CodeAdvice{CUDA_ERROR_LAUNCH_TIMEOUT, ErrorKind::Device,
               "the GPU drives a display and stopped a long kernel: use a shorter sequence or another GPU"},
    CodeAdvice{CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, ErrorKind::Device,
               "the grid does not fit on the GPU at once: use fewer blocks"},
    CodeAdvice{
        CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, ErrorKind::Device,
        "the kernel module and libcuda differ in version: restart the machine after the driver's update"},
    CodeAdvice{
        CUDA_ERROR_SYSTEM_NOT_READY, ErrorKind::Device,
        "the NVIDIA fabric manager or persistence service is not up: start it, or restart the machine"},
    CodeAdvice{CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, ErrorKind::Unsupported,
               "the CUDA compatibility package does not support this GPU: remove it from LD_LIBRARY_PATH"},
    CodeAdvice{CUDA_ERROR_NOT_SUPPORTED, ErrorKind::Unsupported,
               "this GPU or driver does not offer the feature"},
    CodeAdvice{CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, ErrorKind::Device,
               "the call is not allowed while a stream is being captured into a graph"},
    CodeAdvice{CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, ErrorKind::Device,
               "a call that is not allowed during capture spoiled the graph"},
    CodeAdvice{CUDA_ERROR_ECC_UNCORRECTABLE, ErrorKind::Device,
               "the GPU's memory reported an error that it cannot correct: reset the GPU or replace it"},
};

const CodeAdvice* advice_for(CUresult code) {
  for (const CodeAdvice& advice : kAdvice)
    if (advice.code == code) return &advice;
  return nullptr;
}

std::vector<std::string> driver_candidates(const std::string& path) {
  if (!path.empty()) return {path};
  // The last one is where WSL keeps it, outside the linker's path.
  return {"libcuda.so.1", "libcuda.so", "/usr/lib/wsl/lib/libcuda.so.1"};
}

}  // namespace

Driver::Driver() = default;
Driver::~Driver() = default;

Result<std::unique_ptr<const Driver>> Driver::open(const std::string& path) {
  if (path == "none")
    return Error{ErrorKind::Missing, "no CUDA driver: RONDO_LIBCUDA=none hides it",
                 "unset RONDO_LIBCUDA to use the GPU"};
  auto library = DynamicLibrary::open(driver_candidates(path), "the CUDA driver", kInstallHint);
  if (!library) return library.error();

  std::unique_ptr<Driver> driver(new Driver);
  driver->library_ = std::move(*library);
  driver->api_ = std::make_unique<DriverApi>(driver->library_);
  if (const std::string& missing = driver->api_->imports.missing; !missing.empty())
    return Error{ErrorKind::Unsupported,
                 fmt::format("the CUDA driver library {} does not offer {}", driver->path(), missing),
                 "update the NVIDIA driver to release 470 (CUDA 11.4) or newer"};
  if (auto started = runtime::check(*driver, driver->api_->init(0), "cuInit"); !started)
    return started.error();
  auto version =
      runtime::check(*driver, driver->api_->driver_get_version(&driver->version_), "cuDriverGetVersion");
  if (!version) return version.error();
  return std::unique_ptr<const Driver>(std::move(driver));
}

Result<const Driver*> Driver::get() {
  // Never destroyed: handles in static storage may still close after main.
  static const auto* driver = [] {
    auto* opened = new Result<std::unique_ptr<const Driver>>(open(environment("RONDO_LIBCUDA")));
    if (*opened) loaded_api.store((**opened)->api_.get());
    return opened;
  }();
  if (!*driver) return driver->error();
  return (**driver).get();
}

const DriverApi* loaded_driver_api() noexcept { return loaded_api.load(); }

std::string Driver::version_text() const {
  return fmt::format("{}.{}", version_ / 1000, version_ % 1000 / 10);
}

Status Driver::check(int code, std::string_view call) const {
  const auto result = static_cast<CUresult>(code);
  if (result == CUDA_SUCCESS) return success();
  const char* name = nullptr;
  const char* text = nullptr;
  api_->get_error_name(result, &name);
  api_->get_error_string(result, &text);
  const CodeAdvice* advice = advice_for(result);
  if (call.ends_with("_v2")) call.remove_suffix(3);  // as its documentation calls it
  return Error{
      advice != nullptr ? advice->kind : ErrorKind::Device,
      fmt::format("{} failed: {} ({})", call, name != nullptr ? name : fmt::format("CUDA error {}", code),
                  text != nullptr ? text : "unknown error"),
      advice != nullptr ? advice->hint : ""};
}

}  // namespace rondo::runtime
