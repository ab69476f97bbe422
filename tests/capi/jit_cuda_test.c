/* Plans for a GPU, chosen and compiled: from a cell to a launch over a driver that stands in for a GPU
 * (fake_cuda.h), whose kernels do nothing. Arguments: that driver and the `rondo` program. */
#define _POSIX_C_SOURCE 200809L /* setenv, mkdtemp */

#include <rondo/rondo.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/capi/check.h"
#include "tests/capi/fake_cuda.h"
#include "tests/capi/problems.h"

enum { B = 2, T = 64, D = 64, MOST = 32 };

static fake_cuda* cuda;
static rondo_context* context;
static int notes;
static char logged[4096]; /* their texts */

static void count_notes(void* user, int32_t level, const char* message) {
  notes += user == &notes && level == RONDO_LOG_NOTE && message[0] != '\0';
  strncat(logged, message, sizeof logged - strlen(logged) - 1);
}

static rondo_cell* adder(void) {
  rondo_cell_options what = {.struct_size = sizeof what, .path = "adder"};
  what.text = "cell adder(D) {\n input x[D]\n state h[D]\n next h = h + x\n output h\n}\n";
  rondo_cell* cell = NULL;
  OK(rondo_cell_create(&what, &cell, NULL));
  return cell;
}

static rondo_problem small(int32_t pass) { return one_head(RONDO_TYPE_BF16, pass, B, T, D); }

static int plans_of_several; /* kernels, that were launched again */

/* A call that comes again while another stream is captured, by a program that knows nothing of it: a plan of
 * several kernels records them once, and starts them together from then on. */
static void launch_again(const rondo_plan* plan, const rondo_launch_args* args, int kernels) {
  cuda->set_current(cuda->context_of(0));
  void* const other = cuda->new_stream();
  cuda->set_current(NULL);
  cuda->begin_capture(other, 0);
  const fake_counts before = cuda->counts();
  OK(rondo_launch(plan, args));
  const fake_counts again = cuda->counts();
  OK(rondo_launch(plan, args));
  const fake_counts after = cuda->counts();
  void* graph = NULL;
  cuda->end_capture(other, &graph);
  free(graph);
  free(other);
  plans_of_several += kernels > 1;
  CHECK(again.launches - before.launches == kernels);
  CHECK(after.launches - again.launches == (kernels > 1 ? 0 : 1));
  CHECK(after.graphs - before.graphs == (kernels > 1 ? 2 : 0));
  CHECK(after.replayed - before.replayed >= (kernels > 1 ? 2 * kernels : 0));
  CHECK(after.allocations == before.allocations && after.waits == before.waits);
}

/* Memory for a launch of a plan: all its tensors, of which there are at most MOST. */
static rondo_launch_args new_args(const rondo_plan* plan, rondo_tensor* tensors) {
  rondo_plan_info info = {.struct_size = sizeof info};
  OK(rondo_plan_get_info(plan, &info));
  memset(tensors, 0, MOST * sizeof *tensors);
  for (int32_t i = 0; i < info.tensors; ++i) {
    rondo_tensor_info tensor = {.struct_size = sizeof tensor};
    OK(rondo_plan_get_tensor(plan, i, &tensor));
    tensors[i].index = i;
    tensors[i].type = tensor.type;
    OK(rondo_plan_tensor_bytes(plan, i, B, T, &tensors[i].bytes));
    tensors[i].data = aligned_alloc(256, (size_t)(tensors[i].bytes / 256 + 1) * 256);
  }
  rondo_launch_args args = {.struct_size = sizeof args, .tensor_size = sizeof tensors[0], .tensors = tensors};
  args.tensor_count = (size_t)info.tensors;
  args.batch = B;
  args.time = T;
  OK(rondo_plan_workspace_bytes(plan, B, T, &args.workspace_bytes));
  args.workspace = aligned_alloc(256, (size_t)(args.workspace_bytes / 256 + 1) * 256);
  return args;
}

