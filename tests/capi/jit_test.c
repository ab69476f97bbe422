/* The compiling part of the C interface on the CPU: cells, problems, plans, training, databases. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */

#include <math.h>
#include <rondo/rondo.h>
#include <unistd.h>

#include "tests/capi/check.h"
#include "tests/capi/files.h"
#include "tests/capi/tensors.h"

enum { B = 2, T = 5, H = 2, D = 3 };

static const char* const kLeaky =
    "cell leaky(D) {\n"
    "  input x[D]\n"
    "  param w[D]\n"
    "  state h[D]\n"
    "  const rate = 0.5\n"
    "  next h = rate * h + w * x\n"
    "  output h\n"
    "}\n";

static rondo_context* cpu(void) {
  rondo_context_options options = {.struct_size = sizeof options, .device = RONDO_DEVICE_CPU};
  rondo_context* context = NULL;
  OK(rondo_context_create(&options, &context));
  return context;
}

static rondo_cell* cell_of(const char* text, const char* path) {
  rondo_cell_options options = {.struct_size = sizeof options, .text = text, .path = path};
  rondo_cell* cell = NULL;
  OK(rondo_cell_create(&options, &cell, NULL));
  return cell;
}

static rondo_problem problem_of(int32_t pass) {
  rondo_problem problem = {.struct_size = sizeof problem, .batch = B, .time = T, .heads = H, .dim = D};
  problem.type = RONDO_TYPE_F32;
  problem.pass = pass;
  problem.constant_size = sizeof(rondo_constant);
  return problem;
}

static void test_cells(void) {
  rondo_cell_options options = {.struct_size = sizeof options, .text = kLeaky};
  rondo_cell* cell = NULL;
  rondo_diagnostics* diagnostics = (rondo_diagnostics*)8;
  OK(rondo_cell_create(&options, &cell, &diagnostics));
  CHECK(diagnostics == NULL);
  rondo_cell_info info = {.struct_size = sizeof info};
  OK(rondo_cell_get_info(cell, &info));
  CHECK(strcmp(info.name, "leaky") == 0 && strcmp(info.dimension, "D") == 0 && strlen(info.hash) == 64);
  CHECK(info.tensors == 4 && info.constants == 1 && info.state_rows == 1);
  CHECK(info.all_diagonal == 1 && info.affine == 1 && info.has_matrix == 0 && info.clip_forward == 0);
  CHECK(strstr(info.structure, "diagonal") != NULL);
  rondo_cell_tensor tensor = {.struct_size = sizeof tensor};
  OK(rondo_cell_get_tensor(cell, 1, &tensor));
  CHECK(strcmp(tensor.name, "w") == 0 && tensor.kind == RONDO_KIND_PARAM && tensor.tail == RONDO_TAIL_VECTOR);
  CHECK(tensor.rows == 1 && tensor.line == 3);
  FAILS(rondo_cell_get_tensor(cell, 4, &tensor), RONDO_ERROR_INPUT, "no tensor 4: there are 4");
  FAILS(rondo_cell_get_tensor(cell, -1, &tensor), RONDO_ERROR_INPUT, "no tensor -1");
  FAILS(rondo_cell_get_tensor(cell, 0, NULL), RONDO_ERROR_INPUT, "rondo_cell_tensor is NULL");
  rondo_constant constant;
  OK(rondo_cell_get_constant(cell, 0, &constant));
  CHECK(strcmp(constant.name, "rate") == 0 && constant.value == 0.5);
  FAILS(rondo_cell_get_constant(cell, 1, &constant), RONDO_ERROR_INPUT, "no constant 1");
  FAILS(rondo_cell_get_constant(cell, 0, NULL), RONDO_ERROR_INPUT, "NULL");
  FAILS(rondo_cell_get_constant(NULL, 0, &constant), RONDO_ERROR_INPUT, "the cell is NULL");
  const char *step = NULL, *backward = NULL, *again = NULL;
  OK(rondo_cell_get_picture(cell, 0, &step));
  OK(rondo_cell_get_picture(cell, 1, &backward));
  OK(rondo_cell_get_picture(cell, 0, &again));
  CHECK(strncmp(step, "<svg ", 5) == 0 && strstr(step, ">One step of leaky<") != NULL && again == step);
  CHECK(strstr(backward, ">The backward step of leaky<") != NULL);
  FAILS(rondo_cell_get_picture(cell, 2, &again), RONDO_ERROR_INPUT, "backward");
  CHECK(again == NULL);
  FAILS(rondo_cell_get_picture(cell, 0, NULL), RONDO_ERROR_INPUT, "svg is NULL");
  OK(rondo_cell_destroy(cell));
  FAILS(rondo_cell_destroy(cell), RONDO_ERROR_INPUT, "destroyed");
  FAILS(rondo_cell_get_info(cell, &info), RONDO_ERROR_INPUT, "destroyed");

  /* Shipped, clipped, and by length. */
  cell = cell_of(NULL, "lstm");
  OK(rondo_cell_get_info(cell, &info));
  CHECK(info.has_matrix == 1 && info.all_diagonal == 0 && info.saves_products == 1);
  OK(rondo_cell_destroy(cell));
  options.clip_forward = 2;
  options.clip_gradient = 0.5;
  options.text_bytes = strlen(kLeaky);
  OK(rondo_cell_create(&options, &cell, NULL));
  OK(rondo_cell_get_info(cell, &info));
  CHECK(info.clip_forward == 2 && info.clip_gradient == 0.5);
  OK(rondo_cell_destroy(cell));
  options.clip_forward = -1;
  FAILS(rondo_cell_create(&options, &cell, NULL), RONDO_ERROR_INPUT, "-1");
  options.clip_forward = 0;
  options.resets = 2;
  FAILS(rondo_cell_create(&options, &cell, NULL), RONDO_ERROR_INPUT, "resets = 2: it is 0 or 1");
  options.resets = 0;
  options.reversed = -1;
  FAILS(rondo_cell_create(&options, &cell, NULL), RONDO_ERROR_INPUT, "reversed = -1");
  options.reversed = 0;
  options.directions = 2;
  FAILS(rondo_cell_create(&options, &cell, NULL), RONDO_ERROR_INPUT, "directions = 2: it is 0 or 1");
  options.reversed = options.directions = 1;
  FAILS(rondo_cell_create(&options, &cell, NULL), RONDO_ERROR_INPUT, "both reversed and in two directions");
  options.reversed = options.directions = 0;
  options.text_bytes = (size_t)1 << 40;
  FAILS(rondo_cell_create(&options, &cell, NULL), RONDO_ERROR_INPUT, "the most is");
  options.text_bytes = 0;
  options.name = "other";
  FAILS(rondo_cell_create(&options, &cell, NULL), RONDO_ERROR_INPUT, "it has: leaky");
  options = (rondo_cell_options){.struct_size = sizeof options};
  FAILS(rondo_cell_create(&options, &cell, NULL), RONDO_ERROR_INPUT, "neither a text nor a path");
  options.path = "no/such.cell";
  FAILS(rondo_cell_create(&options, &cell, NULL), RONDO_ERROR_MISSING, "no/such.cell");
  FAILS(rondo_cell_create(NULL, &cell, NULL), RONDO_ERROR_INPUT, "rondo_cell_options is NULL");
  FAILS(rondo_cell_create(&options, NULL, NULL), RONDO_ERROR_INPUT, "cell is NULL");
  options.struct_size = 1;
  FAILS(rondo_cell_create(&options, &cell, NULL), RONDO_ERROR_INPUT, "1 bytes");
}

