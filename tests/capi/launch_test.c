/* The launching part of the C interface: every function with what is right, and with all that can be wrong.
 */
#include <rondo/launch.h>
#include <stdlib.h>

#include "tests/capi/check.h"
#include "tests/capi/stand_in.h"

enum { B = 2, T = 3, D = 4, UNIT = 2 * D };

/* Buffers of a call, aligned to 256 bytes, with room beside each tensor. */
typedef struct {
  float x[B * T * UNIT * 2];
  float scale[UNIT * 8];
  float first[B * UNIT * 4];
  float out[B * T * UNIT * 2];
  float last[B * UNIT * 4];
  float workspace[4096];
} buffers;

static buffers* new_buffers(void) {
  const size_t bytes = (sizeof(buffers) + 255) / 256 * 256;
  buffers* b = aligned_alloc(256, bytes);
  memset(b, 0, bytes);
  for (int i = 0; i < B * T * UNIT; ++i) b->x[i] = (float)(i % 7);
  for (int i = 0; i < UNIT; ++i) b->scale[i] = 1 + (float)(i % 3);
  for (int i = 0; i < B * UNIT; ++i) b->first[i] = (float)(i % 5);
  return b;
}

typedef struct {
  rondo_tensor tensors[8];
  rondo_launch_args args;
} call;

static call call_of(buffers* b) {
  call c;
  memset(&c, 0, sizeof c);
  void* const data[] = {b->x, b->scale, b->first, b->out, b->last};
  const int64_t elements[] = {B * T * UNIT, UNIT, B * UNIT, B * T * UNIT, B * UNIT};
  for (int i = 0; i < STAND_IN_TENSORS; ++i) {
    c.tensors[i].index = i;
    c.tensors[i].type = RONDO_TYPE_F32;
    c.tensors[i].data = data[i];
    c.tensors[i].bytes = elements[i] * 4;
  }
  c.args.struct_size = sizeof c.args;
  c.args.tensor_size = sizeof c.tensors[0];
  c.args.tensor_count = STAND_IN_TENSORS;
  c.args.workspace = b->workspace;
  c.args.workspace_bytes = sizeof b->workspace;
  c.args.batch = B;
  c.args.time = T;
  return c;
}

static rondo_status launch(rondo_plan* plan, call* c) {
  c->args.tensors = c->tensors;
  return rondo_launch(plan, &c->args);
}

static float expected(const buffers* b, int row, int step, int channel, const float* first) {
  float h = first[row * UNIT + channel];
  for (int t = 0; t <= step; ++t) h += b->scale[channel] * b->x[(row * T + t) * UNIT + channel];
  return h;
}

static rondo_context* make_context(void) {
  rondo_context_options options = {.struct_size = sizeof options, .device = RONDO_DEVICE_CPU};
  rondo_context* context = NULL;
  OK(rondo_context_create(&options, &context));
  return context;
}

static void test_versions(void) {
  char text[32];
  snprintf(text, sizeof text, "%d.%d.%d", RONDO_VERSION_MAJOR, RONDO_VERSION_MINOR, RONDO_VERSION_PATCH);
  CHECK(strcmp(rondo_version(), text) == 0);
  CHECK(strcmp(rondo_status_name(RONDO_OK), "ok") == 0);
  CHECK(strcmp(rondo_status_name(RONDO_ERROR_MEMORY), "memory") == 0);
  CHECK(strcmp(rondo_status_name(-1), "unknown") == 0);
  CHECK(strcmp(rondo_status_name(11), "unknown") == 0);
}