static void free_args(rondo_launch_args* args) {
  for (size_t i = 0; i < args->tensor_count; ++i) free(args->tensors[i].data);
  free(args->workspace);
}

/* Launches a plan over memory of its own; what a launch does beside launching is nothing. */
static void launch(const rondo_plan* plan) {
  rondo_tensor tensors[MOST];
  rondo_launch_args args = new_args(plan, tensors);
  const fake_counts before = cuda->counts();
  OK(rondo_launch(plan, &args));
  const fake_counts after = cuda->counts();
  CHECK(after.launches > before.launches && after.waits == before.waits);
  CHECK(after.allocations == before.allocations && after.graphs == before.graphs);
  launch_again(plan, &args, after.launches - before.launches);
  OK(rondo_plan_check(plan));
  tensors[0].bytes -= 1;
  FAILS(rondo_launch(plan, &args), RONDO_ERROR_INPUT, "needs");
  FAILS(rondo_plan_prepare(plan, &args), RONDO_ERROR_INPUT, "needs");
  free_args(&args);
}

/* The same without waiting: not while the stream has work left or is captured. */
static void check_stream(const rondo_plan* plan) {
  int32_t ended = 7;
  *cuda->host_word() = 1;
  cuda->leave_streams_unended(1);
  OK(rondo_plan_check_stream(plan, NULL, &ended));
  CHECK(ended == 0);
  cuda->leave_streams_unended(0);
  cuda->set_current(cuda->context_of(0));
  void *const captured = cuda->new_stream(), *const other = cuda->new_stream();
  cuda->set_current(NULL);
  cuda->begin_capture(captured, 0);
  OK(rondo_plan_check_stream(plan, captured, &ended));
  CHECK(ended == 0);
  const fake_counts before = cuda->counts();
  FAILS(rondo_plan_check_stream(plan, other, &ended), RONDO_ERROR_DEVICE, "gave up");
  CHECK(ended == 1 && cuda->counts().waits == before.waits);
  void* graph = NULL;
  CHECK(cuda->end_capture(captured, &graph) == 0);
  OK(rondo_plan_check_stream(plan, captured, &ended));
  CHECK(ended == 1);
  free(graph);
  free(captured);
  free(other);
}

/* Blocks of this plan wait for each other, so that a GPU holds no more than some. */
static void check_largest_batch(const rondo_plan* plan, rondo_launch_args args) {
  int64_t most = 0;
  OK(rondo_plan_largest_batch(plan, T, &most));
  CHECK(most >= B);
  args.batch = most + 1;
  CHECK(rondo_plan_prepare(plan, &args) != RONDO_OK && strstr(rondo_message(), "tensor") == NULL);
}

/* What a kernel says that has waited in vain is told by launches until it was asked for, and then no more. */
static void test_giving_up(void) {
  rondo_cell* cell = shipped_cell("lstm");
  const rondo_problem problem = small(RONDO_PASS_FORWARD);
  rondo_plan_options options = {.struct_size = sizeof options, .strategy = "persistent"};
  rondo_plan* plan = NULL;
  if (OK(rondo_plan_create(context, cell, &problem, &options, &plan))) {
    rondo_tensor tensors[MOST];
    rondo_launch_args args = new_args(plan, tensors);
    OK(rondo_launch(plan, &args));
    check_largest_batch(plan, args);
    *cuda->host_word() = 1; /* the plan's status word, as its kernel would write it */
    for (int i = 0; i < 2; ++i) FAILS(rondo_launch(plan, &args), RONDO_ERROR_DEVICE, "gave up");
    FAILS(rondo_plan_check(plan), RONDO_ERROR_DEVICE, "gave up");
    OK(rondo_plan_check(plan));
    check_stream(plan);
    OK(rondo_launch(plan, &args));
    free_args(&args);
    OK(rondo_plan_destroy(plan));
  }
  OK(rondo_cell_destroy(cell));
}

