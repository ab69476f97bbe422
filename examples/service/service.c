/* A service that runs an LSTM from a package inside the program: no compiler, no files, no C++ runtime.
 *
 *   rondo package build lstm --dtype fp32 --pass fw --shape B=1,T=1,D=128 --shape B=16,T=256,D=128 \
 *       --embed lstm_kernels.c
 *   cc -O2 service.c lstm_kernels.c -lrondo_rt -ldl -lm -o service      (or librondo_rt.a -ldl -lpthread -lm)
 *
 * It reads requests from standard input, a line each, and answers each with a line:
 *
 *   sequence B T SEED   the whole sequence in one call
 *   steps B T SEED      the same, step by step, the state updated in place
 *   check B T SEED      both, and how far their outputs are apart
 *   load SECONDS SEED   sequences and steps of random sizes for so long; latencies, and memory five times
 *   quit
 *
 * With `--minutes N` it reads none: it serves requests of random sizes for so long, says what `load` says,
 * and ends with status 1 if its memory has grown, on the host or on the GPU, or if a request failed.
 *
 * Inputs are made from the seed. B is at most 64 and T at most 512: each of the two plans runs any of them,
 * and was chosen for the sizes that the package was built for. Without the CUDA driver or a GPU it ends with
 * status 77. */
#define _GNU_SOURCE /* clock_gettime, strdup */
#include <dlfcn.h>
#include <math.h>
#include <rondo/package.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

extern const void* const lstm_kernels_data;
extern const size_t lstm_kernels_size;

enum { MOST_BATCH = 64, MOST_TIME = 512, MOST_TENSORS = 16, MOST_LATENCIES = 1 << 20 };

/* ---- The driver, opened when the program runs ---- */

typedef unsigned long long device_memory;

static void* symbol(const char* name) {
  static void* library;
  const char* path = getenv("RONDO_LIBCUDA");
  if (library == NULL) library = dlopen(path != NULL ? path : "libcuda.so.1", RTLD_NOW);
  void* found = library == NULL ? NULL : dlsym(library, name);
  if (found == NULL) {
    fprintf(stderr, "there is no %s: this example needs the CUDA driver\n", name);
    exit(77);
  }
  return found;
}

/* What is called of it, as cuda.h declares it. */
typedef int cuCtxSetCurrent_type(void* context);
typedef int cuDevicePrimaryCtxRetain_type(void** context, int device);
typedef int cuMemAlloc_v2_type(device_memory* memory, size_t bytes);
typedef int cuMemGetInfo_v2_type(size_t* free_bytes, size_t* all);
typedef int cuMemcpyDtoHAsync_v2_type(void* to, device_memory from, size_t bytes, void* stream);
typedef int cuMemcpyHtoDAsync_v2_type(device_memory to, const void* from, size_t bytes, void* stream);
typedef int cuMemsetD32Async_type(device_memory to, unsigned word, size_t count, void* stream);
typedef int cuStreamCreate_type(void** stream, unsigned flags);
typedef int cuStreamSynchronize_type(void* stream);