static void test_contexts(void) {
  rondo_context* context = (rondo_context*)16;
  FAILS(rondo_context_create(NULL, &context), RONDO_ERROR_INPUT, "rondo_context_options is NULL");
  CHECK(context == NULL);
  rondo_context_options options = {.struct_size = sizeof options, .device = RONDO_DEVICE_CPU};
  FAILS(rondo_context_create(&options, NULL), RONDO_ERROR_INPUT, "context is NULL");
  options.struct_size = 3;
  FAILS(rondo_context_create(&options, &context), RONDO_ERROR_INPUT, "3 bytes");
  options.struct_size = (size_t)-1;
  FAILS(rondo_context_create(&options, &context), RONDO_ERROR_INPUT, "struct_size");
  options.struct_size = sizeof options;
  options.device = 77;
  FAILS(rondo_context_create(&options, &context), RONDO_ERROR_INPUT, "77 is no kind of device");
  options.device = RONDO_DEVICE_CPU;
  OK(rondo_context_create(&options, &context));
  rondo_context_info info = {sizeof info, 0, 0, NULL, NULL, 0, 0};
  OK(rondo_context_get_info(context, &info));
  CHECK(info.device == RONDO_DEVICE_CPU && info.ordinal == -1 && strcmp(info.name, "CPU") == 0);
  CHECK(info.struct_size == sizeof info);
  FAILS(rondo_context_get_info(context, NULL), RONDO_ERROR_INPUT, "rondo_context_info is NULL");
  info.struct_size = 0;
  FAILS(rondo_context_get_info(context, &info), RONDO_ERROR_INPUT, "0 bytes");
  info.struct_size = sizeof info;
  FAILS(rondo_context_get_info(NULL, &info), RONDO_ERROR_INPUT, "the context is NULL");
  FAILS(rondo_context_get_info((rondo_context*)&info, &info), RONDO_ERROR_INPUT, "destroyed, or comes from");
  OK(rondo_context_destroy(context));
  FAILS(rondo_context_destroy(context), RONDO_ERROR_INPUT, "destroyed");
  FAILS(rondo_context_get_info(context, &info), RONDO_ERROR_INPUT, "destroyed");
  OK(rondo_context_destroy(NULL));
}

static void test_structs_of_other_versions(void) {
  struct {
    rondo_context_options known;
    int64_t beyond;
  } newer = {{.struct_size = sizeof newer, .device = RONDO_DEVICE_CPU}, 0};
  rondo_context* context = NULL;
  OK(rondo_context_create(&newer.known, &context));
  newer.beyond = 1;
  rondo_context* refused = NULL;
  FAILS(rondo_context_create(&newer.known, &refused), RONDO_ERROR_UNSUPPORTED, "newer version");
  struct {
    rondo_context_info known;
    int64_t beyond;
  } info;
  info.known.struct_size = sizeof info;
  info.beyond = -1;
  OK(rondo_context_get_info(context, &info.known));
  CHECK(info.beyond == 0);
  CHECK(info.known.struct_size == sizeof info);
  OK(rondo_context_destroy(context));
}

