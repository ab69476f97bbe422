/* Plans whose choice a lock file pins, on the CPU: what is tuned, written as `rondo db lock` writes it, and
 * taken from there by a program that has no database. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */

#include <rondo/rondo.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/capi/check.h"
#include "tests/capi/problems.h"

enum { B = 2, T = 4, D = 32, SKIPPED = 77 };

static rondo_context* context;
static char folder[] = "/tmp/rondo-lock-XXXXXX", locked[128], database_path[128];

static rondo_problem small(int32_t pass) { return one_head(RONDO_TYPE_F32, pass, B, T, D); }

static int32_t write_choice(void* user, const rondo_record* record) {
  fprintf(
      user,
      "{\"format\": \"rondo-lock\", \"version\": 1, \"choices\": [{\"cell\": \"%s\", \"device\": \"%s\",\n"
      "\"arch\": \"%s\", \"shape\": {\"B\": %d, \"T\": %d, \"H\": %d, \"D\": %d}, \"dtype\": \"%s\",\n"
      "\"math\": \"%s\", \"pass\": \"%s\", \"cell_name\": \"%s\", \"strategy\": \"%s\",\n"
      "\"parameters\": %s, \"rondo_version\": \"0.1.0\"}]}\n",
      record->cell_hash, record->device, record->arch, (int)record->batch, (int)record->time,
      (int)record->heads, (int)record->dim, record->type, record->math, record->pass, record->cell,
      record->strategy, record->parameters);
  return 1; /* the only one */
}

/* Tunes, and pins what was found. False where there is no compiler. */
static int tune(const rondo_cell* cell, char* parameters, size_t room) {
  const rondo_problem problem = small(RONDO_PASS_FORWARD);
  rondo_database_options where = {.struct_size = sizeof where, .path = database_path};
  rondo_plan_options options = {.struct_size = sizeof options, .choose = RONDO_CHOOSE_TUNE, .budget_s = 2};
  options.strategy = "host";
  OK(rondo_database_open(&where, &options.database));
  rondo_plan* plan = NULL;
  const rondo_status status = rondo_plan_create(context, cell, &problem, &options, &plan);
  if (status == RONDO_ERROR_MISSING) return OK(rondo_database_destroy(options.database)), 0;
  rondo_plan_info info = {.struct_size = sizeof info};
  if (CHECK(status == RONDO_OK) && OK(rondo_plan_get_info(plan, &info)))
    snprintf(parameters, room, "%s", info.parameters);
  OK(rondo_plan_destroy(plan));
  FILE* file = fopen(locked, "w");
  if (CHECK(file != NULL)) {
    OK(rondo_database_list(options.database, write_choice, file));
    fclose(file);
  }
  OK(rondo_database_destroy(options.database));
  return 1;
}

static void check_pinned(const rondo_cell* cell, const rondo_problem* problem, rondo_plan_options options,
                         const char* parameters, const char* words) {
  options.struct_size = sizeof options;
  options.lock = locked;
  rondo_plan* plan = NULL;
  if (!OK(rondo_plan_create(context, cell, problem, &options, &plan))) return;
  rondo_plan_info info = {.struct_size = sizeof info};
  OK(rondo_plan_get_info(plan, &info));
  CHECK(strcmp(info.origin, "pinned") == 0 && strcmp(info.strategy, "host") == 0);
  CHECK(info.verified == (options.database != NULL)); /* which holds the proof */
  CHECK(strcmp(info.parameters, parameters) == 0 && strstr(info.note, words) != NULL);
  OK(rondo_plan_destroy(plan));
}