static void test_by_model(void) {
  rondo_cell* cell = shipped_cell("mingru");
  const rondo_problem problem = small(RONDO_PASS_FORWARD);
  rondo_plan* plan = NULL;
  if (OK(rondo_plan_create(context, cell, &problem, NULL, &plan))) {
    CHECK(cuda->current() == NULL); /* the thread's context stays the caller's */
    rondo_plan_info info = {.struct_size = sizeof info};
    OK(rondo_plan_get_info(plan, &info));
    CHECK(strcmp(info.origin, "by model") == 0 && strcmp(info.strategy, "stream") == 0 && info.verified == 0);
    CHECK(info.expected_ms > 0 && info.batch == B && info.dim == D && strcmp(info.type, "bf16") == 0);
    launch(plan);
    OK(rondo_plan_destroy(plan));
  }
  rondo_plan_options options = {.struct_size = sizeof options, .strategy = "stream", .alignment = 2};
  options.parameters = "segments=1 steps=16";
  if (OK(rondo_plan_create(context, cell, &problem, &options, &plan))) {
    rondo_plan_info info = {.struct_size = sizeof info};
    OK(rondo_plan_get_info(plan, &info));
    CHECK(strstr(info.parameters, "segments=1 ") != NULL && strstr(info.parameters, "steps=16") != NULL);
    rondo_tensor_info tensor = {.struct_size = sizeof tensor};
    OK(rondo_plan_get_tensor(plan, 0, &tensor));
    CHECK(tensor.strided == 1 && tensor.alignment == 2);
    OK(rondo_plan_destroy(plan));
  }
  options.strategy = "nonsense";
  FAILS(rondo_plan_create(context, cell, &problem, &options, &plan), RONDO_ERROR_INPUT, "nonsense");
  options.strategy = "persistent";
  FAILS(rondo_plan_create(context, cell, &problem, &options, &plan), RONDO_ERROR_INPUT, "persistent");
  rondo_problem in_double = problem;
  in_double.type = RONDO_TYPE_F64;
  FAILS(rondo_plan_create(context, cell, &in_double, NULL, &plan), RONDO_ERROR_UNSUPPORTED,
        "no kernel computes in fp64");
  OK(rondo_cell_destroy(cell));
}

/* Whether what stands at `at` is the mark. A value that goes on in another page of the database has four
 * bytes before its rest there: the number of the page after it. */
static int is_mark(const char* bytes, size_t size, size_t at) {
  enum { PAGE = 4096, NUMBER = 4 };
  for (const char* mark = "RONDOEXE"; *mark != 0; ++mark, ++at) {
    if (at % PAGE == 0) at += NUMBER;
    if (at >= size || bytes[at] != *mark) return 0;
  }
  return 1;
}

/* That the file holds a kernel, as an executable begins. Not while the database is open: closing the file
 * would drop the locks that it holds on it. */
static void check_kept(const char* path) {
  static char bytes[1 << 22];
  FILE* file = fopen(path, "rb");
  if (!CHECK(file != NULL)) return;
  const size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  int found = 0;
  for (size_t at = 0; at < size && !found; ++at) found = is_mark(bytes, size, at);
  CHECK(found);
}

/* Kernels of the database at `path`, which is open and not read beside it, stay behind where it is merged. */
static void check_kernels(const char* path, const char* folder) {
  char other[128];
  snprintf(other, sizeof other, "%s/other.db", folder);
  rondo_database_options where = {.struct_size = sizeof where, .path = other};
  rondo_database* into = NULL;
  OK(rondo_database_open(&where, &into));
  FAILS(rondo_database_import(into, path, NULL), RONDO_ERROR_INPUT, "which is open");
  rondo_cell_options text = {.struct_size = sizeof text, .path = path};
  rondo_cell* cell = NULL;
  FAILS(rondo_cell_create(&text, &cell, NULL), RONDO_ERROR_INPUT, "which is open");
  rondo_merge_report merged = {.struct_size = sizeof merged};
  OK(rondo_database_merge(into, path, &merged));
  CHECK(merged.kernels == 0);
  OK(rondo_database_destroy(into));
}