static void test_plan_queries(rondo_context* context, rondo_plan* plan) {
  rondo_plan_info info;
  info.struct_size = sizeof info;
  OK(rondo_plan_get_info(plan, &info));
  CHECK(strcmp(info.cell, "running_sum") == 0 && strcmp(info.origin, "stand-in") == 0);
  CHECK(info.tensors == STAND_IN_TENSORS && info.heads == 1 && info.dim == D);
  FAILS(rondo_plan_get_info(NULL, &info), RONDO_ERROR_INPUT, "the plan is NULL");
  FAILS(rondo_plan_get_info((rondo_plan*)context, &info), RONDO_ERROR_INPUT, "is a context, not a plan");
  FAILS(rondo_plan_get_info(plan, NULL), RONDO_ERROR_INPUT, "rondo_plan_info is NULL");

  rondo_tensor_info tensor;
  tensor.struct_size = sizeof tensor;
  OK(rondo_plan_get_tensor(plan, STAND_IN_X, &tensor));
  CHECK(strcmp(tensor.name, "x") == 0 && tensor.rank == 5 && tensor.strided == 1 && tensor.alignment == 16);
  CHECK(tensor.extents[0] == RONDO_EXTENT_BATCH && tensor.extents[1] == RONDO_EXTENT_TIME);
  CHECK(tensor.extents[2] == 1 && tensor.extents[3] == 2 && tensor.extents[4] == D && tensor.written == 0);
  OK(rondo_plan_get_tensor(plan, STAND_IN_SCALE, &tensor));
  CHECK(tensor.rank == 3 && tensor.extents[0] == 1 && tensor.strided == 0 && tensor.role == RONDO_ROLE_PARAM);
  OK(rondo_plan_get_tensor(plan, STAND_IN_LAST, &tensor));
  CHECK(tensor.need == RONDO_NEED_DISCARD && tensor.written == 1 && tensor.rank == 4);
  FAILS(rondo_plan_get_tensor(plan, -1, &tensor), RONDO_ERROR_INPUT, "no tensor -1");
  FAILS(rondo_plan_get_tensor(plan, STAND_IN_TENSORS, &tensor), RONDO_ERROR_INPUT, "no tensor 5");
  FAILS(rondo_plan_get_tensor(plan, 0, NULL), RONDO_ERROR_INPUT, "rondo_tensor_info is NULL");
  tensor.struct_size = 8;
  FAILS(rondo_plan_get_tensor(plan, 0, &tensor), RONDO_ERROR_INPUT, "8 bytes");
  FAILS(rondo_plan_get_tensor((rondo_plan*)context, 0, &tensor), RONDO_ERROR_INPUT, "context");

  int32_t index = -1;
  OK(rondo_plan_find_tensor(plan, "h_out", &index));
  CHECK(index == STAND_IN_OUT);
  FAILS(rondo_plan_find_tensor(plan, "y", &index), RONDO_ERROR_MISSING, "it has: x, scale, h_first");
  FAILS(rondo_plan_find_tensor(plan, NULL, &index), RONDO_ERROR_INPUT, "name is NULL");
  FAILS(rondo_plan_find_tensor(plan, "x", NULL), RONDO_ERROR_INPUT, "index is NULL");
  FAILS(rondo_plan_find_tensor(NULL, "x", &index), RONDO_ERROR_INPUT, "NULL");

  int64_t bytes = -1;
  OK(rondo_plan_tensor_bytes(plan, STAND_IN_X, B, T, &bytes));
  CHECK(bytes == B * T * UNIT * 4);
  FAILS(rondo_plan_tensor_bytes(plan, 9, B, T, &bytes), RONDO_ERROR_INPUT, "no tensor 9");
  FAILS(rondo_plan_tensor_bytes(plan, 0, -1, T, &bytes), RONDO_ERROR_INPUT, "B = -1");
  OK(rondo_plan_tensor_bytes(plan, STAND_IN_X, 0, T, &bytes));
  CHECK(bytes == 0);
  FAILS(rondo_plan_tensor_bytes(plan, 0, B, T, NULL), RONDO_ERROR_INPUT, "bytes is NULL");
  FAILS(rondo_plan_tensor_bytes(NULL, 0, B, T, &bytes), RONDO_ERROR_INPUT, "NULL");
  OK(rondo_plan_workspace_bytes(plan, B, T, &bytes));
  CHECK(bytes > 0 && bytes <= (int64_t)sizeof(((buffers*)0)->workspace));
  FAILS(rondo_plan_workspace_bytes(plan, B, -3, &bytes), RONDO_ERROR_INPUT, "T = -3");
  int64_t none = -1;
  OK(rondo_plan_workspace_bytes(plan, B, 0, &none));
  CHECK(none == 0);
  FAILS(rondo_plan_workspace_bytes(plan, B, T, NULL), RONDO_ERROR_INPUT, "bytes is NULL");
  FAILS(rondo_plan_workspace_bytes(NULL, B, T, &bytes), RONDO_ERROR_INPUT, "NULL");
  /* Of a launch that is given all, or all but the last state; addresses are not read. */
  buffers b;
  call c = call_of(&b);
  int64_t of_all = -1, of_some = -1;
  for (int i = 0; i < STAND_IN_TENSORS; ++i) c.tensors[i].data = NULL;
  c.args.tensors = c.tensors;
  OK(rondo_plan_launch_workspace_bytes(plan, &c.args, &of_all));
  c.args.tensor_count = STAND_IN_LAST;
  OK(rondo_plan_launch_workspace_bytes(plan, &c.args, &of_some));
  CHECK(0 <= of_all && of_all < of_some && of_some <= bytes);
  c.args.time = 0;
  OK(rondo_plan_launch_workspace_bytes(plan, &c.args, &none));
  CHECK(none == 0);
  c.args.time = -3;
  FAILS(rondo_plan_launch_workspace_bytes(plan, &c.args, &none), RONDO_ERROR_INPUT, "T = -3");
  FAILS(rondo_plan_launch_workspace_bytes(plan, &c.args, NULL), RONDO_ERROR_INPUT, "bytes is NULL");
  FAILS(rondo_plan_launch_workspace_bytes(plan, NULL, &none), RONDO_ERROR_INPUT, "NULL");
  int64_t step_bytes = -1;
  OK(rondo_plan_step_workspace_bytes(plan, B, &step_bytes));
  CHECK(step_bytes >= B * UNIT * 4);
  FAILS(rondo_plan_step_workspace_bytes(plan, -1, &step_bytes), RONDO_ERROR_INPUT, "B = -1");
  FAILS(rondo_plan_step_workspace_bytes(plan, B, NULL), RONDO_ERROR_INPUT, "bytes is NULL");
  OK(rondo_plan_check(plan));
  FAILS(rondo_plan_check((rondo_plan*)context), RONDO_ERROR_INPUT, "context");
}

