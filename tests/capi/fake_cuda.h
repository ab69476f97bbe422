/* A CUDA driver without a GPU: device memory is the host's, and its only kernel is the running sum of
 * stand_in.h, of 8 channels, which runs when it is launched, or when a graph that recorded it is.
 * RONDO_LIBCUDA names the library. It has two devices, of the compute capability that RONDO_FAKE_CAPABILITY
 * says, or 90, and with an L2 of RONDO_FAKE_L2 bytes, or 50 MiB. RONDO_FAKE_LEAK lets it lose memory.
 * Everything of a context must be done while that context is current, as with a real driver; and while a
 * stream is captured in the global mode, what could spoil that is refused to threads that have not said that
 * they know (cuThreadExchangeStreamCaptureMode). */
#ifndef RONDO_TESTS_CAPI_FAKE_CUDA_H
#define RONDO_TESTS_CAPI_FAKE_CUDA_H

#include <dlfcn.h>
#include <stddef.h>

/* What was done since the library was loaded. */
typedef struct {
  int allocations, waits, launches, copies, fills;
  int graphs, replayed; /* graphs that were started, and what had been submitted to them */
  int contexts_retained, contexts_released, modules_loaded, modules_unloaded;
} fake_counts;

typedef struct {
  fake_counts (*counts)(void);
  void* (*current)(void); /* the context of this thread */
  int (*set_current)(void* context);
  void* (*context_of)(int device); /* the primary one */
  void* (*new_stream)(void);       /* of the current context */
  int (*begin_capture)(void* stream, int mode);
  int (*end_capture)(void* stream, void** graph);
  int (*launch_graph)(void* graph, void* stream);
  void (*set_capability)(int capability); /* 90 and more; of contexts that are made from now on */
  const char* (*image)(void);             /* the first 64 bytes of the image that was loaded last */
  void (*refuse_cubins)(int code); /* what cuModuleLoadData says of each from now on; 0: it loads them */
  int* (*host_word)(void);         /* the host memory that was allocated last */
  void (*leave_streams_unended)(int unended); /* 1: all streams say that they have work left */
} fake_cuda;

fake_cuda* fake_cuda_functions(void);

/* Those of the library at `path`; NULL where it is none. */
static inline fake_cuda* fake_cuda_of(const char* path) {
  void* library = dlopen(path, RTLD_NOW);
  fake_cuda* (*functions)(void) = NULL;
  if (library != NULL) *(void**)&functions = dlsym(library, "fake_cuda_functions");
  return functions == NULL ? NULL : functions();
}

#endif
