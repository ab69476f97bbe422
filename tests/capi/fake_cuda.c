#include "tests/capi/fake_cuda.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names, numbers and layouts are those of the CUDA driver API; types are as wide. */
enum {
  SUCCESS = 0,
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  INVALID_DEVICE = 101,
  INVALID_CONTEXT = 201,
  NOT_READY = 600,
  CAPTURE_UNSUPPORTED = 900,
  NOT_FOUND = 500
};
enum {
  MOST_ARGUMENTS = 11,
  MOST_RECORDED = 64,
  DEVICES = 2,
  UNIT = 8,
  MOST_BYTES = 1 << 26,
  MOST_COPIED = 1 << 22
};

typedef struct context {
  int device, references;
} context;
typedef struct work { /* a kernel, a copy or a fill */
  int kind;
  int64_t arguments[MOST_ARGUMENTS];
} work;
typedef struct graph {
  int count, other; /* that do something, and other kernels */
  work recorded[MOST_RECORDED];
} graph;
typedef struct stream {
  context* owner;
  graph* capturing;
  int mode; /* of the capture */
} stream;
typedef struct function {
  context* owner;
  int sums; /* 0: it does nothing */
} function;
typedef struct module {
  context* owner;
  function sum, other;
  char only[32]; /* the name of the one kernel it holds; "": any */
} module;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* of what all threads count */
static context primary[DEVICES] = {{0, 0}, {1, 0}};
static _Thread_local context* current;
static fake_counts done;
static int capability = 90;
static char last_image[64];
static int refusal;              /* of cubins */
static int unended;              /* streams have work left */
static _Atomic(void*) last_host; /* memory */
static size_t lost_bytes;

/* The counter as it is then. */
static int counted(int* counter, int more) {
  pthread_mutex_lock(&mutex);
  const int now = *counter += more;
  pthread_mutex_unlock(&mutex);
  return now;
}

static fake_counts counts(void) {
  pthread_mutex_lock(&mutex);
  const fake_counts now = done;
  pthread_mutex_unlock(&mutex);
  return now;
}

/* ---- Devices and contexts ---- */

int cuInit(unsigned flags) {
  const char* asked = getenv("RONDO_FAKE_CAPABILITY");
  if (asked != NULL) capability = atoi(asked);
  return flags == 0 ? SUCCESS : INVALID_VALUE;
}
int cuDriverGetVersion(int* version) { return *version = 13000, SUCCESS; }
int cuGetErrorName(int code, const char** name) {
  return *name = code == INVALID_CONTEXT ? "INVALID_CONTEXT" : "ERROR", SUCCESS;
}
int cuGetErrorString(int code, const char** text) {
  return *text = code == SUCCESS ? "" : "of the stand-in", SUCCESS;
}
int cuDeviceGetCount(int* count) { return *count = DEVICES, SUCCESS; }
int cuDeviceGet(int* device, int ordinal) {
  if (ordinal < 0 || ordinal >= DEVICES) return INVALID_DEVICE;
  return *device = ordinal, SUCCESS;
}
int cuDeviceGetName(char* name, int length, int device) {
  (void)device;
  strncpy(name, "NVIDIA H100 80GB HBM3", (size_t)length);
  return SUCCESS;
}
int cuDeviceGetUuid_v2(void* uuid, int device) { return memset(uuid, device + 1, 16), SUCCESS; }
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  (void)device;
  /* CUdevice_attribute, and what an H100 says. */
  static const int known[][2] = {{1, 1024},    {8, 49152},    {12, 65536}, {13, 1980000},
                                 {16, 132},    {36, 2619000}, {37, 5120},  {38, 52428800},
                                 {39, 2048},   {81, 233472},  {82, 65536}, {95, 1},
                                 {97, 232448}, {106, 32},     {111, 1024}, {120, 1}};
  if (attribute == 75) return *value = capability / 10, SUCCESS;
  if (attribute == 76) return *value = capability % 10, SUCCESS;
  const char* l2 = getenv("RONDO_FAKE_L2");
  if (attribute == 38 && l2 != NULL) return *value = atoi(l2), SUCCESS;
  for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i)
    if (known[i][0] == attribute) return *value = known[i][1], SUCCESS;
  return INVALID_VALUE;
}
int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  return (void)device, *bytes = (size_t)80 << 30, SUCCESS;
}
int cuDevicePrimaryCtxRetain(context** made, int device) {
  counted(&done.contexts_retained, 1);
  counted(&primary[device].references, 1);
  return *made = &primary[device], SUCCESS;
}
int cuDevicePrimaryCtxRelease_v2(int device) {
  counted(&done.contexts_released, 1);
  return counted(&primary[device].references, -1) >= 0 ? SUCCESS : INVALID_CONTEXT;
}
int cuCtxSetCurrent(context* of) { return current = of, SUCCESS; }
int cuCtxGetCurrent(context** of) { return *of = current, SUCCESS; }
int cuCtxGetDevice(int* device) {
  if (current == NULL) return INVALID_CONTEXT;
  return *device = current->device, SUCCESS;
}
int cuCtxSynchronize(void) { return counted(&done.waits, 1), SUCCESS; }

