/* Outlines: what would be chosen and which tensors it has, without a compiler; and what a binding asks of
 * plans: the largest batch, the end of a stream, threads of CPUs. Argument: a driver that stands in for a
 * GPU. */
#define _POSIX_C_SOURCE 200809L /* setenv */

#include <dirent.h>
#include <rondo/rondo.h>
#include <stdlib.h>

#include "tests/capi/check.h"
#include "tests/capi/fake_cuda.h"
#include "tests/capi/problems.h"
#include "tests/capi/tensors.h"

enum { B = 3, T = 32, D = 64 };

static fake_cuda* cuda;
static rondo_context *cpu, *gpu;
static const char* const kCells[] = {"lstm",  "gru",    "mingru",  "paragru",
                                     "slstm", "lnlstm", "zoneout", "hgrn"};
enum { CELLS = sizeof kCells / sizeof kCells[0] };

static rondo_plan_info info_of(const rondo_plan* plan) {
  rondo_plan_info info = {.struct_size = sizeof info};
  OK(rondo_plan_get_info(plan, &info));
  return info;
}

static rondo_tensor_info tensor_of(const rondo_plan* plan, int32_t index) {
  rondo_tensor_info tensor = {.struct_size = sizeof tensor};
  OK(rondo_plan_get_tensor(plan, index, &tensor));
  return tensor;
}

static int64_t bytes_of(const rondo_plan* plan, int32_t index) {
  int64_t bytes = -1;
  OK(rondo_plan_tensor_bytes(plan, index, B, T, &bytes));
  return bytes;
}

/* Each tensor of a plan is one of any plan's. */
static void check_part_of(const rondo_plan* plan, const rondo_plan* any) {
  for (int32_t i = 0; i < info_of(plan).tensors; ++i) {
    const rondo_tensor_info mine = tensor_of(plan, i);
    int32_t place = -1;
    if (!OK(rondo_plan_find_tensor(any, mine.name, &place))) continue;
    const rondo_tensor_info same = tensor_of(any, place);
    CHECK(strcmp(mine.shape, same.shape) == 0 && mine.role == same.role && mine.type == same.type);
    CHECK(mine.written == same.written && mine.strided == same.strided && mine.rank == same.rank);
    CHECK(memcmp(mine.extents, same.extents, sizeof mine.extents) == 0);
    CHECK(bytes_of(plan, i) == bytes_of(any, place));
  }
}

static void check_same(const rondo_plan* outline, const rondo_plan* plan) {
  const rondo_plan_info asked = info_of(outline), made = info_of(plan);
  CHECK(asked.outline == 1 && made.outline == 0 && asked.tensors == made.tensors);
  CHECK(strcmp(asked.strategy, made.strategy) == 0 && strcmp(asked.parameters, made.parameters) == 0);
  CHECK(strcmp(asked.origin, made.origin) == 0 && asked.expected_ms == made.expected_ms);
  CHECK(strcmp(asked.note, made.note) == 0 && asked.verified == made.verified);
  CHECK(strcmp(asked.cell_hash, made.cell_hash) == 0 && strcmp(asked.pass, made.pass) == 0);
  for (int32_t i = 0; i < made.tensors && i < asked.tensors; ++i) {
    const rondo_tensor_info one = tensor_of(outline, i), other = tensor_of(plan, i);
    CHECK(strcmp(one.name, other.name) == 0 && one.need == other.need && one.alignment == other.alignment);
  }
  int64_t bytes = -1, of_plan = -2;
  OK(rondo_plan_workspace_bytes(outline, B, T, &bytes));
  OK(rondo_plan_workspace_bytes(plan, B, T, &of_plan));
  CHECK(bytes == of_plan);
  if (strcmp(made.pass, "fw") != 0) return;
  OK(rondo_plan_step_workspace_bytes(outline, B, &bytes));
  OK(rondo_plan_step_workspace_bytes(plan, B, &of_plan));
  CHECK(bytes == of_plan);
}

