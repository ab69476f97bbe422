/* Several threads on one database, one package, one training object and plans of each, over a driver that
 * stands in for a GPU (fake_cuda.h): each thread has the results, messages and CUDA context that it would
 * have alone. Argument: that driver. */
#define _POSIX_C_SOURCE 200809L /* setenv, mkdtemp */

#include <pthread.h>
#include <rondo/rondo.h>
#include <unistd.h>

#include "tests/capi/fake_cuda.h"
#include "tests/capi/files.h"
#include "tests/capi/package_files.h"
#include "tests/capi/stand_in.h"
#include "tests/capi/tensors.h"

enum { THREADS = 4, ROUNDS = 10, B = 2, T = 16, D = 16, UNIT = 8, STEPS = 4 };

static fake_cuda* cuda;

/* Of all threads. */
static rondo_context* context;
static rondo_cell* cell;
static rondo_database* database;
static rondo_package* package;
static rondo_training* training;
static rondo_plan* backward; /* of the training object: several kernels, so that its calls become graphs */
static rondo_plan* sums;     /* a kernel that computes (stand_in.h) */
static rondo_training_sizes sizes;
static char import_path[64];

typedef struct {
  int number;
  int wrong;    /* counted by the thread, which must not use CHECK */
  void* stream; /* and memory, which threads do not share */
  plan_memory gradients, running;
} work;

static int counts_as_wrong(const work* w, int line, const char* what) {
  fprintf(stderr, "%s:%d: thread %d: it does not hold that %s (%s)\n", __FILE__, line, w->number, what,
          rondo_message());
  return 1;
}
#define HOLDS(condition) (w->wrong += (condition) ? 0 : counts_as_wrong(w, __LINE__, #condition))
#define WORKS(call) HOLDS((call) == RONDO_OK)

static void use_plans(work* w) {
  float* const out = data_of(&w->running, "h_out");
  const float *x = data_of(&w->running, "x"), *scale = data_of(&w->running, "scale"),
              *first = data_of(&w->running, "h_first");
  memset(out, 0, B * STEPS * UNIT * sizeof *out);
  WORKS(launch_memory(sums, &w->running));
  for (int b = 0; b < B; ++b)
    for (int i = 0; i < UNIT; ++i) {
      float h = first[b * UNIT + i];
      for (int t = 0; t < STEPS; ++t) {
        h += scale[i] * x[(b * STEPS + t) * UNIT + i];
        HOLDS(out[(b * STEPS + t) * UNIT + i] == h);
      }
    }
  /* More calls than graphs are kept, so that those of one thread make room for those of another. */
  for (int i = 0; i < 20 * T; ++i) {
    w->gradients.args.time = T - i % T;
    WORKS(launch_memory(backward, &w->gradients));
  }
  w->gradients.args.time = T;
  WORKS(launch_memory(backward, &w->gradients));
  WORKS(rondo_plan_prepare(backward, &w->gradients.args));
  WORKS(rondo_plan_check(backward));
}

static void use_package(work* w, int round) {
  rondo_package_info info = {.struct_size = sizeof info};
  rondo_package_entry entry = {.struct_size = sizeof entry};
  const rondo_package_query query = {
      .struct_size = sizeof query, .cell = "paragru", .pass = (w->number + round) % 2 == 0 ? "fw" : "bw"};
  int32_t index = -1;
  rondo_plan* plan = NULL;
  WORKS(rondo_package_verify(package));
  WORKS(rondo_package_get_info(package, &info));
  WORKS(rondo_package_find(package, context, &query, &index));
  WORKS(rondo_package_get_entry(package, index, &entry));
  HOLDS(info.entries == 6 && strcmp(entry.pass, query.pass) == 0);
  WORKS(rondo_package_plan(package, context, &query, &plan));
  rondo_plan_info made = {.struct_size = sizeof made};
  WORKS(rondo_plan_get_info(plan, &made));
  HOLDS(strcmp(made.pass, query.pass) == 0 && strcmp(made.origin, "package") == 0);
  WORKS(rondo_plan_destroy(plan));
}

static void use_training(work* w, int round) {
  rondo_training_info info = {.struct_size = sizeof info};
  rondo_training_sizes again = {.struct_size = sizeof again};
  rondo_shared_tensor shared = {.struct_size = sizeof shared};
  rondo_plan* plan = NULL;
  WORKS(rondo_training_get_info(training, &info));
  WORKS(rondo_training_get_shared(training, round % info.shared, &shared));
  WORKS(rondo_training_get_sizes(training, B, T, &again));
  HOLDS(memcmp(&again, &sizes, sizeof sizes) == 0);
  WORKS(rondo_training_get_plan(training, RONDO_PASS_BACKWARD, &plan));
  int32_t index = -1;
  WORKS(rondo_plan_find_tensor(plan, shared.name, &index));
  HOLDS(index == shared.backward);
  WORKS(launch_memory(plan, &w->gradients)); /* the same work as that of the other handle */
  WORKS(rondo_plan_destroy(plan));
  HOLDS(rondo_plan_check(plan) == RONDO_ERROR_INPUT);
}

static int32_t count_records(void* user, const rondo_record* record) {
  *(int*)user += record->cell[0] != '\0';
  return 0;
}