#define CU(name, ...)                                                                \
  do {                                                                               \
    name##_type* call = NULL;                                                        \
    *(void**)&call = symbol(#name); /* as POSIX has it of dlsym() */                 \
    const int code = call(__VA_ARGS__);                                              \
    if (code != 0) fprintf(stderr, #name " failed: CUDA error %d\n", code), exit(1); \
  } while (0)

/* ---- Plans and their memory ---- */

typedef struct {
  rondo_plan* plan;
  rondo_plan_info info;
  rondo_tensor_info tensors[MOST_TENSORS];
  int32_t place[MOST_TENSORS]; /* of each tensor's memory in service.data */
} lstm;

typedef struct {
  lstm sequence, step;
  device_memory data[MOST_TENSORS]; /* by tensor of `sequence`; the steps use the same */
  device_memory workspace;
  int64_t workspace_bytes;
  void* stream;
  float* host; /* for the largest tensor */
  float* other;
} service;

static void ok(rondo_status status) {
  if (status == RONDO_OK) return;
  fprintf(stderr, "%s: %s (%s)\n", rondo_status_name(status), rondo_message(), rondo_hint());
  exit(status == RONDO_ERROR_MISSING ? 77 : 1);
}

static lstm open_lstm(const rondo_package* package, const rondo_context* context, int64_t batch,
                      int64_t time) {
  lstm result;
  memset(&result, 0, sizeof result);
  rondo_package_query query = {.struct_size = sizeof query, .cell = "lstm", .pass = "fw", .type = "fp32"};
  query.batch = batch;
  query.time = time;
  ok(rondo_package_plan(package, context, &query, &result.plan));
  result.info.struct_size = sizeof result.info;
  ok(rondo_plan_get_info(result.plan, &result.info));
  fprintf(stderr, "for B=%d T=%d: %s\n", (int)batch, (int)time, result.info.note);
  if (result.info.tensors > MOST_TENSORS) exit(1);
  for (int i = 0; i < result.info.tensors; ++i) {
    result.tensors[i].struct_size = sizeof result.tensors[i];
    ok(rondo_plan_get_tensor(result.plan, i, &result.tensors[i]));
  }
  return result;
}

static float random_number(uint64_t* state) { /* uniform in [-1, 1) */
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (float)(*state >> 40) / (float)(1 << 23) - 1;
}

static void fill(service* s, int tensor, int64_t count, float scale, uint64_t seed) {
  for (int64_t i = 0; i < count; ++i) s->host[i] = scale * random_number(&seed);
  CU(cuMemcpyHtoDAsync_v2, s->data[tensor], (void*)s->host, (size_t)count * sizeof(float), s->stream);
  CU(cuStreamSynchronize, s->stream);
}

/* All memory that requests will need, once: they allocate none. */
static void allocate(service* s) {
  int64_t most = 0;
  const lstm* l = &s->sequence;
  for (int i = 0; i < l->info.tensors; ++i) {
    int64_t bytes = 0;
    ok(rondo_plan_tensor_bytes(l->plan, i, MOST_BATCH, MOST_TIME, &bytes));
    CU(cuMemAlloc_v2, &s->data[i], (size_t)bytes);
    if (bytes > most) most = bytes;
  }
  int64_t step_bytes = 0;
  ok(rondo_plan_workspace_bytes(l->plan, MOST_BATCH, MOST_TIME, &s->workspace_bytes));
  ok(rondo_plan_step_workspace_bytes(s->step.plan, MOST_BATCH, &step_bytes));
  if (step_bytes > s->workspace_bytes) s->workspace_bytes = step_bytes;
  CU(cuMemAlloc_v2, &s->workspace, (size_t)s->workspace_bytes + 256);
  s->host = malloc((size_t)most);
  s->other = malloc((size_t)most);
  if (s->host == NULL || s->other == NULL) exit(1);
  for (int i = 0; i < l->info.tensors; ++i)
    if (l->tensors[i].role == RONDO_ROLE_PARAM) {
      int64_t bytes = 0;
      ok(rondo_plan_tensor_bytes(l->plan, i, 1, 1, &bytes));
      fill(s, i, bytes / (int64_t)sizeof(float), 1 / sqrtf((float)l->info.dim), (uint64_t)i);
    }
}

/* ---- Requests ---- */

typedef struct {
  int64_t batch, time;
  uint64_t seed;
} request;

static int64_t elements(const lstm* l, int tensor, int64_t batch, int64_t time) {
  int64_t bytes = 0;
  ok(rondo_plan_tensor_bytes(l->plan, tensor, batch, time, &bytes));
  return bytes / (int64_t)sizeof(float);
}

static void set_inputs(service* s, const request* r) {
  const lstm* l = &s->sequence;
  for (int i = 0; i < l->info.tensors; ++i) {
    const int64_t count = elements(l, i, r->batch, r->time);
    if (l->tensors[i].role == RONDO_ROLE_INPUT) fill(s, i, count, 1, r->seed);
    if (l->tensors[i].role == RONDO_ROLE_INITIAL_STATE)
      CU(cuMemsetD32Async, s->data[i], 0u, (size_t)count, s->stream);
  }
}

static rondo_launch_args args_of(const service* s, const request* r, const rondo_tensor* tensors, int count) {
  rondo_launch_args args = {.struct_size = sizeof args, .tensor_size = sizeof *tensors, .tensors = tensors};
  args.tensor_count = (size_t)count;
  args.workspace = (void*)(uintptr_t)s->workspace;
  args.workspace_bytes = s->workspace_bytes;
  args.batch = r->batch;
  args.time = r->time;
  args.stream = s->stream;
  return args;
}

static void run_sequence(const service* s, const request* r) {
  rondo_tensor tensors[MOST_TENSORS];
  memset(tensors, 0, sizeof tensors);
  const int count = s->sequence.info.tensors;
  for (int i = 0; i < count; ++i) {
    tensors[i].index = i;
    tensors[i].type = RONDO_TYPE_F32;
    tensors[i].data = (void*)(uintptr_t)s->data[i];
    tensors[i].bytes = elements(&s->sequence, i, r->batch, r->time) * (int64_t)sizeof(float);
  }
  const rondo_launch_args args = args_of(s, r, tensors, count);
  ok(rondo_launch(s->sequence.plan, &args));
}

/* Step t reads row t of x where it lies in [B, T, ...], and writes row t of the output: the strides say so.
 */
static void run_steps(const service* s, const request* r) {
  for (int64_t t = 0; t < r->time; ++t) {
    rondo_tensor tensors[MOST_TENSORS];
    memset(tensors, 0, sizeof tensors);
    int count = 0;
    for (int i = 0; i < s->step.info.tensors; ++i) {
      const rondo_tensor_info* info = &s->step.tensors[i];
      if (info->role == RONDO_ROLE_LAST_STATE) continue; /* in place of the initial one */
      rondo_tensor* tensor = &tensors[count++];
      const int64_t unit = elements(&s->step, i, 1, 1);
      tensor->index = i;
      tensor->type = RONDO_TYPE_F32;
      tensor->data = (void*)(uintptr_t)(s->data[s->step.place[i]] +
                                        (info->strided ? (size_t)(t * unit) * sizeof(float) : 0));
      tensor->bytes = RONDO_BYTES_UNKNOWN;
      if (!info->strided) continue;
      tensor->rank = info->rank;
      memcpy(tensor->extents, info->extents, sizeof tensor->extents);
      tensor->extents[0] = r->batch;
      tensor->extents[1] = 1;
      int64_t inner = 1;
      for (int axis = info->rank - 1; axis >= 2; --axis) {
        tensor->strides[axis] = inner;
        inner *= info->extents[axis];
      }
      tensor->strides[1] = unit;
      tensor->strides[0] = unit * r->time;
    }
    request one = *r;
    one.time = 1;
    const rondo_launch_args args = args_of(s, &one, tensors, count);
    ok(rondo_step(s->step.plan, &args));
  }
}

/* The output of the last request, in `into`; how many elements. */
static int64_t read_output(const service* s, const request* r, float* into) {
  for (int i = 0; i < s->sequence.info.tensors; ++i)
    if (s->sequence.tensors[i].role == RONDO_ROLE_OUTPUT) {
      const int64_t count = elements(&s->sequence, i, r->batch, r->time);
      CU(cuMemcpyDtoHAsync_v2, (void*)into, s->data[i], (size_t)count * sizeof(float), s->stream);
      CU(cuStreamSynchronize, s->stream);
      return count;
    }
  return 0;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Milliseconds from the inputs on the GPU to the outputs there. */
static double serve(service* s, const char* what, const request* r) {
  set_inputs(s, r);
  CU(cuStreamSynchronize, s->stream);
  const double begin = now();
  if (strcmp(what, "steps") == 0)
    run_steps(s, r);
  else
    run_sequence(s, r);
  CU(cuStreamSynchronize, s->stream);
  const double took = now() - begin;
  ok(rondo_plan_check(s->sequence.plan));
  ok(rondo_plan_check(s->step.plan));
  return took * 1e3;
}

static void answer(service* s, const char* what, const request* r) {
  const double ms = serve(s, what, r);
  const int64_t count = read_output(s, r, s->host);
  double sum = 0, apart = 0;
  for (int64_t i = 0; i < count; ++i) sum += s->host[i];
  if (strcmp(what, "check") == 0) {
    memcpy(s->other, s->host, (size_t)count * sizeof(float));
    serve(s, "steps", r);
    read_output(s, r, s->host);
    for (int64_t i = 0; i < count; ++i) apart = fmax(apart, fabs((double)s->host[i] - s->other[i]));
    printf("ok check B=%d T=%d: at most %.3g apart\n", (int)r->batch, (int)r->time, apart);
  } else {
    printf("ok %s B=%d T=%d: sum %.6g, %.3f ms\n", what, (int)r->batch, (int)r->time, sum, ms);
  }
  fflush(stdout);
}

/* ---- Load ---- */

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return x < y ? -1 : x > y;
}

static long resident_kb(void) {
  long pages = 0, resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file != NULL) {
    if (fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
    fclose(file);
  }
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static size_t free_device_bytes(void) {
  size_t free_bytes = 0, all = 0;
  CU(cuMemGetInfo_v2, &free_bytes, &all);
  return free_bytes;
}

/* Memory at the ends of the quarters of a run. */
enum { QUARTERS = 4 };
typedef struct {
  long host_kb[QUARTERS + 1];
  size_t device[QUARTERS + 1]; /* free bytes */
} looks;

static void look(looks* l, int quarter) {
  l->host_kb[quarter] = resident_kb();
  l->device[quarter] = free_device_bytes();
}

/* What the host's allocator and the driver may keep, however long they run. The driver takes the GPU's memory
 * in pieces of 2 MB, and may take one more at any time, so one quarter may lose some; a leak shows in two or
 * more. Free memory is the whole GPU's: nothing else is to run there. */
enum { MOST_GROWTH_KB = 2048, MOST_DRIVER_BYTES = 16 << 20, WARM_UP = 16 };

static int has_grown(const looks* l) {
  int fallen = 0;
  for (int i = 0; i < QUARTERS; ++i) fallen += l->device[i + 1] < l->device[i];
  return fallen > 1 || l->device[QUARTERS] + MOST_DRIVER_BYTES < l->device[0] ||
         l->host_kb[QUARTERS] > l->host_kb[0] + MOST_GROWTH_KB;
}

static void print_looks(const looks* l) {
  printf("host memory");
  for (int i = 0; i <= QUARTERS; ++i) printf(" %ld", l->host_kb[i]);
  printf(" KB, free device memory");
  for (int i = 0; i <= QUARTERS; ++i) printf(" %zu", l->device[i]);
  printf(" bytes%s\n", has_grown(l) ? ": GROWN" : "");
}

static request random_request(uint64_t* state, uint64_t seed, const char** what) {
  const float kind = random_number(state);
  request r = {1, 1, seed};
  r.batch = 1 + (int64_t)((random_number(state) + 1) / 2 * (MOST_BATCH - 1));
  r.time = 1 + (int64_t)((random_number(state) + 1) / 2 * ((kind > 0 ? MOST_TIME : 32) - 1));
  *what = kind > 0 ? "sequence" : "steps";
  return r;
}

/* Whether memory stayed as it was. What the first requests make is there before the first look. */
static int load(service* s, double seconds, uint64_t seed) {
  double* latencies = malloc(MOST_LATENCIES * sizeof *latencies);
  if (latencies == NULL) exit(1);
  /* Not zeros: a compiler may make those of calloc, whose pages are there only once they are written. */
  memset(latencies, 1, MOST_LATENCIES * sizeof *latencies);
  for (int i = 0; i < WARM_UP; ++i) { /* the largest first, so that all memory has been touched */
    const request r = {i < 2 ? MOST_BATCH : 1 + i, i < 2 ? MOST_TIME : 8, (uint64_t)i};
    serve(s, i % 2 == 0 ? "sequence" : "steps", &r);
  }
  looks memory;
  look(&memory, 0);
  const double begin = now();
  size_t count = 0;
  uint64_t state = seed;
  for (int quarter = 1; quarter <= QUARTERS; ++quarter) {
    for (; now() < begin + seconds * quarter / QUARTERS; ++count) {
      const char* what = NULL;
      const request r = random_request(&state, count, &what);
      latencies[count % MOST_LATENCIES] = serve(s, what, &r);
    }
    look(&memory, quarter);
  }
  const size_t kept = count < MOST_LATENCIES ? count : MOST_LATENCIES;
  qsort(latencies, kept, sizeof *latencies, by_value);
  const int grown = has_grown(&memory);
  printf("%s load %zu requests in %.0f s: p50 %.3f ms, p99 %.3f ms, ", grown ? "error:" : "ok", count,
         seconds, kept > 0 ? latencies[kept / 2] : 0, kept > 0 ? latencies[kept * 99 / 100] : 0);
  print_looks(&memory);
  fflush(stdout);
  free(latencies);
  return !grown;
}

/* Whether the service goes on. */
static int handle(service* s, const char* line) {
  char what[16] = "";
  long long batch = 0, time = 0;
  unsigned long long seed = 0;
  if (sscanf(line, "load %lld %llu", &time, &seed) == 2 && time > 0) {
    (void)load(s, (double)time, seed);
    return 1;
  }
  const int fields = sscanf(line, "%15s %lld %lld %llu", what, &batch, &time, &seed);
  if (strcmp(what, "quit") == 0) return 0;
  const int known = strcmp(what, "sequence") == 0 || strcmp(what, "steps") == 0 || strcmp(what, "check") == 0;
  if (fields != 4 || !known || batch < 1 || batch > MOST_BATCH || time < 1 || time > MOST_TIME) {
    printf("error: 'sequence|steps|check B T SEED' with B up to %d and T up to %d\n", MOST_BATCH, MOST_TIME);
    fflush(stdout);
    return 1;
  }
  const request r = {batch, time, seed};
  answer(s, what, &r);
  return 1;
}

int main(int argc, char** argv) {
  const double minutes = argc == 3 && strcmp(argv[1], "--minutes") == 0 ? atof(argv[2]) : 0;
  if (argc > 1 && !(minutes > 0)) return fprintf(stderr, "usage: service [--minutes N]\n"), 2;
  service s;
  memset(&s, 0, sizeof s);
  void* primary = NULL;
  int (*initialise)(unsigned) = NULL;
  *(void**)&initialise = symbol("cuInit");
  if (initialise(0) != 0) return fprintf(stderr, "there is no GPU\n"), 77;
  CU(cuDevicePrimaryCtxRetain, &primary, 0);
  CU(cuCtxSetCurrent, primary);
  CU(cuStreamCreate, &s.stream, 1u);

  rondo_package* package = NULL;
  ok(rondo_package_from_memory(lstm_kernels_data, lstm_kernels_size, &package));
  rondo_context_options device = {.struct_size = sizeof device, .device = RONDO_DEVICE_CUDA_CURRENT};
  rondo_context* context = NULL;
  ok(rondo_context_create(&device, &context));
  s.sequence = open_lstm(package, context, 16, 256);
  s.step = open_lstm(package, context, 1, 1);
  /* Two plans of one cell may list their tensors in different orders. */
  for (int i = 0; i < s.step.info.tensors; ++i)
    ok(rondo_plan_find_tensor(s.sequence.plan, s.step.tensors[i].name, &s.step.place[i]));
  allocate(&s);

  int sound = 1;
  char line[256];
  if (minutes > 0)
    sound = load(&s, 60 * minutes, 1);
  else
    while (fgets(line, sizeof line, stdin) != NULL && handle(&s, line)) {
    }
  ok(rondo_plan_destroy(s.sequence.plan));
  ok(rondo_plan_destroy(s.step.plan));
  ok(rondo_context_destroy(context));
  ok(rondo_package_destroy(package));
  return sound ? 0 : 1;
}
