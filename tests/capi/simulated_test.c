/* Plans of a GPU, in the simulator, beside those of the CPU: the same calls give the same numbers, whatever
 * the layout of the tensors, in a whole sequence and step by step. */
#include <math.h>
#include <rondo/rondo.h>

#include "tests/capi/check.h"
#include "tests/capi/problems.h"
#include "tests/capi/simulated.h"
#include "tests/capi/tensors.h"

enum { B = 2, T = 5 };

static rondo_context* context;

static rondo_problem problem_of(int64_t dim, int32_t pass) {
  return one_head(RONDO_TYPE_F32, pass, B, T, dim);
}

static rondo_plan* cpu_plan(const char* name, const rondo_problem* problem) {
  rondo_cell* cell = shipped_cell(name);
  rondo_plan* plan = NULL;
  OK(rondo_plan_create(context, cell, problem, NULL, &plan));
  OK(rondo_cell_destroy(cell));
  return plan;
}

static int64_t elements(const rondo_tensor_info* info) {
  int64_t count = 1;
  for (int i = 2; i < info->rank; ++i) count *= info->extents[i];
  return count;
}

/* [T, B, ...] with 8 elements of room after each step. */
static void lay_out_by_time(plan_memory* m, int i) {
  rondo_tensor* tensor = &m->tensors[i];
  const int64_t unit = elements(&m->infos[i]), stride_t = B * unit + 8;
  float* data = aligned_bytes(T * stride_t * 4);
  for (int64_t b = 0; b < B; ++b)
    for (int64_t t = 0; t < T; ++t)
      memcpy(data + t * stride_t + b * unit, (float*)tensor->data + (b * T + t) * unit, (size_t)unit * 4);
  free(tensor->data);
  tensor->data = data;
  tensor->bytes = T * stride_t * 4;
  tensor->rank = m->infos[i].rank;
  int64_t dense = 1;
  for (int k = tensor->rank - 1; k >= 0; --k) {
    tensor->extents[k] = k == 0 ? B : k == 1 ? T : m->infos[i].extents[k];
    tensor->strides[k] = k == 0 ? unit : k == 1 ? stride_t : dense;
    dense *= tensor->extents[k];
  }
}

static float value_at(const plan_memory* m, int i, int64_t place) {
  const rondo_tensor* tensor = &m->tensors[i];
  if (tensor->rank == 0) return ((float*)tensor->data)[place];
  const int64_t unit = elements(&m->infos[i]);
  return ((float*)tensor->data)[place / unit % T * tensor->strides[1] +
                                place / unit / T * tensor->strides[0] + place % unit];
}

static void compare(const plan_memory* cpu, const plan_memory* gpu) {
  for (int i = 0; i < gpu->count; ++i) {
    if (gpu->infos[i].written == 0) continue;
    const int same = place_of(cpu, gpu->infos[i].name);
    for (int64_t k = 0; k < cpu->tensors[same].bytes / 4; ++k) {
      const float wanted = ((float*)cpu->tensors[same].data)[k], found = value_at(gpu, i, k);
      if (!CHECK(fabsf(wanted - found) <= 1e-5f * (1 + fabsf(wanted)))) {
        fprintf(stderr, "  %s[%d]: %g, on the CPU %g\n", gpu->infos[i].name, (int)k, (double)found,
                (double)wanted);
        break;
      }
    }
  }
}

/* With just the workspace that a launch needs of which one tensor that may be left out is, or none; with a
 * region less it is refused where it used any. Results are those of a launch with all tensors. */
static void test_workspace(rondo_plan* gpu, const plan_memory* all) {
  int64_t any = 0;
  OK(rondo_plan_workspace_bytes(gpu, B, T, &any));
  for (int left_out = -1; left_out < all->count; ++left_out) {
    if (left_out >= 0 && all->infos[left_out].need == RONDO_NEED_REQUIRED) continue;
    /* Of such a result all steps are written to one place, which the simulator takes for a race. */
    if (left_out >= 0 && all->infos[left_out].written == 1 && all->infos[left_out].strided == 1) continue;
    plan_memory m = memory_of(gpu, B, T);
    rondo_tensor given[MOST_TENSORS];
    size_t kept = 0;
    for (int i = 0; i < m.count; ++i)
      if (i != left_out) given[kept++] = m.tensors[i];
    m.args.tensors = given;
    m.args.tensor_count = kept;
    OK(rondo_plan_launch_workspace_bytes(gpu, &m.args, &m.args.workspace_bytes));
    CHECK(m.args.workspace_bytes <= any && (left_out >= 0 || m.args.workspace_bytes < any));
    free(m.workspace);
    m.args.workspace = m.workspace = aligned_bytes(m.args.workspace_bytes);
    OK(rondo_launch(gpu, &m.args));
    for (int i = 0; i < m.count; ++i)
      if (i != left_out && left_out >= 0 && all->infos[left_out].written == 1)
        CHECK(memcmp(m.tensors[i].data, all->tensors[i].data, (size_t)m.tensors[i].bytes) == 0);
    if (m.args.workspace_bytes > 0) {
      m.args.workspace_bytes -= 256;
      CHECK(rondo_launch(gpu, &m.args) == RONDO_ERROR_INPUT);
    }
    free_memory(&m);
  }
}

