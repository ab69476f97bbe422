/* Random sequences of calls with right and wrong arguments: each gives a status, and none crashes.
 * RONDO_SEQUENCES sets how many (10,000), RONDO_SEED the first; a failure names the seed of its sequence,
 * which runs alone with RONDO_SEQUENCES=1. */
#define _POSIX_C_SOURCE 200809L /* setenv, mkdtemp */

#include <math.h>
#include <rondo/rondo.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/capi/check.h"

enum { KINDS = 7, POOL = 6, CALLS = 24, EACH = 4096, BYTES = 32 * EACH };
enum { CONTEXT, PLAN, CELL, LIST, DATABASE, TRAINING, NONE };

static uint64_t state;
static void* pool[KINDS][POOL]; /* handles that were given once, alive or not */
static unsigned char* memory;   /* BYTES, aligned to 256 */
static char database_path[64];
static int64_t statuses[12];
static int64_t launched;

static uint32_t below(uint32_t n) {
  state += 0x9E3779B97F4A7C15u;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return (uint32_t)((z ^ (z >> 31)) >> 32) % n;
}

/* Mostly of the kind that is wanted. */
static void* handle(int kind) {
  switch (below(24)) {
    case 0: return NULL;
    case 1: return memory + below(64);
    case 2: return (void*)(uintptr_t)((uint64_t)below(0xFFFFFFFFu) << below(32));
    case 3: return pool[below(KINDS)][below(POOL)];
    default: return pool[kind][below(POOL)];
  }
}

static void keep(int kind, void* made) {
  if (made != NULL) pool[kind][below(POOL)] = made;
}

static int64_t size_of_call(void) {
  static const int64_t wild[] = {0, -1, INT64_MIN, INT64_MAX, (int64_t)1 << 31, (int64_t)1 << 40, 4096};
  return below(12) == 0 ? wild[below(7)] : 1 + (int64_t)below(4);
}

static int32_t number(int32_t most) {
  static const int32_t wild[] = {-1, INT32_MIN, INT32_MAX, 99};
  return below(16) == 0 ? wild[below(4)] : (int32_t)below((uint32_t)most + 1);
}

static const char* text(void) {
  static const char* const texts[] = {NULL,    "",        "lstm",    "mingru", "x",
                                      "h_out", "no/such", "h_first", "stream"};
  return texts[below(9)];
}

/* One that is larger than the struct, if not by far, would have the library read what is not there. */
static size_t struct_size(size_t right) {
  switch (below(24)) {
    case 0: return 0;
    case 1: return below((uint32_t)right);
    case 2: return (size_t)-1;
    default: return right;
  }
}

static void note(rondo_status status, const char* call) {
  ++checks_made;
  if (status < RONDO_OK || status > RONDO_ERROR_MEMORY || status == RONDO_ERROR_INTERNAL ||
      (status != RONDO_OK && rondo_message()[0] == '\0')) {
    fprintf(stderr, "%s gives %d: %s\n", call, status, rondo_message());
    ++checks_failed;
    return;
  }
  ++statuses[status];
  launched += status == RONDO_OK && strstr(call, "rondo_launch(") != NULL;
}

#define CALL(call) note((call), #call)