static void test_recorded(const char* folder) {
  char path[128];
  snprintf(path, sizeof path, "%s/tuning.db", folder);
  rondo_cell* cell = shipped_cell("mingru");
  const rondo_problem problem = small(RONDO_PASS_FORWARD);
  rondo_plan* plan = NULL;
  rondo_plan_options options = {.struct_size = sizeof options, .choose = RONDO_CHOOSE_RECORDED};
  FAILS(rondo_plan_create(context, cell, &problem, &options, &plan), RONDO_ERROR_INPUT, "needs a database");
  rondo_database_options where = {.struct_size = sizeof where, .path = path};
  OK(rondo_database_open(&where, &options.database));
  FAILS(rondo_plan_create(context, cell, &problem, &options, &plan), RONDO_ERROR_MISSING,
        "nothing that serves");
  options.choose = RONDO_CHOOSE_MODEL; /* whose kernels are kept too */
  OK(rondo_plan_create(context, cell, &problem, &options, &plan));
  OK(rondo_plan_destroy(plan));
  check_kernels(path, folder);
  options.choose = RONDO_CHOOSE_DEFAULT;
  options.strict = RONDO_PROOF_REQUIRED;
  FAILS(rondo_plan_create(context, cell, &problem, &options, &plan), RONDO_ERROR_MISSING, "verified");
  options.strict = RONDO_PROOF_LATER; /* what the model chose needs none */
  OK(rondo_plan_create(context, cell, &problem, &options, &plan));
  OK(rondo_plan_destroy(plan));
  options.strict = RONDO_PROOF_NOW;
  OK(rondo_plan_create(context, cell, &problem, &options, &plan));
  OK(rondo_database_destroy(options.database)); /* the plan does not need it any more */
  check_kept(path);
  launch(plan);
  OK(rondo_plan_destroy(plan));
  OK(rondo_cell_destroy(cell));
}

static void test_training(void) {
  rondo_cell* cell = shipped_cell("lstm");
  rondo_problem problem = small(RONDO_PASS_FORWARD);
  problem.save = RONDO_SAVE_AUTO;
  rondo_training* training = NULL;
  if (OK(rondo_training_create(context, cell, &problem, NULL, &training))) {
    rondo_training_info info = {.struct_size = sizeof info};
    OK(rondo_training_get_info(training, &info));
    CHECK(info.save == RONDO_SAVE_STATES || info.save == RONDO_SAVE_PRODUCTS);
    int saved = 0;
    for (int32_t i = 0; i < info.shared; ++i) {
      rondo_shared_tensor shared = {.struct_size = sizeof shared};
      OK(rondo_training_get_shared(training, i, &shared));
      saved += shared.saved;
    }
    CHECK(saved >= 2); /* h, which is the output, and c */
    rondo_training_sizes sizes = {.struct_size = sizeof sizes};
    OK(rondo_training_get_sizes(training, B, T, &sizes));
    CHECK(sizes.saved_bytes >= (int64_t)B * T * D * 2);
    for (int32_t pass = RONDO_PASS_FORWARD_SAVE; pass <= RONDO_PASS_BACKWARD; ++pass) {
      rondo_plan* plan = NULL;
      OK(rondo_training_get_plan(training, pass, &plan));
      launch(plan);
      OK(rondo_plan_destroy(plan));
    }
    OK(rondo_training_destroy(training));
  }
  OK(rondo_cell_destroy(cell));
}

static int32_t stop(void* user, const rondo_progress* progress) {
  ++*(int*)user;
  CHECK(progress->struct_size >= sizeof *progress && progress->total > 0 && strlen(progress->phase) > 0);
  return 1;
}