static void test_pass(const char* cell, const char* strategy, int64_t dim, int32_t pass) {
  const rondo_problem problem = problem_of(dim, pass);
  rondo_plan *cpu = cpu_plan(cell, &problem), *gpu = NULL;
  if (!OK(simulated_plan(context, cell, &problem, strategy, &gpu))) return;
  for (int by_time = 0; by_time < 2; ++by_time) {
    plan_memory on_cpu = memory_of(cpu, B, T), on_gpu = memory_of(gpu, B, T);
    for (int i = 0; by_time == 1 && i < on_gpu.count; ++i)
      if (on_gpu.infos[i].strided != 0) lay_out_by_time(&on_gpu, i);
    OK(launch_memory(cpu, &on_cpu));
    OK(launch_memory(gpu, &on_gpu));
    compare(&on_cpu, &on_gpu);
    if (by_time == 0) test_workspace(gpu, &on_gpu);
    free_memory(&on_cpu);
    free_memory(&on_gpu);
  }
  OK(rondo_plan_destroy(cpu));
  OK(rondo_plan_destroy(gpu));
}

static void test_steps(const char* cell, const char* strategy, int64_t dim) {
  const rondo_problem problem = problem_of(dim, RONDO_PASS_FORWARD);
  rondo_plan* gpu = NULL;
  if (!OK(simulated_plan(context, cell, &problem, strategy, &gpu))) return;
  plan_memory whole = memory_of(gpu, B, T), one = memory_of(gpu, B, 1);
  OK(launch_memory(gpu, &whole));
  OK(rondo_plan_step_workspace_bytes(gpu, B, &one.args.workspace_bytes));
  free(one.workspace);
  one.args.workspace = one.workspace = aligned_bytes(one.args.workspace_bytes);
  const int x = place_of(&one, "x"), out = place_of(&one, "h_out");
  const int64_t unit = elements(&one.infos[x]);
  /* The last states are not given: the initial ones take their place. */
  rondo_tensor given[MOST_TENSORS];
  size_t kept = 0;
  for (int i = 0; i < one.count; ++i)
    if (one.infos[i].role != RONDO_ROLE_LAST_STATE) given[kept++] = one.tensors[i];
  for (int64_t t = 0; t < T; ++t) {
    for (int64_t b = 0; b < B; ++b)
      memcpy((float*)one.tensors[x].data + b * unit, (float*)whole.tensors[x].data + (b * T + t) * unit,
             (size_t)unit * 4);
    one.args.tensors = given;
    one.args.tensor_count = kept;
    OK(rondo_step(gpu, &one.args));
    const float* y = one.tensors[out].data;
    for (int64_t b = 0; b < B; ++b)
      for (int64_t i = 0; i < dim; ++i) {
        const float wanted = ((float*)whole.tensors[out].data)[(b * T + t) * dim + i];
        if (!CHECK(fabsf(y[b * dim + i] - wanted) <= 1e-5f * (1 + fabsf(wanted)))) t = T;
      }
  }
  free_memory(&whole);
  free_memory(&one);
  OK(rondo_plan_destroy(gpu));
}

int main(void) {
  rondo_context_options options = {.struct_size = sizeof options, .device = RONDO_DEVICE_CPU};
  OK(rondo_context_create(&options, &context));
  for (int32_t pass = RONDO_PASS_FORWARD; pass <= RONDO_PASS_BACKWARD; ++pass) {
    test_pass("mingru", "stream", 32, pass);
    test_pass("paragru", "stream", 32, pass);
    test_pass("lstm", "persistent", 32, pass);
    test_pass("gru", "alternating", 32, pass);
  }
  test_steps("mingru", "stream", 32);
  test_steps("lstm", "persistent", 32);
  OK(rondo_context_destroy(context));
  return report();
}
