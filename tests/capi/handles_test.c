/* Every function that takes a handle, given NULL, a handle of each other kind, one that was destroyed, and
 * what never was a handle: an error with its reason, and nothing happens. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */

#include <rondo/rondo.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/capi/check.h"
#include "tests/capi/package_files.h"

enum { CONTEXT, PLAN, CELL, LIST, DATABASE, TRAINING, PACKAGE, KINDS };
enum { CASES = KINDS + 3 };

static const char* const names[] = {"context",         "plan",   "cell", "list of diagnostics", "database",
                                    "training object", "package"};
static void *alive[KINDS], *destroyed[KINDS];
static char database_path[64];

/* Case number `i` of what is no handle of this kind; 0: it is one. `words` is what the message says. */
static int is_wrong(int kind, int i, void** handle, char* words, size_t size) {
  static int64_t somewhere;
  if (i < KINDS) {
    *handle = alive[i];
    snprintf(words, size, "this handle is a %s, not a %s", names[i], names[kind]);
    return i != kind;
  }
  void* const others[] = {destroyed[kind], &somewhere, NULL};
  *handle = others[i - KINDS];
  if (*handle == NULL)
    snprintf(words, size, "the %s is NULL", names[kind]);
  else
    snprintf(words, size, "this handle of a %s was destroyed, or comes from elsewhere", names[kind]);
  return 1;
}

/* The call, with `h` for the handle, and `most` cases: all of them, or all but NULL. */
#define REFUSES_OF(kind, call, most)                             \
  do {                                                           \
    for (int i = 0; i < (most); ++i) {                           \
      void* h = NULL;                                            \
      char words[128];                                           \
      if (!is_wrong(kind, i, &h, words, sizeof words)) continue; \
      FAILS(call, RONDO_ERROR_INPUT, words);                     \
    }                                                            \
  } while (0)
#define REFUSES(kind, call) REFUSES_OF(kind, call, CASES)

static void make_all(void* made[KINDS]) {
  rondo_context_options device = {.struct_size = sizeof device, .device = RONDO_DEVICE_CPU};
  rondo_cell_options what = {.struct_size = sizeof what, .path = "lstm"};
  rondo_cell_options wrong = {.struct_size = sizeof wrong, .text = "cell wrong(D) {}"};
  rondo_problem problem = {.struct_size = sizeof problem, .batch = 1, .time = 2, .heads = 1, .dim = 3};
  rondo_database_options file = {.struct_size = sizeof file, .path = database_path};
  rondo_cell* none = NULL;
  size_t bytes = 0;
  const void* image = sample_package(&bytes);
  OK(rondo_context_create(&device, (rondo_context**)&made[CONTEXT]));
  OK(rondo_cell_create(&what, (rondo_cell**)&made[CELL], NULL));
  FAILS(rondo_cell_create(&wrong, &none, (rondo_diagnostics**)&made[LIST]), RONDO_ERROR_INPUT, NULL);
  OK(rondo_plan_create(made[CONTEXT], made[CELL], &problem, NULL, (rondo_plan**)&made[PLAN]));
  OK(rondo_training_create(made[CONTEXT], made[CELL], &problem, NULL, (rondo_training**)&made[TRAINING]));
  OK(rondo_database_open(&file, (rondo_database**)&made[DATABASE]));
  OK(rondo_package_from_memory(image, bytes, (rondo_package**)&made[PACKAGE]));
}

static void destroy_all(void* made[KINDS]) {
  OK(rondo_package_destroy(made[PACKAGE]));
  OK(rondo_database_destroy(made[DATABASE]));
  OK(rondo_training_destroy(made[TRAINING]));
  OK(rondo_plan_destroy(made[PLAN]));
  OK(rondo_diagnostics_destroy(made[LIST]));
  OK(rondo_cell_destroy(made[CELL]));
  OK(rondo_context_destroy(made[CONTEXT]));
}