/* ---- Memory ---- */

static int submit(stream* on, const work* what);

/* With RONDO_FAKE_LEAK=host or =device each launch loses some memory there. */
static void leak(void) {
  enum { LOST = 1 << 14 };
  const char* where = getenv("RONDO_FAKE_LEAK");
  if (where != NULL && strcmp(where, "host") == 0) {
    static void* last; /* found by no sanitizer: it is on purpose */
    void** lost = malloc(LOST);
    memset(lost, 1, LOST);
    *lost = last;
    last = lost;
  }
  if (where != NULL && strcmp(where, "device") == 0) lost_bytes += LOST;
}

int cuMemGetInfo_v2(size_t* left, size_t* all) {
  *all = (size_t)80 << 30;
  return *left = *all - lost_bytes, SUCCESS;
}
int cuMemAlloc_v2(uint64_t* at, size_t bytes) {
  counted(&done.allocations, 1);
  if (bytes > MOST_BYTES) return OUT_OF_MEMORY;
  return *at = (uint64_t)(uintptr_t)aligned_alloc(256, (bytes + 255) / 256 * 256), SUCCESS;
}
int cuMemFree_v2(uint64_t at) { return free((void*)(uintptr_t)at), SUCCESS; }
int cuMemHostAlloc(void** at, size_t bytes, unsigned flags) {
  counted(&done.allocations, 1);
  (void)flags;
  last_host = *at = malloc(bytes);
  return SUCCESS;
}
int cuMemFreeHost(void* at) { return free(at), SUCCESS; }
int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, stream* on) {
  return (void)on, memcpy((void*)(uintptr_t)to, from, bytes), SUCCESS;
}
int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, stream* on) {
  return (void)on, memcpy(to, (void*)(uintptr_t)from, bytes), SUCCESS;
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, stream* on) {
  counted(&done.copies, 1);
  const work copy = {1, {(int64_t)to, (int64_t)from, (int64_t)bytes}};
  return submit(on, &copy);
}
int cuMemsetD8Async(uint64_t to, unsigned char value, size_t count, stream* on) {
  return (void)on, memset((void*)(uintptr_t)to, value, count), SUCCESS;
}
int cuMemsetD8_v2(uint64_t to, unsigned char value, size_t count) {
  return cuMemsetD8Async(to, value, count, NULL);
}
int cuMemsetD32Async(uint64_t to, unsigned value, size_t count, stream* on) {
  counted(&done.fills, 1);
  const work fill = {2, {(int64_t)to, (int64_t)value, (int64_t)count}};
  return submit(on, &fill);
}

/* ---- Kernels ---- */

int cuModuleLoadData(module** made, const void* image) {
  if (current == NULL) return INVALID_CONTEXT;
  if (refusal != 0 && memcmp(image, "\177ELF", 4) == 0) return refusal;
  pthread_mutex_lock(&mutex);
  memcpy(last_image, image, sizeof last_image);
  pthread_mutex_unlock(&mutex);
  counted(&done.modules_loaded, 1);
  *made = malloc(sizeof **made);
  **made = (module){current, {current, 1}, {current, 0}, ""};
  const char* const holds = "\177ELF holds ";
  if (memcmp(image, holds, strlen(holds)) == 0)
    (void)sscanf((const char*)image + strlen(holds), "%31s", (*made)->only);
  return SUCCESS;
}
int cuModuleLoadDataEx(module** made, const void* image, unsigned count, int* options, void** values) {
  return (void)count, (void)options, (void)values, cuModuleLoadData(made, image);
}
int cuModuleUnload(module* of) {
  if (of->owner != current) return INVALID_CONTEXT;
  counted(&done.modules_unloaded, 1);
  free(of);
  return SUCCESS;
}
int cuModuleGetFunction(function** made, module* of, const char* name) {
  if (of->only[0] != '\0' && strcmp(name, of->only) != 0) return NOT_FOUND;
  return *made = strcmp(name, "sum") == 0 ? &of->sum : &of->other, SUCCESS;
}
int cuFuncGetAttribute(int* value, int attribute, function* of) {
  return (void)attribute, (void)of, *value = 32, SUCCESS;
}
int cuFuncSetAttribute(function* of, int attribute, int value) {
  return (void)of, (void)attribute, (void)value, SUCCESS;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, function* of, int threads, size_t shared) {
  return (void)of, (void)threads, (void)shared, *blocks = 2, SUCCESS;
}

