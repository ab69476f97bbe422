/* What a plan on the CPU is where no compiler is installed: the reference, which the log says, unless a
 * kernel is asked for; and the same through the classes of rondo.hpp. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */

#include <math.h>
#include <rondo/rondo.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/capi/check.h"
#include "tests/capi/jit_wrapper.h"

static char logged[4096];
static void keep(void* user, int32_t level, const char* message) {
  (void)user, (void)level;
  strncat(logged, message, sizeof logged - strlen(logged) - 1);
}

static void test_reference(rondo_context* context, const rondo_cell* cell, const rondo_problem* problem) {
  rondo_plan* plan = NULL;
  OK(rondo_plan_create(context, cell, problem, NULL, &plan));
  rondo_plan_info info = {.struct_size = sizeof info};
  OK(rondo_plan_get_info(plan, &info));
  CHECK(strcmp(info.strategy, "reference") == 0);
  CHECK(strstr(logged, "LLVM") != NULL && strstr(logged, "the plan is the reference executor") != NULL);
  OK(rondo_plan_destroy(plan));
  logged[0] = '\0';
  rondo_plan_options options = {.struct_size = sizeof options, .strategy = "reference"};
  OK(rondo_plan_create(context, cell, problem, &options, &plan));
  CHECK(logged[0] == '\0'); /* it was asked for */
  OK(rondo_plan_destroy(plan));
  options.parameters = "channels=64";
  FAILS(rondo_plan_create(context, cell, problem, &options, &plan), RONDO_ERROR_INPUT, "has no parameters");
  options.parameters = NULL;
  options.choose = RONDO_CHOOSE_RECORDED;
  FAILS(rondo_plan_create(context, cell, problem, &options, &plan), RONDO_ERROR_INPUT,
        "none of it is recorded");
}

/* fp64 by the reference: nothing is rounded on the way in or out. Kernels: double_test.c. */
static void test_unrounded(rondo_context* context, const rondo_cell* cell, rondo_problem problem) {
  problem.type = RONDO_TYPE_F64;
  rondo_plan* plan = NULL;
  OK(rondo_plan_create(context, cell, &problem, NULL, &plan));
  rondo_plan_info info = {.struct_size = sizeof info};
  OK(rondo_plan_get_info(plan, &info));
  CHECK(strcmp(info.type, "fp64") == 0 && strcmp(info.strategy, "reference") == 0);
  enum { STEPS = 2, MOST = 16 };
  double values[MOST][256];
  rondo_tensor tensors[MOST];
  memset(tensors, 0, sizeof tensors);
  int x = -1, out = -1;
  CHECK(info.tensors <= MOST && info.heads * info.dim * STEPS * 4 <= 256);
  for (int i = 0; i < info.tensors; ++i) {
    rondo_tensor_info tensor = {.struct_size = sizeof tensor};
    OK(rondo_plan_get_tensor(plan, i, &tensor));
    CHECK(tensor.type == RONDO_TYPE_F64 && tensor.alignment == 8);
    int64_t bytes = 0;
    OK(rondo_plan_tensor_bytes(plan, i, 1, STEPS, &bytes));
    for (int k = 0; k < 256; ++k) values[i][k] = 1e-12; /* beside 1 no fp32 shows it */
    if (tensor.role == RONDO_ROLE_INPUT) x = i;
    if (tensor.role == RONDO_ROLE_OUTPUT) out = i;
    tensors[i] = (rondo_tensor){.index = i, .type = RONDO_TYPE_F64, .data = values[i], .bytes = bytes};
  }
  if (!CHECK(x >= 0 && out >= 0)) return;
  for (int k = 0; k < 256; ++k) values[x][k] = 0.5 + 1e-12;
  rondo_launch_args args = {.struct_size = sizeof args, .tensor_size = sizeof tensors[0], .tensors = tensors};
  args.tensor_count = (size_t)info.tensors;
  args.batch = 1;
  args.time = STEPS;
  OK(rondo_launch(plan, &args));
  const double first = values[out][0];
  values[x][0] += 1e-13;
  OK(rondo_launch(plan, &args));
  CHECK(values[out][0] != first && fabs(values[out][0] - first) < 1e-12);
  tensors[x].type = RONDO_TYPE_F32;
  FAILS(rondo_launch(plan, &args), RONDO_ERROR_INPUT, "fp64");
  OK(rondo_plan_destroy(plan));
  rondo_plan_options options = {.struct_size = sizeof options, .strategy = "host"};
  FAILS(rondo_plan_create(context, cell, &problem, &options, &plan), RONDO_ERROR_MISSING, "LLVM");
  rondo_training* training = NULL;
  OK(rondo_training_create(context, cell, &problem, NULL, &training));
  OK(rondo_training_destroy(training));
}

