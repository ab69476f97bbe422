/* Packages through librondo_rt, on a driver that stands in for libcuda. */
#define _POSIX_C_SOURCE 200809L /* setenv, mkdtemp */

#include <rondo/package.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/capi/check.h"
#include "tests/capi/fake_cuda.h"
#include "tests/capi/files.h"
#include "tests/capi/package_files.h"
#include "tests/capi/package_wrapper.h"

static fake_cuda* cuda;

static rondo_context* context_of(int capability) {
  rondo_context_options options = {.struct_size = sizeof options, .device = RONDO_DEVICE_CUDA};
  rondo_context* context = NULL;
  cuda->set_capability(capability);
  OK(rondo_context_create(&options, &context));
  return context;
}

static rondo_package_query query_of(const char* pass, int64_t batch, int64_t time) {
  rondo_package_query query;
  memset(&query, 0, sizeof query);
  query.struct_size = sizeof query;
  query.cell = "paragru";
  query.pass = pass;
  query.batch = batch;
  query.time = time;
  return query;
}

static rondo_package* sample(void) {
  size_t bytes = 0;
  const void* data = sample_package(&bytes);
  rondo_package* package = NULL;
  OK(rondo_package_from_memory(data, bytes, &package));
  return package;
}

static void lists_what_it_holds(void) {
  rondo_package* package = sample();
  rondo_package_info info = {.struct_size = sizeof info};
  OK(rondo_package_get_info(package, &info));
  CHECK(info.entries == 6);
  CHECK(strlen(info.hash) == 64);
  CHECK(strncmp(info.producer, "rondo ", 6) == 0);
  OK(rondo_package_verify(package));
  int backward = 0;
  for (int i = 0; i < info.entries; ++i) {
    rondo_package_entry entry = {.struct_size = sizeof entry};
    OK(rondo_package_get_entry(package, i, &entry));
    CHECK(strcmp(entry.cell, "paragru") == 0);
    CHECK(entry.dim == 64 && entry.heads == 2 && strcmp(entry.variant, "") == 0);
    CHECK(strcmp(entry.note, "best by the model of a board") == 0 && entry.expected_ms == 0.25);
    backward += strcmp(entry.pass, "bw") == 0;
  }
  CHECK(backward == 1);
  rondo_package_entry entry = {.struct_size = sizeof entry};
  FAILS(rondo_package_get_entry(package, info.entries, &entry), RONDO_ERROR_INPUT, "no entry 6");
  FAILS(rondo_package_get_entry(package, -1, &entry), RONDO_ERROR_INPUT, "no entry -1");
  entry.struct_size = 3;
  FAILS(rondo_package_get_entry(package, 0, &entry), RONDO_ERROR_INPUT, NULL);
  OK(rondo_package_destroy(package));
}

/* The image that a GPU of this capability loads, or what is said where there is none. */
static void expect_image(int capability, const char* begins) {
  rondo_package* package = sample();
  rondo_context* context = context_of(capability);
  const rondo_package_query query = query_of("fw", 2, 16);
  rondo_plan* plan = NULL;
  if (begins == NULL) {
    FAILS(rondo_package_plan(package, context, &query, &plan), RONDO_ERROR_UNSUPPORTED, "cubin for sm_90");
    CHECK(plan == NULL);
  } else if (OK(rondo_package_plan(package, context, &query, &plan))) {
    if (strncmp(cuda->image(), begins, strlen(begins)) != 0)
      fprintf(stderr, "sm_%d loaded '%.40s'\n", capability, cuda->image());
    CHECK(strncmp(cuda->image(), begins, strlen(begins)) == 0);
    rondo_plan_info info = {.struct_size = sizeof info};
    OK(rondo_plan_get_info(plan, &info));
    CHECK(strcmp(info.origin, "package") == 0);
    CHECK(strcmp(info.cell, "paragru") == 0);
    CHECK(strstr(info.note, "best by the model of a board") != NULL && info.expected_ms == 0.25);
  }
  OK(rondo_plan_destroy(plan));
  OK(rondo_context_destroy(context));
  OK(rondo_package_destroy(package));
}

static void takes_the_image_of_the_gpu(void) {
  expect_image(80, "\177ELF for sm_80");
  expect_image(86, "\177ELF for sm_80");
  expect_image(90, "\177ELF for sm_90");
  expect_image(100, ".version for sm_80");
  expect_image(120, ".version for sm_80");
  expect_image(75, NULL);
}

