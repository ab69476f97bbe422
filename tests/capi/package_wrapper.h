/* The class Package of package.hpp over a package in memory, for a test in C. */
#ifndef RONDO_TESTS_CAPI_PACKAGE_WRAPPER_H
#define RONDO_TESTS_CAPI_PACKAGE_WRAPPER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What does not hold, one a line; "" where all does. The text lives until the next call. */
const char* faults_of_wrapper(const void* data, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
