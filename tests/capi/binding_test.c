/* What a binding asks for beside plans: cells without some biases, and training in chunks of time. On the
 * CPU. */
#include <math.h>
#include <rondo/rondo.h>

#include "tests/capi/check.h"
#include "tests/capi/problems.h"
#include "tests/capi/tensors.h"

enum { B = 2, T = 7, D = 32 };

static rondo_context* cpu;

static rondo_status make_cell(const char* path, const char* const* names, size_t count, rondo_cell** cell) {
  rondo_cell_options options = {.struct_size = sizeof options, .path = path};
  options.without = names;
  options.without_count = count;
  return rondo_cell_create(&options, cell, NULL);
}

static rondo_plan* plan_of(const rondo_cell* cell, int32_t pass) {
  const rondo_problem problem = one_head(RONDO_TYPE_F32, pass, B, T, D);
  rondo_plan* plan = NULL;
  OK(rondo_plan_create(cpu, cell, &problem, NULL, &plan));
  return plan;
}

/* The largest difference of two tensors, by the largest element. */
static double distance(const float* one, const float* other, int64_t count) {
  double most = 0, scale = 0;
  for (int64_t i = 0; i < count; ++i) {
    most = fmax(most, fabs((double)one[i] - (double)other[i]));
    scale = fmax(scale, fabs((double)other[i]));
  }
  return scale > 0 ? most / scale : most;
}

/* Tensors of `some` that have a name in `all` too; those that a plan reads are copied, the others compared.
 */
static int share(const plan_memory* some, const plan_memory* all, int compare) {
  int shared = 0;
  for (int i = 0; i < some->count; ++i)
    for (int k = 0; k < all->count; ++k) {
      if (strcmp(some->infos[i].name, all->infos[k].name) != 0) continue;
      const size_t bytes = (size_t)some->tensors[i].bytes;
      CHECK(some->tensors[i].bytes == all->tensors[k].bytes);
      ++shared;
      if (!compare)
        memcpy(some->tensors[i].data, all->tensors[k].data, bytes);
      else if (some->infos[i].written &&
               distance(some->tensors[i].data, all->tensors[k].data, (int64_t)bytes / 4) > 1e-5)
        check_failed(__FILE__, __LINE__, some->infos[i].name);
    }
  return shared;
}

/* Without b all passes give what they give with a b of zeroes, and have no tensor of it. */
static void test_passes_without_a_bias(void) {
  static const char* const kCells[] = {"lstm", "gru", "elman", "slstm"};
  static const char* const kName[] = {"b"};
  for (size_t c = 0; c < sizeof kCells / sizeof kCells[0]; ++c) {
    rondo_cell *with = shipped_cell(kCells[c]), *without = NULL;
    if (!OK(make_cell(kCells[c], kName, 1, &without))) continue;
    rondo_cell_info whole = {.struct_size = sizeof whole}, less = {.struct_size = sizeof less};
    OK(rondo_cell_get_info(with, &whole));
    OK(rondo_cell_get_info(without, &less));
    CHECK(less.tensors == whole.tensors - 1 && strcmp(less.hash, whole.hash) != 0);
    CHECK(strcmp(less.name, whole.name) == 0 && less.state_rows == whole.state_rows && less.draws == 0);
    for (int32_t pass = RONDO_PASS_FORWARD; pass <= RONDO_PASS_BACKWARD; ++pass) {
      rondo_plan *one = plan_of(without, pass), *other = plan_of(with, pass);
      plan_memory some = memory_of(one, B, T), all = memory_of(other, B, T);
      int32_t index = -1;
      FAILS(rondo_plan_find_tensor(one, "b", &index), RONDO_ERROR_MISSING, "'b'");
      FAILS(rondo_plan_find_tensor(one, "grad_b", &index), RONDO_ERROR_MISSING, "'grad_b'");
      const int b = place_of(&all, "b");
      memset(all.tensors[b].data, 0, (size_t)all.tensors[b].bytes);
      CHECK(share(&some, &all, 0) == some.count);
      OK(launch_memory(one, &some));
      OK(launch_memory(other, &all));
      share(&some, &all, 1);
      free_memory(&some);
      free_memory(&all);
      OK(rondo_plan_destroy(one));
      OK(rondo_plan_destroy(other));
    }
    OK(rondo_cell_destroy(without));
    OK(rondo_cell_destroy(with));
  }
}

/* The hash of a cell whose text has those of three biases for which `has` has a bit, without what is named.
 */
