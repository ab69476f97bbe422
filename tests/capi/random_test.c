/* Random sequences of calls with right and wrong arguments, on the CPU and over a driver that stands in for a
 * GPU (fake_cuda.h), whose plans come from packages: each call gives a status, and none crashes.
 * RONDO_SEQUENCES sets how many (10,000), RONDO_SEED the first; a failure names those that show it again.
 * Arguments: that driver, and the list of the library's functions, each of which has to succeed and to fail
 * some time. */
#define _POSIX_C_SOURCE 200809L /* setenv, mkdtemp */

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/capi/random_calls.h"
#include "tests/capi/random_packages.h"
#include "tests/capi/random_training.h"

static char folder[] = "/tmp/rondo-random-XXXXXX";
static char database_path[64], import_path[64];
static void* stream; /* of the driver */

static void make_cell(void) {
  static const char* const cells[] = {
      "cell a(D) {\n input x[D]\n param w[D]\n const rate = 0.5\n state h[D]\n next h = rate * h + w * x\n "
      "output h\n}\n",
      "cell b(D) {\n input x[2, D]\n param R[D, D]\n state h[D], c[D]\n next c = 0.5 * c + x[1]\n"
      " next h = tanh(R @ h + x[0]) * c\n output y = next h + next c\n}\n",
      "cell wrong(D) {\n input x[D]\n next h = y\n}\n", "", "cell"};
  rondo_cell_options options = {.struct_size = struct_size(sizeof options)};
  options.text = below(4) == 0 ? NULL : cells[below(8) % 5];
  if (options.text != NULL && below(3) == 0) options.text_bytes = below((uint32_t)strlen(options.text) + 1);
  options.path = text();
  options.name = below(4) == 0 ? text() : NULL;
  static const double clips[] = {0, 0, 0, 1, -1, NAN, INFINITY};
  options.clip_forward = clips[below(7)];
  options.clip_gradient = clips[below(7)];
  static const char* const absent[] = {"w", "b", NULL};
  options.without = below(8) == 0 ? absent : NULL;
  options.without_count = below(8) == 0 ? below(4) : 0;
  rondo_cell* cell = NULL;
  rondo_diagnostics* list = NULL;
  CALL(rondo_cell_create(below(16) == 0 ? NULL : &options, &cell, below(2) == 0 ? NULL : &list));
  keep(CELL, cell);
  keep(LIST, list);
}

static rondo_problem any_problem(void) {
  static const rondo_constant constants[] = {{"dt", 1}, {NULL, 2}, {"rate", NAN}};
  rondo_problem problem = {.struct_size = struct_size(sizeof problem)};
  problem.batch = size_of_call();
  problem.time = size_of_call();
  problem.heads = size_of_call();
  problem.dim = size_of_call();
  problem.type = number(3);
  problem.math = below(3) == 0 ? number(3) : 0;
  problem.pass = number(3);
  problem.save = below(3) == 0 ? number(2) : 0;
  problem.constants = below(8) == 0 ? constants : NULL;
  problem.constant_count = below(8) == 0 ? below(4) : 0;
  problem.every = below(6) == 0 ? size_of_call() : 0;
  return problem;
}

static rondo_plan_options any_options(void) {
  rondo_plan_options options = {.struct_size = struct_size(sizeof options)};
  options.choose = number(3);
  options.database = below(2) == 0 ? NULL : handle(DATABASE);
  options.alignment = below(4) == 0 ? number(16) : 0;
  options.budget_s = below(8) == 0 ? -1 : 0.1;
  options.strategy = below(4) == 0 ? text() : NULL;
  options.parameters = below(4) == 0 ? text() : NULL;
  options.lock = below(16) == 0 ? text() : NULL;
  options.most_memory = below(16) == 0 ? number(1) * 4096 : 0;
  return options;
}

