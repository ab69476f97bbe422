/* Rondo's C interface, the part that opens packages: kernels that `rondo package build` made ahead of time,
 * in one file or in the memory of the program. It is in librondo and in librondo_rt alike. C11 and C++17.
 * Errors, handles and struct_size are as launch.h says. */
#ifndef RONDO_PACKAGE_H
#define RONDO_PACKAGE_H

#include <rondo/launch.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rondo_package rondo_package;

/* Maps the file, which must not be changed in place until the package and all threads that use it are done;
 * `rondo` replaces files by renaming. A package that was cut short, altered or made in a newer format is
 * refused. Errors: MISSING (no such file), INPUT (damaged), UNSUPPORTED (a newer format). */
RONDO_MUST_USE RONDO_API rondo_status rondo_package_open(const char* path, rondo_package** package);
/* The same where the caller knows the hash of the package (64 hex digits, as `rondo package list` and
 * rondo_package_get_info tell it) and got it in a way he trusts: it vouches for all of the file, whose
 * kernels are programs of whoever built it. Error INPUT: the file has another one. */
RONDO_MUST_USE RONDO_API rondo_status rondo_package_open_expected(const char* path, const char* hash,
                                                                  rondo_package** package);
/* As rondo_package_open() for bytes in memory, which are not copied and must live as long as the package. */
RONDO_MUST_USE RONDO_API rondo_status rondo_package_from_memory(const void* data, size_t bytes,
                                                                rondo_package** package);
RONDO_API rondo_status rondo_package_destroy(rondo_package* package);

/* Reads all of it and compares every part with its hash, which else is done when a part is used. Error
 * INPUT. */
RONDO_MUST_USE RONDO_API rondo_status rondo_package_verify(const rondo_package* package);

typedef struct rondo_package_info {
  size_t struct_size;
  const char* producer; /* "rondo 0.1.0" */
  const char* hash;     /* SHA-256 that vouches for all of it, 64 hex digits */
  int64_t bytes;
  int32_t entries;
  int32_t reserved;
} rondo_package_info;

/* The strings belong to the package. */
RONDO_MUST_USE RONDO_API rondo_status rondo_package_get_info(const rondo_package* package,
                                                             rondo_package_info* info);

/* The kernels of one problem, as they were chosen for one architecture. */
typedef struct rondo_package_entry {
  size_t struct_size;
  const char* cell;        /* its name */
  const char* cell_hash;   /* of its canonical form, with the values of its constants */
  const char* pass;        /* "fw", "fws", "bw", "bw+products" ... */
  const char* type;        /* "fp32", "bf16", "fp16" */
  const char* math;        /* "fast" */
  const char* arch;        /* "sm_90"; "compute_80": chosen to run on that and every later one, as PTX */
  const char* strategy;    /* "stream" */
  const char* parameters;  /* "channels=64 steps=32 ..." */
  const char* origin;      /* where the choice comes from: "tuned", "by model", ... */
  int64_t batch, time;     /* that it was chosen for; those of a call are free */
  int64_t heads, dim;      /* compiled in */
  const char* board;       /* "NVIDIA H200": what it was chosen for; "" of what is for any GPU */
  int64_t multiprocessors; /* of the board; 0 of what is for any GPU */
  const char* note;        /* origin in a line, for people: for what, on which GPU, by which Rondo and when */
  double expected_ms;      /* as measured, or the model's estimate; 0: not known */
  const char* variant; /* what the cell has beside its text: "p_c=0.1 clip_forward=2 resets"; "": nothing */
} rondo_package_entry;

/* Entry `index`, from 0. The strings belong to the package. */
RONDO_MUST_USE RONDO_API rondo_status rondo_package_get_entry(const rondo_package* package, int32_t index,
                                                              rondo_package_entry* entry);

/* What a caller wants of a package. NULL and 0 stand for anything, as long as what is left names one kind of
 * problem. */
typedef struct rondo_package_query {
  size_t struct_size;
  const char* cell; /* its name, or its hash */
  const char* pass; /* "fw", "fws", "bw", "bw+products" ... */
  const char* type; /* "fp32", "bf16", "fp16" */
  const char* math; /* "fast", "accurate", "tf32" */
  int64_t heads, dim;
  int64_t batch, time; /* of the calls to come: the kernels of the nearest shape are taken; 0 counts as 1 */
} rondo_package_query;

/* A plan on the context's GPU. Of the kernels that fit the query those count first whose code is for this
 * very compute capability, then code for an earlier one of the same major version (the latest), then PTX (the
 * latest), which the driver compiles now; among these the nearest shape: the least ratio between B * T of the
 * query and of the kernels, then what was chosen for this board, or for one with as many multiprocessors,
 * then the least ratio of B. What does not load on the GPU, or whose blocks would not fit at the query's
 * sizes, gives way to the next. The plan does not need the package any more. Errors: MISSING (no such
 * problem; the hint lists what there is), INPUT (the query fits several kinds; a part is damaged),
 * UNSUPPORTED (no code for this GPU, with what there is code for; a context of the CPU), DEVICE. */
RONDO_MUST_USE RONDO_API rondo_status rondo_package_plan(const rondo_package* package,
                                                         const rondo_context* context,
                                                         const rondo_package_query* query, rondo_plan** plan);
/* The entry that rondo_package_plan would try first. */
RONDO_MUST_USE RONDO_API rondo_status rondo_package_find(const rondo_package* package,
                                                         const rondo_context* context,
                                                         const rondo_package_query* query, int32_t* index);

#ifdef __cplusplus
}
#endif

#endif
