#include "runtime/cuda/driver_module.h"

#include <fmt/format.h>

#include "compiler/support/bundle.h"
#include "runtime/cuda/driver_api.h"

namespace rondo::runtime {
namespace {

bool has_cluster(const LaunchShape& shape) {
  return shape.cluster.x != 1 || shape.cluster.y != 1 || shape.cluster.z != 1;
}

std::string shape_text(const LaunchShape& shape) {
  return fmt::format("grid {}x{}x{}, block {}x{}x{}, cluster {}x{}x{}, {} bytes of dynamic shared memory",
                     shape.grid.x, shape.grid.y, shape.grid.z, shape.block.x, shape.block.y, shape.block.z,
                     shape.cluster.x, shape.cluster.y, shape.cluster.z, shape.dynamic_shared_bytes);
}

// The launch that newer drivers take. `attributes` must outlive the returned value.
CUlaunchConfig extended_config(const LaunchShape& shape, StreamHandle stream,
                               std::span<CUlaunchAttribute, 2> attributes) {
  CUlaunchConfig config{};
  config.gridDimX = shape.grid.x;
  config.gridDimY = shape.grid.y;
  config.gridDimZ = shape.grid.z;
  config.blockDimX = shape.block.x;
  config.blockDimY = shape.block.y;
  config.blockDimZ = shape.block.z;
  config.sharedMemBytes = static_cast<unsigned>(shape.dynamic_shared_bytes);
  config.hStream = stream;
  config.attrs = attributes.data();
  attributes[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attributes[0].value.clusterDim.x = shape.cluster.x;
  attributes[0].value.clusterDim.y = shape.cluster.y;
  attributes[0].value.clusterDim.z = shape.cluster.z;
  config.numAttrs = 1;
  if (shape.cooperative) {
    attributes[1].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attributes[1].value.cooperative = 1;
    config.numAttrs = 2;
  }
  return config;
}

Error no_clusters(const Driver& driver) {
  return Error{ErrorKind::Unsupported,
               fmt::format("the CUDA driver ({}) cannot launch thread-block clusters", driver.version_text()),
               "update the NVIDIA driver to release 520 (CUDA 11.8) or newer"};
}

}  // namespace

void Module::Unload::operator()(CUmod_st* module) const noexcept {
  if (const DriverApi* api = loaded_driver_api()) api->module_unload(module);
}

namespace {

constexpr const char* kAnew = "delete the cache entry or compile the kernel again";

bool is_ptx(std::string_view image) {
  constexpr std::size_t kHead = 4096;  // comments stand above
  return image.substr(0, kHead).find(".version ") != std::string_view::npos &&
         image.find('\0') == std::string_view::npos;
}

// Assembled by the driver, which knows the text's end by a zero byte.
Result<CUmodule> assembled(const Driver& driver, const std::string& ptx) {
  std::array<char, 4096> log{};
  std::array<CUjit_option, 2> options{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(log.size())};  // NOLINT: as the driver asks
  CUmodule handle = nullptr;
  const CUresult code = driver.api().module_load_data_ex(
      &handle, ptx.c_str(), static_cast<unsigned>(options.size()), options.data(), values.data());
  if (auto loaded = check(driver, code, "cuModuleLoadDataEx"); !loaded) {
    Error error = loaded.error();
    if (log[0] != '\0') error.message += fmt::format("; the driver says of the PTX: {}", log.data());
    return error;
  }
  return handle;
}

}  // namespace

Result<Module::Handle> Module::load_one(std::string_view image) {
  auto driver = Driver::get();
  if (!driver) return driver.error();
  if (is_ptx(image)) {
    const Result<CUmodule> handle = assembled(**driver, std::string(image));
    if (!handle) return handle.error();
    return Handle(*handle);
  }
  // The driver reads sizes from the image itself, so what is plainly not an ELF file must not reach it.
  if (image.size() < 64 || image.substr(0, 4) !=
                               "\x7f"
                               "ELF")
    return Error{ErrorKind::Device,
                 fmt::format("the kernel image ({} bytes) is neither a cubin nor PTX", image.size()), kAnew};
  CUmodule handle = nullptr;
  const Status loaded = call(&DriverApi::module_load_data, &handle, image.data());
  if (!loaded) return loaded.error();
  return Handle(handle);
}

Result<Module> Module::load(std::string_view image) {
  const auto members = members_of(image);
  if (!members)
    return Error{ErrorKind::Device,
                 fmt::format("the kernel image ({} bytes) is a damaged bundle", image.size()), kAnew};
  Module module;
  for (const std::string_view member : *members) {
    Result<Handle> handle = load_one(member);
    if (!handle) return handle.error();
    module.handles_.push_back(std::move(handle).value());
  }
  return module;
}

Result<Function> Module::function(const std::string& name) const {
  auto driver = Driver::get();
  if (!driver) return driver.error();
  Function function;
  function.name_ = name;
  for (const Handle& handle : handles_) {
    const CUresult code = (*driver)->api().module_get_function(&function.handle_, handle.get(), name.c_str());
    if (code == CUDA_ERROR_NOT_FOUND) continue;
    if (auto got = check(**driver, code, "cuModuleGetFunction"); !got) return got.error();
    return function;
  }
  return Error{ErrorKind::Internal, fmt::format("the module holds no kernel named {}", name)};
}

Status Function::set_dynamic_shared(std::size_t bytes) const {
  auto driver = Driver::get();
  if (!driver) return driver.error();
  return check(**driver,
               (*driver)->api().func_set_attribute(handle_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                   static_cast<int>(bytes)),
               fmt::format("cuFuncSetAttribute({}: {} bytes of dynamic shared memory)", name_, bytes));
}

Status Function::allow_large_clusters() const {
  auto driver = Driver::get();
  if (!driver) return driver.error();
  if (!(*driver)->api().launch_kernel_ex) return no_clusters(**driver);
  return check(
      **driver,
      (*driver)->api().func_set_attribute(handle_, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
      fmt::format("cuFuncSetAttribute({}: clusters of more than 8)", name_));
}

Result<int> Function::blocks_per_sm(int threads, std::size_t dynamic_shared_bytes) const {
  int blocks = 0;
  const Status got = call(&DriverApi::occupancy_blocks, &blocks, handle_, threads, dynamic_shared_bytes);
  if (!got) return got.error();
  return blocks;
}

Result<int> max_active_clusters(const Function& function, const LaunchShape& shape) {
  auto driver = Driver::get();
  if (!driver) return driver.error();
  if (!(*driver)->api().occupancy_clusters) return no_clusters(**driver);
  std::array<CUlaunchAttribute, 2> attributes{};
  const CUlaunchConfig config = extended_config(shape, nullptr, attributes);
  int clusters = 0;
  const Status got = call(&DriverApi::occupancy_clusters, &clusters, function.handle(), &config);
  if (!got) return got.error();
  return clusters;
}

Status launch(const Function& function, const LaunchShape& shape, StreamHandle stream,
              std::span<void* const> arguments) {
  auto loaded = Driver::get();
  if (!loaded) return loaded.error();
  const DriverApi& api = (*loaded)->api();
  // The driver does not write through the parameter addresses, but takes them without const.
  auto** addresses = const_cast<void**>(arguments.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  const auto shared = static_cast<unsigned>(shape.dynamic_shared_bytes);
  const Dim3& grid = shape.grid;
  const Dim3& block = shape.block;
  CUresult code = CUDA_SUCCESS;
  if (has_cluster(shape)) {
    if (!api.launch_kernel_ex) return no_clusters(**loaded);
    std::array<CUlaunchAttribute, 2> attributes{};
    const CUlaunchConfig config = extended_config(shape, stream, attributes);
    code = api.launch_kernel_ex(&config, function.handle(), addresses, nullptr);
  } else if (shape.cooperative) {
    code = api.launch_cooperative(function.handle(), grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                  shared, stream, addresses);
  } else {
    code = api.launch_kernel(function.handle(), grid.x, grid.y, grid.z, block.x, block.y, block.z, shared,
                             stream, addresses, nullptr);
  }
  if (code == CUDA_SUCCESS) return success();
  return check(**loaded, code, fmt::format("launch of {} ({})", function.name(), shape_text(shape)));
}

}  // namespace rondo::runtime