static void sum(const int64_t* a) {
  const float *x = (float*)(uintptr_t)a[0], *scale = (float*)(uintptr_t)a[3],
              *first = (float*)(uintptr_t)a[4];
  float *out = (float*)(uintptr_t)a[5], *last = (float*)(uintptr_t)a[8];
  for (int64_t b = 0; b < a[9]; ++b)
    for (int64_t i = 0; i < UNIT; ++i) {
      float h = first[b * UNIT + i];
      for (int64_t t = 0; t < a[10]; ++t) {
        h += scale[i] * x[b * a[1] + t * a[2] + i];
        out[b * a[6] + t * a[7] + i] = h;
      }
      last[b * UNIT + i] = h;
    }
}

static void perform(const work* what) {
  void* const to = (void*)(uintptr_t)what->arguments[0];
  if (what->kind == 0) sum(what->arguments);
  /* A larger copy is one that a bandwidth is measured by: nothing looks at what it made. */
  if (what->kind == 1 && what->arguments[2] <= MOST_COPIED)
    memcpy(to, (void*)(uintptr_t)what->arguments[1], (size_t)what->arguments[2]);
  if (what->kind == 2) memset(to, (int)what->arguments[1], (size_t)what->arguments[2] * 4);
}

static int submit(stream* on, const work* what) {
  if (current == NULL || (on != NULL && on->owner != current)) return INVALID_CONTEXT;
  if (on == NULL || on->capturing == NULL) return perform(what), SUCCESS;
  if (on->capturing->count == MOST_RECORDED) return INVALID_VALUE;
  return on->capturing->recorded[on->capturing->count++] = *what, SUCCESS;
}

int cuLaunchKernel(function* of, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, stream* on, void** arguments, void** extra) {
  (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)extra;
  if (of->owner != current) return INVALID_CONTEXT;
  counted(&done.launches, 1);
  leak();
  if (of->sums == 0) {
    if (on != NULL && on->capturing != NULL) ++on->capturing->other;
    return SUCCESS;
  }
  work launch = {0, {0}};
  for (int i = 0; i < MOST_ARGUMENTS; ++i) memcpy(&launch.arguments[i], arguments[i], sizeof(int64_t));
  return submit(on, &launch);
}
int cuLaunchCooperativeKernel(function* of, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                              unsigned bz, unsigned shared, stream* on, void** arguments) {
  return cuLaunchKernel(of, gx, gy, gz, bx, by, bz, shared, on, arguments, NULL);
}
int cuLaunchKernelEx(const void* config, function* of, void** arguments, void** extra) {
  (void)config, (void)arguments, (void)extra;
  if (of->owner != current) return INVALID_CONTEXT;
  counted(&done.launches, 1);
  leak();
  return SUCCESS;
}
int cuOccupancyMaxActiveClusters(int* clusters, function* of, const void* config) {
  return (void)of, (void)config, *clusters = 16, SUCCESS;
}

/* ---- Streams, events and graphs ---- */

enum { GLOBAL, THREAD_LOCAL, RELAXED };
static int global_captures;
static _Thread_local int thread_mode = GLOBAL;

int cuThreadExchangeStreamCaptureMode(int* mode) {
  const int before = thread_mode;
  return thread_mode = *mode, *mode = before, SUCCESS;
}
static int spoils_a_capture(void) { return counted(&global_captures, 0) > 0 && thread_mode != RELAXED; }