static void check_no_launch(const rondo_plan* outline) {
  rondo_launch_args args = {.struct_size = sizeof args, .tensor_size = sizeof(rondo_tensor)};
  args.batch = B;
  args.time = 1;
  int64_t batch = 7;
  FAILS(rondo_launch(outline, &args), RONDO_ERROR_UNSUPPORTED, "is an outline");
  FAILS(rondo_plan_prepare(outline, &args), RONDO_ERROR_UNSUPPORTED, "rondo_plan_create()");
  FAILS(rondo_plan_largest_batch(outline, T, &batch), RONDO_ERROR_UNSUPPORTED, "is an outline");
  CHECK(batch == 7);
}

/* Of each cell, pass and way to save: on both devices what is chosen has tensors of any plan's, and is, where
 * plans are made too, what a plan is. Compiling these takes a minute: they have turns. */
static void test_tensors(void) {
  const rondo_context* const both[] = {cpu, gpu};
  int number = 0;
  for (int c = 0; c < CELLS; ++c)
    for (int32_t pass = RONDO_PASS_FORWARD; pass <= RONDO_PASS_BACKWARD; ++pass)
      for (int32_t save = RONDO_SAVE_STATES; save <= RONDO_SAVE_PRODUCTS; ++save) {
        rondo_cell* cell = shipped_cell(kCells[c]);
        rondo_cell_info what = {.struct_size = sizeof what};
        OK(rondo_cell_get_info(cell, &what));
        rondo_problem problem = one_head(c % 2 == 0 ? RONDO_TYPE_BF16 : RONDO_TYPE_F32, pass, B, T, D);
        problem.save = save;
        rondo_plan* any = NULL;
        if (save == RONDO_SAVE_STATES || what.saves_products == 1) {
          if (!OK(rondo_plan_outline(NULL, cell, &problem, NULL, &any))) continue;
          CHECK(info_of(any).outline == 2 && info_of(any).strategy[0] == '\0');
          check_no_launch(any);
          int64_t bytes = 7;
          FAILS(rondo_plan_workspace_bytes(any, B, T, &bytes), RONDO_ERROR_UNSUPPORTED, "with a context");
          CHECK(bytes == 7);
          for (int d = 0; d < 2; ++d) {
            rondo_plan *outline = NULL, *plan = NULL;
            if (!OK(rondo_plan_outline((rondo_context*)both[d], cell, &problem, NULL, &outline))) continue;
            check_part_of(outline, any);
            check_no_launch(outline);
            if (d == 0 && has_turn(++number) && OK(rondo_plan_create(cpu, cell, &problem, NULL, &plan)))
              check_same(outline, plan);
            OK(rondo_plan_destroy(outline));
            OK(rondo_plan_destroy(plan));
          }
        }
        OK(rondo_plan_destroy(any));
        OK(rondo_cell_destroy(cell));
      }
}

/* Nothing is compiled or loaded: RONDO_NVRTC and RONDO_LLVM are "none" for the GPU here. */
static void test_without_a_compiler(void) {
  rondo_cell* cell = shipped_cell("lstm");
  rondo_problem problem = one_head(RONDO_TYPE_BF16, RONDO_PASS_FORWARD_SAVE, B, T, D);
  rondo_plan* plan = NULL;
  rondo_training* training = NULL;
  const fake_counts before = cuda->counts();
  if (OK(rondo_plan_outline(gpu, cell, &problem, NULL, &plan))) {
    const rondo_plan_info info = info_of(plan);
    CHECK(strcmp(info.origin, "by model") == 0 && info.expected_ms > 0 && info.verified == 0);
    CHECK(strcmp(info.strategy, "reference") != 0 && info.parameters[0] != '\0');
  }
  OK(rondo_plan_destroy(plan));
  problem.save = RONDO_SAVE_AUTO;
  if (OK(rondo_training_outline(gpu, cell, &problem, NULL, &training))) {
    rondo_training_sizes sizes = {.struct_size = sizeof sizes};
    OK(rondo_training_get_sizes(training, B, T, &sizes));
    CHECK(sizes.saved_bytes > 0 && sizes.backward_workspace_bytes > 0);
    OK(rondo_training_get_plan(training, RONDO_PASS_BACKWARD, &plan));
    CHECK(info_of(plan).outline == 1 && strncmp(info_of(plan).pass, "bw", 2) == 0);
    OK(rondo_plan_destroy(plan));
  }
  const fake_counts after = cuda->counts();
  CHECK(after.modules_loaded == before.modules_loaded && after.launches == before.launches);
  OK(rondo_training_destroy(training));
  OK(rondo_cell_destroy(cell));
}