/* Launches a forward plan of kLeaky with forms; its states are zero, and thrown away. */
static void launch_forms(rondo_plan* plan, float* x, float* w, float* h, uint8_t* resets, int32_t* lengths) {
  rondo_plan_info of_plan = {.struct_size = sizeof of_plan};
  OK(rondo_plan_get_info(plan, &of_plan));
  rondo_tensor given[8];
  memset(given, 0, sizeof given);
  size_t count = 0;
  for (int i = 0; i < of_plan.tensors; ++i) {
    rondo_tensor_info t = {.struct_size = sizeof t};
    OK(rondo_plan_get_tensor(plan, i, &t));
    void* data = NULL;
    if (t.role == RONDO_ROLE_INPUT) data = x;
    if (t.role == RONDO_ROLE_PARAM) data = w;
    if (t.role == RONDO_ROLE_OUTPUT) data = h;
    if (t.role == RONDO_ROLE_RESETS) {
      CHECK(t.type == RONDO_TYPE_U8 && t.rank == 2 && t.strided == 1 && strcmp(t.shape, "[B, T]") == 0);
      data = resets;
    }
    if (t.role == RONDO_ROLE_LENGTHS) {
      CHECK(t.type == RONDO_TYPE_I32 && t.rank == 1 && t.strided == 0 && strcmp(t.shape, "[B]") == 0);
      data = lengths;
    }
    if (data == NULL) continue;
    given[count].index = i;
    given[count].type = t.type;
    given[count].bytes = RONDO_BYTES_UNKNOWN;
    given[count++].data = data;
  }
  CHECK(count == (resets == NULL ? 3 : 5));
  int64_t bytes = 0;
  OK(rondo_plan_workspace_bytes(plan, B, T, &bytes));
  rondo_launch_args args = {.struct_size = sizeof args, .tensor_size = sizeof given[0], .tensors = given};
  args.tensor_count = count;
  args.workspace = aligned_bytes(bytes);
  args.workspace_bytes = bytes;
  args.batch = B;
  args.time = T;
  OK(rondo_launch(plan, &args));
  free(args.workspace);
}