static rondo_problem problem_of(int32_t pass) {
  rondo_problem problem = {.struct_size = sizeof problem, .batch = B, .time = T, .heads = 1, .dim = D};
  problem.type = RONDO_TYPE_F32;
  problem.pass = pass;
  return problem;
}

/* The kernels are those of the training object, which the database has. */
static void use_database(work* w) {
  int records = 0;
  WORKS(rondo_database_list(database, count_records, &records));
  WORKS(rondo_database_import(database, import_path, NULL));
  const rondo_problem problem = problem_of(RONDO_PASS_BACKWARD);
  const rondo_plan_options options = {.struct_size = sizeof options, .database = database};
  rondo_plan* plan = NULL;
  WORKS(rondo_plan_create(context, cell, &problem, &options, &plan));
  WORKS(launch_memory(plan, &w->gradients));
  WORKS(rondo_plan_destroy(plan));
}

static void* run(void* given) {
  work* w = given;
  void* const current = w->number % 2 == 0 ? NULL : cuda->context_of(1); /* the caller's */
  char name[32];
  snprintf(name, sizeof name, "thread%d", w->number);
  cuda->set_current(current);
  for (int i = 0; i < ROUNDS; ++i) {
    int32_t index = 0;
    HOLDS(rondo_plan_find_tensor(sums, name, &index) == RONDO_ERROR_MISSING);
    use_plans(w);
    use_package(w, i);
    HOLDS(strstr(rondo_message(), name) != NULL); /* of this thread's last failure, not of another's */
    use_training(w, i);
    use_database(w);
    HOLDS(cuda->current() == current);
  }
  return NULL;
}

static int make_all(const char* folder) {
  char path[64];
  snprintf(path, sizeof path, "%s/tuning.db", folder);
  snprintf(import_path, sizeof import_path, "%s/none.json", folder);
  write_file(import_path, EMPTY_EXPORT, strlen(EMPTY_EXPORT));
  size_t bytes = 0;
  const void* image = sample_package(&bytes);
  const rondo_context_options device = {.struct_size = sizeof device, .device = RONDO_DEVICE_CUDA};
  const rondo_cell_options what = {.struct_size = sizeof what, .path = "lstm"};
  const rondo_database_options where = {.struct_size = sizeof where, .path = path};
  const rondo_problem problem = problem_of(RONDO_PASS_FORWARD);
  OK(rondo_context_create(&device, &context));
  OK(rondo_cell_create(&what, &cell, NULL));
  OK(rondo_database_open(&where, &database));
  OK(rondo_package_from_memory(image, bytes, &package));
  const rondo_plan_options options = {.struct_size = sizeof options, .database = database};
  if (!OK(rondo_training_create(context, cell, &problem, &options, &training))) return 0;
  sizes.struct_size = sizeof sizes;
  OK(rondo_training_get_sizes(training, B, T, &sizes));
  OK(rondo_training_get_plan(training, RONDO_PASS_BACKWARD, &backward));
  return OK(stand_in_cuda_plan(context, UNIT / 2, 2, &sums));
}

static void destroy_all(void) {
  OK(rondo_plan_destroy(sums));
  OK(rondo_plan_destroy(backward));
  OK(rondo_training_destroy(training));
  OK(rondo_package_destroy(package));
  OK(rondo_database_destroy(database));
  OK(rondo_cell_destroy(cell));
  OK(rondo_context_destroy(context));
}

static void run_threads(void) {
  static work works[THREADS];
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    work* w = &works[i];
    cuda->set_current(cuda->context_of(0));
    *w = (work){.number = i, .stream = cuda->new_stream()};
    cuda->set_current(NULL);
    w->gradients = memory_of(backward, B, T);
    w->running = memory_of(sums, B, STEPS);
    float* x = data_of(&w->running, "x");
    for (int k = 0; k < B * STEPS * UNIT; ++k) x[k] += (float)i; /* so that no two have the same sums */
    w->gradients.args.stream = w->running.args.stream = w->stream;
  }
  const fake_counts before = cuda->counts();
  for (int i = 0; i < THREADS; ++i) CHECK(pthread_create(&threads[i], NULL, run, &works[i]) == 0);
  for (int i = 0; i < THREADS; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  const fake_counts after = cuda->counts();
  CHECK(after.graphs - before.graphs >= THREADS * ROUNDS); /* calls that came again */
  for (int i = 0; i < THREADS; ++i) {
    CHECK(works[i].wrong == 0);
    free_memory(&works[i].gradients);
    free_memory(&works[i].running);
    free(works[i].stream);
  }
}

int main(int argc, char** argv) {
  char folder[] = "/tmp/rondo-threads-XXXXXX";
  if (!CHECK(argc == 2 && mkdtemp(folder) != NULL)) return report();
  setenv("RONDO_LIBCUDA", argv[1], 1);
  cuda = fake_cuda_of(argv[1]);
  if (!CHECK(cuda != NULL)) return report();
  if (make_all(folder)) run_threads();
  CHECK(rondo_message()[0] == '\0'); /* nothing failed on this thread */
  destroy_all();
  CHECK(cuda->counts().modules_loaded == cuda->counts().modules_unloaded);
  CHECK(cuda->counts().contexts_retained == cuda->counts().contexts_released);
  char command[128];
  snprintf(command, sizeof command, "rm -r '%s'", folder);
  CHECK(system(command) == 0);
  return report();
}
