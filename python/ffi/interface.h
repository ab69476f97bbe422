/* What the package rondo tells librondo_jax, in C: python/rondo/jax/_shim.py has the same structs. A site is
 * a launch of which all is known but addresses. A program of XLA knows its launches by their text, which is
 * an attribute of the call and which another process can read too; the package makes the site of a text. */
#ifndef RONDO_PYTHON_FFI_INTERFACE_H
#define RONDO_PYTHON_FFI_INTERFACE_H

#include <rondo/launch.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A result that the plan needs and the caller does not want: it lies in the buffer of the workspace. */
typedef struct rondo_jax_hidden {
  int32_t place; /* among the tensors of `args` */
  int32_t reserved;
  int64_t offset; /* in the buffer, in bytes, a multiple of 256 */
} rondo_jax_hidden;

/* Arrays are copied. The plan must live for ever. */
typedef struct rondo_jax_site {
  size_t struct_size;
  const rondo_plan* plan;
  const rondo_launch_args* args; /* all but addresses and the stream */
  const int32_t* places; /* of operands, then of results, among the tensors of `args`; -1: not of this plan */
  size_t place_count;
  const rondo_jax_hidden* hidden;
  size_t hidden_count;
  int64_t buffer_bytes; /* of the workspace with what is hidden behind it, from an aligned address on */
} rondo_jax_site;

typedef struct rondo_jax_answer rondo_jax_answer;

/* What librondo_jax calls, for it is linked with nothing. */
typedef struct rondo_jax_calls {
  size_t struct_size;
  rondo_status (*launch)(const rondo_plan*, const rondo_launch_args*);
  const char* (*message)(void);
  const char* (*hint)(void);
  /* Answers with rondo_jax_give() or rondo_jax_refuse(), once, before it returns. From any thread. */
  void (*make)(const char* text, size_t bytes, int32_t on_cuda, int32_t ordinal, rondo_jax_answer* answer);
} rondo_jax_calls;

/* Each returns 1, or 0 where the struct is of another version. */
RONDO_API int32_t rondo_jax_begin(const rondo_jax_calls* calls);
RONDO_API int32_t rondo_jax_give(rondo_jax_answer* answer, const rondo_jax_site* site);
/* The text is what the program's error says. */
RONDO_API void rondo_jax_refuse(rondo_jax_answer* answer, rondo_status status, const char* text);
/* Forgets all sites: each is made anew at its next launch. Launches that are under way keep theirs. */
RONDO_API void rondo_jax_forget(void);
/* Launches since the process began. */
RONDO_API int64_t rondo_jax_launches(void);

#ifdef __cplusplus
}
#endif

#endif