/* What makes something of what is refused gives NULL. */
static void test_makers(void) {
  rondo_problem problem = {.struct_size = sizeof problem, .batch = 1, .time = 2, .heads = 1, .dim = 3};
  rondo_package_query query = {.struct_size = sizeof query, .cell = "paragru", .pass = "fw"};
  rondo_plan_options options = {.struct_size = sizeof options};
  rondo_plan* plan = NULL;
  rondo_training* training = NULL;
  int32_t index = 7;
#define MAKES_NONE(kind, into, call) \
  do {                               \
    (into) = alive[PLAN];            \
    REFUSES(kind, call);             \
    CHECK((into) == NULL);           \
  } while (0)
  MAKES_NONE(CONTEXT, plan, rondo_plan_create(h, alive[CELL], &problem, NULL, &plan));
  MAKES_NONE(CELL, plan, rondo_plan_create(alive[CONTEXT], h, &problem, NULL, &plan));
  MAKES_NONE(CONTEXT, plan, rondo_package_plan(alive[PACKAGE], h, &query, &plan));
  MAKES_NONE(PACKAGE, plan, rondo_package_plan(h, alive[CONTEXT], &query, &plan));
  MAKES_NONE(TRAINING, plan, rondo_training_get_plan(h, RONDO_PASS_BACKWARD, &plan));
  void* made = NULL; /* of another type */
  MAKES_NONE(CONTEXT, made, rondo_training_create(h, alive[CELL], &problem, NULL, (rondo_training**)&made));
  MAKES_NONE(CELL, made, rondo_training_create(alive[CONTEXT], h, &problem, NULL, (rondo_training**)&made));
  MAKES_NONE(CELL, plan, rondo_plan_outline(alive[CONTEXT], h, &problem, NULL, &plan));
  MAKES_NONE(CELL, plan, rondo_plan_outline(NULL, h, &problem, NULL, &plan));
  MAKES_NONE(CELL, made, rondo_training_outline(alive[CONTEXT], h, &problem, NULL, (rondo_training**)&made));
#undef MAKES_NONE
  REFUSES(CONTEXT, rondo_package_find(alive[PACKAGE], h, &query, &index));
  REFUSES(PACKAGE, rondo_package_find(h, alive[CONTEXT], &query, &index));
  CHECK(index == 7);
  /* NULL stands for none here. */
  REFUSES_OF(CONTEXT, rondo_plan_outline(h, alive[CELL], &problem, NULL, &plan), CASES - 1);
  REFUSES_OF(CONTEXT, rondo_training_outline(h, alive[CELL], &problem, NULL, &training), CASES - 1);
  REFUSES_OF(
      DATABASE,
      (options.database = h, rondo_plan_create(alive[CONTEXT], alive[CELL], &problem, &options, &plan)),
      CASES - 1);
  REFUSES_OF(DATABASE,
             (options.database = h,
              rondo_training_create(alive[CONTEXT], alive[CELL], &problem, &options, &training)),
             CASES - 1);
  CHECK(plan == NULL && training == NULL);
}

static void test_plans(void) {
  rondo_plan_info info = {.struct_size = sizeof info};
  rondo_tensor_info tensor = {.struct_size = sizeof tensor};
  rondo_launch_args args = {
      .struct_size = sizeof args, .tensor_size = sizeof(rondo_tensor), .batch = 1, .time = 1};
  int64_t bytes = 7;
  int32_t index = 7;
  REFUSES(PLAN, rondo_plan_get_info(h, &info));
  REFUSES(PLAN, rondo_plan_get_tensor(h, 0, &tensor));
  REFUSES(PLAN, rondo_plan_find_tensor(h, "x", &index));
  REFUSES(PLAN, rondo_plan_tensor_bytes(h, 0, 1, 1, &bytes));
  REFUSES(PLAN, rondo_plan_workspace_bytes(h, 1, 1, &bytes));
  REFUSES(PLAN, rondo_plan_step_workspace_bytes(h, 1, &bytes));
  REFUSES(PLAN, rondo_launch(h, &args));
  REFUSES(PLAN, rondo_step(h, &args));
  REFUSES(PLAN, rondo_plan_prepare(h, &args));
  REFUSES(PLAN, rondo_plan_check(h));
  REFUSES(PLAN, rondo_plan_check_stream(h, NULL, &index));
  REFUSES(PLAN, rondo_plan_largest_batch(h, 1, &bytes));
  REFUSES(PLAN, rondo_plan_longest_time(h, 1, 1, &bytes));
  REFUSES(PLAN, rondo_plan_launch_workspace_bytes(h, &args, &bytes));
  CHECK(info.cell == NULL && tensor.name == NULL && bytes == 7 && index == 7);
}