static void test_kernels(rondo_context* context, const rondo_cell* cell, const rondo_problem* problem) {
  rondo_plan* plan = NULL;
  rondo_plan_options options = {.struct_size = sizeof options, .strategy = "nonsense"};
  FAILS(rondo_plan_create(context, cell, problem, &options, &plan), RONDO_ERROR_INPUT, "host, reference");
  options.strategy = "stream";
  FAILS(rondo_plan_create(context, cell, problem, &options, &plan), RONDO_ERROR_INPUT,
        "no strategy 'stream'");
  options.strategy = NULL;
  options.parameters = "tile=1"; /* of a kernel: the reference does not stand in for it */
  FAILS(rondo_plan_create(context, cell, problem, &options, &plan), RONDO_ERROR_MISSING, "LLVM");
  options.parameters = NULL;
  options.strategy = "host";
  FAILS(rondo_plan_create(context, cell, problem, &options, &plan), RONDO_ERROR_MISSING, "LLVM");
  options.strategy = NULL;
  options.choose = RONDO_CHOOSE_RECORDED;
  FAILS(rondo_plan_create(context, cell, problem, &options, &plan), RONDO_ERROR_INPUT, "needs a database");
  char folder[] = "/tmp/rondo-choice-XXXXXX";
  CHECK(mkdtemp(folder) != NULL);
  char path[128];
  snprintf(path, sizeof path, "%s/tuning.db", folder);
  rondo_database_options where = {.struct_size = sizeof where, .path = path};
  OK(rondo_database_open(&where, &options.database));
  FAILS(rondo_plan_create(context, cell, problem, &options, &plan), RONDO_ERROR_MISSING, NULL);
  CHECK(plan == NULL);
  OK(rondo_database_destroy(options.database));
  unlink(path);
  rmdir(folder);
}

static void test_wrapper(void) {
  char folder[] = "/tmp/rondo-wrapper-XXXXXX";
  CHECK(mkdtemp(folder) != NULL);
  const char* faults = faults_of_jit_wrapper(folder);
  if (!CHECK(faults[0] == '\0')) fprintf(stderr, "%s", faults);
  CHECK(rmdir(folder) == 0);
}

int main(void) {
  rondo_context_options options = {.struct_size = sizeof options, .device = RONDO_DEVICE_CPU, .log = keep};
  rondo_context* context = NULL;
  OK(rondo_context_create(&options, &context));
  rondo_cell_options shipped = {.struct_size = sizeof shipped, .path = "mingru"};
  rondo_cell* cell = NULL;
  OK(rondo_cell_create(&shipped, &cell, NULL));
  rondo_problem problem = {.struct_size = sizeof problem, .batch = 2, .time = 3, .heads = 1, .dim = 16};
  problem.type = RONDO_TYPE_F32;
  problem.pass = RONDO_PASS_FORWARD;
  test_reference(context, cell, &problem);
  test_unrounded(context, cell, problem);
  test_kernels(context, cell, &problem);
  test_wrapper();
  OK(rondo_cell_destroy(cell));
  OK(rondo_context_destroy(context));
  return report();
}
