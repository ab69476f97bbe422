/* Training in parts of time beside the same training in one piece: on the CPU by its kernels, and by those of
 * a GPU in the simulator; and what is refused. */
#include <math.h>
#include <rondo/rondo.h>

#include "tests/capi/check.h"
#include "tests/capi/problems.h"
#include "tests/capi/simulated.h"
#include "tests/capi/tensors.h"

enum { B = 2, T = 11, D = 32, EVERY = 4, PARTS = 3, REGION = 256 };

static rondo_context* cpu;

/* Makes a training of a problem in parts of `every` steps, or in one piece. */
typedef rondo_training* (*maker)(const rondo_cell_options* what, int64_t every);

static rondo_cell* cell_of(const rondo_cell_options* what) {
  rondo_cell* cell = NULL;
  OK(rondo_cell_create(what, &cell, NULL));
  return cell;
}

static rondo_problem problem_of(int64_t every) {
  rondo_problem problem = one_head(RONDO_TYPE_F32, 0, B, T, D);
  problem.every = every;
  return problem;
}

static rondo_training* on_cpu(const rondo_cell_options* what, int64_t every) {
  rondo_cell* cell = cell_of(what);
  const rondo_problem problem = problem_of(every);
  rondo_training* training = NULL;
  OK(rondo_training_create(cpu, cell, &problem, NULL, &training));
  OK(rondo_cell_destroy(cell));
  return training;
}

static rondo_training* on_gpu(const rondo_cell_options* what, int64_t every) {
  rondo_cell* cell = cell_of(what);
  const rondo_problem problem = problem_of(every);
  rondo_training* training = NULL;
  OK(simulated_training(cpu, cell, &problem, &training));
  OK(rondo_cell_destroy(cell));
  return training;
}

/* Both passes, and the memory of all steps. What both plans have is the forward plan's. */
typedef struct {
  rondo_training* training;
  rondo_plan *save, *back;
  plan_memory forward, backward;
  rondo_training_sizes sizes;
  void* saved;
} step;

static step step_of(rondo_training* training) {
  step s = {.training = training, .sizes = {.struct_size = sizeof s.sizes}};
  OK(rondo_training_get_plan(training, RONDO_PASS_FORWARD_SAVE, &s.save));
  OK(rondo_training_get_plan(training, RONDO_PASS_BACKWARD, &s.back));
  OK(rondo_training_get_sizes(training, B, T, &s.sizes));
  s.forward = memory_of(s.save, B, T);
  s.backward = memory_of(s.back, B, T);
  s.saved = aligned_bytes(s.sizes.saved_bytes);
  rondo_training_info info = {.struct_size = sizeof info};
  OK(rondo_training_get_info(training, &info));
  for (int32_t i = 0; i < info.shared; ++i) {
    rondo_shared_tensor both = {.struct_size = sizeof both};
    OK(rondo_training_get_shared(training, i, &both));
    free(s.backward.tensors[both.backward].data);
    s.backward.tensors[both.backward].data = s.forward.tensors[both.forward].data;
  }
  return s;
}

static void end(step* s) {
  for (int i = 0; i < s->backward.count; ++i)
    for (int k = 0; k < s->forward.count; ++k)
      if (s->backward.tensors[i].data == s->forward.tensors[k].data) s->backward.tensors[i].data = NULL;
  free_memory(&s->forward);
  free_memory(&s->backward);
  free(s->saved);
  OK(rondo_plan_destroy(s->save));
  OK(rondo_plan_destroy(s->back));
  OK(rondo_training_destroy(s->training));
}

static int is_saved(int32_t role) { return role == RONDO_ROLE_HISTORY || role == RONDO_ROLE_PRODUCTS; }

/* What is saved is not given. */
static void leave_out(plan_memory* m) {
  rondo_tensor* given = malloc(sizeof m->tensors);
  size_t count = 0;
  for (int i = 0; i < m->count; ++i)
    if (!is_saved(m->infos[i].role)) given[count++] = m->tensors[i];
  m->args.tensors = given;
  m->args.tensor_count = count;
}