/* Choosing on a GPU takes long. */
static rondo_context* context_of_plan(void) {
  rondo_context* context = handle(CONTEXT);
  rondo_context_info info = {.struct_size = sizeof info};
  return rondo_context_get_info(context, &info) == RONDO_OK && info.ordinal >= 0 && below(3) != 0
             ? pool[CONTEXT][0]
             : context;
}

static void make_plan(void) {
  const rondo_problem problem = any_problem();
  const rondo_plan_options options = any_options();
  const rondo_plan_options* how = below(2) == 0 ? NULL : &options;
  if (below(3) == 0) {
    rondo_training* training = NULL;
    if (below(4) == 0)
      CALL(rondo_training_outline(below(4) == 0 ? NULL : context_of_plan(), handle(CELL), &problem, how,
                                  &training));
    else
      CALL(rondo_training_create(context_of_plan(), handle(CELL), &problem, how, &training));
    keep(TRAINING, training);
  }
  rondo_plan* plan = NULL;
  if (below(4) == 0)
    CALL(rondo_plan_outline(below(4) == 0 ? NULL : context_of_plan(), handle(CELL), &problem, how, &plan));
  else
    CALL(rondo_plan_create(context_of_plan(), handle(CELL), &problem, how, &plan));
  keep(PLAN, plan);
}

/* A place in the memory, mostly aligned, with no more bytes than there are. */
static void* place(int64_t* bytes) {
  const uint32_t at = below(BYTES / 512) * 512 + (below(16) == 0 ? below(64) : 0);
  *bytes = below(8) == 0 ? (int64_t)below(64) : (int64_t)(BYTES - at) < EACH ? BYTES - at : EACH;
  return below(32) == 0 ? NULL : memory + at;
}

/* A launch or a step as it should be, of a plan that is alive. */
static void launch_right(void) {
  rondo_tensor tensors[16];
  memset(tensors, 0, sizeof tensors);
  rondo_plan* plan = pool[PLAN][below(POOL)];
  rondo_plan_info info = {.struct_size = sizeof info};
  if (rondo_plan_get_info(plan, &info) != RONDO_OK || info.tensors > 16 || info.outline != 0) return;
  const int64_t batch = 1 + below(3), time = 1 + below(3);
  int64_t bytes = 0;
  for (int32_t i = 0; i < info.tensors; ++i) {
    rondo_tensor_info tensor = {.struct_size = sizeof tensor};
    CHECK(rondo_plan_get_tensor(plan, i, &tensor) == RONDO_OK);
    CHECK(rondo_plan_tensor_bytes(plan, i, batch, time, &bytes) == RONDO_OK);
    if (bytes > EACH) return;
    tensors[i].index = i;
    tensors[i].type = tensor.type;
    tensors[i].data = memory + i * EACH;
    tensors[i].bytes = EACH;
  }
  CHECK(rondo_plan_workspace_bytes(plan, batch, time, &bytes) == RONDO_OK);
  if (bytes > 16 * EACH) return;
  rondo_launch_args args = {.struct_size = sizeof args, .tensor_size = sizeof tensors[0], .tensors = tensors};
  args.tensor_count = (size_t)info.tensors;
  args.workspace = memory + 16 * EACH;
  args.workspace_bytes = 16 * EACH;
  args.batch = batch;
  args.time = time;
  CALL(rondo_plan_launch_workspace_bytes(plan, &args, &bytes));
  CHECK(bytes <= 16 * EACH);
  rondo_status status = RONDO_OK;
  if (strcmp(info.pass, "fw") == 0 && time == 1)
    note(status = rondo_step(plan, &args), "rondo_step(right)");
  else
    note(status = rondo_launch(plan, &args), "rondo_launch(right)");
  CHECK(status == RONDO_OK);
  if (status != RONDO_OK) fprintf(stderr, "%s\n", rondo_message());
}