/* A cubin that the driver refuses gives way to the PTX: it is of a compiler that is newer than the driver. */
static void passes_over_what_the_driver_refuses(void) {
  const int codes[] = {200, 209, 218, 222, 300}; /* no image, none for this GPU, PTX, its version, source */
  for (size_t i = 0; i < sizeof codes / sizeof codes[0]; ++i) {
    cuda->refuse_cubins(codes[i]);
    expect_image(90, ".version for sm_80");
  }
  cuda->refuse_cubins(2); /* out of memory, which PTX does not mend */
  rondo_package* package = sample();
  rondo_context* context = context_of(90);
  const rondo_package_query query = query_of("fw", 2, 16);
  rondo_plan* plan = NULL;
  FAILS(rondo_package_plan(package, context, &query, &plan), RONDO_ERROR_DEVICE, "memory");
  OK(rondo_context_destroy(context));
  OK(rondo_package_destroy(package));
  cuda->refuse_cubins(0);
}

static void takes_the_nearest_shape(void) {
  rondo_package* package = sample();
  rondo_context* context = context_of(90);
  const struct {
    int64_t batch, time, taken;
  } cases[] = {{1, 1, 2}, {2, 16, 2}, {64, 1024, 64}, {16, 4096, 64}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    const rondo_package_query query = query_of("fw", cases[i].batch, cases[i].time);
    int32_t index = -1;
    rondo_package_entry entry = {.struct_size = sizeof entry};
    OK(rondo_package_find(package, context, &query, &index));
    OK(rondo_package_get_entry(package, index, &entry));
    CHECK(entry.batch == cases[i].taken);
  }
  OK(rondo_context_destroy(context));
  OK(rondo_package_destroy(package));
}

/* The nearest shape's blocks do not fit, though those of a single row would: the next one is taken, though
 * rondo_package_find names the first. */
static void passes_over_what_does_not_fit(void) {
  rondo_package* package = sample();
  rondo_context* context = context_of(90);
  const rondo_package_query query = query_of("fw", 4096, 1);
  int32_t index = -1;
  rondo_package_entry entry = {.struct_size = sizeof entry};
  OK(rondo_package_find(package, context, &query, &index));
  OK(rondo_package_get_entry(package, index, &entry));
  CHECK(entry.batch == 4096);
  rondo_plan* plan = NULL;
  rondo_plan_info info = {.struct_size = sizeof info};
  if (OK(rondo_package_plan(package, context, &query, &plan))) OK(rondo_plan_get_info(plan, &info));
  CHECK(info.batch == 64);
  int64_t largest = 0;
  OK(rondo_plan_largest_batch(plan, 1, &largest));
  CHECK(largest >= 4096);
  OK(rondo_plan_destroy(plan));
  OK(rondo_context_destroy(context));
  OK(rondo_package_destroy(package));
}

/* A plan needs neither its package nor its context any more. */
static void launches_its_kernels(void) {
  rondo_package* package = sample();
  rondo_context* context = context_of(90);
  const rondo_package_query query = query_of("fw", 2, 16);
  rondo_plan* plan = NULL;
  if (!OK(rondo_package_plan(package, context, &query, &plan))) return;
  OK(rondo_package_destroy(package));
  OK(rondo_context_destroy(context));
  rondo_plan_info info = {.struct_size = sizeof info};
  OK(rondo_plan_get_info(plan, &info));
  rondo_tensor tensors[16];
  memset(tensors, 0, sizeof tensors);
  for (int i = 0; i < info.tensors; ++i) {
    rondo_tensor_info tensor = {.struct_size = sizeof tensor};
    OK(rondo_plan_get_tensor(plan, i, &tensor));
    OK(rondo_plan_tensor_bytes(plan, i, 2, 16, &tensors[i].bytes));
    tensors[i].index = i;
    tensors[i].type = tensor.type;
    tensors[i].data = aligned_alloc(256, (size_t)(tensors[i].bytes + 255) / 256 * 256);
  }
  rondo_launch_args args;
  memset(&args, 0, sizeof args);
  args.struct_size = sizeof args;
  args.tensor_size = sizeof tensors[0];
  args.tensors = tensors;
  args.tensor_count = (size_t)info.tensors;
  args.batch = 2;
  args.time = 16;
  OK(rondo_plan_workspace_bytes(plan, 2, 16, &args.workspace_bytes));
  args.workspace = aligned_alloc(256, (size_t)(args.workspace_bytes + 255) / 256 * 256 + 256);
  const int before = cuda->counts().launches;
  OK(rondo_launch(plan, &args));
  CHECK(cuda->counts().launches > before);
  tensors[0].bytes /= 2;
  const int after = cuda->counts().launches;
  FAILS(rondo_launch(plan, &args), RONDO_ERROR_INPUT, NULL);
  CHECK(cuda->counts().launches == after);
  for (int i = 0; i < info.tensors; ++i) free(tensors[i].data);
  free(args.workspace);
  OK(rondo_plan_destroy(plan));
}

