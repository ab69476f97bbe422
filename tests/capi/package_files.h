/* Packages for tests in C, made by the writer. */
#ifndef RONDO_TESTS_CAPI_PACKAGE_FILES_H
#define RONDO_TESTS_CAPI_PACKAGE_FILES_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* paragru, fw and bw of B=2 T=16 H=2 D=64 and fw of B=64 T=1024 and of B=4096 T=1, whose blocks wait for
 * each other and fit on no GPU for so many rows, bf16: cubins for sm_80 and sm_90 and PTX from sm_80 on. The
 * images are none: each begins with its kind and target. Valid until the process ends. */
const void* sample_package(size_t* bytes);

#ifdef __cplusplus
}
#endif

#endif
