/* Random calls of the functions of packages: of the sample (package_files.h), and of what is left of it when
 * it is cut or altered. */
#ifndef RONDO_TESTS_CAPI_RANDOM_PACKAGES_H
#define RONDO_TESTS_CAPI_RANDOM_PACKAGES_H

#include <stdlib.h>

#include "tests/capi/files.h"
#include "tests/capi/package_files.h"
#include "tests/capi/random_calls.h"

enum { ALTERED = 8 };

static const void* sample; /* `sample_bytes` of them */
static size_t sample_bytes;
static unsigned char* altered[ALTERED]; /* as large */
static char package_paths[3][64];       /* files: sound, cut, altered */
static char sample_hash[80];            /* of the sound one */

/* No package of the images that there were is left. */
static void alter_images(void) {
  for (int i = 0; i < ALTERED; ++i) {
    memcpy(altered[i], sample, sample_bytes);
    const uint32_t most = i % 2 == 0 ? (uint32_t)sample_bytes : 512; /* in what is read first */
    for (uint32_t k = 0; k <= below(4); ++k) altered[i][below(most)] ^= (unsigned char)(1 + below(255));
  }
}

static void begin_packages(const char* in_folder) {
  sample = sample_package(&sample_bytes);
  for (int i = 0; i < ALTERED; ++i) altered[i] = malloc(sample_bytes);
  alter_images();
  for (int i = 0; i < 3; ++i)
    snprintf(package_paths[i], sizeof package_paths[i], "%s/%d.rondo", in_folder, i);
  write_file(package_paths[0], sample, sample_bytes);
  write_file(package_paths[1], sample, sample_bytes - 1);
  write_file(package_paths[2], altered[0], sample_bytes);
  rondo_package* sound = NULL;
  rondo_package_info info = {.struct_size = sizeof info};
  OK(rondo_package_open(package_paths[0], &sound));
  OK(rondo_package_get_info(sound, &info));
  snprintf(sample_hash, sizeof sample_hash, "%s", info.hash);
  OK(rondo_package_destroy(sound));
}

static void end_packages(void) {
  for (int i = 0; i < ALTERED; ++i) free(altered[i]);
}

static void make_package(void) {
  rondo_package* package = NULL;
  rondo_package** into = below(32) == 0 ? NULL : &package;
  switch (below(9)) {
    case 0: CALL(rondo_package_open(package_paths[below(3)], into)); break;
    case 1: CALL(rondo_package_open(text(), into)); break;
    case 2: CALL(rondo_package_from_memory(sample, below((uint32_t)sample_bytes), into)); break;
    case 3: CALL(rondo_package_from_memory(below(2) == 0 ? NULL : memory, below(1024), into)); break;
    case 4:
    case 5: CALL(rondo_package_from_memory(altered[below(ALTERED)], sample_bytes, into)); break;
    case 6:
      CALL(rondo_package_open_expected(package_paths[below(3)], below(4) == 0 ? text() : sample_hash, into));
      break;
    default: CALL(rondo_package_from_memory(sample, sample_bytes, into)); break;
  }
  keep(PACKAGE, package);
}

static rondo_package_query any_query(void) {
  static const char* const cells[] = {"paragru", NULL, "lstm", ""};
  static const char* const passes[] = {"fw", "bw", NULL, "fws", "forward", ""};
  static const char* const types[] = {NULL, "bf16", "fp32", "int"};
  static const char* const maths[] = {NULL, "fast", "tf32", "slow"};
  rondo_package_query query = {.struct_size = struct_size(sizeof query)};
  query.cell = cells[below(4) == 0 ? below(4) : 0];
  query.pass = passes[below(4) == 0 ? below(6) : below(2)];
  query.type = types[below(8) == 0 ? below(4) : below(2)];
  query.math = maths[below(8) == 0 ? below(4) : below(2)];
  query.heads = below(8) == 0 ? size_of_call() : 0;
  query.dim = below(8) == 0 ? size_of_call() : below(2) * 64;
  query.batch = size_of_call();
  query.time = size_of_call();
  return query;
}

static void choose_of_package(void) {
  const rondo_package_query query = any_query();
  const rondo_package_query* given = below(32) == 0 ? NULL : &query;
  int32_t index = -1;
  rondo_plan* plan = NULL;
  if (below(3) == 0) {
    CALL(rondo_package_find(handle(PACKAGE), handle(CONTEXT), given, below(32) == 0 ? NULL : &index));
  } else {
    CALL(rondo_package_plan(handle(PACKAGE), handle(CONTEXT), given, below(32) == 0 ? NULL : &plan));
    keep(PLAN, plan);
  }
}

static void ask_package(void) {
  switch (below(4)) {
    case 0: QUERY(rondo_package_info, rondo_package_get_info(handle(PACKAGE), into)); break;
    case 1: QUERY(rondo_package_entry, rondo_package_get_entry(handle(PACKAGE), number(6), into)); break;
    case 2: CALL(rondo_package_verify(handle(PACKAGE))); break;
    default: choose_of_package(); break;
  }
}

#endif
