/* A launch captured in a CUDA graph and replayed. It needs a GPU; without one it says so and ends with
 * status 77. The driver is opened at run time, so that the program links without it; a program of yours may
 * link libcuda. */
#include <cuda.h>
#include <dlfcn.h>
#include <rondo/rondo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 8, TIME = 512, DIM = 1536, MOST = 16, REPLAYS = 3 };

static void ok(rondo_status status) {
  if (status == RONDO_OK) return;
  fprintf(stderr, "%s: %s (%s)\n", rondo_status_name(status), rondo_message(), rondo_hint());
  exit(status == RONDO_ERROR_MISSING ? 77 : 1);
}

static void* symbol(const char* name) {
  static void* library;
  const char* path = getenv("RONDO_LIBCUDA"); /* as the library itself reads it */
  if (library == NULL) library = dlopen(path != NULL ? path : "libcuda.so.1", RTLD_NOW);
  void* found = library == NULL ? NULL : dlsym(library, name);
  if (found == NULL) {
    fprintf(stderr, "there is no %s: this example needs the CUDA driver\n", name);
    exit(77);
  }
  return found;
}

#define CU(name, ...)                                                \
  do {                                                               \
    __typeof__(&name) call = NULL;                                   \
    *(void**)&call = symbol(#name); /* as POSIX has it of dlsym() */ \
    const CUresult code = call(__VA_ARGS__);                         \
    if (code != CUDA_SUCCESS) {                                      \
      fprintf(stderr, #name " failed: CUDA error %d\n", (int)code);  \
      exit(1);                                                       \
    }                                                                \
  } while (0)

int main(void) {
  rondo_context_options device = {.struct_size = sizeof device, .device = RONDO_DEVICE_CUDA, .ordinal = 0};
  rondo_context* context = NULL;
  ok(rondo_context_create(&device, &context));
  CUcontext primary = NULL;
  CU(cuDevicePrimaryCtxRetain, &primary, (CUdevice)0);
  CU(cuCtxSetCurrent, primary);
  rondo_cell_options what = {.struct_size = sizeof what, .path = "mingru"};
  rondo_cell* cell = NULL;
  ok(rondo_cell_create(&what, &cell, NULL));
  rondo_problem problem = {
      .struct_size = sizeof problem, .batch = BATCH, .time = TIME, .heads = 1, .dim = DIM};
  problem.type = RONDO_TYPE_BF16;
  rondo_plan* plan = NULL;
  ok(rondo_plan_create(context, cell, &problem, NULL, &plan));

  rondo_plan_info info = {.struct_size = sizeof info};
  ok(rondo_plan_get_info(plan, &info));
  rondo_tensor tensors[MOST];
  memset(tensors, 0, sizeof tensors);
  for (int i = 0; i < info.tensors; ++i) {
    rondo_tensor_info tensor = {.struct_size = sizeof tensor};
    ok(rondo_plan_get_tensor(plan, i, &tensor));
    tensors[i].index = i;
    tensors[i].type = tensor.type;
    ok(rondo_plan_tensor_bytes(plan, i, BATCH, TIME, &tensors[i].bytes));
    CUdeviceptr memory = 0;
    CU(cuMemAlloc_v2, &memory, (size_t)tensors[i].bytes);
    CU(cuMemsetD8_v2, memory, (unsigned char)0x3C, (size_t)tensors[i].bytes);
    tensors[i].data = (void*)(uintptr_t)memory;
  }
  rondo_launch_args args = {.struct_size = sizeof args, .tensor_size = sizeof tensors[0], .tensors = tensors};
  args.tensor_count = (size_t)info.tensors;
  args.batch = BATCH;
  args.time = TIME;
  ok(rondo_plan_workspace_bytes(plan, BATCH, TIME, &args.workspace_bytes));
  CUdeviceptr workspace = 0;
  CU(cuMemAlloc_v2, &workspace, (size_t)args.workspace_bytes + 256);
  args.workspace = (void*)(uintptr_t)workspace;

  CUstream stream = NULL;
  CU(cuStreamCreate, &stream, (unsigned)CU_STREAM_NON_BLOCKING);
  args.stream = stream;
  CU(cuStreamSynchronize, (CUstream)NULL); /* the stream does not wait for what fills the tensors */
  CU(cuStreamBeginCapture_v2, stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
  ok(rondo_launch(plan, &args)); /* recorded, not run */
  CUgraph graph = NULL;
  CU(cuStreamEndCapture, stream, &graph);
  CUgraphExec replay = NULL;
  CU(cuGraphInstantiateWithFlags, &replay, graph, (unsigned long long)0);
  for (int i = 0; i < REPLAYS; ++i) CU(cuGraphLaunch, replay, stream);
  CU(cuStreamSynchronize, stream);
  ok(rondo_plan_check(plan));
  printf("%s %s on a GPU, captured and replayed %d times\n", info.strategy, info.parameters, REPLAYS);
  ok(rondo_plan_destroy(plan));
  ok(rondo_cell_destroy(cell));
  ok(rondo_context_destroy(context));
  return 0;
}
