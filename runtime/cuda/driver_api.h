// The CUDA driver's entry points as Rondo calls them. Internal to runtime/: it pulls in cuda.h.
#pragma once

#include <cuda.h>

#include <string>

#include "compiler/support/dynamic_library.h"
#include "runtime/cuda/driver_library.h"

namespace rondo::runtime {

// Types come from cuda.h, whose macros already choose the versions (cuMemAlloc means cuMemAlloc_v2);
// load_driver_api asks libcuda for the same versions by name. Pointers of the last group may be null: older
// drivers lack them.
struct DriverApi {
  decltype(&cuInit) init = nullptr;
  decltype(&cuDriverGetVersion) driver_get_version = nullptr;
  decltype(&cuGetErrorName) get_error_name = nullptr;
  decltype(&cuGetErrorString) get_error_string = nullptr;

  decltype(&cuDeviceGetCount) device_get_count = nullptr;
  decltype(&cuDeviceGet) device_get = nullptr;
  decltype(&cuDeviceGetName) device_get_name = nullptr;
  decltype(&cuDeviceGetUuid) device_get_uuid = nullptr;
  decltype(&cuDeviceGetAttribute) device_get_attribute = nullptr;
  decltype(&cuDeviceTotalMem) device_total_mem = nullptr;

  decltype(&cuDevicePrimaryCtxRetain) primary_ctx_retain = nullptr;
  decltype(&cuDevicePrimaryCtxRelease) primary_ctx_release = nullptr;
  decltype(&cuCtxSetCurrent) ctx_set_current = nullptr;
  decltype(&cuCtxGetCurrent) ctx_get_current = nullptr;
  decltype(&cuCtxGetDevice) ctx_get_device = nullptr;
  CUresult (*ctx_synchronize)() = nullptr;

  decltype(&cuStreamCreate) stream_create = nullptr;
  decltype(&cuStreamDestroy) stream_destroy = nullptr;
  decltype(&cuStreamSynchronize) stream_synchronize = nullptr;
  decltype(&cuStreamQuery) stream_query = nullptr;
  decltype(&cuStreamWaitEvent) stream_wait_event = nullptr;
  decltype(&cuLaunchHostFunc) launch_host_func = nullptr;
  decltype(&cuEventCreate) event_create = nullptr;
  decltype(&cuEventDestroy) event_destroy = nullptr;
  decltype(&cuEventRecord) event_record = nullptr;
  decltype(&cuEventQuery) event_query = nullptr;
  decltype(&cuEventSynchronize) event_synchronize = nullptr;
  decltype(&cuEventElapsedTime) event_elapsed_time = nullptr;

  decltype(&cuMemGetInfo) mem_get_info = nullptr;
  decltype(&cuMemAlloc) mem_alloc = nullptr;
  decltype(&cuMemFree) mem_free = nullptr;
  decltype(&cuMemHostAlloc) mem_host_alloc = nullptr;
  decltype(&cuMemFreeHost) mem_free_host = nullptr;
  decltype(&cuMemcpyHtoDAsync) memcpy_htod = nullptr;
  decltype(&cuMemcpyDtoHAsync) memcpy_dtoh = nullptr;
  decltype(&cuMemcpyDtoDAsync) memcpy_dtod = nullptr;
  decltype(&cuMemsetD8Async) memset_d8 = nullptr;
  decltype(&cuMemsetD32Async) memset_d32 = nullptr;

  decltype(&cuModuleLoadData) module_load_data = nullptr;
  decltype(&cuModuleLoadDataEx) module_load_data_ex = nullptr;
  decltype(&cuModuleUnload) module_unload = nullptr;
  decltype(&cuModuleGetFunction) module_get_function = nullptr;
  decltype(&cuFuncGetAttribute) func_get_attribute = nullptr;
  decltype(&cuFuncSetAttribute) func_set_attribute = nullptr;
  decltype(&cuOccupancyMaxActiveBlocksPerMultiprocessor) occupancy_blocks = nullptr;
  decltype(&cuLaunchKernel) launch_kernel = nullptr;
  decltype(&cuLaunchCooperativeKernel) launch_cooperative = nullptr;

  decltype(&cuStreamBeginCapture) stream_begin_capture = nullptr;
  decltype(&cuStreamEndCapture) stream_end_capture = nullptr;
  decltype(&cuStreamIsCapturing) stream_is_capturing = nullptr;
  decltype(&cuThreadExchangeStreamCaptureMode) exchange_capture_mode = nullptr;
  decltype(&cuGraphInstantiateWithFlags) graph_instantiate = nullptr;
  decltype(&cuGraphUpload) graph_upload = nullptr;
  decltype(&cuGraphLaunch) graph_launch = nullptr;
  decltype(&cuGraphGetNodes) graph_get_nodes = nullptr;
  decltype(&cuGraphExecDestroy) graph_exec_destroy = nullptr;
  decltype(&cuGraphDestroy) graph_destroy = nullptr;

  decltype(&cuLaunchKernelEx) launch_kernel_ex = nullptr;                // 11.8
  decltype(&cuOccupancyMaxActiveClusters) occupancy_clusters = nullptr;  // 11.8
};

// Fills the table. Error of kind Unsupported, naming the symbols, when the driver lacks one that is needed.
Status load_driver_api(const DynamicLibrary& library, DriverApi& api);

// The table behind the driver that get() loaded, or null: for destructors, which run only after it was
// loaded.
const DriverApi* loaded_driver_api() noexcept;

// The check of one call: `check(driver, driver.api().mem_free(p), "cuMemFree")`.
inline Status check(const Driver& driver, CUresult code, std::string_view call) {
  return driver.check(static_cast<int>(code), call);
}

}  // namespace rondo::runtime
