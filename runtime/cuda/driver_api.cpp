#include "runtime/cuda/driver_api.h"

#include <fmt/format.h>

namespace rondo::runtime {
namespace {

// Collects the names that are missing, so that one error lists them all.
class Loader {
 public:
  explicit Loader(const DynamicLibrary& library) : library_(library) {}

  template <class F>
  void need(F*& function, const char* name) {
    if (!library_.load(function, name)) missing_ += fmt::format("{}{}", missing_.empty() ? "" : ", ", name);
  }
  template <class F>
  void may(F*& function, const char* name) {
    (void)library_.load(function, name);
  }
  const std::string& missing() const { return missing_; }

 private:
  const DynamicLibrary& library_;
  std::string missing_;
};

void load_device(Loader& loader, DriverApi& api) {
  loader.need(api.init, "cuInit");
  loader.need(api.driver_get_version, "cuDriverGetVersion");
  loader.need(api.get_error_name, "cuGetErrorName");
  loader.need(api.get_error_string, "cuGetErrorString");
  loader.need(api.device_get_count, "cuDeviceGetCount");
  loader.need(api.device_get, "cuDeviceGet");
  loader.need(api.device_get_name, "cuDeviceGetName");
  loader.need(api.device_get_uuid, "cuDeviceGetUuid_v2");
  loader.need(api.device_get_attribute, "cuDeviceGetAttribute");
  loader.need(api.device_total_mem, "cuDeviceTotalMem_v2");
  loader.need(api.primary_ctx_retain, "cuDevicePrimaryCtxRetain");
  loader.need(api.primary_ctx_release, "cuDevicePrimaryCtxRelease_v2");
  loader.need(api.ctx_set_current, "cuCtxSetCurrent");
  loader.need(api.ctx_get_current, "cuCtxGetCurrent");
  loader.need(api.ctx_get_device, "cuCtxGetDevice");
  loader.need(api.ctx_synchronize, "cuCtxSynchronize");
}

void load_streams(Loader& loader, DriverApi& api) {
  loader.need(api.stream_create, "cuStreamCreate");
  loader.need(api.stream_destroy, "cuStreamDestroy_v2");
  loader.need(api.stream_synchronize, "cuStreamSynchronize");
  loader.need(api.stream_query, "cuStreamQuery");
  loader.need(api.stream_wait_event, "cuStreamWaitEvent");
  loader.need(api.launch_host_func, "cuLaunchHostFunc");
  loader.need(api.event_create, "cuEventCreate");
  loader.need(api.event_destroy, "cuEventDestroy_v2");
  loader.need(api.event_record, "cuEventRecord");
  loader.need(api.event_query, "cuEventQuery");
  loader.need(api.event_synchronize, "cuEventSynchronize");
  // _v2 (12.8) differs only in accepting events that were not recorded; the plain name exists in every
  // driver.
  loader.need(api.event_elapsed_time, "cuEventElapsedTime");
  loader.need(api.stream_begin_capture, "cuStreamBeginCapture_v2");
  loader.need(api.stream_end_capture, "cuStreamEndCapture");
  loader.need(api.stream_is_capturing, "cuStreamIsCapturing");
  loader.need(api.exchange_capture_mode, "cuThreadExchangeStreamCaptureMode");
  loader.need(api.graph_instantiate, "cuGraphInstantiateWithFlags");
  loader.need(api.graph_upload, "cuGraphUpload");
  loader.need(api.graph_launch, "cuGraphLaunch");
  loader.need(api.graph_get_nodes, "cuGraphGetNodes");
  loader.need(api.graph_exec_destroy, "cuGraphExecDestroy");
  loader.need(api.graph_destroy, "cuGraphDestroy");
}

void load_memory_and_modules(Loader& loader, DriverApi& api) {
  loader.need(api.mem_get_info, "cuMemGetInfo_v2");
  loader.need(api.mem_alloc, "cuMemAlloc_v2");
  loader.need(api.mem_free, "cuMemFree_v2");
  loader.need(api.mem_host_alloc, "cuMemHostAlloc");
  loader.need(api.mem_free_host, "cuMemFreeHost");
  loader.need(api.memcpy_htod, "cuMemcpyHtoDAsync_v2");
  loader.need(api.memcpy_dtoh, "cuMemcpyDtoHAsync_v2");
  loader.need(api.memcpy_dtod, "cuMemcpyDtoDAsync_v2");
  loader.need(api.memset_d8, "cuMemsetD8Async");
  loader.need(api.memset_d32, "cuMemsetD32Async");
  loader.need(api.module_load_data, "cuModuleLoadData");
  loader.need(api.module_load_data_ex, "cuModuleLoadDataEx");
  loader.need(api.module_unload, "cuModuleUnload");
  loader.need(api.module_get_function, "cuModuleGetFunction");
  loader.need(api.func_get_attribute, "cuFuncGetAttribute");
  loader.need(api.func_set_attribute, "cuFuncSetAttribute");
  loader.need(api.occupancy_blocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  loader.need(api.launch_kernel, "cuLaunchKernel");
  loader.need(api.launch_cooperative, "cuLaunchCooperativeKernel");
  loader.may(api.launch_kernel_ex, "cuLaunchKernelEx");
  loader.may(api.occupancy_clusters, "cuOccupancyMaxActiveClusters");
}

}  // namespace

Status load_driver_api(const DynamicLibrary& library, DriverApi& api) {
  Loader loader(library);
  load_device(loader, api);
  load_streams(loader, api);
  load_memory_and_modules(loader, api);
  if (loader.missing().empty()) return success();
  return Error{ErrorKind::Unsupported,
               fmt::format("the CUDA driver library {} does not offer {}", library.path(), loader.missing()),
               "update the NVIDIA driver to release 470 (CUDA 11.4) or newer"};
}

}  // namespace rondo::runtime