static rondo_training_sizes sizes_of(const rondo_training* training) {
  rondo_training_sizes sizes = {.struct_size = sizeof sizes};
  OK(rondo_training_get_sizes(training, B, T, &sizes));
  return sizes;
}

static void test_training(void) {
  rondo_cell* cell = shipped_cell("gru");
  rondo_problem problem = one_head(RONDO_TYPE_F32, RONDO_PASS_FORWARD, B, T, D);
  rondo_training *outline = NULL, *made = NULL, *any = NULL;
  problem.save = RONDO_SAVE_AUTO;
  FAILS(rondo_training_outline(NULL, cell, &problem, NULL, &any), RONDO_ERROR_INPUT, "RONDO_SAVE_AUTO");
  CHECK(any == NULL);
  OK(rondo_training_outline(cpu, cell, &problem, NULL, &outline));
  OK(rondo_training_create(cpu, cell, &problem, NULL, &made));
  rondo_training_info asked = {.struct_size = sizeof asked}, is = {.struct_size = sizeof is};
  OK(rondo_training_get_info(outline, &asked));
  OK(rondo_training_get_info(made, &is));
  CHECK(asked.save == is.save && asked.shared == is.shared);
  problem.save = is.save;
  OK(rondo_training_outline(NULL, cell, &problem, NULL, &any));
  const rondo_training_sizes before = sizes_of(outline), after = sizes_of(made), of_any = sizes_of(any);
  CHECK(before.saved_bytes == after.saved_bytes && of_any.saved_bytes >= after.saved_bytes);
  CHECK(before.forward_workspace_bytes == after.forward_workspace_bytes);
  CHECK(before.backward_workspace_bytes == after.backward_workspace_bytes);
  CHECK(of_any.backward_workspace_bytes == 0);
  OK(rondo_training_destroy(any));
  OK(rondo_training_destroy(made));
  OK(rondo_training_destroy(outline));
  OK(rondo_cell_destroy(cell));
}

/* What makes states again of outputs has a workspace of its own, for a product of all steps of a part. It is
 * there for parts that have others before and behind them: of two parts none has. */
static void test_states_made_again(void) {
  enum { EVERY = 1024 };
  rondo_cell* cell = shipped_cell("lstm");
  int64_t bytes[2] = {0, 0};
  for (int more = 0; more < 2; ++more) {
    rondo_problem problem = one_head(RONDO_TYPE_BF16, RONDO_PASS_FORWARD, 16, (2 + more) * EVERY, 768);
    problem.every = EVERY;
    rondo_training* training = NULL;
    if (!OK(rondo_training_outline(gpu, cell, &problem, NULL, &training))) break;
    rondo_training_sizes sizes = {.struct_size = sizeof sizes};
    OK(rondo_training_get_sizes(training, 16, 3 * EVERY, &sizes));
    bytes[more] = sizes.forward_workspace_bytes;
    OK(rondo_training_destroy(training));
  }
  CHECK(0 < bytes[0] && bytes[0] < bytes[1]);
  /* The same pass by itself: it has h as an input, and gives c. */
  const rondo_problem again = one_head(RONDO_TYPE_BF16, RONDO_PASS_AGAIN, 16, EVERY, 768);
  rondo_plan* plan = NULL;
  if (OK(rondo_plan_outline(gpu, cell, &again, NULL, &plan))) {
    int32_t h = -1, c = -1, none = -1;
    if (OK(rondo_plan_find_tensor(plan, "h", &h))) CHECK(tensor_of(plan, h).role == RONDO_ROLE_INPUT);
    if (OK(rondo_plan_find_tensor(plan, "c_history", &c))) CHECK(tensor_of(plan, c).written == 1);
    FAILS(rondo_plan_find_tensor(plan, "h_out", &none), RONDO_ERROR_MISSING, "h_out");
  }
  OK(rondo_plan_destroy(plan));
  OK(rondo_cell_destroy(cell));
}