/* Resets and lengths are tensors of plans like others, by their roles. */
static void test_forms(rondo_context* context) {
  rondo_cell_options options = {.struct_size = sizeof options, .text = kLeaky, .resets = 1, .lengths = 1};
  rondo_cell* cell = NULL;
  OK(rondo_cell_create(&options, &cell, NULL));
  rondo_cell_info info = {.struct_size = sizeof info};
  OK(rondo_cell_get_info(cell, &info));
  CHECK(info.resets == 1 && info.lengths == 1 && info.reversed == 0 && info.tensors == 6 && info.affine == 1);
  rondo_cell_tensor tensor = {.struct_size = sizeof tensor};
  OK(rondo_cell_get_tensor(cell, 4, &tensor));
  CHECK(strcmp(tensor.name, "resets") == 0 && tensor.kind == RONDO_KIND_RESET &&
        tensor.tail == RONDO_TAIL_SCALAR);
  const rondo_problem problem = problem_of(RONDO_PASS_FORWARD);
  rondo_plan* plan = NULL;
  OK(rondo_plan_create(context, cell, &problem, NULL, &plan));
  OK(rondo_cell_destroy(cell));
  float x[B * T * H * D], w[H * D], h[B * T * H * D];
  for (int i = 0; i < B * T * H * D; ++i) x[i] = 1;
  for (int i = 0; i < H * D; ++i) w[i] = 1;
  uint8_t resets[B * T] = {0, 0, 0, 1, 0, 0, 0, 0, 0, 0};
  int32_t lengths[B] = {T, 2};
  launch_forms(plan, x, w, h, resets, lengths);
  const float wanted[B][T] = {{1, 1.5f, 1.75f, 1, 1.5f}, {1, 1.5f, 0, 0, 0}};
  for (int b = 0; b < B; ++b)
    for (int t = 0; t < T; ++t)
      for (int i = 0; i < H * D; ++i) CHECK(h[(b * T + t) * H * D + i] == wanted[b][t]);
  OK(rondo_plan_destroy(plan));
}

/* The second half of the heads walks back. */
static void test_directions(rondo_context* context) {
  rondo_cell_options options = {.struct_size = sizeof options, .text = kLeaky, .directions = 1};
  rondo_cell* cell = NULL;
  OK(rondo_cell_create(&options, &cell, NULL));
  rondo_cell_info info = {.struct_size = sizeof info};
  OK(rondo_cell_get_info(cell, &info));
  CHECK(info.directions == 1 && info.reversed == 0 && info.resets == 0 && info.tensors == 4);
  rondo_problem problem = problem_of(RONDO_PASS_FORWARD);
  rondo_plan* plan = NULL;
  problem.heads = 3;
  FAILS(rondo_plan_create(context, cell, &problem, NULL, &plan), RONDO_ERROR_INPUT, "H is 3");
  problem.heads = H;
  OK(rondo_plan_create(context, cell, &problem, NULL, &plan));
  OK(rondo_cell_destroy(cell));
  float x[B * T * H * D], w[H * D], h[B * T * H * D];
  for (int i = 0; i < B * T * H * D; ++i) x[i] = 1;
  for (int i = 0; i < H * D; ++i) w[i] = 1;
  launch_forms(plan, x, w, h, NULL, NULL);
  const float wanted[T] = {1, 1.5f, 1.75f, 1.875f, 1.9375f};
  for (int b = 0; b < B; ++b)
    for (int t = 0; t < T; ++t)
      for (int i = 0; i < D; ++i) {
        const float* head = h + ((b * T + t) * H * D + i);
        CHECK(head[0] == wanted[t] && head[D] == wanted[T - 1 - t]);
      }
  OK(rondo_plan_destroy(plan));
}

/* What a state is reset to is the initial state of another one. */
static void test_reset_states(void) {
  rondo_cell_options options = {
      .struct_size = sizeof options, .text = kLeaky, .resets = 1, .reset_states = 1};
  rondo_cell* cell = NULL;
  OK(rondo_cell_create(&options, &cell, NULL));
  rondo_cell_info info = {.struct_size = sizeof info};
  OK(rondo_cell_get_info(cell, &info));
  CHECK(info.resets == 1 && info.reset_states == 1 && info.tensors == 6 && info.state_rows == 2 &&
        info.affine == 1);
  rondo_cell_tensor tensor = {.struct_size = sizeof tensor};
  OK(rondo_cell_get_tensor(cell, 5, &tensor));
  CHECK(strcmp(tensor.name, "h_reset") == 0 && tensor.kind == RONDO_KIND_STATE &&
        tensor.tail == RONDO_TAIL_VECTOR);
  OK(rondo_cell_destroy(cell));
  options.resets = 0;
  FAILS(rondo_cell_create(&options, &cell, NULL), RONDO_ERROR_INPUT, "without resets");
}

