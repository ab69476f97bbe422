/* What the package rondo tells librondo_torch, in C: python/rondo/_torch/shim.py has the same structs. A site
 * is a launch of which all is known but addresses. The operator rondo::launch_known (operator.cpp) runs
 * sites. */
#ifndef RONDO_PYTHON_SHIM_INTERFACE_H
#define RONDO_PYTHON_SHIM_INTERFACE_H

#include <rondo/launch.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A tensor as its caller has it. `type` is one of RONDO_TYPE_, strides count elements. */
typedef struct rondo_torch_layout {
  int32_t type, rank;
  int64_t sizes[RONDO_MOST_AXES], strides[RONDO_MOST_AXES];
} rondo_torch_layout;

typedef struct rondo_torch_given {
  rondo_torch_layout layout;
  int32_t place;     /* of its address among the site's tensors; -1: the launch does not read it */
  int32_t alignment; /* bytes */
} rondo_torch_given;

typedef struct rondo_torch_made {
  rondo_torch_layout layout;
  int32_t place;
  int32_t is_result; /* 0: the plan wants it, and the caller does not */
} rondo_torch_made;

/* One launch: of a plan, for tensors of these layouts on this device. Arrays are copied; the plan must live
 * for ever. */
typedef struct rondo_torch_site {
  size_t struct_size;
  int64_t family; /* what is to be computed, as a number of Python's: a site serves calls of its family */
  const rondo_plan* plan;
  rondo_status (*launch)(const rondo_plan*, const rondo_launch_args*); /* rondo_launch or rondo_step */
  int32_t on_cuda, ordinal;
  int64_t batch, time, workspace_bytes;
  const rondo_tensor* tensors; /* all but their addresses */
  const rondo_torch_given* given;
  const rondo_torch_made* made;
  size_t tensor_count, given_count, made_count;
} rondo_torch_site;

/* 1: added. 0: it is of another version of these structs, or has more tensors than the operator takes. */
RONDO_API int32_t rondo_torch_add(const rondo_torch_site* site);
/* Forgets all sites. Launches that are under way keep theirs. */
RONDO_API void rondo_torch_forget(void);
/* Launches that the operator has made since the process began. */
RONDO_API int64_t rondo_torch_launches(void);
/* To be called in the child of a fork, where another thread of the parent may have been looking for a site.
 */
RONDO_API void rondo_torch_after_fork(void);

#ifdef __cplusplus
}
#endif

#endif