/* Steps of the rows: some end early, and one in the middle of a part. */
static const int32_t kLengths[B] = {T, 6};

static void set_rows(const step* s, int64_t begin, int64_t steps) {
  for (int i = 0; i < s->forward.count; ++i) {
    if (s->forward.infos[i].role == RONDO_ROLE_RESETS)
      for (int k = 0; k < B * T; ++k) ((unsigned char*)s->forward.tensors[i].data)[k] = k % 5 == 3;
    if (s->forward.infos[i].role == RONDO_ROLE_LENGTHS)
      for (int b = 0; b < B; ++b) {
        const int64_t left = kLengths[b] - begin;
        ((int32_t*)s->forward.tensors[i].data)[b] = (int32_t)(left < 0 ? 0 : left > steps ? steps : left);
      }
  }
}

static void compare(const plan_memory* parts, const plan_memory* whole) {
  for (int i = 0; i < whole->count; ++i) {
    if (whole->infos[i].written == 0 || is_saved(whole->infos[i].role)) continue;
    const float *one = parts->tensors[i].data, *other = whole->tensors[i].data;
    double most = 0, scale = 0;
    for (int64_t k = 0; k < whole->tensors[i].bytes / 4; ++k) {
      most = fmax(most, isnan(one[k]) ? INFINITY : fabs((double)one[k] - (double)other[k]));
      scale = fmax(scale, fabs((double)other[k]));
    }
    ++checks_made;
    if (!(scale > 0 && most <= 1e-5 * scale)) {
      check_failed(__FILE__, __LINE__, whole->infos[i].name);
      fprintf(stderr, "  differs by %g of %g\n", most, scale);
    }
  }
}

/* Gradients of parameters are those of a part: the sums of all take their place at the end. */
static void run_backward(step* s) {
  float* sums[MOST_TENSORS] = {NULL};
  for (int64_t part = PARTS; part-- > 0;) {
    rondo_training_part of = {.struct_size = sizeof of};
    OK(rondo_training_get_part(s->training, T, part, &of));
    set_rows(s, of.begin, of.steps);
    OK(rondo_training_backward_part(s->training, part, &s->forward.args, &s->backward.args, s->saved,
                                    s->sizes.saved_bytes));
    for (int i = 0; i < s->backward.count; ++i) {
      if (s->backward.infos[i].role != RONDO_ROLE_PARAM_GRADIENT) continue;
      const int64_t count = s->backward.tensors[i].bytes / 4;
      float* data = s->backward.tensors[i].data;
      if (sums[i] == NULL) sums[i] = calloc((size_t)count, sizeof(float));
      for (int64_t k = 0; k < count; ++k) sums[i][k] += data[k];
      if (part == 0) memcpy(data, sums[i], (size_t)count * 4);
    }
  }
  for (int i = 0; i < MOST_TENSORS; ++i) free(sums[i]);
}

static void test_as_in_one_piece(maker make, rondo_cell_options what) {
  what.struct_size = sizeof what;
  const int before = checks_failed;
  step whole = step_of(make(&what, 0)), parts = step_of(make(&what, EVERY));
  CHECK(whole.sizes.parts == 1 && parts.sizes.parts == PARTS);
  set_rows(&whole, 0, T);
  OK(launch_memory(whole.save, &whole.forward));
  OK(launch_memory(whole.back, &whole.backward));
  leave_out(&parts.forward);
  leave_out(&parts.backward);
  memset(parts.saved, 0xff, (size_t)parts.sizes.saved_bytes);
  for (int64_t part = 0; part < PARTS; ++part) {
    rondo_training_part of = {.struct_size = sizeof of};
    OK(rondo_training_get_part(parts.training, T, part, &of));
    CHECK(of.steps == (part == PARTS - 1 ? T - 2 * EVERY : EVERY));
    CHECK(of.begin == (what.reversed ? T - part * EVERY - of.steps : part * EVERY));
    set_rows(&parts, of.begin, of.steps);
    OK(rondo_training_forward_part(parts.training, part, &parts.forward.args, parts.saved,
                                   parts.sizes.saved_bytes));
  }
  compare(&parts.forward, &whole.forward);
  run_backward(&parts);
  compare(&parts.forward, &whole.forward);
  compare(&parts.backward, &whole.backward);
  if (checks_failed > before)
    fprintf(stderr, "  of %s%s%s\n", what.path, what.reversed ? ", reversed" : "",
            what.lengths ? ", of rows of different length" : "");
  free((void*)parts.forward.args.tensors);
  free((void*)parts.backward.args.tensors);
  end(&whole);
  end(&parts);
}