/* What a state begins with follows the constants, and is the same number in fp32 and fp64. */
static void test_first_values(rondo_context* context) {
  rondo_cell* cell = cell_of(
      "cell begun(D) {\n  const a = 3\n  input x[D]\n  state h[D] = a\n"
      "  next h = h + x\n  output h\n}\n",
      NULL);
  const rondo_constant constant = {.name = "a", .value = 1.5};
  for (int unrounded = 0; unrounded < 2; ++unrounded) {
    rondo_problem problem = problem_of(RONDO_PASS_FORWARD);
    if (unrounded) problem.type = RONDO_TYPE_F64;
    problem.constants = &constant;
    problem.constant_count = 1;
    const rondo_plan_options options = {.struct_size = sizeof options, .strategy = "reference"};
    rondo_plan* plan = NULL;
    OK(rondo_plan_create(context, cell, &problem, &options, &plan));
    rondo_plan_info of_plan = {.struct_size = sizeof of_plan};
    OK(rondo_plan_get_info(plan, &of_plan));
    double x[B * T * H * D] = {0}, h[B * T * H * D], last[B * H * D];
    rondo_tensor given[3];
    memset(given, 0, sizeof given);
    size_t count = 0;
    for (int i = 0; i < of_plan.tensors; ++i) {
      rondo_tensor_info t = {.struct_size = sizeof t};
      OK(rondo_plan_get_tensor(plan, i, &t));
      const int begins = t.role == RONDO_ROLE_INITIAL_STATE || t.role == RONDO_ROLE_LAST_STATE;
      CHECK(t.first_value == (begins ? 1.5 : 0));
      if (t.role == RONDO_ROLE_INITIAL_STATE) continue;
      CHECK(count < 3);
      given[count].index = i;
      given[count].type = t.type;
      given[count].bytes = RONDO_BYTES_UNKNOWN;
      given[count++].data = t.role == RONDO_ROLE_INPUT ? x : t.role == RONDO_ROLE_OUTPUT ? h : last;
    }
    int64_t bytes = 0;
    OK(rondo_plan_workspace_bytes(plan, B, T, &bytes));
    rondo_launch_args args = {.struct_size = sizeof args, .tensor_size = sizeof given[0], .tensors = given};
    args.tensor_count = count;
    args.workspace = aligned_bytes(bytes);
    args.workspace_bytes = bytes;
    args.batch = B;
    for (args.time = T; args.time >= 0; args.time -= T) { /* all steps, then none */
      OK(rondo_launch(plan, &args));
      for (int i = 0; i < B * H * D; ++i) CHECK((unrounded ? last[i] : ((float*)last)[i]) == 1.5);
    }
    free(args.workspace);
    OK(rondo_plan_destroy(plan));
  }
  OK(rondo_cell_destroy(cell));
}

static void test_diagnostics(void) {
  rondo_cell_options options = {.struct_size = sizeof options, .path = "mine.cell"};
  options.text = "cell bad(D) {\n  input x[D]\n  state h[D]\n  next h = h + y\n  output q\n}\n";
  rondo_cell* cell = NULL;
  rondo_diagnostics* list = NULL;
  FAILS(rondo_cell_create(&options, &cell, &list), RONDO_ERROR_INPUT, "mine.cell:4:");
  CHECK(cell == NULL && list != NULL);
  int32_t count = 0;
  OK(rondo_diagnostics_count(list, &count));
  CHECK(count >= 2);
  rondo_diagnostic first = {.struct_size = sizeof first};
  OK(rondo_diagnostics_get(list, 0, &first));
  CHECK(first.line >= 1 && strlen(first.message) > 0 && strstr(first.rendered, "mine.cell:") != NULL);
  int found = 0;
  for (int32_t i = 0; i < count; ++i) {
    OK(rondo_diagnostics_get(list, i, &first));
    found += first.line == 4 && strstr(first.message, "y") != NULL;
  }
  CHECK(found == 1);
  FAILS(rondo_diagnostics_get(list, count, &first), RONDO_ERROR_INPUT, "no diagnostic");
  FAILS(rondo_diagnostics_get(list, 0, NULL), RONDO_ERROR_INPUT, "NULL");
  FAILS(rondo_diagnostics_count(list, NULL), RONDO_ERROR_INPUT, "count is NULL");
  FAILS(rondo_diagnostics_count((rondo_diagnostics*)&options, &count), RONDO_ERROR_INPUT, "elsewhere");
  OK(rondo_diagnostics_destroy(list));
  FAILS(rondo_diagnostics_destroy(list), RONDO_ERROR_INPUT, "destroyed");
  FAILS(rondo_cell_create(&options, &cell, NULL), RONDO_ERROR_INPUT, "mine.cell:4:");
}

