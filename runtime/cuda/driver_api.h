// The CUDA driver's entry points as Rondo calls them. Internal to runtime/: it pulls in cuda.h.
#pragma once

#include <cuda.h>

#include "compiler/support/dynamic_library.h"
#include "runtime/cuda/driver_library.h"

namespace rondo::runtime {

// Types come from cuda.h, whose macros already choose the versions (cuMemAlloc means cuMemAlloc_v2); libcuda
// is asked for the same versions by name. The last two are of CUDA 11.8: older drivers lack them.
struct DriverApi {
  explicit DriverApi(const DynamicLibrary& library) : imports{library} {}
  Imports imports;

  Imported<decltype(cuInit)> init{imports, "cuInit"};
  Imported<decltype(cuDriverGetVersion)> driver_get_version{imports, "cuDriverGetVersion"};
  Imported<decltype(cuGetErrorName)> get_error_name{imports, "cuGetErrorName"};
  Imported<decltype(cuGetErrorString)> get_error_string{imports, "cuGetErrorString"};

  Imported<decltype(cuDeviceGetCount)> device_get_count{imports, "cuDeviceGetCount"};
  Imported<decltype(cuDeviceGet)> device_get{imports, "cuDeviceGet"};
  Imported<decltype(cuDeviceGetName)> device_get_name{imports, "cuDeviceGetName"};
  Imported<decltype(cuDeviceGetUuid)> device_get_uuid{imports, "cuDeviceGetUuid_v2"};
  Imported<decltype(cuDeviceGetAttribute)> device_get_attribute{imports, "cuDeviceGetAttribute"};
  Imported<decltype(cuDeviceTotalMem)> device_total_mem{imports, "cuDeviceTotalMem_v2"};

  Imported<decltype(cuDevicePrimaryCtxRetain)> primary_ctx_retain{imports, "cuDevicePrimaryCtxRetain"};
  Imported<decltype(cuDevicePrimaryCtxRelease)> primary_ctx_release{imports, "cuDevicePrimaryCtxRelease_v2"};
  Imported<decltype(cuCtxSetCurrent)> ctx_set_current{imports, "cuCtxSetCurrent"};
  Imported<decltype(cuCtxGetCurrent)> ctx_get_current{imports, "cuCtxGetCurrent"};
  Imported<decltype(cuCtxGetDevice)> ctx_get_device{imports, "cuCtxGetDevice"};
  Imported<CUresult()> ctx_synchronize{imports, "cuCtxSynchronize"};

  Imported<decltype(cuStreamCreate)> stream_create{imports, "cuStreamCreate"};
  Imported<decltype(cuStreamDestroy)> stream_destroy{imports, "cuStreamDestroy_v2"};
  Imported<decltype(cuStreamSynchronize)> stream_synchronize{imports, "cuStreamSynchronize"};
  Imported<decltype(cuStreamQuery)> stream_query{imports, "cuStreamQuery"};
  Imported<decltype(cuLaunchHostFunc)> launch_host_func{imports, "cuLaunchHostFunc"};
  Imported<decltype(cuEventCreate)> event_create{imports, "cuEventCreate"};
  Imported<decltype(cuEventDestroy)> event_destroy{imports, "cuEventDestroy_v2"};
  Imported<decltype(cuEventRecord)> event_record{imports, "cuEventRecord"};
  Imported<decltype(cuEventQuery)> event_query{imports, "cuEventQuery"};
  Imported<decltype(cuEventSynchronize)> event_synchronize{imports, "cuEventSynchronize"};
  // _v2 (12.8) differs only in accepting events that were not recorded; the plain name exists in every
  // driver.
  Imported<decltype(cuEventElapsedTime)> event_elapsed_time{imports, "cuEventElapsedTime"};

