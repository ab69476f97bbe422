/* What a plan on the CPU is where no compiler is installed: the reference, which the log says, unless a
 * kernel is asked for; and the same through the classes of rondo.hpp. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */

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
  test_kernels(context, cell, &problem);
  test_wrapper();
  OK(rondo_cell_destroy(cell));
  OK(rondo_context_destroy(context));
  return report();
}