/* A bound on workspace: what needs more is refused, and what then fits is told, and fits. The cell is one
 * whose backward pass keeps values of all steps there. */
static void test_most_workspace(void) {
  enum { LONG = 4096 };
  rondo_cell* cell = shipped_cell("lnlstm");
  rondo_problem problem = one_head(RONDO_TYPE_BF16, RONDO_PASS_BACKWARD, B, LONG, D);
  rondo_plan_options options = {.struct_size = sizeof options};
  rondo_plan* plan = NULL;
  rondo_training* training = NULL;
  int64_t whole = 0, one = 0, fits = 7;
  if (!OK(rondo_plan_outline(gpu, cell, &problem, NULL, &plan))) return;
  OK(rondo_plan_workspace_bytes(plan, B, LONG, &whole));
  OK(rondo_plan_workspace_bytes(plan, B, 1, &one));
  CHECK(one < whole);
  FAILS(rondo_plan_longest_time(plan, B, one - 1, &fits), RONDO_ERROR_UNSUPPORTED, "a single step");
  FAILS(rondo_plan_longest_time(plan, -1, one, &fits), RONDO_ERROR_INPUT, "B = -1");
  FAILS(rondo_plan_longest_time(plan, B, one, NULL), RONDO_ERROR_INPUT, "time is NULL");
  CHECK(fits == 7);
  for (int i = 0; i <= 4; ++i) {
    const int64_t allowed = one + (whole - one) * i / 4;
    int64_t needed = 0, more = 0;
    OK(rondo_plan_longest_time(plan, B, allowed, &fits));
    OK(rondo_plan_workspace_bytes(plan, B, fits, &needed));
    OK(rondo_plan_workspace_bytes(plan, B, fits + 1, &more));
    CHECK(needed <= allowed && allowed < more);
  }
  char words[32];
  for (int i = 0; i < 4; ++i) {
    options.most_workspace = one + (whole - one) * i / 4;
    OK(rondo_plan_longest_time(plan, B, options.most_workspace, &fits));
    snprintf(words, sizeof words, "ask for T = %lld,", (long long)fits);
    rondo_plan* bounded = NULL;
    FAILS(rondo_plan_outline(gpu, cell, &problem, &options, &bounded), RONDO_ERROR_UNSUPPORTED, words);
    problem.time = fits;
    OK(rondo_plan_outline(gpu, cell, &problem, &options, &bounded));
    OK(rondo_plan_destroy(bounded));
    problem.time = LONG;
  }
  OK(rondo_plan_destroy(plan));
  snprintf(words, sizeof words, "of %lld bytes", (long long)whole);
  options.most_workspace = whole - 1;
  FAILS(rondo_plan_outline(gpu, cell, &problem, &options, &plan), RONDO_ERROR_UNSUPPORTED, words);
  FAILS(rondo_plan_outline(gpu, cell, &problem, &options, &plan), RONDO_ERROR_UNSUPPORTED, "parts of time");
  FAILS(rondo_training_outline(gpu, cell, &problem, &options, &training), RONDO_ERROR_UNSUPPORTED, words);
  options.most_workspace = 1;
  FAILS(rondo_plan_outline(gpu, cell, &problem, &options, &plan), RONDO_ERROR_UNSUPPORTED, "a single step");
  options.most_workspace = -1;
  FAILS(rondo_plan_outline(gpu, cell, &problem, &options, &plan), RONDO_ERROR_INPUT, "-1 bytes");
  CHECK(plan == NULL && training == NULL);
  options.most_workspace = whole;
  OK(rondo_plan_outline(gpu, cell, &problem, &options, &plan));
  OK(rondo_plan_destroy(plan));
  OK(rondo_plan_outline(NULL, cell, &problem, NULL, &plan));
  FAILS(rondo_plan_longest_time(plan, B, one, &fits), RONDO_ERROR_UNSUPPORTED, "with a context");
  OK(rondo_plan_destroy(plan));
  OK(rondo_cell_destroy(cell));
}

