/* Shipped cells and problems of one head, as tests of the C interface ask for them. */
#ifndef RONDO_TESTS_CAPI_PROBLEMS_H
#define RONDO_TESTS_CAPI_PROBLEMS_H

#include <rondo/rondo.h>

#include "tests/capi/check.h"

static inline rondo_cell* shipped_cell(const char* name) {
  rondo_cell_options options = {.struct_size = sizeof options, .path = name};
  rondo_cell* cell = NULL;
  OK(rondo_cell_create(&options, &cell, NULL));
  return cell;
}

static inline rondo_problem one_head(int32_t type, int32_t pass, int64_t batch, int64_t time, int64_t dim) {
  rondo_problem problem = {
      .struct_size = sizeof problem, .batch = batch, .time = time, .heads = 1, .dim = dim};
  problem.type = type;
  problem.pass = pass;
  return problem;
}

#endif