static void hash_of(int has, const char* const* names, size_t count, char* hash, size_t size) {
  char text[256];
  snprintf(text, sizeof text,
           "cell three(D) {\n input x[D]\n param w[D]%s%s%s\n state h[D]\n next h = tanh(w * h + x%s%s)%s\n"
           " output h\n}\n",
           has & 1 ? ", b[D]" : "", has & 2 ? ", c[D]" : "", has & 4 ? ", d[D]" : "", has & 1 ? " + b" : "",
           has & 2 ? " - c" : "", has & 4 ? " + d" : "");
  rondo_cell_options options = {.struct_size = sizeof options, .text = text};
  options.without = names;
  options.without_count = count;
  rondo_cell* cell = NULL;
  rondo_cell_info info = {.struct_size = sizeof info};
  if (!OK(rondo_cell_create(&options, &cell, NULL))) return;
  OK(rondo_cell_get_info(cell, &info));
  snprintf(hash, size, "%s", info.hash);
  OK(rondo_cell_destroy(cell));
}

/* Any of them, in any order: the cell is the one whose text does not have them. */
static void test_several_biases(void) {
  static const char* const kBiases[] = {"b", "c", "d"};
  char less[128] = "", written[128] = "";
  for (int first = 0; first < 3; ++first)
    for (int second = 0; second < 3; ++second) {
      if (second == first) continue;
      const char* const names[] = {kBiases[first], kBiases[second], kBiases[3 - first - second]};
      for (size_t count = 0; count <= 3; ++count) {
        int has = 7;
        for (size_t i = 0; i < count; ++i) has &= ~(1 << (names[i][0] - 'b'));
        hash_of(7, names, count, less, sizeof less);
        hash_of(has, NULL, 0, written, sizeof written);
        CHECK(less[0] != '\0' && strcmp(less, written) == 0);
      }
    }
}

static void test_what_may_not_be_left_out(void) {
  static const char* const kMatrix[] = {"R"};
  static const char* const kTwice[] = {"b", "b"};
  static const char* const kNone[] = {"bias"};
  static const char* const kNull[] = {"b", NULL};
  rondo_cell* cell = (rondo_cell*)8;
  FAILS(make_cell("lstm", kMatrix, 1, &cell), RONDO_ERROR_INPUT, "cannot be without 'R'");
  CHECK(cell == NULL);
  FAILS(make_cell("lstm", kNone, 1, &cell), RONDO_ERROR_INPUT, "it may be without: b");
  FAILS(make_cell("lstm", kTwice, 2, &cell), RONDO_ERROR_INPUT, "left out twice");
  FAILS(make_cell("lstm", kNull, 2, &cell), RONDO_ERROR_INPUT, "the name of a parameter is NULL");
  FAILS(make_cell("lstm", NULL, 1, &cell), RONDO_ERROR_INPUT, "rondo_cell_options.without is NULL");
  FAILS(make_cell("lstm", kMatrix, (size_t)1 << 40, &cell), RONDO_ERROR_INPUT, "the most is");
  FAILS(make_cell("mingru", kMatrix, 1, &cell), RONDO_ERROR_INPUT, "no parameter that is only added");
  rondo_cell_info info = {.struct_size = sizeof info};
  rondo_cell* drawing = shipped_cell("zoneout");
  OK(rondo_cell_get_info(drawing, &info));
  CHECK(info.draws == 1 && info.directions == 0);
  OK(rondo_cell_destroy(drawing));
}

/* A view of steps [first, first + count) of a tensor of m, or all of one without a time axis. */
static rondo_tensor view(const plan_memory* m, int i, int32_t index, int64_t first, int64_t count) {
  rondo_tensor tensor = m->tensors[i];
  const rondo_tensor_info* info = &m->infos[i];
  tensor.index = index;
  if (info->strided == 0) return tensor;
  int64_t unit = 1;
  tensor.rank = info->rank;
  for (int k = info->rank - 1; k >= 0; --k) {
    tensor.extents[k] = k == 0 ? B : k == 1 ? count : info->extents[k];
    tensor.strides[k] = k == 0 ? unit / count * T : unit;
    unit *= tensor.extents[k];
  }
  const int64_t step = tensor.strides[1] * 4;
  tensor.data = (char*)tensor.data + first * step;
  tensor.bytes -= first * step;
  return tensor;
}

/* A launch over some steps of the tensors of `all`. Of those without a time axis `states` has what the chunk
 * begins with and ends with, and the sums of its own; what has one of a name takes its place. */
static void launch_chunk(const rondo_plan* plan, const plan_memory* all, const plan_memory* states,
                         int64_t first, int64_t count) {
  rondo_tensor tensors[MOST_TENSORS];
  for (int i = 0; i < all->count; ++i)
    tensors[i] = all->infos[i].strided ? view(all, i, i, first, count) : states->tensors[i];
  rondo_launch_args args = all->args;
  args.tensors = tensors;
  args.time = count;
  OK(rondo_launch(plan, &args));
}