static void test_launches(rondo_plan* plan) {
  buffers* b = new_buffers();
  call c = call_of(b);
  OK(launch(plan, &c));
  for (int row = 0; row < B; ++row)
    for (int i = 0; i < UNIT; ++i) {
      for (int t = 0; t < T; ++t) CHECK(b->out[(row * T + t) * UNIT + i] == expected(b, row, t, i, b->first));
      CHECK(b->last[row * UNIT + i] == expected(b, row, T - 1, i, b->first));
    }

  /* [T, B, ...] with a gap: the same numbers elsewhere. */
  const int64_t stride_b = UNIT, stride_t = B * UNIT + 4;
  rondo_tensor* out = &c.tensors[STAND_IN_OUT];
  out->rank = 5;
  const int64_t extents[] = {B, T, 1, 2, D}, strides[] = {stride_b, stride_t, UNIT, D, 1};
  memcpy(out->extents, extents, sizeof extents);
  memcpy(out->strides, strides, sizeof strides);
  out->bytes = sizeof b->out;
  memset(b->out, 0, sizeof b->out);
  OK(launch(plan, &c));
  CHECK(b->out[1 * stride_b + 2 * stride_t + 3] == expected(b, 1, 2, 3, b->first));
  CHECK(b->out[B * UNIT] == 0); /* the gap */

  /* Without initial and last states: zero, and thrown away. */
  c = call_of(b);
  c.tensors[STAND_IN_FIRST] = c.tensors[STAND_IN_OUT];
  c.args.tensor_count = 3;
  memset(b->last, 0, sizeof b->last);
  OK(launch(plan, &c));
  const float zeros[B * UNIT] = {0};
  CHECK(b->out[(T + 1) * UNIT + 5] == expected(b, 1, 1, 5, zeros));
  CHECK(b->last[0] == 0);

  /* A smaller B and T, unknown sizes, and elements of a newer version. */
  struct {
    rondo_tensor known;
    int64_t beyond;
  } newer[STAND_IN_TENSORS];
  memset(newer, 0, sizeof newer);
  c = call_of(b);
  for (int i = 0; i < STAND_IN_TENSORS; ++i) {
    newer[i].known = c.tensors[i];
    newer[i].known.bytes = RONDO_BYTES_UNKNOWN;
  }
  c.args.tensors = &newer[0].known;
  c.args.tensor_size = sizeof newer[0];
  c.args.batch = 1;
  c.args.time = 1;
  OK(rondo_launch(plan, &c.args));
  CHECK(b->last[2] == expected(b, 0, 0, 2, b->first));
  newer[3].beyond = 1;
  FAILS(rondo_launch(plan, &c.args), RONDO_ERROR_UNSUPPORTED, "rondo_tensor");
  free(b);
}

