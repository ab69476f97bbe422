/* Random calls that train in parts of time. */
#ifndef RONDO_TESTS_CAPI_RANDOM_TRAINING_H
#define RONDO_TESTS_CAPI_RANDOM_TRAINING_H

#include "tests/capi/random_calls.h"

/* All tensors of a pass of training but what is saved, from slot `first` on; -1: they do not fit. Slots are
 * halves of EACH bytes. */
static int give_all(rondo_plan* plan, const rondo_launch_args* args, uint32_t first, rondo_tensor* tensors) {
  rondo_plan_info info = {.struct_size = sizeof info};
  if (rondo_plan_get_info(plan, &info) != RONDO_OK || info.tensors > 16 || info.outline != 0) return -1;
  int count = 0;
  for (int32_t i = 0; i < info.tensors; ++i) {
    rondo_tensor_info tensor = {.struct_size = sizeof tensor};
    int64_t bytes = 0;
    CHECK(rondo_plan_get_tensor(plan, i, &tensor) == RONDO_OK);
    if (rondo_plan_tensor_bytes(plan, i, args->batch, args->time, &bytes) != RONDO_OK || bytes > EACH / 2)
      return -1;
    if (tensor.role == RONDO_ROLE_HISTORY && below(32) != 0) continue;
    tensors[count++] = (rondo_tensor){.index = i,
                                      .type = tensor.type,
                                      .data = memory + (first + (uint32_t)i) * EACH / 2,
                                      .bytes = below(32) == 0 ? (int64_t)below(64) : EACH / 2};
  }
  return count;
}

/* A part of a training step, mostly as it should be. */
static void train_part(void) {
  rondo_training* training = handle(TRAINING);
  rondo_plan* plans[2] = {NULL, NULL};
  rondo_tensor tensors[2][16];
  rondo_launch_args args[2];
  memset(tensors, 0, sizeof tensors);
  const int64_t batch = 1 + below(2), time = 1 + below(5);
  int right = 1;
  for (int i = 0; i < 2; ++i) {
    args[i] = (rondo_launch_args){.struct_size = sizeof args[i],
                                  .tensor_size = sizeof tensors[i][0],
                                  .tensors = tensors[i],
                                  .workspace = memory + 16 * EACH,
                                  .workspace_bytes = 12 * EACH,
                                  .batch = below(32) == 0 ? size_of_call() : batch,
                                  .time = below(32) == 0 ? size_of_call() : time};
    CALL(
        rondo_training_get_plan(training, i == 0 ? RONDO_PASS_FORWARD_SAVE : RONDO_PASS_BACKWARD, &plans[i]));
    const int count = plans[i] == NULL ? 0 : give_all(plans[i], &args[i], (uint32_t)i * 16, tensors[i]);
    right &= count >= 0;
    args[i].tensor_count = count < 0 ? 0 : (size_t)count;
    destroy(PLAN, plans[i]);
  }
  if (!right) return;
  void* saved = below(32) == 0 ? NULL : memory + 28 * EACH + (below(32) == 0 ? 16 : 0);
  const int64_t bytes = below(32) == 0 ? (int64_t)below(256) : 4 * EACH, part = number(2);
  if (below(2) == 0)
    CALL(rondo_training_forward_part(training, part, below(32) == 0 ? NULL : &args[0], saved, bytes));
  else
    CALL(rondo_training_backward_part(training, part, &args[0], below(32) == 0 ? NULL : &args[1], saved,
                                      bytes));
}

#endif
