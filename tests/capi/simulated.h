/* Plans of GPUs in the KernelIR simulator, over host memory: the kernels and the launch walk are those of a
 * GPU. */
#ifndef RONDO_TESTS_CAPI_SIMULATED_H
#define RONDO_TESTS_CAPI_SIMULATED_H

#include <rondo/rondo.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The model's choice of the strategy for an H100. The context is one of the CPU. A fault that the simulator
 * finds is RONDO_ERROR_WRONG of the launch. */
rondo_status simulated_plan(rondo_context* context, const char* cell, const rondo_problem* problem,
                            const char* strategy, rondo_plan** plan);
/* Both plans of training, in parts of time too, by the strategy that the model chooses. */
rondo_status simulated_training(rondo_context* context, const rondo_cell* cell, const rondo_problem* problem,
                                rondo_training** training);

#ifdef __cplusplus
}
#endif

#endif