static void test_wrong_tensors(rondo_plan* plan) {
  buffers* b = new_buffers();
  call c = call_of(b);
  memset(b->out, 0x5A, sizeof b->out);
#define REFUSED(change, words)                         \
  do {                                                 \
    c = call_of(b);                                    \
    change;                                            \
    FAILS(launch(plan, &c), RONDO_ERROR_INPUT, words); \
  } while (0)
  REFUSED(c.tensors[0].index = -1, "no tensor -1");
  REFUSED(c.tensors[0].index = 5, "no tensor 5");
  REFUSED(c.tensors[0].index = STAND_IN_SCALE, "'scale' is given twice");
  REFUSED(c.tensors[0].type = RONDO_TYPE_BF16, "'x' is given with type 1");
  REFUSED(c.tensors[0].type = 99, "type 99");
  REFUSED(c.tensors[0].data = NULL, "'x' is bound to a null pointer");
  REFUSED(c.tensors[0].data = b->x + 1, "aligned to 16 bytes");
  REFUSED(c.tensors[0].bytes -= 1, "'x' needs 192 bytes");
  REFUSED(c.tensors[0].bytes = -2, "-2 bytes");
  REFUSED(c.tensors[0].bytes = 0, "'x' needs");
  REFUSED(c.tensors[0].rank = 3, "has rank 3; the plan's has 5");
  REFUSED(c.tensors[0].rank = -1, "has rank -1");
  REFUSED(c.tensors[0].rank = 7, "has rank 7");
  REFUSED(c.tensors[0].rank = 5, "has extent 0 in axis 0");
  REFUSED(c.args.tensor_count = 2, "'h_out' is not bound");
  REFUSED(c.args.tensor_count = 1000, "1000 tensors");
  REFUSED(c.args.tensor_size = 4, "rondo_tensor says that it has 4 bytes");
  REFUSED(c.args.tensor_size = 1u << 20, "rondo_tensor says");
  REFUSED(c.args.batch = -1, "B = -1");
  REFUSED(c.args.time = -1, "T = -1");
  REFUSED(c.args.time = INT64_MAX, "T = 9223372036854775807");
  REFUSED(c.args.batch = INT64_MAX, "B = 9223372036854775807");
  REFUSED(c.args.batch = B + 1, "needs");
  REFUSED(c.args.workspace_bytes = -5, "-5 bytes");
  REFUSED(c.args.workspace = b->x; c.args.tensor_count = 4, "share memory");
  REFUSED(c.args.struct_size = 0, "rondo_launch_args says");
  /* Overlap. */
  REFUSED(c.tensors[STAND_IN_OUT].data = b->x, "share memory");
  REFUSED(c.tensors[STAND_IN_OUT].data = b->x + 8, "share memory");
  REFUSED(c.tensors[STAND_IN_LAST].data = b->first, "share memory");
  /* Without a workspace for what is not given. */
  REFUSED(c.args.workspace = NULL; c.args.tensor_count = 4, "no workspace");
  REFUSED(c.args.workspace_bytes = 4; c.args.tensor_count = 4, "the workspace has 4 bytes");
  REFUSED(c.args.workspace = (char*)b->workspace + 64; c.args.tensor_count = 4, "not aligned to 256");
  /* Strides. */
#define STRIDES(i, s0, s1, s2, s3, s4)                                                      \
  c.tensors[i].rank = 5;                                                                    \
  c.tensors[i].extents[0] = B, c.tensors[i].extents[1] = T, c.tensors[i].extents[2] = 1;    \
  c.tensors[i].extents[3] = 2, c.tensors[i].extents[4] = D;                                 \
  c.tensors[i].strides[0] = s0, c.tensors[i].strides[1] = s1, c.tensors[i].strides[2] = s2; \
  c.tensors[i].strides[3] = s3, c.tensors[i].strides[4] = s4
  REFUSED(STRIDES(0, T * UNIT, UNIT, 0, D, 2), "stride of 2 elements in axis 4");
  REFUSED(STRIDES(0, T * UNIT, UNIT, 0, D + 1, 1), "stride of 5 elements in axis 3");
  REFUSED(STRIDES(0, T * UNIT + 1, UNIT, 0, D, 1), "multiple of 16 bytes");
  REFUSED(STRIDES(STAND_IN_OUT, 0, UNIT, 0, D, 1), "less than the 8 of one step");
  REFUSED(STRIDES(STAND_IN_OUT, UNIT, UNIT, 0, D, 1), "two of its steps share memory");
  REFUSED(STRIDES(0, INT64_MAX / 4 * 4, UNIT, 0, D, 1), "reach past the end");
  REFUSED(STRIDES(0, -T * UNIT, UNIT, 0, D, 1), "below its pointer");
  /* Of an extent too many or too few in each axis, the strides of which agree with it. */
  for (int axis = 0; axis < 5; ++axis)
    for (int by = -1; by <= 1; by += 2) {
      c = call_of(b);
      STRIDES(0, 0, 0, 0, 0, 1);
      c.tensors[0].extents[axis] += by;
      for (int outer = 3; outer >= 0; --outer)
        c.tensors[0].strides[outer] = c.tensors[0].strides[outer + 1] * c.tensors[0].extents[outer + 1];
      FAILS(launch(plan, &c), RONDO_ERROR_INPUT, "has extent");
    }
  c = call_of(b);
  c.tensors[STAND_IN_FIRST].rank = 4;
  c.tensors[STAND_IN_FIRST].extents[0] = B, c.tensors[STAND_IN_FIRST].extents[1] = 1;
  c.tensors[STAND_IN_FIRST].extents[2] = 2, c.tensors[STAND_IN_FIRST].extents[3] = D;
  c.tensors[STAND_IN_FIRST].strides[0] = UNIT + 4, c.tensors[STAND_IN_FIRST].strides[1] = UNIT;
  c.tensors[STAND_IN_FIRST].strides[2] = D, c.tensors[STAND_IN_FIRST].strides[3] = 1;
  FAILS(launch(plan, &c), RONDO_ERROR_INPUT, "it must be dense");
  /* Each axis of more than one element has the stride of a dense tensor; an axis of one may have any. */
  for (int axis = 0; axis < 4; ++axis) {
    c = call_of(b);
    const int64_t extents[] = {B, 1, 2, D}, dense[] = {UNIT, UNIT, D, 1};
    c.tensors[STAND_IN_FIRST].rank = 4;
    memcpy(c.tensors[STAND_IN_FIRST].extents, extents, sizeof extents);
    memcpy(c.tensors[STAND_IN_FIRST].strides, dense, sizeof dense);
    OK(launch(plan, &c));
    c.tensors[STAND_IN_FIRST].strides[axis] += 4;
    if (extents[axis] == 1)
      OK(launch(plan, &c));
    else
      FAILS(launch(plan, &c), RONDO_ERROR_INPUT, "it must be dense");
  }
  memset(b->out, 0x5A, sizeof b->out);

  c = call_of(b);
  FAILS(rondo_launch(plan, NULL), RONDO_ERROR_INPUT, "rondo_launch_args is NULL");
  FAILS(rondo_launch(plan, &c.args), RONDO_ERROR_INPUT, "rondo_launch_args.tensors is NULL");
  FAILS(launch(NULL, &c), RONDO_ERROR_INPUT, "the plan is NULL");
  /* Nothing was launched by any of these. */
  for (size_t i = 0; i < sizeof b->out; ++i)
    if (!CHECK(((unsigned char*)b->out)[i] == 0x5A)) break;
  /* A stride of 0 broadcasts what is only read. */
  c = call_of(b);
  STRIDES(0, 0, 0, 0, D, 1);
  OK(launch(plan, &c));
  OK(rondo_plan_prepare(plan, &c.args));
  c.args.time = 0;
  FAILS(rondo_plan_prepare(plan, &c.args), RONDO_ERROR_INPUT, "T");
  FAILS(rondo_plan_prepare(NULL, &c.args), RONDO_ERROR_INPUT, "NULL");
  FAILS(rondo_plan_prepare(plan, NULL), RONDO_ERROR_INPUT, "NULL");
  free(b);
}