static void launch_any(void) {
  rondo_tensor tensors[16];
  memset(tensors, 0, sizeof tensors);
  rondo_plan* plan = handle(PLAN);
  rondo_launch_args args = {.struct_size = struct_size(sizeof args), .tensors = tensors};
  args.tensor_size = below(32) == 0 ? below(300) : sizeof tensors[0];
  args.tensor_count = below(4) == 0 ? below(16) : 8;
  /* Elements of another size than they have: as many of them as there are. */
  if (args.tensor_size * args.tensor_count > sizeof tensors)
    args.tensor_count = sizeof tensors / args.tensor_size;
  for (int i = 0; i < 16; ++i) {
    rondo_tensor_info info = {.struct_size = sizeof info};
    tensors[i].index = below(8) == 0 ? number(12) : i;
    tensors[i].type =
        rondo_plan_get_tensor(plan, i, &info) == RONDO_OK && below(16) != 0 ? info.type : number(3);
    tensors[i].data = place(&tensors[i].bytes);
    if (below(8) == 0) {
      tensors[i].rank = number(6);
      for (int k = 0; k < RONDO_MOST_AXES; ++k) {
        tensors[i].extents[k] = below(4) == 0 ? size_of_call() : info.extents[k];
        tensors[i].strides[k] = below(4) == 0 ? size_of_call() : 1;
      }
    }
  }
  rondo_plan_info info = {.struct_size = sizeof info, .strategy = ""};
  if (rondo_plan_get_info(plan, &info) == RONDO_OK && below(4) != 0)
    args.tensor_count = (size_t)info.tensors % 17;
  if (args.tensor_size * args.tensor_count > sizeof tensors) args.tensor_count = 0;
  args.workspace = place(&args.workspace_bytes);
  args.batch = size_of_call();
  args.time = size_of_call();
  args.stream = below(2) == 0 ? NULL : strcmp(info.strategy, "reference") == 0 ? memory : stream;
  const rondo_launch_args* given = below(32) == 0 ? NULL : &args;
  int64_t bytes = 0;
  CALL(rondo_plan_launch_workspace_bytes(plan, given, below(32) == 0 ? NULL : &bytes));
  switch (below(4)) {
    case 0: CALL(rondo_step(plan, given)); break;
    case 1: CALL(rondo_plan_prepare(plan, given)); break;
    default: CALL(rondo_launch(plan, given)); break;
  }
}