static void test_what_outlines_refuse(void) {
  rondo_cell* cell = shipped_cell("mingru");
  rondo_problem problem = one_head(RONDO_TYPE_F32, RONDO_PASS_FORWARD, B, T, D);
  rondo_plan_options options = {.struct_size = sizeof options, .choose = RONDO_CHOOSE_TUNE};
  rondo_plan* plan = (rondo_plan*)8;
  FAILS(rondo_plan_outline(cpu, cell, &problem, &options, &plan), RONDO_ERROR_INPUT, "an outline does not");
  CHECK(plan == NULL);
  FAILS(rondo_plan_outline(NULL, cell, &problem, &options, &plan), RONDO_ERROR_INPUT, "RONDO_CHOOSE_TUNE");
  options = (rondo_plan_options){.struct_size = sizeof options, .strategy = "none such"};
  FAILS(rondo_plan_outline(cpu, cell, &problem, &options, &plan), RONDO_ERROR_INPUT, "none such");
  options = (rondo_plan_options){.struct_size = sizeof options, .choose = RONDO_CHOOSE_RECORDED};
  FAILS(rondo_plan_outline(gpu, cell, &problem, &options, &plan), RONDO_ERROR_INPUT, "needs a database");
  /* Of a pointer only a part would be read. */
  options = (rondo_plan_options){.struct_size = offsetof(rondo_plan_options, lock) + 3, .lock = "x"};
  FAILS(rondo_plan_outline(cpu, cell, &problem, &options, &plan), RONDO_ERROR_INPUT, "whole fields");
  problem.dim = 0;
  FAILS(rondo_plan_outline(NULL, cell, &problem, NULL, &plan), RONDO_ERROR_INPUT, "D");
  FAILS(rondo_plan_outline(NULL, cell, NULL, NULL, &plan), RONDO_ERROR_INPUT, "rondo_problem is NULL");
  FAILS(rondo_plan_outline(NULL, cell, &problem, NULL, NULL), RONDO_ERROR_INPUT, "plan is NULL");
  OK(rondo_cell_destroy(cell));
}

/* Threads of this process. */
static int running(void) {
  int count = -2; /* "." and ".." */
  DIR* folder = opendir("/proc/self/task");
  if (!CHECK(folder != NULL)) return 0;
  while (readdir(folder) != NULL) ++count;
  closedir(folder);
  return count;
}

/* A forward pass with so many threads; its result, and how many threads were started for it. */
static int threads_started(int32_t threads, float* h, size_t bytes) {
  rondo_context_options options = {.struct_size = sizeof options, .device = RONDO_DEVICE_CPU};
  options.threads = threads;
  rondo_context* context = NULL;
  rondo_cell* cell = shipped_cell("gru");
  rondo_problem problem = one_head(RONDO_TYPE_F32, RONDO_PASS_FORWARD, B, T, D);
  rondo_plan* plan = NULL;
  OK(rondo_context_create(&options, &context));
  const int before = running();
  int started = 0;
  if (OK(rondo_plan_create(context, cell, &problem, NULL, &plan))) {
    plan_memory memory = memory_of(plan, B, T);
    OK(launch_memory(plan, &memory));
    started = strcmp(info_of(plan).strategy, "host") == 0 ? running() - before : -1;
    memcpy(h, data_of(&memory, "h_out"), bytes);
    free_memory(&memory);
  }
  OK(rondo_plan_destroy(plan));
  OK(rondo_cell_destroy(cell));
  OK(rondo_context_destroy(context));
  return started;
}