static void refuses_what_is_wrong(void) {
  size_t bytes = 0;
  const void* data = sample_package(&bytes);
  rondo_package* package = sample();
  rondo_package* other = NULL;
  rondo_context* context = context_of(90);
  rondo_plan* plan = NULL;
  int32_t index = 0;
  rondo_package_query query = query_of("fw", 2, 16);
  FAILS(rondo_package_open(NULL, &other), RONDO_ERROR_INPUT, "path");
  FAILS(rondo_package_open("/nonexistent.rondo", &other), RONDO_ERROR_MISSING, "/nonexistent.rondo");
  FAILS(rondo_package_open("/nonexistent.rondo", NULL), RONDO_ERROR_INPUT, "package");
  FAILS(rondo_package_from_memory(NULL, 5, &other), RONDO_ERROR_INPUT, "data");
  FAILS(rondo_package_from_memory(data, bytes - 1, &other), RONDO_ERROR_INPUT, "no valid package");
  FAILS(rondo_package_from_memory(data, 0, &other), RONDO_ERROR_INPUT, "no valid package");
  CHECK(other == NULL);
  FAILS(rondo_package_plan(NULL, context, &query, &plan), RONDO_ERROR_INPUT, NULL);
  FAILS(rondo_package_plan(package, NULL, &query, &plan), RONDO_ERROR_INPUT, NULL);
  FAILS(rondo_package_plan(package, context, NULL, &plan), RONDO_ERROR_INPUT, NULL);
  FAILS(rondo_package_plan(package, context, &query, NULL), RONDO_ERROR_INPUT, "plan");
  FAILS(rondo_package_plan((rondo_package*)context, context, &query, &plan), RONDO_ERROR_INPUT, NULL);
  FAILS(rondo_package_plan(package, (rondo_context*)package, &query, &plan), RONDO_ERROR_INPUT, NULL);
  FAILS(rondo_package_find(package, context, &query, NULL), RONDO_ERROR_INPUT, "index");
  query.cell = "lstm";
  FAILS(rondo_package_plan(package, context, &query, &plan), RONDO_ERROR_MISSING, "it holds paragru bw");
  query = query_of(NULL, 2, 16);
  FAILS(rondo_package_find(package, context, &query, &index), RONDO_ERROR_INPUT, "say which");
  query = query_of("fw", -1, 16);
  FAILS(rondo_package_find(package, context, &query, &index), RONDO_ERROR_INPUT, "B=-1");
  rondo_context_options options = {.struct_size = sizeof options, .device = RONDO_DEVICE_CPU};
  rondo_context* cpu = NULL;
  OK(rondo_context_create(&options, &cpu));
  query = query_of("fw", 2, 16);
  FAILS(rondo_package_plan(package, cpu, &query, &plan), RONDO_ERROR_UNSUPPORTED, "CPU");
  OK(rondo_context_destroy(cpu));
  OK(rondo_package_destroy(package));
  FAILS(rondo_package_destroy(package), RONDO_ERROR_INPUT, "destroyed");
  FAILS(rondo_package_verify(package), RONDO_ERROR_INPUT, "destroyed");
  OK(rondo_package_destroy(NULL));
  OK(rondo_context_destroy(context));
}

static rondo_status open_file(const char* path, const void* data, size_t bytes) {
  write_file(path, data, bytes);
  rondo_package* package = NULL;
  const rondo_status status = rondo_package_open(path, &package);
  CHECK((status == RONDO_OK) == (package != NULL));
  OK(rondo_package_destroy(package));
  return status;
}