static void test_forward(rondo_context* context) {
  rondo_cell* cell = cell_of(kLeaky, NULL);
  rondo_problem problem = problem_of(RONDO_PASS_FORWARD);
  const rondo_constant rate = {.name = "rate", .value = 0.25};
  problem.constants = &rate;
  problem.constant_count = 1;
  rondo_plan* plan = NULL;
  OK(rondo_plan_create(context, cell, &problem, NULL, &plan));
  OK(rondo_cell_destroy(cell)); /* the plan keeps what it needs */
  rondo_plan_info info = {.struct_size = sizeof info};
  OK(rondo_plan_get_info(plan, &info));
  CHECK(strcmp(info.strategy, "reference") == 0 && strcmp(info.cell, "leaky") == 0 && info.verified == 1);
  CHECK(strcmp(info.variant, "rate=0.25") == 0);
  plan_memory m = memory_of(plan, B, T);
  OK(launch_memory(plan, &m));
  const float *x = data_of(&m, "x"), *w = data_of(&m, "w"), *first = data_of(&m, "h_first");
  const float *out = data_of(&m, "h_out"), *last = data_of(&m, "h_last");
  for (int b = 0; b < B; ++b)
    for (int i = 0; i < H * D; ++i) {
      double h = first[b * H * D + i];
      for (int t = 0; t < T; ++t) {
        h = 0.25 * h + (double)w[i] * (double)x[(b * T + t) * H * D + i];
        CHECK(fabs(out[(b * T + t) * H * D + i] - h) < 1e-6);
      }
      CHECK(fabs(last[b * H * D + i] - h) < 1e-6);
    }

  /* Step by step, with the state in place, gives the same numbers, which are short enough for fp32. */
  float* state = aligned_bytes(B * H * D * 4);
  float* y = aligned_bytes(B * H * D * 4);
  memcpy(state, first, B * H * D * 4);
  int64_t bytes = 0;
  OK(rondo_plan_step_workspace_bytes(plan, B, &bytes));
  void* workspace = aligned_bytes(bytes);
  for (int t = 0; t < T; ++t) {
    rondo_tensor tensors[4] = {m.tensors[place_of(&m, "x")], m.tensors[place_of(&m, "w")],
                               m.tensors[place_of(&m, "h_first")], m.tensors[place_of(&m, "h_out")]};
    tensors[0].data = (float*)tensors[0].data + t * H * D;
    tensors[0].bytes -= t * H * D * 4;
    tensors[0].rank = 5;
    const int64_t extents[] = {B, 1, H, 1, D}, strides[] = {T * H * D, 0, D, D, 1};
    memcpy(tensors[0].extents, extents, sizeof extents);
    memcpy(tensors[0].strides, strides, sizeof strides);
    tensors[2].data = state;
    tensors[3].data = y;
    tensors[3].bytes = B * H * D * 4;
    rondo_launch_args args = {.struct_size = sizeof args, .tensor_size = sizeof tensors[0], .batch = B};
    args.tensors = tensors;
    args.tensor_count = 4;
    args.workspace = workspace;
    args.workspace_bytes = bytes;
    OK(rondo_step(plan, &args));
    for (int b = 0; b < B; ++b) CHECK(memcmp(y + b * H * D, out + (b * T + t) * H * D, H * D * 4) == 0);
  }
  CHECK(memcmp(state, last, B * H * D * 4) == 0);
  free(state);
  free(y);
  free(workspace);
  free_memory(&m);
  OK(rondo_plan_destroy(plan));
}

static void test_wrong_problems(rondo_context* context) {
  rondo_cell* cell = cell_of(kLeaky, NULL);
  rondo_problem problem;
  rondo_plan* plan = NULL;
  const rondo_constant constants[] = {{.name = "rate", .value = 1},
                                      {.name = "rate", .value = 2},
                                      {.name = "speed", .value = 1},
                                      {.name = NULL, .value = 1},
                                      {.name = "rate", .value = NAN}};
#define REFUSED(change, status, words)                                             \
  do {                                                                             \
    problem = problem_of(RONDO_PASS_FORWARD);                                      \
    change;                                                                        \
    FAILS(rondo_plan_create(context, cell, &problem, NULL, &plan), status, words); \
    CHECK(plan == NULL);                                                           \
  } while (0)
  REFUSED(problem.type = 9, RONDO_ERROR_INPUT, "9 is no type");
  REFUSED(problem.type = RONDO_TYPE_I32, RONDO_ERROR_INPUT, "3 is no type");
  REFUSED(problem.math = 7, RONDO_ERROR_INPUT, "7 is no math");
  REFUSED(problem.math = RONDO_MATH_TF32; problem.type = RONDO_TYPE_BF16, RONDO_ERROR_INPUT, "fp32");
  REFUSED(problem.pass = 4, RONDO_ERROR_INPUT, "4 is no pass");
  REFUSED(problem.save = RONDO_SAVE_PRODUCTS, RONDO_ERROR_INPUT, "no products to save");
  REFUSED(problem.save = RONDO_SAVE_AUTO, RONDO_ERROR_INPUT, "2 is no way to save");
  REFUSED(problem.batch = -1, RONDO_ERROR_INPUT, "B is -1");
  REFUSED(problem.dim = -4, RONDO_ERROR_INPUT, "D is -4");
  REFUSED(problem.dim = INT64_MAX, RONDO_ERROR_UNSUPPORTED, "elements");
  REFUSED(problem.batch = INT64_MAX;
          problem.time = INT64_MAX, RONDO_ERROR_UNSUPPORTED, "larger than any memory");
  REFUSED(problem.batch = (int64_t)1 << 31, RONDO_ERROR_UNSUPPORTED, "B is 2147483648: the most");
  REFUSED(problem.time = (int64_t)1 << 40, RONDO_ERROR_UNSUPPORTED, "T is 1099511627776: the most");
  REFUSED(problem.constant_count = 1, RONDO_ERROR_INPUT, "rondo_problem.constants is NULL");
  REFUSED(problem.constants = constants; problem.constant_count = 2, RONDO_ERROR_INPUT, "twice");
  REFUSED(problem.constants = constants + 2; problem.constant_count = 1, RONDO_ERROR_INPUT, "it has: rate");
  REFUSED(problem.constants = constants + 3; problem.constant_count = 1, RONDO_ERROR_INPUT, "NULL");
  REFUSED(problem.constants = constants + 4; problem.constant_count = 1, RONDO_ERROR_INPUT, "nan");
  REFUSED(problem.constants = constants;
          problem.constant_count = 1u << 20, RONDO_ERROR_INPUT, "constants are given");
  REFUSED(problem.constants = constants; problem.constant_count = 1;
          problem.constant_size = 8, RONDO_ERROR_INPUT, "rondo_constant says");
  /* A later version's, of which this library takes what is zero. */
  const struct {
    rondo_constant known;
    double later[64];
  } newer[] = {{{.name = "speed", .value = 1}, {0}}, {{.name = "rate", .value = 1}, {[63] = 7}}};
  REFUSED(problem.constants = &newer[0].known; problem.constant_size = sizeof newer[0];
          problem.constant_count = 1, RONDO_ERROR_INPUT, "it has: rate");
  REFUSED(problem.constants = &newer[0].known; problem.constant_size = sizeof newer[0];
          problem.constant_count = 2, RONDO_ERROR_UNSUPPORTED, "rondo_constant");
  REFUSED(problem.struct_size = 8, RONDO_ERROR_INPUT, "rondo_problem says");
#undef REFUSED
  problem = problem_of(RONDO_PASS_FORWARD);
  FAILS(rondo_plan_create(NULL, cell, &problem, NULL, &plan), RONDO_ERROR_INPUT, "the context is NULL");
  FAILS(rondo_plan_create(context, NULL, &problem, NULL, &plan), RONDO_ERROR_INPUT, "the cell is NULL");
  FAILS(rondo_plan_create(context, (rondo_cell*)context, &problem, NULL, &plan), RONDO_ERROR_INPUT,
        "context");
  FAILS(rondo_plan_create(context, cell, NULL, NULL, &plan), RONDO_ERROR_INPUT, "rondo_problem is NULL");
  FAILS(rondo_plan_create(context, cell, &problem, NULL, NULL), RONDO_ERROR_INPUT, "plan is NULL");
  rondo_plan_options options;
#define REFUSED(change, words)                                                                    \
  do {                                                                                            \
    options = (rondo_plan_options){.struct_size = sizeof options};                                \
    change;                                                                                       \
    FAILS(rondo_plan_create(context, cell, &problem, &options, &plan), RONDO_ERROR_INPUT, words); \
  } while (0)
  REFUSED(options.choose = 9, "9 is no way to choose");
  REFUSED(options.alignment = 3, "3 is no alignment");
  REFUSED(options.strict = 3, "3 is no value of strict");
  REFUSED(options.workers = -1, "-1 is no number");
  REFUSED(options.budget_s = -1, "a budget of -1");
  REFUSED(options.budget_s = NAN, "a budget of nan");
  REFUSED(options.database = (rondo_database*)context, "is a context, not a database");
  REFUSED(options.parameters = "channels", "channels");
  REFUSED(options.parameters = "channels=many", "many");
  REFUSED(options.struct_size = 0, "rondo_plan_options says");
#undef REFUSED
  options = (rondo_plan_options){.struct_size = sizeof options, .choose = RONDO_CHOOSE_TUNE, .budget_s = 1};
  OK(rondo_plan_create(context, cell, &problem, &options, &plan)); /* on a CPU there is one plan */
  OK(rondo_plan_destroy(plan));
  OK(rondo_cell_destroy(cell));
}