static void test_steps(rondo_plan* plan) {
  buffers* b = new_buffers();
  float before[B * UNIT];
  memcpy(before, b->first, sizeof before);
  for (int t = 0; t < T; ++t) {
    call c = call_of(b);
    c.args.time = t == 1 ? 0 : 1;
    c.args.tensor_count = STAND_IN_LAST; /* h_first alone: in place */
    c.tensors[STAND_IN_X].data = b->x + t * UNIT;
    c.tensors[STAND_IN_X].rank = 5;
    const int64_t extents[] = {B, 1, 1, 2, D}, strides[] = {T * UNIT, 0, 0, D, 1};
    memcpy(c.tensors[STAND_IN_X].extents, extents, sizeof extents);
    memcpy(c.tensors[STAND_IN_X].strides, strides, sizeof strides);
    c.tensors[STAND_IN_X].bytes -= t * UNIT * 4;
    c.args.tensors = c.tensors;
    OK(rondo_step(plan, &c.args));
    for (int row = 0; row < B; ++row)
      for (int i = 0; i < UNIT; ++i) {
        CHECK(b->first[row * UNIT + i] == expected(b, row, t, i, before));
        CHECK(b->out[row * UNIT + i] == expected(b, row, t, i, before));
      }
  }
  call c = call_of(b);
  c.args.tensors = c.tensors;
  FAILS(rondo_step(plan, &c.args), RONDO_ERROR_INPUT, "T = 1, not 3");
  c.args.time = 1;
  memcpy(before, b->first, sizeof before);
  OK(rondo_step(plan, &c.args)); /* both are given: not in place */
  CHECK(memcmp(before, b->first, sizeof before) == 0);
  CHECK(b->last[0] == before[0] + b->scale[0] * b->x[0]);
  c.tensors[STAND_IN_LAST].data = b->first; /* the same memory: in place */
  OK(rondo_step(plan, &c.args));
  CHECK(b->first[0] == b->last[0]);
  memcpy(before, b->first, sizeof before);
  c.tensors[STAND_IN_LAST].bytes = 4; /* of the state as a result, too */
  FAILS(rondo_step(plan, &c.args), RONDO_ERROR_INPUT, "'h_last' needs 64 bytes");
  c.tensors[STAND_IN_LAST].bytes = RONDO_BYTES_UNKNOWN;
  CHECK(memcmp(before, b->first, sizeof before) == 0);
  memcpy(before, b->first, sizeof before);
  c.args.tensor_count = STAND_IN_LAST;
  c.tensors[STAND_IN_SCALE].data = b->first;
  FAILS(rondo_step(plan, &c.args), RONDO_ERROR_INPUT, "updated in place and shares memory with 'scale'");
  c.tensors[STAND_IN_SCALE].data = b->scale;
  c.tensors[STAND_IN_FIRST].bytes = 4;
  FAILS(rondo_step(plan, &c.args), RONDO_ERROR_INPUT, "'h_first' needs 64 bytes");
  c.tensors[STAND_IN_FIRST].bytes = RONDO_BYTES_UNKNOWN;
  c.args.workspace_bytes = 16;
  FAILS(rondo_step(plan, &c.args), RONDO_ERROR_INPUT, "rondo_plan_step_workspace_bytes");
  c.args.workspace = NULL;
  FAILS(rondo_step(plan, &c.args), RONDO_ERROR_INPUT, "bytes of workspace; it is given 0");
  c.args.batch = -1;
  FAILS(rondo_step(plan, &c.args), RONDO_ERROR_INPUT, "B = -1");
  c.args.batch = 0;
  OK(rondo_step(plan, &c.args)); /* of no rows: nothing is read or written */
  FAILS(rondo_step(plan, NULL), RONDO_ERROR_INPUT, "NULL");
  FAILS(rondo_step(NULL, &c.args), RONDO_ERROR_INPUT, "NULL");
  CHECK(memcmp(before, b->first, sizeof before) == 0);
  free(b);
}