static void ask_any(void) {
  int64_t bytes = 0;
  int32_t index = 0;
  rondo_constant constant;
  const char* svg = NULL;
  rondo_plan* plan = NULL;
  switch (below(23)) {
    case 0: QUERY(rondo_context_info, rondo_context_get_info(handle(CONTEXT), into)); break;
    case 1: QUERY(rondo_plan_info, rondo_plan_get_info(handle(PLAN), into)); break;
    case 2: QUERY(rondo_tensor_info, rondo_plan_get_tensor(handle(PLAN), number(6), into)); break;
    case 3: QUERY(rondo_cell_info, rondo_cell_get_info(handle(CELL), into)); break;
    case 4: QUERY(rondo_cell_tensor, rondo_cell_get_tensor(handle(CELL), number(5), into)); break;
    case 5: QUERY(rondo_diagnostic, rondo_diagnostics_get(handle(LIST), number(3), into)); break;
    case 6: QUERY(rondo_training_info, rondo_training_get_info(handle(TRAINING), into)); break;
    case 7: QUERY(rondo_shared_tensor, rondo_training_get_shared(handle(TRAINING), number(9), into)); break;
    case 8:
      QUERY(rondo_training_sizes,
            rondo_training_get_sizes(handle(TRAINING), size_of_call(), size_of_call(), into));
      break;
    case 9: CALL(rondo_plan_find_tensor(handle(PLAN), text(), below(16) == 0 ? NULL : &index)); break;
    case 10:
      CALL(rondo_plan_tensor_bytes(handle(PLAN), number(6), size_of_call(), size_of_call(),
                                   below(16) == 0 ? NULL : &bytes));
      break;
    case 11:
      CALL(rondo_plan_workspace_bytes(handle(PLAN), size_of_call(), size_of_call(),
                                      below(16) == 0 ? NULL : &bytes));
      break;
    case 12: CALL(rondo_plan_step_workspace_bytes(handle(PLAN), size_of_call(), &bytes)); break;
    case 13: CALL(rondo_cell_get_constant(handle(CELL), number(2), &constant)); break;
    case 14: CALL(rondo_diagnostics_count(handle(LIST), below(16) == 0 ? NULL : &index)); break;
    case 15: CALL(rondo_plan_check(handle(PLAN))); break;
    case 16:
      CALL(rondo_training_get_plan(handle(TRAINING), number(2), &plan));
      keep(PLAN, plan);
      break;
    case 17:
      CALL(rondo_plan_largest_batch(handle(PLAN), size_of_call(), below(16) == 0 ? NULL : &bytes));
      break;
    case 18:
      CALL(rondo_plan_check_stream(handle(PLAN), below(2) == 0 ? NULL : stream,
                                   below(16) == 0 ? NULL : &index));
      break;
    case 19:
      CALL(rondo_plan_longest_time(handle(PLAN), size_of_call(), size_of_call(),
                                   below(16) == 0 ? NULL : &bytes));
      break;
    case 20: CALL(rondo_cell_get_picture(handle(CELL), number(2), below(16) == 0 ? NULL : &svg)); break;
    case 21:
      QUERY(rondo_training_part, rondo_training_get_part(handle(TRAINING), size_of_call(), number(2), into));
      break;
    default: CHECK(rondo_status_name(number(12)) != NULL && rondo_version() != NULL); break;
  }
}

static int32_t stop_at_once(void* user, const rondo_record* record) { return user != NULL && record != NULL; }

static void use_database(void) {
  rondo_database_options options = {.struct_size = struct_size(sizeof options), .path = database_path};
  options.read_only = number(1);
  rondo_database* database = NULL;
  switch (below(8)) {
    case 0:
      CALL(rondo_database_open(&options, &database));
      keep(DATABASE, database);
      break;
    case 1:
      CALL(rondo_database_import(handle(DATABASE), below(2) == 0 ? import_path : "/no/such.json", NULL));
      break;
    case 2: CALL(rondo_database_merge(handle(DATABASE), database_path, NULL)); break;
    default: CALL(rondo_database_list(handle(DATABASE), below(8) == 0 ? NULL : stop_at_once, memory)); break;
  }
}

static void make_context(void) {
  rondo_context_options options = {.struct_size = struct_size(sizeof options)};
  static const int capabilities[] = {75, 80, 90, 120};
  options.device = below(4) == 0 ? number(2) : (int32_t)below(2) * RONDO_DEVICE_CPU;
  options.ordinal = number(1);
  options.threads = below(8) == 0 ? number(4) : 0;
  cuda->set_capability(capabilities[below(4)]);
  rondo_context* context = NULL;
  CALL(rondo_context_create(below(32) == 0 ? NULL : &options, &context));
  keep(CONTEXT, context);
}

static void destroy_any(void) {
  const int kind = (int)below(KINDS);
  destroy(kind, handle(kind));
}

static void sequence(void) {
  for (int i = 0; i < CALLS; ++i) {
    switch (below(16)) {
      case 0: make_context(); break;
      case 1: make_cell(); break;
      case 2: make_plan(); break;
      case 3: destroy_any(); break;
      case 4:
        if (below(4) == 0)
          use_database();
        else if (below(3) == 0)
          make_package();
        else
          choose_of_package();
        break;
      case 5:
      case 6: launch_any(); break;
      case 7: launch_right(); break;
      case 8: ask_package(); break;
      case 9: train_part(); break;
      default: ask_any(); break;
    }
  }
}