static void test_tuning(const char* program) {
  rondo_cell* cell = shipped_cell("mingru");
  const rondo_problem problem = small(RONDO_PASS_FORWARD);
  rondo_plan* plan = NULL;
  int calls = 0;
  rondo_plan_options options = {.struct_size = sizeof options, .choose = RONDO_CHOOSE_TUNE, .budget_s = 60};
  options.progress = stop;
  options.progress_user = &calls;
  options.workers = 1;
  /* With workers, and where none can be had: the call stops soon after the callback said so. */
  for (int i = 0; i < 2; ++i) {
    setenv("RONDO_WORKER", i == 0 ? program : "/no/such/rondo", 1);
    calls = 0;
    FAILS(rondo_plan_create(context, cell, &problem, &options, &plan), RONDO_ERROR_CANCELLED,
          "by the caller");
    CHECK(calls >= 1 && plan == NULL);
  }
  options.parameters = "segments=1";
  FAILS(rondo_plan_create(context, cell, &problem, &options, &plan), RONDO_ERROR_INPUT, "leave one");
  OK(rondo_cell_destroy(cell));
}

static int32_t go_on(void* user, const rondo_progress* progress) {
  return ++*(int*)user, progress->seconds_left > 1e9;
}

static int32_t expect_no_best(void* user, const rondo_record* record) {
  ++*(int*)user;
  CHECK(record->trials > 0 && record->best_ms == 0 && record->strategy[0] == '\0');
  return 0;
}

/* To the end: kernels that compute nothing are all wrong, and a diagnosis says so. Nothing becomes best. */
static void test_tuning_to_the_end(const char* program, const char* folder) {
  char path[128];
  snprintf(path, sizeof path, "%s/tuned.db", folder);
  rondo_cell* cell = adder();
  const rondo_problem problem = small(RONDO_PASS_FORWARD);
  rondo_database_options where = {.struct_size = sizeof where, .path = path};
  rondo_plan_options options = {.struct_size = sizeof options, .choose = RONDO_CHOOSE_TUNE, .budget_s = 15};
  OK(rondo_database_open(&where, &options.database));
  int calls = 0, records = 0;
  options.progress = go_on;
  options.progress_user = &calls;
  options.workers = 1;
  options.strategy = "stream";
  setenv("RONDO_WORKER", program, 1);
  rondo_plan* plan = NULL;
  FAILS(rondo_plan_create(context, cell, &problem, &options, &plan), RONDO_ERROR_WRONG, "give wrong results");
  CHECK(plan == NULL && calls > 1 && strlen(rondo_hint()) > 0);
  OK(rondo_database_list(options.database, expect_no_best, &records));
  CHECK(records == 1);
  /* What was found wrong is recorded, and the model chooses. */
  options.choose = RONDO_CHOOSE_DEFAULT;
  options.strategy = NULL;
  if (OK(rondo_plan_create(context, cell, &problem, &options, &plan))) launch(plan);
  OK(rondo_plan_destroy(plan));
  OK(rondo_database_destroy(options.database));
  OK(rondo_cell_destroy(cell));
}

/* "a=1 exchange=cluster" as the members of a JSON object, whose values are numbers. */
static void print_members(FILE* file, const char* parameters) {
  static const char* const words[][2] = {
      {"cluster", "0"}, {"none", "0"}, {"latency", "1"}, {"throughput", "2"}};
  char copy[1024], *rest = copy;
  snprintf(copy, sizeof copy, "%s", parameters);
  for (char* each = strtok_r(copy, " ", &rest); each != NULL; each = strtok_r(NULL, " ", &rest)) {
    char* value = strchr(each, '=');
    *value++ = '\0';
    for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i)
      if (strcmp(value, words[i][0]) == 0) value = (char*)words[i][1];
    fprintf(file, "%s\"%s\": %s", each == copy ? "" : ", ", each, value);
  }
}