/* A state in place at each place of a buffer that the rows of x lie in, at each distance: it may lie between
 * two rows, and shares memory with none. */
static void test_steps_beside_strided_inputs(rondo_plan* plan) {
  buffers* b = new_buffers();
  for (int64_t distance = UNIT; distance <= T * UNIT; distance += 4)
    for (int64_t at = 0; at + B * UNIT <= B * T * UNIT; at += 4) {
      call c = call_of(b);
      c.args.time = 1;
      c.args.tensor_count = STAND_IN_LAST;
      c.args.tensors = c.tensors;
      c.tensors[STAND_IN_X].rank = 5;
      const int64_t extents[] = {B, 1, 1, 2, D}, strides[] = {distance, 0, 0, D, 1};
      memcpy(c.tensors[STAND_IN_X].extents, extents, sizeof extents);
      memcpy(c.tensors[STAND_IN_X].strides, strides, sizeof strides);
      c.tensors[STAND_IN_FIRST].data = b->x + at;
      int meets = 0;
      for (int64_t row = 0; row < B; ++row)
        meets |= at < row * distance + UNIT && row * distance < at + B * UNIT;
      if (meets)
        FAILS(rondo_step(plan, &c.args), RONDO_ERROR_INPUT, "updated in place and shares memory with 'x'");
      else
        OK(rondo_step(plan, &c.args));
    }
  free(b);
}