/* A plan on the CPU. */
static void begin_on_cpu(int i) {
  rondo_context_options options = {.struct_size = sizeof options, .device = RONDO_DEVICE_CPU};
  CHECK(rondo_context_create(&options, (rondo_context**)&pool[CONTEXT][i]) == RONDO_OK);
  rondo_problem problem = {.struct_size = sizeof problem, .batch = 1, .time = 1, .heads = 2, .dim = 3};
  problem.type = RONDO_TYPE_BF16;
  problem.pass = i % 3;
  CHECK(rondo_plan_create(pool[CONTEXT][i], pool[CELL][i], &problem, NULL, (rondo_plan**)&pool[PLAN][i]) ==
        RONDO_OK);
}

/* A plan of a package on a GPU. */
static void begin_on_gpu(int i) {
  static const int capabilities[] = {90, 90, 80};
  rondo_context_options options = {.struct_size = sizeof options, .device = RONDO_DEVICE_CUDA};
  options.ordinal = i / 2 % 2;
  cuda->set_capability(capabilities[i / 2]);
  CHECK(rondo_context_create(&options, (rondo_context**)&pool[CONTEXT][i]) == RONDO_OK);
  rondo_package_query query = {.struct_size = sizeof query, .cell = "paragru", .pass = i == 1 ? "bw" : "fw"};
  CHECK(rondo_package_plan(pool[PACKAGE][i], pool[CONTEXT][i], &query, (rondo_plan**)&pool[PLAN][i]) ==
        RONDO_OK);
}

/* So that most handles of a pool are good to begin with. */
static void begin_pools(void) {
  static const char* const cells[] = {"lstm", "mingru", "slstm"};
  alter_images();
  for (int i = 0; i < POOL; ++i) {
    rondo_cell_options cell = {.struct_size = sizeof cell, .path = cells[i % 3]};
    CHECK(rondo_cell_create(&cell, (rondo_cell**)&pool[CELL][i], NULL) == RONDO_OK);
    CHECK(rondo_package_from_memory(sample, sample_bytes, (rondo_package**)&pool[PACKAGE][i]) == RONDO_OK);
    if (i % 2 == 0)
      begin_on_cpu(i);
    else
      begin_on_gpu(i);
  }
  rondo_problem problem = {.struct_size = sizeof problem, .batch = 1, .time = 1, .heads = 1, .dim = 2};
  CHECK(rondo_training_create(pool[CONTEXT][0], pool[CELL][0], &problem, NULL,
                              (rondo_training**)&pool[TRAINING][0]) == RONDO_OK);
  problem.every = 2;
  for (int i = 1; i < 3; ++i)
    CHECK(rondo_training_create(pool[CONTEXT][0], pool[CELL][i], &problem, NULL,
                                (rondo_training**)&pool[TRAINING][i]) == RONDO_OK);
  rondo_database_options options = {.struct_size = sizeof options, .path = database_path};
  CHECK(rondo_database_open(&options, (rondo_database**)&pool[DATABASE][0]) == RONDO_OK);
}

/* Databases and packages to open. */
static void begin_files(void) {
  snprintf(database_path, sizeof database_path, "%s/tuning.db", folder);
  snprintf(import_path, sizeof import_path, "%s/import.json", folder);
  write_file(import_path, EMPTY_EXPORT, strlen(EMPTY_EXPORT));
  begin_packages(folder);
}

/* Functions of the list that the sequences need not call. */
#define GIVE_NO_STATUS "rondo_hint rondo_message rondo_status_name rondo_version"

static uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* given = getenv(name);
  return given == NULL ? otherwise : strtoull(given, NULL, 10);
}