static void copy(const plan_memory* to, const char* name, const plan_memory* from, const char* source) {
  memcpy(data_of(to, name), data_of(from, source), (size_t)to->tensors[place_of(to, name)].bytes);
}

/* The recipe of docs/c-api.md: a forward pass in chunks whose first states are kept, and from the last chunk
 * to the first a pass that saves, again, and the backward pass. Gradients of parameters add up. */
static void test_chunks_of_time(void) {
  static const int64_t kBegin[] = {0, 3, 5, T};
  enum { CHUNKS = 3 };
  rondo_cell* cell = shipped_cell("lstm");
  rondo_plan *save = plan_of(cell, RONDO_PASS_FORWARD_SAVE), *backward = plan_of(cell, RONDO_PASS_BACKWARD);
  plan_memory f = memory_of(save, B, T), b = memory_of(backward, B, T);
  static const char* const kKept[] = {"x", "R", "b", "h_out", "c_history"};
  OK(launch_memory(save, &f));
  for (int i = 0; i < b.count; ++i)
    for (int k = 0; k < f.count; ++k)
      if (strcmp(b.infos[i].name, f.infos[k].name) == 0) copy(&b, b.infos[i].name, &f, f.infos[k].name);
  OK(launch_memory(backward, &b)); /* the whole, to compare with */

  plan_memory g = memory_of(save, B, T), v = memory_of(backward, B, T);
  plan_memory kept[CHUNKS];
  for (int n = 0; n < CHUNKS; ++n) {
    kept[n] = memory_of(save, B, T);
    if (n > 0) {
      copy(&kept[n], "h_first", &kept[n - 1], "h_last");
      copy(&kept[n], "c_first", &kept[n - 1], "c_last");
    }
    launch_chunk(save, &g, &kept[n], kBegin[n], kBegin[n + 1] - kBegin[n]);
  }
  CHECK(distance(data_of(&g, "h_out"), data_of(&f, "h_out"), B * T * D) < 1e-5);
  CHECK(distance(data_of(&kept[CHUNKS - 1], "c_last"), data_of(&f, "c_last"), B * D) < 1e-5);
  memset(data_of(&g, "h_out"), 0xff, B * T * D * 4); /* saved again, chunk by chunk */
  memset(data_of(&g, "c_history"), 0xff, B * T * D * 4);
  static float grad_R[4 * D * D], grad_b[4 * D];
  for (int n = CHUNKS; n-- > 0;) {
    const int64_t count = kBegin[n + 1] - kBegin[n];
    launch_chunk(save, &g, &kept[n], kBegin[n], count);
    for (size_t i = 0; i < sizeof kKept / sizeof kKept[0]; ++i) copy(&v, kKept[i], &g, kKept[i]);
    copy(&v, "h_first", &kept[n], "h_first");
    copy(&v, "c_first", &kept[n], "c_first");
    launch_chunk(backward, &v, &v, kBegin[n], count);
    for (int i = 0; i < 4 * D * D; ++i) grad_R[i] += data_of(&v, "grad_R")[i];
    for (int i = 0; i < 4 * D; ++i) grad_b[i] += data_of(&v, "grad_b")[i];
    copy(&v, "grad_h_last", &v, "grad_h_first");
    copy(&v, "grad_c_last", &v, "grad_c_first");
  }
  CHECK(distance(data_of(&v, "grad_x"), data_of(&b, "grad_x"), B * T * 4 * D) < 1e-5);
  CHECK(distance(data_of(&v, "grad_h_first"), data_of(&b, "grad_h_first"), B * D) < 1e-5);
  CHECK(distance(data_of(&v, "grad_c_first"), data_of(&b, "grad_c_first"), B * D) < 1e-5);
  CHECK(distance(grad_R, data_of(&b, "grad_R"), 4 * D * D) < 1e-5);
  CHECK(distance(grad_b, data_of(&b, "grad_b"), 4 * D) < 1e-5);
  for (int n = 0; n < CHUNKS; ++n) free_memory(&kept[n]);
  free_memory(&f);
  free_memory(&b);
  free_memory(&g);
  free_memory(&v);
  OK(rondo_plan_destroy(save));
  OK(rondo_plan_destroy(backward));
  OK(rondo_cell_destroy(cell));
}

int main(void) {
  rondo_context_options options = {.struct_size = sizeof options, .device = RONDO_DEVICE_CPU};
  if (OK(rondo_context_create(&options, &cpu))) {
    test_passes_without_a_bias();
    test_several_biases();
    test_what_may_not_be_left_out();
    test_chunks_of_time();
  }
  OK(rondo_context_destroy(cpu));
  return report();
}