/* A file of `rondo db export` of another machine, where the plan's parameters are the best. */
static void write_record(const char* path, const rondo_plan_info* plan) {
  FILE* file = fopen(path, "w");
  if (!CHECK(file != NULL)) return;
  fprintf(file,
          "{\"format\": \"rondo-tuning\", \"version\": 1, \"devices\": [], \"cells\": [],\n"
          "\"problems\": [{\"cell\": \"%s\", \"device\": \"h100\", \"arch\": \"sm_90\",\n"
          "\"shape\": {\"B\": %d, \"T\": %d, \"H\": %d, \"D\": %d},\n"
          "\"dtype\": \"%s\", \"math\": \"%s\", \"pass\": \"%s\",\n"
          "\"trials\": [{\"strategy\": \"%s\", \"parameters\": {",
          plan->cell_hash, (int)plan->batch, (int)plan->time, (int)plan->heads, (int)plan->dim, plan->type,
          plan->math, plan->pass, plan->strategy);
  print_members(file, plan->parameters);
  fputs(
      "},\n\"status\": \"ok\", \"verified\": true, \"reason\": \"\", \"best\": true,\n"
      "\"median_ms\": 1, \"spread\": 0.01, \"samples\": 7, \"registers\": 0, \"shared_bytes\": 0,\n"
      "\"spill_bytes\": 0, \"cubin_key\": \"\", \"rondo_version\": \"0.1.0\", \"created_at\": 1}]}]}\n",
      file);
  CHECK(fclose(file) == 0);
}

/* A file of `rondo db lock` with the choices of both plans of a training object. */
static void write_lock(const char* path, const rondo_training* training) {
  FILE* file = fopen(path, "w");
  if (!CHECK(file != NULL)) return;
  fputs("{\"format\": \"rondo-lock\", \"version\": 1, \"choices\": [", file);
  for (int32_t pass = RONDO_PASS_FORWARD_SAVE; pass <= RONDO_PASS_BACKWARD; ++pass) {
    rondo_plan* plan = NULL;
    rondo_plan_info info = {.struct_size = sizeof info};
    OK(rondo_training_get_plan(training, pass, &plan));
    OK(rondo_plan_get_info(plan, &info));
    fprintf(file,
            "%s{\"cell\": \"%s\", \"device\": \"h100\", \"arch\": \"sm_90\", \"cell_name\": \"%s\",\n"
            "\"shape\": {\"B\": %d, \"T\": %d, \"H\": %d, \"D\": %d}, \"dtype\": \"%s\", \"math\": \"%s\",\n"
            "\"pass\": \"%s\", \"rondo_version\": \"0.1.0\", \"strategy\": \"%s\", \"parameters\": {",
            pass == RONDO_PASS_BACKWARD ? "," : "", info.cell_hash, info.cell, (int)info.batch,
            (int)info.time, (int)info.heads, (int)info.dim, info.type, info.math, info.pass, info.strategy);
    print_members(file, info.parameters);
    fputs("}}\n", file);
    OK(rondo_plan_destroy(plan));
  }
  fputs("]}\n", file);
  CHECK(fclose(file) == 0);
}

/* Of two ways to save, the one that the file pins. */
static void test_pinned_training(const char* folder) {
  char path[128];
  snprintf(path, sizeof path, "%s/rondo.lock", folder);
  rondo_cell* cell = shipped_cell("lstm");
  rondo_problem problem = small(RONDO_PASS_FORWARD);
  for (int32_t save = RONDO_SAVE_STATES; save <= RONDO_SAVE_PRODUCTS; ++save) {
    rondo_training* training = NULL;
    rondo_training_info info = {.struct_size = sizeof info};
    const rondo_plan_options options = {.struct_size = sizeof options, .lock = path};
    problem.save = save;
    OK(rondo_training_create(context, cell, &problem, NULL, &training));
    write_lock(path, training);
    OK(rondo_training_destroy(training));
    problem.save = RONDO_SAVE_AUTO;
    OK(rondo_training_create(context, cell, &problem, &options, &training));
    OK(rondo_training_get_info(training, &info));
    CHECK(info.save == save);
    OK(rondo_training_destroy(training));
    problem.save = RONDO_SAVE_STATES + RONDO_SAVE_PRODUCTS - save;
    FAILS(rondo_training_create(context, cell, &problem, &options, &training), RONDO_ERROR_MISSING,
          "pins no");
  }
  OK(rondo_cell_destroy(cell));
}

