/* Data of the program's own for what is verified and tuned (rondo_plan_options.data), on the CPU: a cell that
 * random numbers take to 40^64, and that the caller's keep within the numbers. */
#define _POSIX_C_SOURCE 200809L /* setenv */

#include <math.h>
#include <rondo/rondo.h>
#include <stdlib.h>

#include "tests/capi/check.h"
#include "tests/capi/problems.h"

enum { B = 2, T = 64, D = 32, OWN_T = 8, SKIPPED = 77 };

static const char kText[] =
    "cell grows(D) {\n  input x[D]\n  param a[D] in (0, 1)\n  state h[D] = 1\n  next h = h * (40 + x) * a\n"
    "  output h\n}\n";

static rondo_context* context;
static rondo_cell* cell;
static float x[B * OWN_T * D], a[D];
static const int64_t x_shape[] = {B, OWN_T, 1, D}, a_shape[] = {1, D};

static rondo_status made(const rondo_array* data, size_t count, int32_t choose) {
  const rondo_problem problem = one_head(RONDO_TYPE_F32, RONDO_PASS_FORWARD, B, T, D);
  rondo_plan_options options = {.struct_size = sizeof options, .choose = choose, .budget_s = 2};
  options.strategy = "host";
  options.data = data;
  options.data_count = count;
  options.data_size = sizeof *data;
  rondo_plan* plan = NULL;
  const rondo_status status = rondo_plan_create(context, cell, &problem, &options, &plan);
  CHECK((status == RONDO_OK) == (plan != NULL));
  rondo_plan_destroy(plan);
  return status;
}

static rondo_array of_x(void) { return (rondo_array){.name = "x", .values = x, .shape = x_shape, .rank = 4}; }

static void test_what_cannot_be(void) {
  static const int64_t narrow[] = {B, OWN_T, 1, 16}, negative[] = {B, -1, 1, D};
  rondo_array array;
#define REFUSED(change, words)                                            \
  do {                                                                    \
    array = of_x();                                                       \
    change;                                                               \
    FAILS(made(&array, 1, RONDO_CHOOSE_MODEL), RONDO_ERROR_INPUT, words); \
  } while (0)
  REFUSED(array.name = "y", "no input, parameter or state 'y'");
  REFUSED(array.name = NULL, "rondo_array.name");
  REFUSED(array.values = NULL, "rondo_array.values");
  REFUSED(array.shape = NULL, "rondo_array.shape");
  REFUSED(array.shape = narrow, "H=1,D=16");
  REFUSED(array.shape = negative, "extent of -1");
  REFUSED(array.rank = 3, "'x'");
  REFUSED(array.rank = 1000, "1000 axes");
  REFUSED(array.reserved = 7, "reserved");
  REFUSED((array.name = "a", array.shape = a_shape, array.rank = 2), "(0, 1)");
#undef REFUSED
  const rondo_array twice[] = {of_x(), of_x()};
  FAILS(made(twice, 2, RONDO_CHOOSE_MODEL), RONDO_ERROR_INPUT, "twice");
  FAILS(made(NULL, 1, RONDO_CHOOSE_MODEL), RONDO_ERROR_INPUT, "rondo_plan_options.data");
  x[5] = NAN;
  FAILS(made(twice, 1, RONDO_CHOOSE_MODEL), RONDO_ERROR_INPUT, "nan");
  x[5] = -39;
}

int main(void) {
  for (int i = 0; i < B * OWN_T * D; ++i) x[i] = -38.5F - 0.01F * (float)(i % 50);
  for (int i = 0; i < D; ++i) a[i] = 0.5F + 0.01F * (float)i;
  setenv("RONDO_WORKER", "/no/such/rondo", 1); /* tunes in this process */
  const rondo_context_options where = {.struct_size = sizeof where, .device = RONDO_DEVICE_CPU};
  if (!OK(rondo_context_create(&where, &context))) return report();
  const rondo_cell_options text = {.struct_size = sizeof text, .text = kText};
  if (!OK(rondo_cell_create(&text, &cell, NULL))) return report();
  const rondo_array data[] = {of_x(), {.name = "a", .values = a, .shape = a_shape, .rank = 2}};
  const rondo_status random = made(data, 0, RONDO_CHOOSE_TUNE);
  if (random == RONDO_ERROR_MISSING) return SKIPPED; /* no compiler of CPUs */
  CHECK(random == RONDO_ERROR_INPUT && strstr(rondo_message(), "of the reference is") != NULL);
  OK(made(data, 2, RONDO_CHOOSE_MODEL));
  OK(made(data, 2, RONDO_CHOOSE_TUNE));
  test_what_cannot_be();
  OK(rondo_cell_destroy(cell));
  OK(rondo_context_destroy(context));
  return report();
}
