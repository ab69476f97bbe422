/* Several threads on one plan, and on handles of their own: results and messages are each thread's. */
#include <pthread.h>
#include <rondo/rondo.h>
#include <stdlib.h>

#include "tests/capi/check.h"

enum { THREADS = 4, ROUNDS = 12, B = 2, T = 6, D = 5 };

typedef struct {
  int number;
  rondo_context* context; /* of all threads */
  rondo_cell* cell;
  rondo_plan* plan;
  int wrong; /* counted by the thread, which must not use CHECK */
  float out[B * T * D];
} work;

static float numbers[4 * B * T * D + 4 * D * D]; /* inputs and parameters of all threads */

static rondo_status launch(const rondo_plan* plan, float* out) {
  static const char* const names[] = {"x", "R", "b"};
  rondo_tensor tensors[4];
  memset(tensors, 0, sizeof tensors);
  for (int i = 0; i < 4; ++i) {
    const char* name = i == 3 ? "h_out" : names[i];
    if (rondo_plan_find_tensor(plan, name, &tensors[i].index) != RONDO_OK) return RONDO_ERROR_WRONG;
    tensors[i].data = i == 3 ? (void*)out : (void*)numbers;
    if (rondo_plan_tensor_bytes(plan, tensors[i].index, B, T, &tensors[i].bytes) != RONDO_OK)
      return RONDO_ERROR_WRONG;
  }
  rondo_launch_args args = {.struct_size = sizeof args, .tensor_size = sizeof tensors[0], .tensors = tensors};
  args.tensor_count = 4;
  args.batch = B;
  args.time = T;
  if (rondo_plan_workspace_bytes(plan, B, T, &args.workspace_bytes) != RONDO_OK) return RONDO_ERROR_WRONG;
  args.workspace = aligned_alloc(256, (size_t)(args.workspace_bytes / 256 + 1) * 256);
  const rondo_status status = rondo_launch(plan, &args);
  free(args.workspace);
  return status;
}

static rondo_status make_plan(rondo_context* context, rondo_cell* cell, rondo_plan** plan) {
  rondo_problem problem = {.struct_size = sizeof problem, .batch = B, .time = T, .heads = 1, .dim = D};
  problem.type = RONDO_TYPE_F32;
  return rondo_plan_create(context, cell, &problem, NULL, plan);
}

static void* run(void* given) {
  work* w = given;
  char name[32];
  snprintf(name, sizeof name, "thread%d", w->number);
  for (int i = 0; i < ROUNDS; ++i) {
    memset(w->out, 0, sizeof w->out);
    w->wrong += launch(w->plan, w->out) != RONDO_OK;
    int32_t index = 0;
    w->wrong += rondo_plan_find_tensor(w->plan, name, &index) != RONDO_ERROR_MISSING;
    rondo_plan* own = NULL;
    w->wrong += make_plan(w->context, w->cell, &own) != RONDO_OK;
    float out[B * T * D];
    w->wrong += launch(own, out) != RONDO_OK || memcmp(out, w->out, sizeof out) != 0;
    w->wrong += strstr(rondo_message(), name) == NULL; /* of this thread's last failure, not of another's */
    w->wrong += rondo_plan_destroy(own) != RONDO_OK;
    w->wrong += rondo_plan_check(own) != RONDO_ERROR_INPUT;
  }
  return NULL;
}

int main(void) {
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) numbers[i] = (float)(i % 7) / 8;
  rondo_context_options device = {.struct_size = sizeof device, .device = RONDO_DEVICE_CPU};
  rondo_cell_options what = {.struct_size = sizeof what, .path = "lstm"};
  static work works[THREADS];
  rondo_context* context = NULL;
  rondo_cell* cell = NULL;
  rondo_plan* plan = NULL;
  OK(rondo_context_create(&device, &context));
  OK(rondo_cell_create(&what, &cell, NULL));
  if (!OK(make_plan(context, cell, &plan))) return report();
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    works[i].number = i;
    works[i].context = context;
    works[i].cell = cell;
    works[i].plan = plan;
    CHECK(pthread_create(&threads[i], NULL, run, &works[i]) == 0);
  }
  for (int i = 0; i < THREADS; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  for (int i = 0; i < THREADS; ++i) {
    CHECK(works[i].wrong == 0);
    CHECK(works[i].out[1] != 0 && memcmp(works[i].out, works[0].out, sizeof works[i].out) == 0);
  }
  CHECK(rondo_message()[0] == '\0'); /* nothing failed on this thread */
  OK(rondo_plan_destroy(plan));
  OK(rondo_cell_destroy(cell));
  OK(rondo_context_destroy(context));
  return report();
}
