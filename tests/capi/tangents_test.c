/* The tangent cell in the C interface, on the CPU: a product over time, whose derivatives are known. */
#include <math.h>
#include <rondo/rondo.h>

#include "tests/capi/check.h"
#include "tests/capi/problems.h"
#include "tests/capi/tensors.h"

enum { B = 2, T = 2, D = 3 };

static const char kText[] =
    "cell product(D) {\n  input x[D]\n  state h[D]\n  next h = h * x\n  output h\n}\n";

static rondo_plan* plan_of(rondo_context* context, const rondo_cell* cell, int32_t pass) {
  const rondo_problem problem = one_head(RONDO_TYPE_F32, pass, B, T, D);
  rondo_plan* plan = NULL;
  OK(rondo_plan_create(context, cell, &problem, NULL, &plan));
  return plan;
}

static void near(float found, double wanted) { CHECK(fabs(found - wanted) < 1e-6); }

/* The derivative of the last state along the direction that the tangents are. */
static void check_forward(const plan_memory* m) {
  const float *x = data_of(m, "x"), *dx = data_of(m, "x_tangent");
  const float *h = data_of(m, "h_first"), *dh = data_of(m, "h_tangent_first");
  for (int b = 0; b < B; ++b)
    for (int i = 0; i < D; ++i) {
      const int first = b * T * D + i, second = first + D, row = b * D + i;
      near(data_of(m, "h_out")[second], h[row] * x[first] * x[second]);
      near(data_of(m, "h_tangent_last")[row],
           dh[row] * x[first] * x[second] + h[row] * (dx[first] * x[second] + x[first] * dx[second]));
      near(data_of(m, "h_tangent_out")[first], dh[row] * x[first] + h[row] * dx[first]);
    }
}

/* With a gradient of 1 for the tangent of the last state alone: the second derivative times the direction. */
static void check_backward(const plan_memory* m, const plan_memory* forward) {
  const float *x = data_of(forward, "x"), *dx = data_of(forward, "x_tangent");
  const float *h = data_of(forward, "h_first"), *dh = data_of(forward, "h_tangent_first");
  for (int b = 0; b < B; ++b)
    for (int i = 0; i < D; ++i) {
      const int first = b * T * D + i, second = first + D, row = b * D + i;
      near(data_of(m, "grad_x")[first], dh[row] * x[second] + h[row] * dx[second]);
      near(data_of(m, "grad_x")[second], dh[row] * x[first] + h[row] * dx[first]);
      near(data_of(m, "grad_h_first")[row], dx[first] * x[second] + x[first] * dx[second]);
      near(data_of(m, "grad_x_tangent")[first], h[row] * x[second]); /* and, beside it, the first one */
    }
}

static void give_backward(plan_memory* m, const plan_memory* forward) {
  for (int i = 0; i < m->count; ++i) {
    const char* name = m->infos[i].name;
    if (m->infos[i].written) continue;
    float* values = m->tensors[i].data;
    if (strncmp(name, "grad_", 5) == 0)
      for (int64_t k = 0; k < m->tensors[i].bytes / 4; ++k)
        values[k] = strcmp(name, "grad_h_tangent_last") == 0 ? 1 : 0;
    else
      memcpy(values, data_of(forward, name), (size_t)m->tensors[i].bytes);
  }
}

static void test_derivatives(rondo_context* context, const rondo_cell* cell) {
  rondo_plan* forward = plan_of(context, cell, RONDO_PASS_FORWARD_SAVE);
  rondo_plan* backward = plan_of(context, cell, RONDO_PASS_BACKWARD);
  plan_memory mine = memory_of(forward, B, T), back = memory_of(backward, B, T);
  OK(launch_memory(forward, &mine));
  check_forward(&mine);
  give_backward(&back, &mine);
  OK(launch_memory(backward, &back));
  check_backward(&back, &mine);
  free_memory(&mine);
  free_memory(&back);
  OK(rondo_plan_destroy(forward));
  OK(rondo_plan_destroy(backward));
}

static void test_what_cannot_be(rondo_cell_options options) {
  rondo_cell* cell = NULL;
  options.tangents = 2;
  FAILS(rondo_cell_create(&options, &cell, NULL), RONDO_ERROR_INPUT, "tangents = 2: it is 0 or 1");
  options.tangents = 1;
  options.clip_gradient = 1;
  FAILS(rondo_cell_create(&options, &cell, NULL), RONDO_ERROR_INPUT, "bounds its gradient");
  options.clip_gradient = 0;
  options.text =
      "cell taken(D) {\n  input h_tangent[D]\n  state h[D]\n  next h = h * h_tangent\n  output h\n}\n";
  FAILS(rondo_cell_create(&options, &cell, NULL), RONDO_ERROR_INPUT, "the name h_tangent itself");
}

int main(void) {
  const rondo_context_options where = {.struct_size = sizeof where, .device = RONDO_DEVICE_CPU};
  rondo_context* context = NULL;
  if (!OK(rondo_context_create(&where, &context))) return report();
  rondo_cell_options options = {.struct_size = sizeof options, .text = kText, .tangents = 1};
  rondo_cell* cell = NULL;
  if (!OK(rondo_cell_create(&options, &cell, NULL))) return report();
  rondo_cell_info info = {.struct_size = sizeof info};
  OK(rondo_cell_get_info(cell, &info));
  CHECK(info.tangents == 1 && info.directions == 0 && info.state_rows == 2 && info.tensors == 6 &&
        info.affine == 1);
  rondo_cell_tensor tensor = {.struct_size = sizeof tensor};
  OK(rondo_cell_get_tensor(cell, 3, &tensor));
  CHECK(strcmp(tensor.name, "x_tangent") == 0 && tensor.kind == RONDO_KIND_INPUT && tensor.line == 0);
  test_derivatives(context, cell);
  test_what_cannot_be(options);
  OK(rondo_cell_destroy(cell));
  OK(rondo_context_destroy(context));
  return report();
}