static int64_t up(int64_t bytes) { return (bytes + REGION - 1) / REGION * REGION; }

/* Of an LSTM: two states behind each part but the last, their gradients twice, and c of a part's steps. */
static void test_sizes(void) {
  const rondo_cell_options lstm = {.struct_size = sizeof lstm, .path = "lstm"};
  const int64_t state = B * D * 4, counts[] = {1, EVERY, EVERY + 1, T, 1000 * T};
  step s = step_of(on_cpu(&lstm, EVERY));
  for (int i = 0; i < 5; ++i) {
    rondo_training_sizes sizes = {.struct_size = sizeof sizes};
    const int64_t time = counts[i], between = (time + EVERY - 1) / EVERY - 1;
    const int64_t steps = time < EVERY ? time : EVERY;
    OK(rondo_training_get_sizes(s.training, B, time, &sizes));
    CHECK(sizes.parts == between + 1);
    const int64_t states = between == 0 ? 0 : 2 * up((between - 1) * up(state) + state);
    CHECK(sizes.saved_bytes == states + (between == 0 ? 0 : 2 * up(up(state) + state)) + steps * state);
    int64_t bytes = 0;
    OK(rondo_plan_workspace_bytes(s.back, B, steps, &bytes));
    CHECK(sizes.backward_workspace_bytes == bytes);
  }
  rondo_training_sizes sizes = {.struct_size = sizeof sizes};
  OK(rondo_training_get_sizes(s.training, B, INT64_MAX, &sizes));
  CHECK(sizes.saved_bytes >= (int64_t)1 << 50);
  /* Of no steps there is one part, which gives the first states back. */
  rondo_launch_args none = s.forward.args;
  leave_out(&s.forward);
  none.tensors = s.forward.args.tensors;
  none.tensor_count = s.forward.args.tensor_count;
  none.time = 0;
  OK(rondo_training_forward_part(s.training, 0, &none, s.saved, s.sizes.saved_bytes));
  CHECK(memcmp(data_of(&s.forward, "c_last"), data_of(&s.forward, "c_first"), B * D * 4) == 0);
  free((void*)none.tensors);
  end(&s);
}

