/* The launching part on CUDA contexts, over a driver that stands in for a GPU (fake_cuda.h): which context is
 * current, on which stream work goes, and what a launch does beside launching. */
#define _POSIX_C_SOURCE 200809L /* setenv */

#include <rondo/launch.h>
#include <stdlib.h>

#include "tests/capi/check.h"
#include "tests/capi/fake_cuda.h"
#include "tests/capi/stand_in.h"

enum { B = 2, T = 4, D = 4, UNIT = 2 * D };

static fake_cuda* cuda;

static float x[B * T * UNIT] __attribute__((aligned(256)));
static float scale[UNIT] __attribute__((aligned(256)));
static float first[B * UNIT] __attribute__((aligned(256)));
static float out[B * T * UNIT] __attribute__((aligned(256)));
static float last[B * UNIT] __attribute__((aligned(256)));
static float workspace[4096] __attribute__((aligned(256)));

static rondo_context* context_on(int32_t device, int32_t ordinal) {
  rondo_context_options options = {.struct_size = sizeof options, .device = device, .ordinal = ordinal};
  rondo_context* context = NULL;
  OK(rondo_context_create(&options, &context));
  return context;
}

static rondo_launch_args arguments(rondo_tensor* tensors, void* stream) {
  void* const data[] = {x, scale, first, out, last};
  const size_t bytes[] = {sizeof x, sizeof scale, sizeof first, sizeof out, sizeof last};
  memset(tensors, 0, STAND_IN_TENSORS * sizeof tensors[0]);
  for (int i = 0; i < STAND_IN_TENSORS; ++i) {
    tensors[i].index = i;
    tensors[i].type = RONDO_TYPE_F32;
    tensors[i].data = data[i];
    tensors[i].bytes = (int64_t)bytes[i];
  }
  rondo_launch_args args = {.struct_size = sizeof args, .tensor_size = sizeof tensors[0], .tensors = tensors};
  args.tensor_count = STAND_IN_TENSORS;
  args.workspace = workspace;
  args.workspace_bytes = sizeof workspace;
  args.batch = B;
  args.time = T;
  args.stream = stream;
  return args;
}

static void fill(void) {
  for (int i = 0; i < B * T * UNIT; ++i) x[i] = (float)(i % 5);
  for (int i = 0; i < UNIT; ++i) scale[i] = 2;
  for (int i = 0; i < B * UNIT; ++i) first[i] = (float)i;
  memset(out, 0, sizeof out);
  memset(last, 0, sizeof last);
}

static float wanted(int row, int step, int channel) {
  float h = (float)(row * UNIT + channel);
  for (int t = 0; t <= step; ++t) h += 2 * (float)((((row * T + t) * UNIT) + channel) % 5);
  return h;
}

static int right(void) {
  for (int row = 0; row < B; ++row)
    for (int t = 0; t < T; ++t)
      for (int i = 0; i < UNIT; ++i)
        if (out[(row * T + t) * UNIT + i] != wanted(row, t, i)) return 0;
  return 1;
}

static void test_contexts(void) {
  rondo_context_options options = {.struct_size = sizeof options, .device = RONDO_DEVICE_CUDA, .ordinal = 7};
  rondo_context* context = NULL;
  FAILS(rondo_context_create(&options, &context), RONDO_ERROR_INPUT, "no GPU number 7");
  options.device = RONDO_DEVICE_CUDA_CURRENT;
  FAILS(rondo_context_create(&options, &context), RONDO_ERROR_MISSING, "no CUDA context is current");
  CHECK(cuda->current() == NULL);
  const int retained = cuda->counts().contexts_retained, released = cuda->counts().contexts_released;
  context = context_on(RONDO_DEVICE_CUDA, 1);
  CHECK(cuda->current() == NULL); /* the thread's context stays the caller's */
  rondo_context_info info = {.struct_size = sizeof info};
  OK(rondo_context_get_info(context, &info));
  CHECK(info.ordinal == 1 && strcmp(info.arch, "sm_90") == 0 && strstr(info.name, "H100") != NULL);
  CHECK(info.multiprocessors == 132 && info.memory_bytes == (int64_t)80 << 30);
  OK(rondo_context_destroy(context));
  CHECK(cuda->counts().contexts_retained - retained == 1 && cuda->counts().contexts_released - released == 1);
  cuda->set_current(cuda->context_of(1));
  context = context_on(RONDO_DEVICE_CUDA_CURRENT, 0);
  OK(rondo_context_get_info(context, &info));
  CHECK(info.ordinal == 1 && info.device == RONDO_DEVICE_CUDA_CURRENT);
  OK(rondo_context_destroy(context)); /* and is not released: it is the caller's */
  CHECK(cuda->counts().contexts_retained - retained == 1 && cuda->counts().contexts_released - released == 1);
  cuda->set_current(NULL);
}