/* The loss is the sum of all outputs times weights; its gradients against differences. */
static double loss_of(const rondo_plan* forward, plan_memory* f, const float* weights) {
  OK(launch_memory(forward, f));
  const int out = place_of(f, "y_out");
  double loss = 0;
  for (int64_t i = 0; i < f->tensors[out].bytes / 4; ++i)
    loss += (double)((float*)f->tensors[out].data)[i] * (double)weights[i];
  return loss;
}

static void check_gradient(const rondo_plan* forward, plan_memory* f, const float* weights,
                           const plan_memory* b, const char* name, const char* gradient) {
  const int place = place_of(f, name);
  float* values = f->tensors[place].data;
  const float* given = data_of(b, gradient);
  const float step = 1.0f / 256;
  for (int64_t i = 0; i < f->tensors[place].bytes / 4; i += 3) {
    const float before = values[i];
    values[i] = before + step;
    const double up = loss_of(forward, f, weights);
    values[i] = before - step;
    const double down = loss_of(forward, f, weights);
    values[i] = before;
    const double wanted = (up - down) / (2 * (double)step);
    if (!CHECK(fabs(wanted - given[i]) < 2e-3 * (1 + fabs(wanted)))) {
      fprintf(stderr, "  %s[%d]: %g, by differences %g\n", gradient, (int)i, (double)given[i], wanted);
      return;
    }
  }
}

/* Two states, one of which no output carries; an input that no gradient depends on. */
static const char* const kTrained =
    "cell trained(D) {\n"
    "  input x[D]\n"
    "  input u[D]\n"
    "  param R[D, D]\n"
    "  state h[D]\n"
    "  state c[D]\n"
    "  next c = 0.5 * c + u\n"
    "  next h = tanh(R @ h + x) + 0.25 * next c\n"
    "  output y = next h * next c\n"
    "}\n";

/* States that rows of an output carry, other than its first, beside one that no output does. */
static const char* const kTrainedRows =
    "cell trained(D) {\n"
    "  input x[D]\n"
    "  param R[D, D]\n"
    "  state g[D], h[D], c[D]\n"
    "  next c = 0.5 * c + h\n"
    "  next h = tanh(R @ h + x * g) + 0.25 * next c\n"
    "  next g = sigmoid(x + 0.5 * g * g)\n"
    "  output y = [next h * next c, next h, next g]\n"
    "}\n";

