/* A device that stands in for a GPU where the launching part is tested: plans of a running sum over host
 * memory. h_t = h_(t-1) + scale * x_t, fp32; x and h_out [B, T, H, 2, D], scale [H, 2, D], h_first and h_last
 * [B, H, 2, D]; x and h_out are aligned to 16 bytes. The launch is the walk that GPUs have. */
#ifndef RONDO_TESTS_CAPI_STAND_IN_H
#define RONDO_TESTS_CAPI_STAND_IN_H

#include <rondo/launch.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { STAND_IN_X, STAND_IN_SCALE, STAND_IN_FIRST, STAND_IN_OUT, STAND_IN_LAST, STAND_IN_TENSORS };

/* H = 1. The context is one of the CPU. */
rondo_status stand_in_plan(rondo_context* context, int64_t dim, rondo_plan** plan);
/* The same plan as code for a GPU, a kernel called "sum"; the context is one of CUDA (fake_cuda.h). Of
 * several cubins in the image it is the last that holds the kernel. */
rondo_status stand_in_cuda_plan(rondo_context* context, int64_t dim, int cubins, rondo_plan** plan);

/* The same with so many kernels, a block a batch row each, of which the blocks of one wait for each other. */
rondo_status stand_in_waiting_plan(rondo_context* context, int64_t dim, int kernels, int waiting,
                                   rondo_plan** plan);
/* A plan of several states and nothing else: a step adds i + 1 to each element of state i. Tensors are the
 * first states and then the last ones, [B, H, D], fp32. Results that do not begin on a boundary of what an
 * allocator gives are an internal error. */
rondo_status stand_in_states_plan(rondo_context* context, int64_t dim, int states, rondo_plan** plan);

#ifdef __cplusplus
}
#endif

#endif