/* A plan of device `ordinal`, whose image has so many cubins, launched while `current` is current. */
static void test_launches(int ordinal, void* current, int cubins) {
  cuda->set_current(current);
  rondo_context* context = context_on(RONDO_DEVICE_CUDA, ordinal);
  rondo_plan* plan = NULL;
  const int loaded = cuda->counts().modules_loaded;
  if (!OK(stand_in_cuda_plan(context, D, cubins, &plan))) return;
  CHECK(cuda->counts().modules_loaded - loaded == cubins);
  OK(rondo_context_destroy(context));
  CHECK(cuda->current() == current);
  cuda->set_current(cuda->context_of(ordinal));
  void* const stream = cuda->new_stream();
  cuda->set_current(current);

  fill();
  rondo_tensor tensors[STAND_IN_TENSORS];
  rondo_launch_args args = arguments(tensors, stream);
  fake_counts before = cuda->counts();
  OK(rondo_launch(plan, &args));
  fake_counts after = cuda->counts();
  CHECK(right() && cuda->current() == current);
  CHECK(after.launches - before.launches == 1 && after.allocations == before.allocations);
  CHECK(after.waits == before.waits && after.fills == before.fills && after.copies == before.copies);
  fill();
  args.stream = NULL;
  OK(rondo_launch(plan, &args)); /* the default stream of the plan's context */
  CHECK(right());

  /* What is wrong launches nothing. */
  before = cuda->counts();
  tensors[STAND_IN_X].data = x + 1;
  FAILS(rondo_launch(plan, &args), RONDO_ERROR_INPUT, "aligned to 16 bytes");
  args = arguments(tensors, stream);
  tensors[STAND_IN_LAST].data = out;
  FAILS(rondo_launch(plan, &args), RONDO_ERROR_INPUT, "share memory");
  CHECK(cuda->counts().launches == before.launches);

  /* Captured: nothing runs until the graph does, as often as it does. */
  fill();
  args = arguments(tensors, stream);
  args.tensor_count = STAND_IN_LAST; /* the last state is thrown away */
  cuda->begin_capture(stream, 0);
  OK(rondo_launch(plan, &args));
  void* graph = NULL;
  cuda->end_capture(stream, &graph);
  CHECK(out[0] == 0);
  for (int i = 0; i < 2; ++i) {
    fill();
    cuda->launch_graph(graph, stream);
    CHECK(right());
  }
  free(graph);

  /* Steps, with the state in place: a launch and a copy, which may be captured too. */
  fill();
  args.time = 1;
  before = cuda->counts();
  cuda->begin_capture(stream, 0);
  OK(rondo_step(plan, &args));
  cuda->end_capture(stream, &graph);
  after = cuda->counts();
  CHECK(after.launches - before.launches == 1 && after.copies - before.copies == 1);
  CHECK(after.allocations == before.allocations && after.waits == before.waits && first[3] == 3);
  for (int i = 1; i <= 3; ++i) {
    cuda->launch_graph(graph, stream);
    CHECK(first[3] == 3 + 2 * x[3] * (float)i);
  }
  free(graph);
  OK(rondo_plan_prepare(plan, &args));
  OK(rondo_plan_check(plan));

  before = cuda->counts();
  OK(rondo_plan_destroy(plan));
  CHECK(cuda->counts().modules_unloaded - before.modules_unloaded == cubins);
  CHECK(cuda->counts().contexts_released - before.contexts_released == 1);
  CHECK(cuda->current() == current);
  free(stream);
  cuda->set_current(NULL);
}

/* Which of a plan's kernels it is whose blocks wait for each other does not matter: all of them must be on
 * the GPU. */
static void test_waiting_kernels(void) {
  enum { RESIDENT = 2 * 132 }; /* as the driver says: two blocks a multiprocessor */
  rondo_context* context = context_on(RONDO_DEVICE_CUDA, 0);
  for (int kernels = 1; kernels <= 4; ++kernels)
    for (int waiting = 0; waiting < kernels; ++waiting) {
      rondo_plan* plan = NULL;
      if (!OK(stand_in_waiting_plan(context, D, kernels, waiting, &plan))) continue;
      int64_t most = 0;
      OK(rondo_plan_largest_batch(plan, 1, &most));
      CHECK(most == RESIDENT);
      OK(rondo_plan_destroy(plan));
    }
  OK(rondo_context_destroy(context));
}

static void test_plans_of_gpus_on_the_cpu(void) {
  rondo_context* context = context_on(RONDO_DEVICE_CPU, 0);
  rondo_plan* plan = NULL;
  FAILS(stand_in_cuda_plan(context, D, 1, &plan), RONDO_ERROR_UNSUPPORTED, "the context is the CPU");
  OK(rondo_context_destroy(context));
}

int main(int argc, char** argv) {
  if (!CHECK(argc == 2)) return report();
  setenv("RONDO_LIBCUDA", argv[1], 1);
  cuda = fake_cuda_of(argv[1]);
  if (!CHECK(cuda != NULL)) return report();
  test_contexts();
  test_launches(0, NULL, 1);
  test_launches(0, cuda->context_of(0), 2);
  test_launches(1, cuda->context_of(0), 3); /* two devices in a process */
  test_plans_of_gpus_on_the_cpu();
  CHECK(cuda->counts().modules_loaded == 6 && cuda->counts().modules_unloaded == 6);
  test_waiting_kernels();
  CHECK(cuda->counts().contexts_retained == cuda->counts().contexts_released);
  return report();
}