/* Each of several states in place is updated, whatever bytes those before it have, and no other memory is. */
static void test_steps_of_several_states(rondo_context* context) {
  enum { MOST_STATES = 4, MOST_ELEMENTS = 2 * 70 };
  static const int64_t dims[] = {1, 3, 16, 64, 70};
  for (int states = 1; states <= MOST_STATES; ++states)
    for (int d = 0; d < 5; ++d) {
      rondo_plan* plan = NULL;
      if (!OK(stand_in_states_plan(context, dims[d], states, &plan))) return;
      float memory[MOST_STATES][MOST_ELEMENTS + 1];
      for (int i = 0; i < MOST_STATES * (MOST_ELEMENTS + 1); ++i) ((float*)memory)[i] = (float)i;
      rondo_tensor tensors[MOST_STATES];
      memset(tensors, 0, sizeof tensors);
      for (int state = 0; state < states; ++state) {
        tensors[state].index = state;
        tensors[state].type = RONDO_TYPE_F32;
        tensors[state].data = memory[state];
        tensors[state].bytes = B * dims[d] * 4;
      }
      rondo_launch_args args = {.struct_size = sizeof args, .tensor_size = sizeof tensors[0], .batch = B};
      args.tensors = tensors;
      args.tensor_count = (size_t)states;
      OK(rondo_plan_step_workspace_bytes(plan, B, &args.workspace_bytes));
      args.workspace = aligned_alloc(256, ((size_t)args.workspace_bytes + 255) / 256 * 256);
      for (int step = 0; step < 3; ++step) OK(rondo_step(plan, &args));
      for (int state = 0; state < MOST_STATES; ++state)
        for (int i = 0; i <= MOST_ELEMENTS; ++i) {
          const float before = (float)(state * (MOST_ELEMENTS + 1) + i);
          const int mine = state < states && i < B * dims[d];
          CHECK(memory[state][i] == (mine ? before + 3 * (float)(state + 1) : before));
        }
      free(args.workspace);
      OK(rondo_plan_destroy(plan));
    }
}

/* No rows or no steps: nothing is computed, and tensors without an element may be null. */
static void test_nothing(rondo_plan* plan) {
  buffers* b = new_buffers();
  memset(b->last, 0x7F, sizeof b->last);
  memset(b->out, 0x7F, sizeof b->out);
  call c = call_of(b);
  c.args.time = 0;
  c.args.workspace = NULL, c.args.workspace_bytes = 0;
  c.tensors[STAND_IN_X].data = NULL, c.tensors[STAND_IN_X].bytes = 0;
  c.tensors[STAND_IN_OUT].data = NULL, c.tensors[STAND_IN_OUT].bytes = 0;
  OK(launch(plan, &c));
  CHECK(memcmp(b->last, b->first, sizeof(float) * B * UNIT) == 0);
  CHECK(b->last[B * UNIT] == b->out[0]); /* beyond it nothing is written */
  c.tensors[STAND_IN_LAST].bytes -= 4;
  FAILS(launch(plan, &c), RONDO_ERROR_INPUT, "'h_last' needs 64 bytes");
  c = call_of(b);
  c.args.time = 0;
  c.tensors[STAND_IN_FIRST] = c.tensors[STAND_IN_LAST]; /* no first state: zero */
  c.args.tensor_count = STAND_IN_LAST;
  c.tensors[STAND_IN_FIRST].index = STAND_IN_LAST;
  OK(launch(plan, &c));
  for (int i = 0; i < B * UNIT; ++i) CHECK(b->last[i] == 0);
  c = call_of(b);
  memset(b->last, 0x7F, sizeof b->last);
  c.args.batch = 0;
  OK(launch(plan, &c));
  CHECK(b->last[0] == b->out[0]);
  free(b);
}

int main(void) {
  CHECK(strcmp(rondo_message(), "") == 0 && strcmp(rondo_hint(), "") == 0);
  test_versions();
  test_contexts();
  test_structs_of_other_versions();
  rondo_context* context = make_context();
  rondo_plan* plan = NULL;
  OK(stand_in_plan(context, D, &plan));
  test_plan_queries(context, plan);
  test_steps_of_several_states(context);
  OK(rondo_context_destroy(context)); /* the plan keeps what it needs */
  test_launches(plan);
  test_wrong_tensors(plan);
  test_steps(plan);
  test_steps_beside_strided_inputs(plan);
  test_nothing(plan);
  FAILS(rondo_context_destroy((rondo_context*)plan), RONDO_ERROR_INPUT, "is a plan, not a context");
  OK(rondo_plan_destroy(plan));
  FAILS(rondo_plan_destroy(plan), RONDO_ERROR_INPUT, "destroyed");
  OK(rondo_plan_destroy(NULL));
  buffers* b = new_buffers();
  call c = call_of(b);
  FAILS(launch(plan, &c), RONDO_ERROR_INPUT, "destroyed");
  free(b);
  return report();
}
