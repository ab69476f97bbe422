/* The classes of rondo.hpp that compile, over the CPU, for a test in C. */
#ifndef RONDO_TESTS_CAPI_JIT_WRAPPER_H
#define RONDO_TESTS_CAPI_JIT_WRAPPER_H

#ifdef __cplusplus
extern "C" {
#endif

/* What does not hold, one a line; "" where all does. `folder` is an empty one, and is left empty. The text
 * lives until the next call. */
const char* faults_of_jit_wrapper(const char* folder);

#ifdef __cplusplus
}
#endif

#endif