static void test_what_is_refused(void) {
  const rondo_cell_options lstm = {.struct_size = sizeof lstm, .path = "lstm"};
  step s = step_of(on_cpu(&lstm, EVERY)), whole = step_of(on_cpu(&lstm, 0));
  const int64_t bytes = s.sizes.saved_bytes;
  rondo_launch_args *f = &s.forward.args, *b = &s.backward.args;
  f->tensors = s.forward.tensors;
  b->tensors = s.backward.tensors;
  FAILS(rondo_training_forward_part(s.training, 0, f, s.saved, bytes), RONDO_ERROR_INPUT,
        "'c_history' is given");
  leave_out(&s.forward);
  FAILS(rondo_training_backward_part(s.training, 2, f, b, s.saved, bytes), RONDO_ERROR_INPUT,
        "'c_history' is given");
  leave_out(&s.backward);
  FAILS(rondo_training_forward_part(s.training, 3, f, s.saved, bytes), RONDO_ERROR_INPUT,
        "there is no part 3");
  FAILS(rondo_training_forward_part(s.training, -1, f, s.saved, bytes), RONDO_ERROR_INPUT, "no part -1");
  FAILS(rondo_training_forward_part(s.training, 0, NULL, s.saved, bytes), RONDO_ERROR_INPUT, "is NULL");
  FAILS(rondo_training_forward_part(s.training, 0, f, NULL, bytes), RONDO_ERROR_INPUT, "given are 0");
  FAILS(rondo_training_forward_part(s.training, 0, f, s.saved, bytes - 1), RONDO_ERROR_INPUT, "saved memory");
  FAILS(rondo_training_forward_part(s.training, 0, f, (char*)s.saved + 16, bytes), RONDO_ERROR_INPUT,
        "256 bytes");
  FAILS(rondo_training_forward_part(s.training, 0, f, data_of(&s.forward, "x"), bytes), RONDO_ERROR_INPUT,
        "share");
  FAILS(rondo_training_backward_part(s.training, 0, f, NULL, s.saved, bytes), RONDO_ERROR_INPUT, "is NULL");
  b->time = T - 1;
  FAILS(rondo_training_backward_part(s.training, 0, f, b, s.saved, bytes), RONDO_ERROR_INPUT, "T = 10");
  b->time = T;
  b->stream = &s;
  FAILS(rondo_training_backward_part(s.training, 0, f, b, s.saved, bytes), RONDO_ERROR_INPUT,
        "another stream");
  b->stream = NULL;
  f->time = (int64_t)1 << 40;
  FAILS(rondo_training_forward_part(s.training, 0, f, s.saved, bytes), RONDO_ERROR_INPUT, "at most");
  f->time = T;
  rondo_training_part part = {.struct_size = sizeof part, .steps = 7};
  FAILS(rondo_training_get_part(s.training, T, PARTS, &part), RONDO_ERROR_INPUT, "has 3");
  FAILS(rondo_training_get_part(s.training, -1, 0, &part), RONDO_ERROR_INPUT, "negative");
  FAILS(rondo_training_get_part(whole.training, T, 0, &part), RONDO_ERROR_INPUT, "no parts of time");
  FAILS(rondo_training_get_part(s.training, T, 0, NULL), RONDO_ERROR_INPUT, "NULL");
  CHECK(part.steps == 7);
  FAILS(rondo_training_forward_part(whole.training, 0, f, s.saved, bytes), RONDO_ERROR_INPUT,
        "rondo_problem.every");
  free((void*)s.forward.args.tensors);
  free((void*)s.backward.args.tensors);
  end(&s);
  end(&whole);
}

static void test_what_has_no_parts(void) {
  rondo_cell *lstm = shipped_cell("lstm"), *draws = shipped_cell("zoneout");
  rondo_problem problem = problem_of(-1);
  rondo_training* training = NULL;
  rondo_plan* plan = NULL;
  FAILS(rondo_training_create(cpu, lstm, &problem, NULL, &training), RONDO_ERROR_INPUT, "every is -1");
  problem.every = EVERY;
  FAILS(rondo_plan_create(cpu, lstm, &problem, NULL, &plan), RONDO_ERROR_INPUT, "rondo_training_create()");
  problem.save = RONDO_SAVE_PRODUCTS;
  FAILS(rondo_training_create(cpu, lstm, &problem, NULL, &training), RONDO_ERROR_INPUT, "RONDO_SAVE_STATES");
  problem.save = RONDO_SAVE_AUTO;
  FAILS(rondo_training_create(cpu, lstm, &problem, NULL, &training), RONDO_ERROR_INPUT, "RONDO_SAVE_STATES");
  problem.save = RONDO_SAVE_STATES;
  FAILS(rondo_training_create(cpu, draws, &problem, NULL, &training), RONDO_ERROR_UNSUPPORTED, "draws");
  rondo_cell_options both = {.struct_size = sizeof both, .path = "lstm", .directions = 1};
  rondo_cell* ways = cell_of(&both);
  problem.heads = 2;
  FAILS(rondo_training_outline(NULL, ways, &problem, NULL, &training), RONDO_ERROR_UNSUPPORTED, "both ways");
  problem.heads = 1;
  OK(rondo_training_outline(NULL, lstm, &problem, NULL, &training));
  rondo_training_sizes sizes = {.struct_size = sizeof sizes};
  OK(rondo_training_get_sizes(training, B, T, &sizes));
  CHECK(sizes.parts == PARTS && sizes.saved_bytes > 0 && sizes.backward_workspace_bytes == 0);
  OK(rondo_training_destroy(training));
  OK(rondo_cell_destroy(ways));
  OK(rondo_cell_destroy(draws));
  OK(rondo_cell_destroy(lstm));
}