static void make_cell(void) {
  static const char* const cells[] = {
      "cell a(D) {\n input x[D]\n param w[D]\n state h[D]\n next h = 0.5 * h + w * x\n output h\n}\n",
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
  problem.pass = number(2);
  problem.save = below(3) == 0 ? number(2) : 0;
  problem.constants = below(8) == 0 ? constants : NULL;
  problem.constant_count = below(8) == 0 ? below(4) : 0;
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
  return options;
}

static void make_plan(void) {
  const rondo_problem problem = any_problem();
  const rondo_plan_options options = any_options();
  const rondo_plan_options* how = below(2) == 0 ? NULL : &options;
  if (below(3) == 0) {
    rondo_training* training = NULL;
    CALL(rondo_training_create(handle(CONTEXT), handle(CELL), &problem, how, &training));
    keep(TRAINING, training);
  }
  rondo_plan* plan = NULL;
  CALL(rondo_plan_create(handle(CONTEXT), handle(CELL), &problem, how, &plan));
  keep(PLAN, plan);
}

/* A place in the memory, mostly aligned, with no more bytes than there are. */
static void* place(int64_t* bytes) {
  const uint32_t at = below(BYTES / 512) * 512 + (below(16) == 0 ? below(64) : 0);
  *bytes = below(8) == 0 ? (int64_t)below(64) : (int64_t)(BYTES - at) < 2048 ? BYTES - at : 2048;
  return below(32) == 0 ? NULL : memory + at;
}

/* A launch as it should be, of a plan that is alive. */
static void launch_right(void) {
  rondo_tensor tensors[16];
  memset(tensors, 0, sizeof tensors);
  rondo_plan* plan = pool[PLAN][below(POOL)];
  rondo_plan_info info = {.struct_size = sizeof info};
  if (rondo_plan_get_info(plan, &info) != RONDO_OK || info.tensors > 16 || info.heads > 4 || info.dim > 4)
    return;
  for (int32_t i = 0; i < info.tensors; ++i) {
    rondo_tensor_info tensor = {.struct_size = sizeof tensor};
    CHECK(rondo_plan_get_tensor(plan, i, &tensor) == RONDO_OK);
    tensors[i].index = i;
    tensors[i].type = tensor.type;
    tensors[i].data = memory + i * EACH;
    tensors[i].bytes = EACH;
  }
  rondo_launch_args args = {.struct_size = sizeof args, .tensor_size = sizeof tensors[0], .tensors = tensors};
  args.tensor_count = (size_t)info.tensors;
  args.workspace = memory + 16 * EACH;
  args.workspace_bytes = 16 * EACH;
  args.batch = 1 + below(3);
  args.time = 1 + below(3);
  rondo_status status = RONDO_OK;
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
  rondo_plan_info info = {.struct_size = sizeof info};
  if (below(4) != 0 && rondo_plan_get_info(plan, &info) == RONDO_OK)
    args.tensor_count = (size_t)info.tensors % 17;
  if (args.tensor_size * args.tensor_count > sizeof tensors) args.tensor_count = 0;
  args.workspace = place(&args.workspace_bytes);
  args.batch = size_of_call();
  args.time = size_of_call();
  args.stream = below(2) == 0 ? NULL : memory;
  const rondo_launch_args* given = below(32) == 0 ? NULL : &args;
  switch (below(4)) {
    case 0: CALL(rondo_step(plan, given)); break;
    case 1: CALL(rondo_plan_prepare(plan, given)); break;
    default: CALL(rondo_launch(plan, given)); break;
  }
}

/* A struct to be filled, with room beyond it that must stay as it is. */
typedef union {
  size_t size;
  unsigned char bytes[512];
} room;

static room any_room(size_t right) {
  room r;
  memset(&r, 0xA5, sizeof r);
  r.size = struct_size(right);
  if (r.size != (size_t)-1 && r.size > 256) r.size = right;
  return r;
}

static void untouched(const room* r, size_t given) {
  const size_t from = given > sizeof *r ? sizeof(size_t) : given < sizeof(size_t) ? sizeof(size_t) : given;
  for (size_t i = from; i < sizeof *r; ++i)
    if (!CHECK(r->bytes[i] == 0xA5)) return;
}

#define QUERY(type, call)                           \
  do {                                              \
    room r = any_room(sizeof(type));                \
    const size_t given = r.size;                    \
    type* into = below(32) == 0 ? NULL : (type*)&r; \
    CALL(call);                                     \
    untouched(&r, given);                           \
  } while (0)

static void ask_any(void) {
  int64_t bytes = 0;
  int32_t index = 0;
  rondo_constant constant;
  rondo_plan* plan = NULL;
  switch (below(18)) {
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
    case 1: CALL(rondo_database_import(handle(DATABASE), "/no/such.json", NULL)); break;
    case 2: CALL(rondo_database_merge(handle(DATABASE), database_path, NULL)); break;
    default: CALL(rondo_database_list(handle(DATABASE), below(8) == 0 ? NULL : stop_at_once, memory)); break;
  }
}

static void make_context(void) {
  rondo_context_options options = {.struct_size = struct_size(sizeof options)};
  options.device = below(4) == 0 ? number(2) : RONDO_DEVICE_CPU;
  options.ordinal = number(1);
  rondo_context* context = NULL;
  CALL(rondo_context_create(below(32) == 0 ? NULL : &options, &context));
  keep(CONTEXT, context);
}

static void destroy_any(void) {
  switch (below(6)) {
    case CONTEXT: CALL(rondo_context_destroy(handle(CONTEXT))); break;
    case PLAN: CALL(rondo_plan_destroy(handle(PLAN))); break;
    case CELL: CALL(rondo_cell_destroy(handle(CELL))); break;
    case LIST: CALL(rondo_diagnostics_destroy(handle(LIST))); break;
    case DATABASE: CALL(rondo_database_destroy(handle(DATABASE))); break;
    default: CALL(rondo_training_destroy(handle(TRAINING))); break;
  }
}

static void sequence(void) {
  for (int i = 0; i < CALLS; ++i) {
    switch (below(16)) {
      case 0: make_context(); break;
      case 1: make_cell(); break;
      case 2: make_plan(); break;
      case 3: destroy_any(); break;
      case 4:
        if (below(4) == 0) use_database();
        break;
      case 5:
      case 6: launch_any(); break;
      case 7: launch_right(); break;
      default: ask_any(); break;
    }
  }
}

static void destroy_all(void) {
  for (int i = 0; i < POOL; ++i) { /* those that are destroyed already say so */
    (void)rondo_plan_destroy(pool[PLAN][i]);
    (void)rondo_training_destroy(pool[TRAINING][i]);
    (void)rondo_database_destroy(pool[DATABASE][i]);
    (void)rondo_diagnostics_destroy(pool[LIST][i]);
    (void)rondo_cell_destroy(pool[CELL][i]);
    (void)rondo_context_destroy(pool[CONTEXT][i]);
  }
  memset(pool, 0, sizeof pool);
}

/* So that most handles of a pool are good to begin with. */
static void begin_pools(void) {
  rondo_context_options options = {.struct_size = sizeof options, .device = RONDO_DEVICE_CPU};
  static const char* const cells[] = {"lstm", "mingru", "slstm"};
  for (int i = 0; i < POOL; ++i) {
    rondo_cell_options cell = {.struct_size = sizeof cell, .path = cells[i % 3]};
    CHECK(rondo_context_create(&options, (rondo_context**)&pool[CONTEXT][i]) == RONDO_OK);
    CHECK(rondo_cell_create(&cell, (rondo_cell**)&pool[CELL][i], NULL) == RONDO_OK);
    rondo_problem problem = {.struct_size = sizeof problem, .batch = 1, .time = 1, .heads = 2, .dim = 3};
    problem.type = RONDO_TYPE_BF16;
    problem.pass = i % 3;
    CHECK(rondo_plan_create(pool[CONTEXT][i], pool[CELL][i], &problem, NULL, (rondo_plan**)&pool[PLAN][i]) ==
          RONDO_OK);
  }
}

static uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* given = getenv(name);
  return given == NULL ? otherwise : strtoull(given, NULL, 10);
}

