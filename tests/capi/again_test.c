/* States that a plan makes again of outputs, beside those that the forward pass has saved. */
#include <math.h>
#include <rondo/rondo.h>

#include "tests/capi/check.h"
#include "tests/capi/problems.h"
#include "tests/capi/tensors.h"

enum { T = 11, D = 32 };

static rondo_context* cpu;

static rondo_plan* plan_by(const rondo_cell* cell, int32_t pass, const char* strategy) {
  const rondo_plan_options options = {.struct_size = sizeof options, .strategy = strategy};
  const rondo_problem problem = one_head(RONDO_TYPE_F32, pass, 1, T, D);
  rondo_plan* plan = NULL;
  OK(rondo_plan_create(cpu, cell, &problem, &options, &plan));
  return plan;
}

static float* put(plan_memory* into, const char* name, const float* from, int64_t count) {
  return memcpy(data_of(into, name), from, (size_t)count * sizeof(float));
}

/* c of an LSTM is made again from its second step on: of c behind the first, and of h before each, which the
 * output named y is. */
static void test_states_made_again(void) {
  const char* text =
      "cell own(N) {\n  input x[4, N]\n  param R[4, N, N]\n  state c[N], h[N]\n"
      "  g = R @ h + x\n  next c = sigmoid(g[0]) * c + sigmoid(g[1]) * tanh(g[2])\n"
      "  next h = sigmoid(g[3]) * tanh(next c)\n  output y = next h\n}\n";
  const rondo_cell_options what = {.struct_size = sizeof what, .text = text};
  rondo_cell *cell = NULL, *gru = shipped_cell("gru");
  if (!OK(rondo_cell_create(&what, &cell, NULL))) return;
  rondo_problem problem = one_head(RONDO_TYPE_F32, RONDO_PASS_AGAIN, 1, T, D);
  rondo_plan_options options = {.struct_size = sizeof options, .choose = RONDO_CHOOSE_TUNE};
  rondo_plan *walks = plan_by(cell, RONDO_PASS_FORWARD_SAVE, NULL), *again = NULL;
  FAILS(rondo_plan_create(cpu, cell, &problem, &options, &again), RONDO_ERROR_INPUT, "cell's own passes");
  FAILS(rondo_plan_create(cpu, gru, &problem, NULL, &again), RONDO_ERROR_UNSUPPORTED, "forward pass again");
  FAILS(rondo_plan_outline(NULL, cell, &problem, NULL, &again), RONDO_ERROR_INPUT, "with a context");
  rondo_plan_info info = {.struct_size = sizeof info};
  OK(rondo_plan_get_info(walks, &info));
  if (strcmp(info.strategy, "reference") != 0) {
    again = plan_by(cell, RONDO_PASS_AGAIN, info.strategy);
    plan_memory first = memory_of(walks, 1, T), second = memory_of(again, 1, T - 1);
    OK(launch_memory(walks, &first));
    put(&second, "x", (float*)data_of(&first, "x") + 4 * D, 4 * (T - 1) * D);
    put(&second, "y", data_of(&first, "y_out"), (T - 1) * D);
    put(&second, "c_first", data_of(&first, "c_history"), D);
    OK(launch_memory(again, &second));
    const float *c = data_of(&first, "c_history"), *made = data_of(&second, "c_history");
    for (int k = 0; k < (T - 1) * D; ++k) CHECK(fabsf(made[k] - c[D + k]) < 1e-5f);
    free_memory(&first);
    free_memory(&second);
  }
  OK(rondo_plan_destroy(again));
  OK(rondo_plan_destroy(walks));
  OK(rondo_cell_destroy(gru));
  OK(rondo_cell_destroy(cell));
}

int main(void) {
  const rondo_context_options options = {.struct_size = sizeof options, .device = RONDO_DEVICE_CPU};
  if (!OK(rondo_context_create(&options, &cpu))) return report();
  test_states_made_again();
  OK(rondo_context_destroy(cpu));
  return report();
}