static void test_what_is_pinned(const rondo_cell* cell, const char* parameters) {
  rondo_problem problem = small(RONDO_PASS_FORWARD);
  rondo_plan_options options = {.choose = RONDO_CHOOSE_DEFAULT};
  check_pinned(cell, &problem, options, parameters, "for this problem");
  options.choose = RONDO_CHOOSE_RECORDED; /* which needs no database, for it is pinned */
  check_pinned(cell, &problem, options, parameters, "for this problem");
  rondo_database_options where = {.struct_size = sizeof where, .path = database_path};
  OK(rondo_database_open(&where, &options.database));
  options.strict = 1;
  check_pinned(cell, &problem, options, parameters, "for this problem");
  OK(rondo_database_destroy(options.database));
  problem.time = 3 * T;
  check_pinned(cell, &problem, (rondo_plan_options){0}, parameters, "T=4");
  options = (rondo_plan_options){.struct_size = sizeof options, .strict = 1, .lock = locked};
  rondo_plan* plan = NULL;
  FAILS(rondo_plan_create(context, cell, &problem, &options, &plan), RONDO_ERROR_MISSING, "was not verified");
}

/* What the file does not pin fails, and nothing else chooses in its place. */
static void test_what_is_not(const rondo_cell* cell) {
  rondo_problem problem = small(RONDO_PASS_BACKWARD);
  rondo_plan_options options = {.struct_size = sizeof options, .lock = locked};
  rondo_plan* plan = NULL;
  rondo_training* training = NULL;
  problem.dim = 2 * D;
  FAILS(rondo_plan_create(context, cell, &problem, &options, &plan), RONDO_ERROR_MISSING, "pins no choice");
  problem = small(RONDO_PASS_FORWARD);
  rondo_cell* other = shipped_cell("hgrn");
  FAILS(rondo_plan_create(context, other, &problem, &options, &plan), RONDO_ERROR_MISSING, "pins no choice");
  problem.save = RONDO_SAVE_AUTO;
  FAILS(rondo_training_create(context, other, &problem, &options, &training), RONDO_ERROR_MISSING,
        "pins no choice");
  OK(rondo_cell_destroy(other));
  CHECK(plan == NULL && training == NULL);
}

static void test_what_cannot_be(const rondo_cell* cell) {
  const rondo_problem problem = small(RONDO_PASS_FORWARD);
  rondo_plan* plan = NULL;
  rondo_plan_options options;
#define REFUSED(change, words)                                                                    \
  do {                                                                                            \
    options = (rondo_plan_options){.struct_size = sizeof options, .lock = locked};                \
    change;                                                                                       \
    FAILS(rondo_plan_create(context, cell, &problem, &options, &plan), RONDO_ERROR_INPUT, words); \
  } while (0)
  REFUSED(options.choose = RONDO_CHOOSE_MODEL, "the model is to choose");
  REFUSED(options.choose = RONDO_CHOOSE_TUNE, "a tune is to choose");
  REFUSED(options.strategy = "host", "a strategy is given");
  REFUSED(options.parameters = "tile=4", "parameters are given");
  REFUSED(options.lock = database_path, "JSON");
#undef REFUSED
  options = (rondo_plan_options){.struct_size = sizeof options, .lock = "/no/such/file.lock"};
  FAILS(rondo_plan_create(context, cell, &problem, &options, &plan), RONDO_ERROR_MISSING,
        "/no/such/file.lock");
  CHECK(plan == NULL);
}

int main(void) {
  if (!CHECK(mkdtemp(folder) != NULL)) return report();
  snprintf(locked, sizeof locked, "%s/rondo.lock", folder);
  snprintf(database_path, sizeof database_path, "%s/tuning.db", folder);
  setenv("RONDO_WORKER", "/no/such/rondo", 1); /* tunes in this process */
  const rondo_context_options options = {.struct_size = sizeof options, .device = RONDO_DEVICE_CPU};
  OK(rondo_context_create(&options, &context));
  rondo_cell* cell = shipped_cell("mingru");
  char parameters[512] = "";
  const int compiler = tune(cell, parameters, sizeof parameters);
  if (compiler) {
    test_what_is_pinned(cell, parameters);
    test_what_is_not(cell);
    test_what_cannot_be(cell);
  }
  OK(rondo_cell_destroy(cell));
  OK(rondo_context_destroy(context));
  char command[128];
  snprintf(command, sizeof command, "rm -r '%s'", folder);
  CHECK(system(command) == 0);
  if (!compiler) printf("no LLVM: no kernels of CPUs\n");
  return report() != 0 ? 1 : compiler ? 0 : SKIPPED;
}