/* Every function of the list was called, and did both. */
static void check_functions(const char* list) {
  FILE* file = fopen(list, "r");
  if (!CHECK(file != NULL)) return;
  char line[256];
  while (fgets(line, sizeof line, file) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    if (line[0] == '#' || line[0] == '\0' || strstr(GIVE_NO_STATUS, line) != NULL) continue;
    int i = 0;
    while (i < MOST_FUNCTIONS && strcmp(functions[i].name, line) != 0) ++i;
    if (!CHECK(i < MOST_FUNCTIONS && functions[i].ok > 0 && functions[i].refused > 0))
      fprintf(stderr, "%s never succeeds, or never fails\n", line);
  }
  fclose(file);
}

static void check_counts(uint64_t sequences, const char* list) {
  for (int status = 0; status <= RONDO_ERROR_MEMORY; ++status)
    printf("%s %lld\n", rondo_status_name(status), (long long)statuses[status]);
  for (int i = 0; i < OF_HANDLES; ++i)
    printf("'%s' %lld\n", of_handles[i].words, (long long)of_handles[i].count);
  const int on_gpu = cuda->counts().launches;
  printf("%lld launches, %d of kernels on the stand-in of a GPU\n", (long long)launched, on_gpu);
  CHECK(cuda->counts().modules_loaded == cuda->counts().modules_unloaded);
  CHECK(cuda->counts().contexts_retained == cuda->counts().contexts_released);
  if (sequences < 1000) return;
  /* The calls do not all fail: plans are made and launched. */
  const int64_t least = (int64_t)sequences / 10;
  CHECK(statuses[RONDO_OK] > 10 * least && launched > least && on_gpu > least);
  CHECK(statuses[RONDO_ERROR_INPUT] > least && statuses[RONDO_ERROR_UNSUPPORTED] > least / 10 &&
        statuses[RONDO_ERROR_MISSING] > least / 10);
  for (int i = 0; i < OF_HANDLES; ++i) CHECK(of_handles[i].count > least / 10);
  check_functions(list);
}

static void run(uint64_t sequences, uint64_t first) {
  for (uint64_t i = 0; i < sequences && checks_failed <= 20; ++i) {
    const int before = checks_failed;
    state = (first + i) * 0xD1342543DE82EF95u; /* not the step of below(): no two share their numbers */
    if (i % 16 == 0) {                         /* handles go from one sequence to the next for a while */
      destroy_all();
      begin_pools();
    }
    current = below(4) == 0 ? cuda->context_of((int)below(2)) : NULL;
    cuda->set_current(current);
    sequence();
    if (checks_failed > before)
      fprintf(stderr, "RONDO_SEED=%llu RONDO_SEQUENCES=16\n", (unsigned long long)(first + i - i % 16));
  }
  destroy_all();
}

int main(int argc, char** argv) {
  if (!CHECK(argc == 3 && mkdtemp(folder) != NULL)) return report();
  setenv("RONDO_LIBCUDA", argv[1], 1); /* its memory is the host's */
  setenv("RONDO_NVRTC", "none", 1);    /* compiling takes too long */
  setenv("RONDO_LLVM", "none", 1);
  cuda = fake_cuda_of(argv[1]);
  if (!CHECK(cuda != NULL)) return report();
  cuda->set_current(cuda->context_of(0));
  stream = cuda->new_stream();
  cuda->set_current(NULL);
  begin_files();
  memory = aligned_alloc(256, BYTES);
  memset(memory, 0, BYTES);
  /* Where RONDO_TURN is set an eighth of the sequences has its turn, as cases have (has_turn). */
  const uint64_t every = 10000, some = getenv("RONDO_TURN") == NULL ? every : every / 8;
  const uint64_t first = 1 + from_environment("RONDO_TURN", 0) % 8 * some;
  const uint64_t sequences = from_environment("RONDO_SEQUENCES", some);
  run(sequences, from_environment("RONDO_SEED", first));
  check_counts(sequences, argv[2]);
  end_packages();
  free(memory);
  free(stream);
  char command[128];
  snprintf(command, sizeof command, "rm -r '%s'", folder);
  CHECK(system(command) == 0);
  return report();
}