/* What was recorded elsewhere is verified on first use. Kernels that compute nothing are wrong: the log says
 * so, and that the record is passed over; it is not looked at again. */
static void test_notes(const char* folder) {
  char path[128], record[128];
  snprintf(path, sizeof path, "%s/tuned.db", folder); /* which knows the GPU and the cell */
  snprintf(record, sizeof record, "%s/record.json", folder);
  rondo_cell* cell = adder();
  rondo_problem problem = small(RONDO_PASS_FORWARD);
  problem.time = T / 2;
  rondo_plan* plan = NULL;
  rondo_plan_info info = {.struct_size = sizeof info};
  notes = 0;
  OK(rondo_plan_create(context, cell, &problem, NULL, &plan));
  CHECK(notes == 0); /* of what the model chose there is nothing to say */
  if (OK(rondo_plan_get_info(plan, &info))) write_record(record, &info);
  OK(rondo_plan_destroy(plan));
  rondo_database_options where = {.struct_size = sizeof where, .path = path};
  rondo_plan_options options = {.struct_size = sizeof options};
  OK(rondo_database_open(&where, &options.database));
  rondo_merge_report merged = {.struct_size = sizeof merged};
  OK(rondo_database_import(options.database, record, &merged));
  CHECK(merged.trials == 1 && merged.best == 1);
  OK(rondo_database_destroy(options.database));
  where.read_only = 1; /* all is as below, and nothing of it is kept */
  OK(rondo_database_open(&where, &options.database));
  notes = 0;
  logged[0] = '\0';
  OK(rondo_plan_create(context, cell, &problem, &options, &plan));
  OK(rondo_plan_destroy(plan));
  CHECK(notes == 2 && strstr(logged, "not kept") != NULL && strstr(logged, "it is passed over") != NULL);
  OK(rondo_database_destroy(options.database));
  where.read_only = 0;
  OK(rondo_database_open(&where, &options.database));
  for (int i = 0; i < 2; ++i) {
    notes = 0;
    logged[0] = '\0';
    OK(rondo_plan_create(context, cell, &problem, &options, &plan));
    OK(rondo_plan_get_info(plan, &info));
    CHECK(strcmp(info.origin, "by model") == 0 && info.verified == 0);
    OK(rondo_plan_destroy(plan));
    CHECK(notes == (i == 0 ? 2 : 0));
    CHECK((strstr(logged, "so verified on first use") != NULL) == (i == 0));
    CHECK((strstr(logged, "it is passed over") != NULL) == (i == 0));
  }
  OK(rondo_database_destroy(options.database));
  OK(rondo_cell_destroy(cell));
}

int main(int argc, char** argv) {
  if (!CHECK(argc == 3)) return report();
  setenv("RONDO_LIBCUDA", argv[1], 1);
  cuda = fake_cuda_of(argv[1]);
  if (!CHECK(cuda != NULL)) return report();
  char folder[] = "/tmp/rondo-jit-XXXXXX";
  if (!CHECK(mkdtemp(folder) != NULL)) return report();
  rondo_context_options options = {.struct_size = sizeof options, .device = RONDO_DEVICE_CUDA};
  options.log = count_notes;
  options.log_user = &notes;
  if (OK(rondo_context_create(&options, &context))) {
    test_by_model();
    test_giving_up();
    test_recorded(folder);
    test_training();
    test_tuning(argv[2]);
    test_tuning_to_the_end(argv[2], folder);
    test_notes(folder);
    test_pinned_training(folder);
    OK(rondo_context_destroy(context));
  }
  CHECK(plans_of_several > 0);
  CHECK(cuda->counts().modules_loaded == cuda->counts().modules_unloaded);
  CHECK(cuda->counts().contexts_retained == cuda->counts().contexts_released);
  CHECK(cuda->current() == NULL);
  char command[128];
  snprintf(command, sizeof command, "rm -r '%s'", folder);
  CHECK(system(command) == 0);
  return report();
}