static void test_training(rondo_context* context, const char* text, int32_t save) {
  rondo_cell* cell = cell_of(text, NULL);
  rondo_problem problem = problem_of(RONDO_PASS_FORWARD);
  problem.save = save;
  rondo_training* training = NULL;
  if (!OK(rondo_training_create(context, cell, &problem, NULL, &training))) return;
  OK(rondo_cell_destroy(cell));
  rondo_training_info info = {.struct_size = sizeof info};
  OK(rondo_training_get_info(training, &info));
  CHECK(info.save == (save == RONDO_SAVE_AUTO ? RONDO_SAVE_STATES : save));
  CHECK(info.shared > 0);
  rondo_plan *forward = NULL, *backward = NULL;
  OK(rondo_training_get_plan(training, RONDO_PASS_FORWARD_SAVE, &forward));
  OK(rondo_training_get_plan(training, RONDO_PASS_BACKWARD, &backward));
  rondo_training_sizes sizes = {.struct_size = sizeof sizes};
  OK(rondo_training_get_sizes(training, B, T, &sizes));
  plan_memory f = memory_of(forward, B, T), b = memory_of(backward, B, T);
  /* What only the backward pass wants of what the forward pass writes. */
  int64_t saved_bytes = 0;
  for (int i = 0; i < f.count; ++i)
    if (f.infos[i].role == RONDO_ROLE_HISTORY || f.infos[i].role == RONDO_ROLE_PRODUCTS)
      saved_bytes += f.tensors[i].bytes;
  CHECK(sizes.saved_bytes == saved_bytes && saved_bytes >= B * T * H * D * 4);
  CHECK(sizes.forward_workspace_bytes == f.args.workspace_bytes);
  CHECK(sizes.backward_workspace_bytes == b.args.workspace_bytes);
  int saved = 0;
  for (int32_t i = 0; i < info.shared; ++i) {
    rondo_shared_tensor shared = {.struct_size = sizeof shared};
    OK(rondo_training_get_shared(training, i, &shared));
    CHECK(strcmp(shared.name, f.infos[shared.forward].name) == 0);
    CHECK(strcmp(shared.name, b.infos[shared.backward].name) == 0);
    CHECK(f.infos[shared.forward].written == shared.saved && b.infos[shared.backward].written == 0);
    saved += shared.saved;
    free(b.tensors[shared.backward].data);
    b.tensors[shared.backward].data = f.tensors[shared.forward].data;
  }
  CHECK(saved > 0);
  const float* weights = data_of(&b, "grad_y_out");
  float* last = data_of(&b, "grad_h_last");
  memset(last, 0, B * H * D * 4);
  if (strstr(text, "next c") != NULL) memset(data_of(&b, "grad_c_last"), 0, B * H * D * 4);
  if (strstr(text, "next g") != NULL) memset(data_of(&b, "grad_g_last"), 0, B * H * D * 4);
  (void)loss_of(forward, &f, weights);
  OK(launch_memory(backward, &b));
  check_gradient(forward, &f, weights, &b, "x", "grad_x");
  check_gradient(forward, &f, weights, &b, "R", "grad_R");
  check_gradient(forward, &f, weights, &b, "h_first", "grad_h_first");
  if (strstr(text, "input u") != NULL) check_gradient(forward, &f, weights, &b, "u", "grad_u");
  /* The backward pass reads what was saved, and computes nothing of it again. */
  const float before = data_of(&b, "grad_R")[1];
  for (int i = 0; i < f.count; ++i)
    if (f.infos[i].role == RONDO_ROLE_HISTORY) memset(f.tensors[i].data, 0, (size_t)f.tensors[i].bytes);
  OK(launch_memory(backward, &b));
  CHECK(data_of(&b, "grad_R")[1] != before);
  for (int i = 0; i < b.count; ++i)
    for (int k = 0; k < f.count; ++k)
      if (b.tensors[i].data == f.tensors[k].data) b.tensors[i].data = NULL;
  free_memory(&f);
  free_memory(&b);
  OK(rondo_training_destroy(training));
  FAILS(rondo_training_get_info(training, &info), RONDO_ERROR_INPUT, "destroyed");
  rondo_plan_info plan_info = {.struct_size = sizeof plan_info};
  OK(rondo_plan_get_info(forward, &plan_info)); /* a plan outlives the training object */
  OK(rondo_plan_destroy(forward));
  OK(rondo_plan_destroy(backward));
}