int cuStreamCreate(stream** made, unsigned flags) {
  (void)flags;
  if (current == NULL) return INVALID_CONTEXT;
  *made = calloc(1, sizeof **made);
  (*made)->owner = current;
  return SUCCESS;
}
int cuStreamDestroy_v2(stream* of) { return free(of), SUCCESS; }
int cuStreamSynchronize(stream* of) {
  if (spoils_a_capture()) return CAPTURE_UNSUPPORTED;
  return (void)of, counted(&done.waits, 1), SUCCESS;
}
int cuStreamQuery(stream* of) {
  if (spoils_a_capture() || (of != NULL && of->capturing != NULL)) return CAPTURE_UNSUPPORTED;
  return unended ? NOT_READY : SUCCESS;
}
int cuStreamWaitEvent(stream* of, void* event, unsigned flags) {
  return (void)of, (void)event, (void)flags, SUCCESS;
}
/* Measuring holds a stream by a function that waits: it runs on a thread of its own, as with the driver. */
struct host_call {
  void (*call)(void*);
  void* with;
};
static void* run_host_call(void* of) {
  const struct host_call call = *(struct host_call*)of;
  free(of);
  call.call(call.with);
  return NULL;
}
int cuLaunchHostFunc(stream* of, void (*call)(void*), void* with) {
  (void)of;
  struct host_call* const made = malloc(sizeof *made);
  *made = (struct host_call){call, with};
  pthread_t thread;
  if (pthread_create(&thread, NULL, run_host_call, made) != 0) return free(made), INVALID_CONTEXT;
  return pthread_detach(thread), SUCCESS;
}
int cuEventCreate(void** made, unsigned flags) { return (void)flags, *made = malloc(1), SUCCESS; }
int cuEventDestroy_v2(void* of) { return free(of), SUCCESS; }
int cuEventRecord(void* of, stream* on) { return (void)of, (void)on, SUCCESS; }
int cuEventQuery(void* of) { return (void)of, spoils_a_capture() ? CAPTURE_UNSUPPORTED : SUCCESS; }
int cuEventSynchronize(void* of) { return (void)of, counted(&done.waits, 1), SUCCESS; }
int cuEventElapsedTime(float* ms, void* from, void* to) { return (void)from, (void)to, *ms = 1, SUCCESS; }
int cuStreamBeginCapture_v2(stream* of, int mode) {
  of->mode = mode;
  if (mode == GLOBAL) counted(&global_captures, 1);
  return of->capturing = calloc(1, sizeof(graph)), SUCCESS;
}
int cuStreamEndCapture(stream* of, graph** made) {
  if (of->mode == GLOBAL) counted(&global_captures, -1);
  return *made = of->capturing, of->capturing = NULL, SUCCESS;
}
int cuStreamIsCapturing(stream* of, int* capturing) {
  return *capturing = of != NULL && of->capturing != NULL, SUCCESS;
}
int cuGraphInstantiateWithFlags(graph** made, graph* of, unsigned long long flags) {
  (void)flags;
  if (spoils_a_capture()) return CAPTURE_UNSUPPORTED;
  *made = malloc(sizeof **made);
  return memcpy(*made, of, sizeof **made), SUCCESS;
}
int cuGraphUpload(graph* of, stream* on) { return (void)of, (void)on, SUCCESS; }
int cuGraphLaunch(graph* of, stream* on) {
  (void)on;
  counted(&done.graphs, 1);
  counted(&done.replayed, of->count + of->other);
  for (int i = 0; i < of->count; ++i) perform(&of->recorded[i]);
  return SUCCESS;
}
int cuGraphGetNodes(graph* of, void* nodes, size_t* count) {
  return (void)nodes, *count = (size_t)(of->count + of->other), SUCCESS;
}
int cuGraphExecDestroy(graph* of) { return free(of), SUCCESS; }
int cuGraphDestroy(graph* of) { return free(of), SUCCESS; }

/* ---- For the test ---- */

static void* current_context(void) { return current; }
static int set_current(void* of) { return cuCtxSetCurrent(of); }
static void* context_of(int device) { return &primary[device]; }
static void* new_stream(void) {
  stream* made = NULL;
  return cuStreamCreate(&made, 0) == SUCCESS ? made : NULL;
}
static int begin_capture(void* on, int mode) { return cuStreamBeginCapture_v2(on, mode); }
static int end_capture(void* on, void** made) { return cuStreamEndCapture(on, (graph**)made); }
static int launch_graph(void* of, void* on) { return cuGraphLaunch(of, on); }
static void set_capability(int value) { capability = value; }
static const char* image_of(void) { return last_image; }
static void refuse_cubins(int code) { refusal = code; }
static int* host_word(void) { return last_host; }
static void leave_streams_unended(int value) { unended = value; }

fake_cuda* fake_cuda_functions(void) {
  static fake_cuda functions = {
      counts,        current_context, set_current,          context_of,     new_stream,
      begin_capture, end_capture,     launch_graph,         set_capability, image_of,
      refuse_cubins, host_word,       leave_streams_unended};
  return &functions;
}