  Imported<decltype(cuMemAlloc)> mem_alloc{imports, "cuMemAlloc_v2"};
  Imported<decltype(cuMemFree)> mem_free{imports, "cuMemFree_v2"};
  Imported<decltype(cuMemHostAlloc)> mem_host_alloc{imports, "cuMemHostAlloc"};
  Imported<decltype(cuMemFreeHost)> mem_free_host{imports, "cuMemFreeHost"};
  Imported<decltype(cuMemcpyHtoDAsync)> memcpy_htod{imports, "cuMemcpyHtoDAsync_v2"};
  Imported<decltype(cuMemcpyDtoHAsync)> memcpy_dtoh{imports, "cuMemcpyDtoHAsync_v2"};
  Imported<decltype(cuMemcpyDtoDAsync)> memcpy_dtod{imports, "cuMemcpyDtoDAsync_v2"};
  Imported<decltype(cuMemsetD8Async)> memset_d8{imports, "cuMemsetD8Async"};
  Imported<decltype(cuMemsetD32Async)> memset_d32{imports, "cuMemsetD32Async"};

  Imported<decltype(cuModuleLoadData)> module_load_data{imports, "cuModuleLoadData"};
  Imported<decltype(cuModuleLoadDataEx)> module_load_data_ex{imports, "cuModuleLoadDataEx"};
  Imported<decltype(cuModuleUnload)> module_unload{imports, "cuModuleUnload"};
  Imported<decltype(cuModuleGetFunction)> module_get_function{imports, "cuModuleGetFunction"};
  Imported<decltype(cuFuncSetAttribute)> func_set_attribute{imports, "cuFuncSetAttribute"};
  Imported<decltype(cuOccupancyMaxActiveBlocksPerMultiprocessor)> occupancy_blocks{
      imports, "cuOccupancyMaxActiveBlocksPerMultiprocessor"};
  Imported<decltype(cuLaunchKernel)> launch_kernel{imports, "cuLaunchKernel"};
  Imported<decltype(cuLaunchCooperativeKernel)> launch_cooperative{imports, "cuLaunchCooperativeKernel"};

  Imported<decltype(cuStreamBeginCapture)> stream_begin_capture{imports, "cuStreamBeginCapture_v2"};
  Imported<decltype(cuStreamEndCapture)> stream_end_capture{imports, "cuStreamEndCapture"};
  Imported<decltype(cuStreamIsCapturing)> stream_is_capturing{imports, "cuStreamIsCapturing"};
  Imported<decltype(cuThreadExchangeStreamCaptureMode)> exchange_capture_mode{
      imports, "cuThreadExchangeStreamCaptureMode"};
  Imported<decltype(cuGraphInstantiateWithFlags)> graph_instantiate{imports, "cuGraphInstantiateWithFlags"};
  Imported<decltype(cuGraphUpload)> graph_upload{imports, "cuGraphUpload"};
  Imported<decltype(cuGraphLaunch)> graph_launch{imports, "cuGraphLaunch"};
  Imported<decltype(cuGraphGetNodes)> graph_get_nodes{imports, "cuGraphGetNodes"};
  Imported<decltype(cuGraphExecDestroy)> graph_exec_destroy{imports, "cuGraphExecDestroy"};
  Imported<decltype(cuGraphDestroy)> graph_destroy{imports, "cuGraphDestroy"};

  Imported<decltype(cuLaunchKernelEx)> launch_kernel_ex{imports, "cuLaunchKernelEx", Need::Optional};
  Imported<decltype(cuOccupancyMaxActiveClusters)> occupancy_clusters{imports, "cuOccupancyMaxActiveClusters",
                                                                      Need::Optional};
};

// The table behind the driver that get() loaded, or null: for destructors, which run only after it was
// loaded.
const DriverApi* loaded_driver_api() noexcept;

// The check of one call: `check(driver, driver.api().mem_free(p), "cuMemFree")`.
inline Status check(const Driver& driver, CUresult code, std::string_view call) {
  return driver.check(static_cast<int>(code), call);
}

// Calls a function of the driver that get() loaded: `call(&DriverApi::mem_free, p)`. Errors: those of
// Driver::get() and Driver::check().
template <class F, class... Arguments>
Status call(Imported<F> DriverApi::*function, Arguments... arguments) {
  const Result<const Driver*> driver = Driver::get();
  if (!driver) return driver.error();
  const Imported<F>& called = (*driver)->api().*function;
  return check(**driver, called(arguments...), called.name());
}

}  // namespace rondo::runtime