static void test_wrong_training(rondo_context* context) {
  rondo_cell* cell = cell_of(NULL, "lstm");
  rondo_problem problem = problem_of(99);
  rondo_training* training = NULL;
  OK(rondo_training_create(context, cell, &problem, NULL, &training));
  rondo_plan* plan = NULL;
  FAILS(rondo_training_get_plan(training, RONDO_PASS_FORWARD, &plan), RONDO_ERROR_INPUT, "no pass 0");
  FAILS(rondo_training_get_plan(training, RONDO_PASS_BACKWARD, NULL), RONDO_ERROR_INPUT, "plan is NULL");
  rondo_shared_tensor shared = {.struct_size = sizeof shared};
  FAILS(rondo_training_get_shared(training, 99, &shared), RONDO_ERROR_INPUT, "no shared tensor 99");
  FAILS(rondo_training_get_shared(training, 0, NULL), RONDO_ERROR_INPUT, "NULL");
  rondo_training_sizes sizes = {.struct_size = sizeof sizes};
  FAILS(rondo_training_get_sizes(training, -1, 1, &sizes), RONDO_ERROR_INPUT, "B = -1");
  OK(rondo_training_get_sizes(training, 0, 1, &sizes));
  CHECK(sizes.saved_bytes == 0 && sizes.forward_workspace_bytes == 0 && sizes.backward_workspace_bytes == 0);
  FAILS(rondo_training_get_sizes(training, 1, 1, NULL), RONDO_ERROR_INPUT, "NULL");
  FAILS(rondo_training_get_info(training, NULL), RONDO_ERROR_INPUT, "NULL");
  OK(rondo_training_destroy(training));
  FAILS(rondo_training_destroy(training), RONDO_ERROR_INPUT, "destroyed");
  OK(rondo_training_destroy(NULL));
  problem.save = 5;
  FAILS(rondo_training_create(context, cell, &problem, NULL, &training), RONDO_ERROR_INPUT, "5 is no way");
  FAILS(rondo_training_create(context, cell, NULL, NULL, &training), RONDO_ERROR_INPUT, "NULL");
  FAILS(rondo_training_create(context, cell, &problem, NULL, NULL), RONDO_ERROR_INPUT, "training is NULL");
  OK(rondo_cell_destroy(cell));
}

static int32_t count_records(void* user, const rondo_record* record) {
  ++*(int*)user;
  CHECK(record->struct_size >= sizeof *record && strlen(record->cell) > 0);
  return 0;
}

static void test_databases(void) {
  char folder[] = "/tmp/rondo-capi-XXXXXX";
  if (!CHECK(mkdtemp(folder) != NULL)) return;
  char path[64], other[64];
  snprintf(path, sizeof path, "%s/tuning.db", folder);
  snprintf(other, sizeof other, "%s/other.db", folder);
  rondo_database_options options = {.struct_size = sizeof options, .path = path, .read_only = 1};
  rondo_database* database = NULL;
  FAILS(rondo_database_open(&options, &database), RONDO_ERROR_MISSING, "tuning.db");
  options.read_only = 0;
  OK(rondo_database_open(&options, &database));
  int count = 0;
  OK(rondo_database_list(database, count_records, &count));
  CHECK(count == 0);
  FAILS(rondo_database_list(database, NULL, &count), RONDO_ERROR_INPUT, "NULL");
  FAILS(rondo_database_list(NULL, count_records, &count), RONDO_ERROR_INPUT, "the database is NULL");
  rondo_merge_report merged = {.struct_size = sizeof merged};
  FAILS(rondo_database_import(database, "/no/such.json", &merged), RONDO_ERROR_MISSING, "/no/such.json");
  FAILS(rondo_database_import(database, NULL, &merged), RONDO_ERROR_INPUT, "path is NULL");
  write_file(other, EMPTY_EXPORT, strlen(EMPTY_EXPORT));
  OK(rondo_database_import(database, other, &merged));
  CHECK(merged.trials == 0);
  OK(rondo_database_import(database, other, NULL));
  merged.struct_size = 5;
  FAILS(rondo_database_import(database, other, &merged), RONDO_ERROR_INPUT, "rondo_merge_report");
  FAILS(rondo_database_merge(database, other, NULL), RONDO_ERROR_DATABASE, "other.db");
  unlink(other);
  rondo_database* second = NULL;
  options.path = other;
  OK(rondo_database_open(&options, &second));
  merged.struct_size = sizeof merged;
  OK(rondo_database_merge(database, other, &merged));
  OK(rondo_database_destroy(second));
  FAILS(rondo_database_merge(second, other, NULL), RONDO_ERROR_INPUT, "destroyed");
  FAILS(rondo_database_open(NULL, &database), RONDO_ERROR_INPUT, "NULL");
  FAILS(rondo_database_open(&options, NULL), RONDO_ERROR_INPUT, "NULL");
  OK(rondo_database_destroy(database));
  OK(rondo_database_destroy(NULL));
  char command[128];
  snprintf(command, sizeof command, "rm -r '%s'", folder);
  CHECK(system(command) == 0);
}

int main(void) {
  test_cells();
  test_diagnostics();
  rondo_context* context = cpu();
  test_forward(context);
  test_reset_states();
  test_forms(context);
  test_directions(context);
  test_first_values(context);
  test_wrong_problems(context);
  test_training(context, kTrained, RONDO_SAVE_STATES);
  test_training(context, kTrained, RONDO_SAVE_PRODUCTS);
  test_training(context, kTrained, RONDO_SAVE_AUTO);
  test_training(context, kTrainedRows, RONDO_SAVE_STATES);
  test_wrong_training(context);
  test_databases();
  OK(rondo_context_destroy(context));
  return report();
}