/* What fits is chosen: in one piece where there is room, else in parts, which need no more than was allowed.
 */
static void test_memory(void) {
  rondo_cell* cell = shipped_cell("lnlstm");
  rondo_problem problem = one_head(RONDO_TYPE_F32, 0, B, 1000, D);
  rondo_plan_options options = {.struct_size = sizeof options, .most_memory = -1};
  rondo_training* training = NULL;
  FAILS(rondo_training_create(cpu, cell, &problem, &options, &training), RONDO_ERROR_INPUT,
        "most_memory is -1");
  options.most_memory = (int64_t)1 << 40;
  FAILS(rondo_training_create(cpu, cell, &problem, &options, &training), RONDO_ERROR_INPUT,
        "RONDO_SAVE_AUTO");
  problem.save = RONDO_SAVE_AUTO;
  FAILS(rondo_training_outline(NULL, cell, &problem, &options, &training), RONDO_ERROR_INPUT, "a context");
  OK(rondo_training_create(cpu, cell, &problem, &options, &training));
  rondo_training_info info = {.struct_size = sizeof info};
  rondo_training_sizes sizes = {.struct_size = sizeof sizes};
  OK(rondo_training_get_info(training, &info));
  OK(rondo_training_get_sizes(training, B, 1000, &sizes));
  CHECK(info.every == 0 && sizes.parts == 1);
  rondo_plan* plan = NULL;
  rondo_plan_info of = {.struct_size = sizeof of};
  OK(rondo_training_get_plan(training, RONDO_PASS_BACKWARD, &plan));
  OK(rondo_plan_get_info(plan, &of));
  const int has_kernels = strcmp(of.strategy, "reference") != 0; /* else there is nothing to bound */
  OK(rondo_plan_destroy(plan));
  OK(rondo_training_destroy(training));
  if (has_kernels) {
    options.most_memory = (sizes.saved_bytes + sizes.backward_workspace_bytes) / 4;
    OK(rondo_training_create(cpu, cell, &problem, &options, &training));
    OK(rondo_training_get_info(training, &info));
    OK(rondo_training_get_sizes(training, B, 1000, &sizes));
    CHECK(info.save == RONDO_SAVE_STATES && info.every > 0 &&
          sizes.parts == (1000 + info.every - 1) / info.every);
    CHECK(sizes.saved_bytes + sizes.forward_workspace_bytes <= options.most_memory);
    CHECK(sizes.saved_bytes + sizes.backward_workspace_bytes <= options.most_memory);
    OK(rondo_training_destroy(training));
    options.most_memory = 1;
    FAILS(rondo_training_create(cpu, cell, &problem, &options, &training), RONDO_ERROR_UNSUPPORTED,
          "at the least");
  }
  OK(rondo_cell_destroy(cell));
}

int main(void) {
  rondo_context_options options = {.struct_size = sizeof options, .device = RONDO_DEVICE_CPU};
  if (!OK(rondo_context_create(&options, &cpu))) return report();
  static const char* const kCells[] = {"lstm", "gru", "mingru", "paragru", "slstm", "lnlstm"};
  for (size_t i = 0; i < sizeof kCells / sizeof kCells[0]; ++i)
    test_as_in_one_piece(on_cpu, (rondo_cell_options){.path = kCells[i]});
  const rondo_cell_options rows = {.path = "lstm", .resets = 1, .lengths = 1};
  rondo_cell_options back = rows;
  back.reversed = 1;
  test_as_in_one_piece(on_cpu, rows);
  test_as_in_one_piece(on_cpu, back);
  test_as_in_one_piece(on_gpu, (rondo_cell_options){.path = "mingru"});
  test_as_in_one_piece(on_gpu, (rondo_cell_options){.path = "gru"});
  test_as_in_one_piece(on_gpu, rows); /* the simulator of these tests walks no way back */
  test_sizes();
  test_what_is_refused();
  test_what_has_no_parts();
  test_memory();
  OK(rondo_context_destroy(cpu));
  return report();
}
