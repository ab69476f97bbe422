/* Plans in fp64 on the CPU: kernels where LLVM makes them, beside the reference that computes the same. */
#include <math.h>
#include <rondo/rondo.h>
#include <stdlib.h>

#include "tests/capi/check.h"
#include "tests/capi/problems.h"

enum { B = 3, T = 17, D = 20, MOST = 16, NUMBERS = B * T * 2 * D };

/* Numbers that fp32 does not hold. */
static double drawn(int i) { return sin(1 + 0.7 * i) + 1e-9 * cos(i); }

/* What a pass makes of inputs that are the same for every plan of it. */
typedef struct results {
  char strategy[32];
  int count;
  char names[MOST][32];
  double values[MOST][NUMBERS];
} results;

static void run(rondo_context* context, const rondo_cell* cell, int32_t pass, const char* strategy,
                results* out) {
  rondo_problem problem = one_head(RONDO_TYPE_F64, pass, B, T, D);
  const rondo_plan_options options = {.struct_size = sizeof options, .strategy = strategy};
  rondo_plan* plan = NULL;
  out->count = 0;
  if (!OK(rondo_plan_create(context, cell, &problem, &options, &plan))) return;
  rondo_plan_info info = {.struct_size = sizeof info};
  OK(rondo_plan_get_info(plan, &info));
  CHECK(strcmp(info.type, "fp64") == 0);
  snprintf(out->strategy, sizeof out->strategy, "%s", info.strategy);
  static double memory[MOST][NUMBERS];
  rondo_tensor tensors[MOST];
  memset(tensors, 0, sizeof tensors);
  size_t count = 0;
  for (int i = 0; i < info.tensors && CHECK(i < MOST); ++i) {
    rondo_tensor_info tensor = {.struct_size = sizeof tensor};
    OK(rondo_plan_get_tensor(plan, i, &tensor));
    if (tensor.role == RONDO_ROLE_INITIAL_STATE) continue; /* it begins with 0.75 */
    CHECK(tensor.type == RONDO_TYPE_F64 && tensor.alignment == 8);
    int64_t bytes = 0;
    OK(rondo_plan_tensor_bytes(plan, i, B, T, &bytes));
    CHECK(bytes <= (int64_t)sizeof memory[i]);
    for (int k = 0; k < NUMBERS; ++k) memory[i][k] = drawn(k + (int)strlen(tensor.name));
    tensors[count++] = (rondo_tensor){.index = i, .type = tensor.type, .data = memory[i], .bytes = bytes};
  }
  int64_t bytes = 0;
  OK(rondo_plan_workspace_bytes(plan, B, T, &bytes));
  void* const workspace = aligned_alloc(256, (size_t)(bytes + 255) / 256 * 256 + 256);
  rondo_launch_args args = {.struct_size = sizeof args, .tensor_size = sizeof tensors[0], .tensors = tensors};
  args.tensor_count = count;
  args.workspace = workspace;
  args.workspace_bytes = bytes;
  args.batch = B;
  args.time = T;
  OK(rondo_launch(plan, &args));
  for (size_t i = 0; i < count; ++i) {
    rondo_tensor_info tensor = {.struct_size = sizeof tensor};
    OK(rondo_plan_get_tensor(plan, tensors[i].index, &tensor));
    if (!tensor.written) continue;
    snprintf(out->names[out->count], sizeof out->names[0], "%s", tensor.name);
    memcpy(out->values[out->count++], tensors[i].data, (size_t)tensors[i].bytes);
  }
  free(workspace);
  OK(rondo_plan_destroy(plan));
}

/* Outputs of the cell, which adds up little by little; a kernel that rounded to fp32 would be off by 1e-7. */
static void compare(rondo_context* context, const rondo_cell* cell, int32_t pass, int numbers) {
  static results kernel, reference;
  memset(&kernel, 0, sizeof kernel);
  memset(&reference, 0, sizeof reference);
  run(context, cell, pass, NULL, &kernel);
  run(context, cell, pass, "reference", &reference);
  CHECK(strcmp(kernel.strategy, "host") == 0 && strcmp(reference.strategy, "reference") == 0);
  CHECK(kernel.count == reference.count && kernel.count > 0);
  int compared = 0;
  for (int i = 0; i < kernel.count; ++i)
    for (int j = 0; j < reference.count; ++j) {
      if (strcmp(kernel.names[i], reference.names[j]) != 0) continue;
      ++compared;
      for (int k = 0; k < numbers; ++k)
        CHECK(fabs(kernel.values[i][k] - reference.values[j][k]) <=
              1e-13 * (1 + fabs(reference.values[j][k])));
    }
  CHECK(compared == kernel.count);
}

int main(void) {
  rondo_context_options options = {.struct_size = sizeof options, .device = RONDO_DEVICE_CPU};
  rondo_context* context = NULL;
  OK(rondo_context_create(&options, &context));
  rondo_cell_options what = {.struct_size = sizeof what, .path = "gated"};
  what.text =
      "cell gated(D) {\n input x[2, D]\n param b[D]\n state h[D] = 0.75\n"
      " z = sigmoid(x[0] + b)\n next h = (1 - z) * h + z * tanh(x[1])\n output h\n}\n";
  rondo_cell* cell = NULL;
  OK(rondo_cell_create(&what, &cell, NULL));
  compare(context, cell, RONDO_PASS_FORWARD, B * D);
  compare(context, cell, RONDO_PASS_BACKWARD, D);
  OK(rondo_cell_destroy(cell));
  OK(rondo_context_destroy(context));
  return report();
}