int main(void) {
  setenv("RONDO_LIBCUDA", "none", 1); /* the memory is the host's */
  char folder[] = "/tmp/rondo-random-XXXXXX";
  if (!CHECK(mkdtemp(folder) != NULL)) return report();
  snprintf(database_path, sizeof database_path, "%s/tuning.db", folder);
  memory = aligned_alloc(256, BYTES);
  memset(memory, 0, BYTES);
  const uint64_t sequences = from_environment("RONDO_SEQUENCES", 10000),
                 first = from_environment("RONDO_SEED", 1);
  for (uint64_t i = 0; i < sequences; ++i) {
    const int before = checks_failed;
    state = (first + i) * 0x9E3779B97F4A7C15u;
    if (i % 16 == 0) { /* handles go from one sequence to the next for a while */
      destroy_all();
      begin_pools();
    }
    sequence();
    if (checks_failed > before)
      fprintf(stderr, "RONDO_SEED=%llu RONDO_SEQUENCES=16\n", (unsigned long long)(first + i - i % 16));
    if (checks_failed > 20) break;
  }
  destroy_all();
  for (int status = 0; status <= RONDO_ERROR_MEMORY; ++status)
    printf("%s %lld\n", rondo_status_name(status), (long long)statuses[status]);
  printf("%lld launches\n", (long long)launched);
  /* The calls do not all fail: plans are made and launched. */
  if (sequences >= 1000) CHECK(statuses[RONDO_OK] > (int64_t)sequences && launched > (int64_t)sequences / 10);
  free(memory);
  char command[128];
  snprintf(command, sizeof command, "rm -r '%s'", folder);
  CHECK(system(command) == 0);
  return report();
}
