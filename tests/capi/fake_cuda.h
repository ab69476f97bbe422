/* What tests ask of the stand-in for the CUDA driver; found by dlsym() in the library that RONDO_LIBCUDA
 * names. */
#ifndef RONDO_TESTS_CAPI_FAKE_CUDA_H
#define RONDO_TESTS_CAPI_FAKE_CUDA_H

void fake_set_capability(int capability); /* 90: of contexts made from now on */
int fake_launches(void);                  /* kernels started so far */
int fake_loads(void);                     /* modules loaded so far */
const char* fake_image(void);             /* the first 64 bytes of the last module's image */

#endif
