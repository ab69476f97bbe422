/* An LSTM layer, forward and backward, on the CPU. The program compares a gradient with a difference of
 * losses and ends with status 0 if they agree. On a GPU the same calls take device memory and a stream. */
#include <math.h>
#include <rondo/rondo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 4, TIME = 16, DIM = 8, MOST = 32 };

static void ok(rondo_status status) {
  if (status == RONDO_OK) return;
  fprintf(stderr, "%s: %s (%s)\n", rondo_status_name(status), rondo_message(), rondo_hint());
  exit(1);
}

typedef struct {
  rondo_plan* plan;
  rondo_tensor tensors[MOST];
  int count;
  rondo_launch_args args;
} pass;

/* Memory for all tensors of a plan. Sizes are asked for, not computed. */
static pass new_pass(const rondo_training* training, int32_t which) {
  pass p;
  memset(&p, 0, sizeof p);
  ok(rondo_training_get_plan(training, which, &p.plan));
  rondo_plan_info info = {.struct_size = sizeof info};
  ok(rondo_plan_get_info(p.plan, &info));
  p.count = info.tensors;
  for (int i = 0; i < p.count; ++i) {
    rondo_tensor_info tensor = {.struct_size = sizeof tensor};
    ok(rondo_plan_get_tensor(p.plan, i, &tensor));
    p.tensors[i].index = i;
    p.tensors[i].type = tensor.type;
    ok(rondo_plan_tensor_bytes(p.plan, i, BATCH, TIME, &p.tensors[i].bytes));
    p.tensors[i].data = calloc(1, (size_t)p.tensors[i].bytes);
  }
  p.args.struct_size = sizeof p.args;
  p.args.tensor_size = sizeof p.tensors[0];
  p.args.tensor_count = (size_t)p.count;
  p.args.batch = BATCH;
  p.args.time = TIME;
  ok(rondo_plan_workspace_bytes(p.plan, BATCH, TIME, &p.args.workspace_bytes));
  p.args.workspace = aligned_alloc(256, (size_t)(p.args.workspace_bytes / 256 + 1) * 256);
  return p;
}

/* The plan and the memory are the caller's. Tensors that another pass has too are NULL by then. */
static void free_pass(pass* p) {
  for (int i = 0; i < p->count; ++i) free(p->tensors[i].data);
  free(p->args.workspace);
  ok(rondo_plan_destroy(p->plan));
}

static float* data(const pass* p, const char* name) {
  int32_t index = 0;
  ok(rondo_plan_find_tensor(p->plan, name, &index));
  return p->tensors[index].data;
}

static void run(pass* p) {
  p->args.tensors = p->tensors;
  ok(rondo_launch(p->plan, &p->args));
}

/* Half the sum of squares of the outputs, whose gradient is the outputs. */
static double loss_of(pass* forward) {
  run(forward);
  const float* h = data(forward, "h_out");
  double loss = 0;
  for (int i = 0; i < BATCH * TIME * DIM; ++i) loss += 0.5 * (double)h[i] * (double)h[i];
  return loss;
}

static void fill(float* values, int count, float scale) {
  for (int i = 0; i < count; ++i) values[i] = scale * (float)sin(1.0 + 0.7 * i);
}

int main(void) {
  rondo_context_options device = {.struct_size = sizeof device, .device = RONDO_DEVICE_CPU};
  rondo_context* context = NULL;
  ok(rondo_context_create(&device, &context));
  rondo_cell_options what = {.struct_size = sizeof what, .path = "lstm"};
  rondo_cell* cell = NULL;
  ok(rondo_cell_create(&what, &cell, NULL));

  rondo_problem problem = {
      .struct_size = sizeof problem, .batch = BATCH, .time = TIME, .heads = 1, .dim = DIM};
  problem.type = RONDO_TYPE_F32;
  problem.save = RONDO_SAVE_AUTO;
  rondo_training* training = NULL;
  ok(rondo_training_create(context, cell, &problem, NULL, &training));
  pass forward = new_pass(training, RONDO_PASS_FORWARD_SAVE),
       backward = new_pass(training, RONDO_PASS_BACKWARD);

  /* What both passes have is the same memory. */
  rondo_training_info info = {.struct_size = sizeof info};
  ok(rondo_training_get_info(training, &info));
  for (int32_t i = 0; i < info.shared; ++i) {
    rondo_shared_tensor shared = {.struct_size = sizeof shared};
    ok(rondo_training_get_shared(training, i, &shared));
    free(backward.tensors[shared.backward].data);
    backward.tensors[shared.backward].data = forward.tensors[shared.forward].data;
  }

  float* r = data(&forward, "R");
  fill(data(&forward, "x"), BATCH * TIME * 4 * DIM, 1.0f);
  fill(r, 4 * DIM * DIM, 0.3f);
  fill(data(&forward, "b"), 4 * DIM, 0.1f);
  const double loss = loss_of(&forward);
  memcpy(data(&backward, "grad_h_out"), data(&forward, "h_out"), sizeof(float) * BATCH * TIME * DIM);
  run(&backward);

  const float step = 1.0f / 1024, gradient = data(&backward, "grad_R")[7], before = r[7];
  r[7] = before + step;
  const double up = loss_of(&forward);
  r[7] = before - step;
  const double difference = (up - loss_of(&forward)) / (2 * (double)step);
  printf("loss %.6f, gradient of R[7] %.6f, by differences %.6f\n", loss, (double)gradient, difference);

  for (int32_t i = 0; i < info.shared; ++i) { /* which the forward pass frees */
    rondo_shared_tensor shared = {.struct_size = sizeof shared};
    ok(rondo_training_get_shared(training, i, &shared));
    backward.tensors[shared.backward].data = NULL;
  }
  free_pass(&backward);
  free_pass(&forward);
  ok(rondo_training_destroy(training));
  ok(rondo_cell_destroy(cell));
  ok(rondo_context_destroy(context));
  return fabs(gradient - difference) < 1e-3 * (1 + fabs(difference)) ? 0 : 1;
}
