/* A CUDA driver that computes nothing: it stands in for libcuda (RONDO_LIBCUDA) where loading and launching
 * are tested without a GPU. Device memory is the host's; modules and launches are noted. One GPU, whose
 * compute capability the test sets. */
#include "tests/capi/fake_cuda.h"

#include <cuda.h>
#include <stdlib.h>
#include <string.h>

static int capability = 90;
static int launches = 0;
static int loads = 0;
static char image[65536];
static CUcontext current = NULL;
static int token; /* what handles point to */

void fake_set_capability(int value) { capability = value; }
int fake_launches(void) { return launches; }
int fake_loads(void) { return loads; }
const char* fake_image(void) { return image; }

CUresult cuInit(unsigned flags) {
  const char* asked = getenv("RONDO_FAKE_CAPABILITY");
  if (asked != NULL) capability = atoi(asked);
  return flags == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuDriverGetVersion(int* version) {
  *version = 13000;
  return CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult error, const char** text) {
  (void)error;
  *text = "CUDA_ERROR_OF_THE_FAKE";
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult error, const char** text) {
  (void)error;
  *text = "an error of the stand-in";
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  *count = 1;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  *device = ordinal;
  return ordinal == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  (void)device;
  strncpy(name, "Fake GPU", (size_t)length);
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  memset(uuid, device, sizeof *uuid);
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  (void)device;
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = capability / 10; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = capability % 10; break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = 132; break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: *value = 49152; break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *value = 101376; break;
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH: *value = 1; break;
    case CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH: *value = capability >= 90; break;
    default: *value = 1024; break;
  }
  return CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  (void)device;
  *bytes = (size_t)1 << 34;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  (void)device;
  *context = (CUcontext)&token;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  (void)device;
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  current = context;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = current;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice* device) {
  *device = 0;
  return current != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}
CUresult cuCtxSynchronize(void) { return CUDA_SUCCESS; }

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  (void)flags;
  *stream = (CUstream)&token;
  return CUDA_SUCCESS;
}
CUresult cuStreamDestroy_v2(CUstream stream) {
  (void)stream;
  return CUDA_SUCCESS;
}
CUresult cuStreamSynchronize(CUstream stream) {
  (void)stream;
  return CUDA_SUCCESS;
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  (void)stream, (void)event, (void)flags;
  return CUDA_SUCCESS;
}
CUresult cuEventCreate(CUevent* event, unsigned flags) {
  (void)flags;
  *event = (CUevent)&token;
  return CUDA_SUCCESS;
}
CUresult cuEventDestroy_v2(CUevent event) {
  (void)event;
  return CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  (void)event, (void)stream;
  return CUDA_SUCCESS;
}
CUresult cuEventQuery(CUevent event) {
  (void)event;
  return CUDA_SUCCESS;
}
CUresult cuEventSynchronize(CUevent event) {
  (void)event;
  return CUDA_SUCCESS;
}
#undef cuEventElapsedTime /* newer headers take it for its second version */
CUresult cuEventElapsedTime(float* ms, CUevent start, CUevent end);
CUresult cuEventElapsedTime(float* ms, CUevent start, CUevent end) {
  (void)start, (void)end;
  *ms = 1;
  return CUDA_SUCCESS;
}

/* Nothing can be captured: callers launch one by one then. */
CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  (void)stream, (void)mode;
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  (void)stream, (void)graph;
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  (void)stream;
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph, unsigned long long flags) {
  (void)exec, (void)graph, (void)flags;
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuGraphUpload(CUgraphExec exec, CUstream stream) {
  (void)exec, (void)stream;
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  (void)exec, (void)stream;
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  (void)graph, (void)nodes, (void)count;
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuGraphExecDestroy(CUgraphExec exec) {
  (void)exec;
  return CUDA_SUCCESS;
}
CUresult cuGraphDestroy(CUgraph graph) {
  (void)graph;
  return CUDA_SUCCESS;
}

CUresult cuMemGetInfo_v2(size_t* free_bytes, size_t* total) {
  *free_bytes = *total = (size_t)1 << 34;
  return CUDA_SUCCESS;
}
CUresult cuMemAlloc_v2(CUdeviceptr* pointer, size_t bytes) {
  *pointer = (CUdeviceptr)aligned_alloc(256, (bytes + 255) / 256 * 256);
  return *pointer != 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
CUresult cuMemFree_v2(CUdeviceptr pointer) {
  free((void*)pointer);
  return CUDA_SUCCESS;
}
CUresult cuMemHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  (void)flags;
  *pointer = calloc(1, bytes);
  return *pointer != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
CUresult cuMemFreeHost(void* pointer) {
  free(pointer);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  (void)stream;
  memcpy((void*)to, from, bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  (void)stream;
  memcpy(to, (const void*)from, bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  (void)stream;
  memmove((void*)to, (const void*)from, bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  (void)stream;
  memset((void*)to, value, count);
  return CUDA_SUCCESS;
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
  (void)stream;
  for (size_t i = 0; i < count; ++i) memcpy((char*)to + 4 * i, &value, 4);
  return CUDA_SUCCESS;
}

/* Notes the first bytes, as far as an image is sure to have them. */
CUresult cuModuleLoadData(CUmodule* module, const void* data) {
  ++loads;
  memcpy(image, data, 64);
  *module = (CUmodule)&token;
  return CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule module) {
  (void)module;
  return CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  (void)module, (void)name;
  *function = (CUfunction)&token;
  return CUDA_SUCCESS;
}
CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  (void)attribute, (void)function;
  *value = 0;
  return CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  (void)function, (void)attribute, (void)value;
  return CUDA_SUCCESS;
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads,
                                                     size_t shared) {
  (void)function, (void)threads, (void)shared;
  *blocks = 1;
  return CUDA_SUCCESS;
}
CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction function, const CUlaunchConfig* config) {
  (void)function, (void)config;
  *clusters = 8;
  return CUDA_SUCCESS;
}
CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared, CUstream stream, void** arguments, void** extra) {
  (void)function, (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz;
  (void)shared, (void)stream, (void)arguments, (void)extra;
  ++launches;
  return CUDA_SUCCESS;
}
CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                   unsigned by, unsigned bz, unsigned shared, CUstream stream,
                                   void** arguments) {
  return cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, stream, arguments, NULL);
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** arguments, void** extra) {
  (void)config, (void)function, (void)arguments, (void)extra;
  ++launches;
  return CUDA_SUCCESS;
}