static void opens_files(void) {
  size_t bytes = 0;
  const void* data = sample_package(&bytes);
  char folder[] = "/tmp/rondo-package-XXXXXX", path[64];
  if (!CHECK(mkdtemp(folder) != NULL)) return;
  snprintf(path, sizeof path, "%s/a.rondo", folder);
  OK(open_file(path, data, bytes));
  rondo_package* expected = sample();
  rondo_package_info info = {.struct_size = sizeof info};
  rondo_package* opened = NULL;
  OK(rondo_package_get_info(expected, &info));
  OK(rondo_package_open_expected(path, info.hash, &opened));
  OK(rondo_package_destroy(opened));
  FAILS(rondo_package_open_expected(path, "0123", &opened), RONDO_ERROR_INPUT,
        "another package than was expected");
  FAILS(rondo_package_open_expected(path, NULL, &opened), RONDO_ERROR_INPUT, "hash");
  CHECK(opened == NULL);
  OK(rondo_package_destroy(expected));
  FAILS(open_file(path, data, bytes - 1), RONDO_ERROR_INPUT, path);
  FAILS(open_file(path, data, 0), RONDO_ERROR_INPUT, path);
  rondo_package* package = (rondo_package*)folder;
  FAILS(rondo_package_open(folder, &package), RONDO_ERROR_INPUT, folder); /* no file */
  CHECK(package == NULL);
  FAILS(rondo_package_open("", &package), RONDO_ERROR_MISSING, NULL);
  CHECK(unlink(path) == 0 && rmdir(folder) == 0);
}

/* The sizes that structs say, and what is asked of entries that are not there; nothing is written then. */
static void refuses_wrong_structs(void) {
  rondo_package* package = sample();
  FAILS(rondo_package_get_info(package, NULL), RONDO_ERROR_INPUT, "rondo_package_info is NULL");
  FAILS(rondo_package_get_entry(package, 0, NULL), RONDO_ERROR_INPUT, "rondo_package_entry is NULL");
  const size_t sizes[] = {0, sizeof(size_t), sizeof(rondo_package_info) - 1, SIZE_MAX};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
    rondo_package_info info = {.struct_size = sizes[i], .bytes = 7};
    rondo_package_entry entry = {.struct_size = sizes[i], .batch = 7};
    FAILS(rondo_package_get_info(package, &info), RONDO_ERROR_INPUT, "rondo_package_info says");
    FAILS(rondo_package_get_entry(package, 0, &entry), RONDO_ERROR_INPUT, "rondo_package_entry says");
    CHECK(info.bytes == 7 && info.hash == NULL && entry.batch == 7 && entry.cell == NULL);
  }
  const int32_t indices[] = {6, -1, INT32_MIN, INT32_MAX};
  for (size_t i = 0; i < sizeof indices / sizeof indices[0]; ++i) {
    rondo_package_entry entry = {.struct_size = sizeof entry, .batch = 7};
    FAILS(rondo_package_get_entry(package, indices[i], &entry), RONDO_ERROR_INPUT, "the package has 6");
    CHECK(entry.batch == 7 && entry.cell == NULL);
  }
  /* Before the board was a field of it. */
  rondo_package_entry older = {.struct_size = offsetof(rondo_package_entry, board), .multiprocessors = 7};
  OK(rondo_package_get_entry(package, 0, &older));
  CHECK(older.dim == 64 && older.board == NULL && older.multiprocessors == 7);
  OK(rondo_package_destroy(package));
}

/* The same of both that take a query: `words` is NULL where it is served. */
static void expect_of_query(const rondo_package_query* query, rondo_status status, const char* words) {
  rondo_package* package = sample();
  rondo_context* context = context_of(90);
  rondo_plan* plan = (rondo_plan*)package;
  int32_t index = 99;
  check_status(__FILE__, __LINE__, "find", rondo_package_find(package, context, query, &index), status,
               words);
  check_status(__FILE__, __LINE__, "plan", rondo_package_plan(package, context, query, &plan), status, words);
  CHECK((status == RONDO_OK) == (plan != NULL) && (status == RONDO_OK) == (index != 99));
  OK(rondo_plan_destroy(plan));
  OK(rondo_context_destroy(context));
  OK(rondo_package_destroy(package));
}