static void test_threads(void) {
  static float one[B * T * D], other[B * T * D], five[B * T * D];
  const int started = threads_started(5, five, sizeof five);
  CHECK(started == 4 || started == -1); /* -1: there is no compiler, and the reference takes the caller's */
  CHECK(threads_started(5, other, sizeof other) == (started == -1 ? -1 : 0)); /* they stay */
  CHECK(threads_started(1, one, sizeof one) == (started == -1 ? -1 : 0));
  CHECK(memcmp(one, five, sizeof one) == 0 && memcmp(one, other, sizeof one) == 0);
  rondo_context_options options = {.struct_size = sizeof options, .device = RONDO_DEVICE_CPU};
  rondo_context* context = NULL;
  for (int i = 0; i < 2; ++i) {
    options.threads = i == 0 ? -1 : 257;
    FAILS(rondo_context_create(&options, &context), RONDO_ERROR_INPUT, "threads = ");
  }
  options.device = RONDO_DEVICE_CUDA;
  options.threads = 2;
  FAILS(rondo_context_create(&options, &context), RONDO_ERROR_INPUT, "it is of CPUs");
  CHECK(context == NULL);
}

/* A batch that a launch takes, and one more. The memory is nobody's: what is given is checked before. */
static void check_largest(const rondo_plan* plan, int64_t time) {
  int64_t most = 0;
  if (!OK(rondo_plan_largest_batch(plan, time, &most))) return;
  CHECK(most >= 1);
  rondo_launch_args args = {.struct_size = sizeof args, .tensor_size = sizeof(rondo_tensor)};
  args.time = time;
  args.batch = most + 1;
  CHECK(rondo_plan_prepare(plan, &args) != RONDO_OK);
  CHECK(strstr(rondo_message(), "B = ") != NULL && strstr(rondo_message(), "tensor") == NULL);
  args.batch = most; /* now a tensor is missing */
  FAILS(rondo_plan_prepare(plan, &args), RONDO_ERROR_INPUT, "tensor");
}

static void test_largest_batch(void) {
  rondo_cell* cell = shipped_cell("mingru");
  rondo_problem problem = one_head(RONDO_TYPE_F32, RONDO_PASS_FORWARD, B, T, D);
  rondo_plan* plan = NULL;
  if (OK(rondo_plan_create(cpu, cell, &problem, NULL, &plan))) {
    check_largest(plan, 1);
    check_largest(plan, T);
    int64_t most = 7;
    FAILS(rondo_plan_largest_batch(plan, -1, &most), RONDO_ERROR_INPUT, "T = -1");
    FAILS(rondo_plan_largest_batch(plan, 1, NULL), RONDO_ERROR_INPUT, "batch is NULL");
    CHECK(most == 7);
  }
  OK(rondo_plan_destroy(plan));
  OK(rondo_cell_destroy(cell));
}

static void test_stream_of_the_cpu(void) {
  rondo_cell* cell = shipped_cell("mingru");
  rondo_problem problem = one_head(RONDO_TYPE_F32, RONDO_PASS_FORWARD, B, T, D);
  rondo_plan* plan = NULL;
  int32_t ended = 7;
  if (OK(rondo_plan_create(cpu, cell, &problem, NULL, &plan))) {
    OK(rondo_plan_check_stream(plan, NULL, &ended));
    CHECK(ended == 1);
    FAILS(rondo_plan_check_stream(plan, NULL, NULL), RONDO_ERROR_INPUT, "ended is NULL");
  }
  OK(rondo_plan_destroy(plan));
  OK(rondo_cell_destroy(cell));
}

int main(int argc, char** argv) {
  if (!CHECK(argc == 2)) return report();
  setenv("RONDO_LIBCUDA", argv[1], 1);
  setenv("RONDO_NVRTC", "none", 1);
  setenv("RONDO_BACKEND", "nvrtc", 1);
  cuda = fake_cuda_of(argv[1]);
  if (!CHECK(cuda != NULL)) return report();
  rondo_context_options options = {.struct_size = sizeof options, .device = RONDO_DEVICE_CPU};
  OK(rondo_context_create(&options, &cpu));
  options.device = RONDO_DEVICE_CUDA;
  if (OK(rondo_context_create(&options, &gpu))) {
    test_tensors();
    test_without_a_compiler();
    test_training();
    test_states_made_again();
    test_most_workspace();
    test_what_outlines_refuse();
    test_threads();
    test_largest_batch();
    test_stream_of_the_cpu();
  }
  OK(rondo_context_destroy(gpu));
  OK(rondo_context_destroy(cpu));
  return report();
}
