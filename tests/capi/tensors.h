/* Host memory for all tensors of a plan, filled with small numbers, for tests of the C interface. */
#ifndef RONDO_TESTS_CAPI_TENSORS_H
#define RONDO_TESTS_CAPI_TENSORS_H

#include <stdlib.h>

#include "tests/capi/check.h"

enum { MOST_TENSORS = 32 };

typedef struct {
  rondo_tensor tensors[MOST_TENSORS];
  rondo_tensor_info infos[MOST_TENSORS];
  int count;
  void* workspace;
  rondo_launch_args args;
} plan_memory;

static inline void* aligned_bytes(int64_t bytes) {
  const size_t size = ((size_t)bytes + 256) / 256 * 256;
  void* memory = aligned_alloc(256, size);
  memset(memory, 0, size);
  return memory;
}

/* A number in [-1/2, 1/2) that depends on the place and the name. */
static inline float number_at(const char* name, int64_t i) {
  uint32_t hash = 2166136261u;
  for (; *name != '\0'; ++name) hash = (hash ^ (unsigned char)*name) * 16777619u;
  hash = (hash ^ (uint32_t)i) * 16777619u;
  hash ^= hash >> 15;
  return (float)(hash % 1024) / 1024.0f - 0.5f;
}

/* All tensors are fp32 here, but for those of forms, which stay zero. */
static inline plan_memory memory_of(const rondo_plan* plan, int64_t batch, int64_t time) {
  plan_memory m;
  memset(&m, 0, sizeof m);
  rondo_plan_info info;
  info.struct_size = sizeof info;
  OK(rondo_plan_get_info(plan, &info));
  m.count = info.tensors;
  CHECK(m.count <= MOST_TENSORS);
  for (int i = 0; i < m.count; ++i) {
    m.infos[i].struct_size = sizeof m.infos[i];
    OK(rondo_plan_get_tensor(plan, i, &m.infos[i]));
    int64_t bytes = 0;
    OK(rondo_plan_tensor_bytes(plan, i, batch, time, &bytes));
    m.tensors[i].index = i;
    m.tensors[i].type = m.infos[i].type;
    m.tensors[i].data = aligned_bytes(bytes);
    m.tensors[i].bytes = bytes;
    const int form = m.infos[i].role == RONDO_ROLE_RESETS || m.infos[i].role == RONDO_ROLE_LENGTHS;
    CHECK(m.infos[i].type == RONDO_TYPE_F32 || form);
    if (m.infos[i].written == 0 && !form)
      for (int64_t k = 0; k < bytes / 4; ++k) ((float*)m.tensors[i].data)[k] = number_at(m.infos[i].name, k);
  }
  int64_t bytes = 0;
  OK(rondo_plan_workspace_bytes(plan, batch, time, &bytes));
  m.workspace = aligned_bytes(bytes);
  m.args.struct_size = sizeof m.args;
  m.args.tensor_size = sizeof m.tensors[0];
  m.args.tensor_count = (size_t)m.count;
  m.args.workspace = m.workspace;
  m.args.workspace_bytes = bytes;
  m.args.batch = batch;
  m.args.time = time;
  return m;
}

static inline rondo_status launch_memory(const rondo_plan* plan, plan_memory* m) {
  m->args.tensors = m->tensors;
  return rondo_launch(plan, &m->args);
}

static inline int place_of(const plan_memory* m, const char* name) {
  for (int i = 0; i < m->count; ++i)
    if (strcmp(m->infos[i].name, name) == 0) return i;
  CHECK(!"a tensor of that name");
  return 0;
}

static inline float* data_of(const plan_memory* m, const char* name) {
  return (float*)m->tensors[place_of(m, name)].data;
}

static inline void free_memory(plan_memory* m) {
  for (int i = 0; i < m->count; ++i) free(m->tensors[i].data);
  free(m->workspace);
}

#endif