static void refuses_wrong_queries(void) {
  rondo_package_query query;
#define QUERY(change, status, words)        \
  do {                                      \
    query = query_of("fw", 2, 16);          \
    change;                                 \
    expect_of_query(&query, status, words); \
  } while (0)
  QUERY((void)0, RONDO_OK, NULL);
  QUERY(query.type = "bf16"; query.math = "fast"; query.heads = 2; query.dim = 64, RONDO_OK, NULL);
  QUERY(query.struct_size = 0, RONDO_ERROR_INPUT, "rondo_package_query says that it has 0 bytes");
  QUERY(query.struct_size = sizeof query - 1, RONDO_ERROR_INPUT, "rondo_package_query says");
  QUERY(query.struct_size = SIZE_MAX, RONDO_ERROR_INPUT, "rondo_package_query says");
  QUERY(query.cell = "lstm", RONDO_ERROR_MISSING, "it holds paragru");
  QUERY(query.cell = "", RONDO_OK, NULL); /* any */
  QUERY(query.pass = "fws", RONDO_ERROR_MISSING, "it holds paragru");
  QUERY(query.pass = "forward", RONDO_ERROR_MISSING, "it holds paragru");
  QUERY(query.type = "fp32", RONDO_ERROR_MISSING, "it holds paragru");
  QUERY(query.type = "float", RONDO_ERROR_MISSING, "it holds paragru");
  QUERY(query.math = "tf32", RONDO_ERROR_MISSING, "it holds paragru");
  QUERY(query.heads = 3, RONDO_ERROR_MISSING, "it holds paragru");
  QUERY(query.dim = 65, RONDO_ERROR_MISSING, "it holds paragru");
  QUERY(query.heads = -2, RONDO_ERROR_INPUT, "H=-2");
  QUERY(query.dim = INT64_MIN, RONDO_ERROR_INPUT, "D=-9223372036854775808");
  QUERY(query.time = -1, RONDO_ERROR_INPUT, "T=-1");
  QUERY(query.pass = NULL, RONDO_ERROR_INPUT, "say which");
#undef QUERY
  expect_of_query(NULL, RONDO_ERROR_INPUT, "rondo_package_query is NULL");
  /* A newer header's, with a field that this library does not know. */
  struct {
    rondo_package_query known;
    int64_t unknown;
  } newer = {query_of("fw", 2, 16), 0};
  newer.known.struct_size = sizeof newer;
  expect_of_query(&newer.known, RONDO_OK, NULL);
  newer.unknown = 1;
  expect_of_query(&newer.known, RONDO_ERROR_UNSUPPORTED, "fields beyond");
}

/* Altered bytes give an error, or a plan of what was not altered. */
static void never_crashes_on_altered_bytes(void) {
  size_t bytes = 0;
  const void* data = sample_package(&bytes);
  rondo_context* context = context_of(90);
  const rondo_package_query query = query_of("fw", 2, 16);
  unsigned char* copy = malloc(bytes);
  uint64_t state = 7;
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    memcpy(copy, data, bytes);
    state = state * 6364136223846793005u + 1442695040888963407u;
    copy[(state >> 33) % bytes] ^= (unsigned char)(1 + (state >> 20) % 255);
    rondo_package* package = NULL;
    rondo_plan* plan = NULL;
    rondo_status status = rondo_package_from_memory(copy, bytes, &package);
    if (status == RONDO_OK) {
      CHECK(rondo_package_verify(package) == RONDO_ERROR_INPUT);
      status = rondo_package_plan(package, context, &query, &plan);
    }
    refused += status != RONDO_OK;
    CHECK((status == RONDO_OK) == (plan != NULL));
    rondo_plan_destroy(plan);
    rondo_package_destroy(package);
  }
  CHECK(refused > 400); /* header, index and the parts that are used are about a quarter of it */
  free(copy);
  OK(rondo_context_destroy(context));
}

static void the_wrapper_does_the_same(void) {
  size_t bytes = 0;
  const void* data = sample_package(&bytes);
  cuda->set_capability(90);
  const char* faults = faults_of_wrapper(data, bytes);
  if (faults[0] != '\0') fprintf(stderr, "package.hpp: %s", faults);
  CHECK(faults[0] == '\0');
}

int main(int argc, char** argv) {
  cuda = argc > 1 ? fake_cuda_of(argv[1]) : NULL;
  if (cuda == NULL) return fprintf(stderr, "usage: capi_package_test FAKE_CUDA\n"), 1;
  setenv("RONDO_LIBCUDA", argv[1], 1);
  lists_what_it_holds();
  takes_the_image_of_the_gpu();
  passes_over_what_the_driver_refuses();
  takes_the_nearest_shape();
  passes_over_what_does_not_fit();
  launches_its_kernels();
  refuses_what_is_wrong();
  refuses_wrong_structs();
  refuses_wrong_queries();
  opens_files();
  never_crashes_on_altered_bytes();
  the_wrapper_does_the_same();
  return report();
}