static void test_training(void) {
  rondo_training_info info = {.struct_size = sizeof info, .shared = 7};
  rondo_shared_tensor shared = {.struct_size = sizeof shared};
  rondo_training_sizes sizes = {.struct_size = sizeof sizes, .saved_bytes = 7};
  rondo_training_part part = {.struct_size = sizeof part, .steps = 7};
  rondo_launch_args args = {
      .struct_size = sizeof args, .tensor_size = sizeof(rondo_tensor), .batch = 1, .time = 1};
  REFUSES(TRAINING, rondo_training_get_info(h, &info));
  REFUSES(TRAINING, rondo_training_get_shared(h, 0, &shared));
  REFUSES(TRAINING, rondo_training_get_sizes(h, 1, 1, &sizes));
  REFUSES(TRAINING, rondo_training_get_part(h, 1, 0, &part));
  REFUSES(TRAINING, rondo_training_forward_part(h, 0, &args, NULL, 0));
  REFUSES(TRAINING, rondo_training_backward_part(h, 0, &args, &args, NULL, 0));
  CHECK(part.steps == 7 && info.shared == 7 && shared.name == NULL && sizes.saved_bytes == 7);
}

static int32_t each_record(void* user, const rondo_record* record) {
  (void)record;
  return ++*(int32_t*)user;
}

static void test_others(void) {
  rondo_context_info context = {.struct_size = sizeof context};
  rondo_cell_info cell = {.struct_size = sizeof cell};
  rondo_cell_tensor tensor = {.struct_size = sizeof tensor};
  rondo_constant constant = {NULL, 7};
  rondo_diagnostic diagnostic = {.struct_size = sizeof diagnostic};
  rondo_package_info package = {.struct_size = sizeof package};
  rondo_package_entry entry = {.struct_size = sizeof entry};
  int32_t count = 7;
  const char* svg = NULL;
  REFUSES(CONTEXT, rondo_context_get_info(h, &context));
  REFUSES(CELL, rondo_cell_get_info(h, &cell));
  REFUSES(CELL, rondo_cell_get_tensor(h, 0, &tensor));
  REFUSES(CELL, rondo_cell_get_constant(h, 0, &constant));
  REFUSES(CELL, rondo_cell_get_picture(h, 0, &svg));
  REFUSES(LIST, rondo_diagnostics_count(h, &count));
  REFUSES(LIST, rondo_diagnostics_get(h, 0, &diagnostic));
  REFUSES(DATABASE, rondo_database_list(h, each_record, &count));
  REFUSES(DATABASE, rondo_database_import(h, "/no/such.json", NULL));
  REFUSES(DATABASE, rondo_database_merge(h, "/no/such.db", NULL));
  REFUSES(PACKAGE, rondo_package_get_info(h, &package));
  REFUSES(PACKAGE, rondo_package_get_entry(h, 0, &entry));
  REFUSES(PACKAGE, rondo_package_verify(h));
  CHECK(context.name == NULL && cell.name == NULL && tensor.name == NULL && constant.value == 7);
  CHECK(count == 7 && diagnostic.message == NULL && package.hash == NULL && entry.cell == NULL);
}

/* What is of another kind stays alive, as destroy_all() finds. */
static void test_destruction(void) {
  REFUSES_OF(CONTEXT, rondo_context_destroy(h), CASES - 1);
  REFUSES_OF(PLAN, rondo_plan_destroy(h), CASES - 1);
  REFUSES_OF(CELL, rondo_cell_destroy(h), CASES - 1);
  REFUSES_OF(LIST, rondo_diagnostics_destroy(h), CASES - 1);
  REFUSES_OF(DATABASE, rondo_database_destroy(h), CASES - 1);
  REFUSES_OF(TRAINING, rondo_training_destroy(h), CASES - 1);
  REFUSES_OF(PACKAGE, rondo_package_destroy(h), CASES - 1);
  void* nothing[KINDS] = {NULL};
  destroy_all(nothing);
}

int main(void) {
  char folder[] = "/tmp/rondo-handles-XXXXXX";
  if (!CHECK(mkdtemp(folder) != NULL)) return report();
  snprintf(database_path, sizeof database_path, "%s/tuning.db", folder);
  make_all(destroyed);
  destroy_all(destroyed);
  make_all(alive); /* in the same places of the table */
  test_makers();
  test_plans();
  test_training();
  test_others();
  test_destruction();
  destroy_all(alive);
  char command[128];
  snprintf(command, sizeof command, "rm -r '%s'", folder);
  CHECK(system(command) == 0);
  return report();
}
