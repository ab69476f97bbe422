/* Rondo's C interface, the part that launches: contexts on a device, plans, tensors, launches. It is in
 * librondo and in librondo_rt alike. C11 and C++17.
 *
 * Errors. Every call that can fail returns a status. rondo_message() and rondo_hint() say what was wrong and
 * what to do, of the calling thread's last call that failed. No exception leaves the library.
 *
 * Handles. Contexts, plans and the like are numbers behind pointer types, which the library never follows:
 * one that was destroyed, is of another kind or was never made is RONDO_ERROR_INPUT, not a crash. Any number
 * of threads may use a handle at once, unless its text says otherwise; destroying it must be the only use
 * then. Destroying NULL does nothing. What a handle needs of another one (a plan its context) lives as long
 * as it does: the order of destruction is free.
 *
 * Versions. A struct that begins with `struct_size` takes sizeof of it there, and zeroes in what is not
 * wanted. New fields are only ever added at its end: an older caller's smaller struct is served, and a newer
 * caller's larger one is taken as long as what this library does not know is zero; else the call gives
 * RONDO_ERROR_UNSUPPORTED, whatever errors its text lists. Arrays of structs come with the size of an
 * element. Enumerations are int32_t. Values that this library does not know are RONDO_ERROR_INPUT. */
#ifndef RONDO_LAUNCH_H
#define RONDO_LAUNCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32) || !defined(__GNUC__)
#define RONDO_API
#else
#define RONDO_API __attribute__((visibility("default")))
#endif

/* Of every call whose status must not be ignored, which is all of them but those that destroy: compilers warn
 * where nobody looks at it. */
#if (defined(__cplusplus) && __cplusplus >= 201703L) || \
    (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
#define RONDO_MUST_USE [[nodiscard]]
#elif defined(__GNUC__)
#define RONDO_MUST_USE __attribute__((warn_unused_result))
#else
#define RONDO_MUST_USE
#endif

#define RONDO_VERSION_MAJOR 0
#define RONDO_VERSION_MINOR 1
#define RONDO_VERSION_PATCH 0

typedef int32_t rondo_status;
enum {
  RONDO_OK = 0,
  RONDO_ERROR_INPUT = 1,       /* an argument is wrong */
  RONDO_ERROR_UNSUPPORTED = 2, /* valid, but this version, GPU or driver cannot do it */
  RONDO_ERROR_MISSING = 3,     /* a library, device, file or record that is needed is not there */
  RONDO_ERROR_DATABASE = 4,    /* the tuning database cannot be read or written */
  RONDO_ERROR_DEVICE = 5,      /* the GPU or its driver reported a failure */
  RONDO_ERROR_COMPILE = 6,     /* the compiler rejected generated code */
  RONDO_ERROR_WRONG = 7,       /* a computed result differs from the reference */
  RONDO_ERROR_CANCELLED = 8,   /* stopped by a callback or by a time limit */
  RONDO_ERROR_INTERNAL = 9,    /* a defect of Rondo */
  RONDO_ERROR_MEMORY = 10      /* the host's memory is short */
};

/* "0.1.0", of the library that is loaded; the macros above are those of the header. */
RONDO_API const char* rondo_version(void);
/* "ok", "input", ...; "unknown" for what is no status. */
RONDO_API const char* rondo_status_name(rondo_status status);
/* Of the last call of this thread that failed: what was wrong, with value and limit, and what to do. ""
 * before the first. They belong to the library and are valid until this thread's next call that fails. */
RONDO_API const char* rondo_message(void);
RONDO_API const char* rondo_hint(void);

/* ---- Contexts ---- */

typedef struct rondo_context rondo_context;

enum {
  RONDO_DEVICE_CUDA = 0,         /* GPU `ordinal`, in its primary context, as the CUDA runtime has it */
  RONDO_DEVICE_CUDA_CURRENT = 1, /* the CUDA context that is current on the calling thread; it must outlive
                                    all that is made in it */
  RONDO_DEVICE_CPU = 2 /* the host: tensors lie in its memory, and calls return when they are done */
};

/* Remarks for people, such as what was verified and how long it took. Called from within calls, on their
 * thread. The message is valid during the call. `level` is RONDO_LOG_NOTE. It must not throw. */
enum { RONDO_LOG_NOTE = 0 };
typedef void (*rondo_log_function)(void* user, int32_t level, const char* message);

typedef struct rondo_context_options {
  size_t struct_size;
  int32_t device;         /* RONDO_DEVICE_ */
  int32_t ordinal;        /* of RONDO_DEVICE_CUDA: the driver's number, after CUDA_VISIBLE_DEVICES */
  rondo_log_function log; /* of this context and what is made in it; NULL: none */
  void* log_user;
  /* Of RONDO_DEVICE_CPU: threads that a launch takes at most, the caller's among them, which choices are made
   * for. 0: what RONDO_THREADS says, else the CPUs that the process may use. */
  int32_t threads;
  int32_t reserved;
} rondo_context_options;

/* Errors: INPUT, UNSUPPORTED (fields of a newer header), MISSING (no driver, no GPU, no current context),
 * DEVICE. */
RONDO_MUST_USE RONDO_API rondo_status rondo_context_create(const rondo_context_options* options,
                                                           rondo_context** context);
RONDO_API rondo_status rondo_context_destroy(rondo_context* context);

typedef struct rondo_context_info {
  size_t struct_size;
  int32_t device;   /* RONDO_DEVICE_ */
  int32_t ordinal;  /* -1: of the CPU */
  const char* name; /* "NVIDIA H200", "CPU" */
  const char* arch; /* "sm_90"; "" of the CPU */
  int64_t multiprocessors;
  int64_t memory_bytes;
} rondo_context_info;

/* The strings belong to the context. */
RONDO_MUST_USE RONDO_API rondo_status rondo_context_get_info(const rondo_context* context,
                                                             rondo_context_info* info);

/* ---- Plans ---- */

typedef struct rondo_plan rondo_plan;

enum {
  RONDO_TYPE_F32 = 0,
  RONDO_TYPE_BF16 = 1,
  RONDO_TYPE_F16 = 2,
  RONDO_TYPE_I32 = 3,
  RONDO_TYPE_U8 = 4,
  RONDO_TYPE_F64 = 5 /* of plans of the CPU alone: see rondo_problem */
};

enum {
  RONDO_ROLE_INPUT = 0,
  RONDO_ROLE_PARAM = 1,
  RONDO_ROLE_INITIAL_STATE = 2,
  RONDO_ROLE_OUTPUT = 3,
  RONDO_ROLE_HISTORY = 4, /* the state after each step, which a training pass saves */
  RONDO_ROLE_LAST_STATE = 5,
  RONDO_ROLE_PRODUCTS = 6, /* products of a matrix at each step, which a training pass saves if asked */
  RONDO_ROLE_OUTPUT_GRADIENT = 7,
  RONDO_ROLE_LAST_STATE_GRADIENT = 8,
  RONDO_ROLE_INPUT_GRADIENT = 9,
  RONDO_ROLE_PARAM_GRADIENT = 10,
  RONDO_ROLE_INITIAL_STATE_GRADIENT = 11,
  RONDO_ROLE_RESETS = 20, /* [B, T], bytes: not 0 where states begin anew before a step */
  RONDO_ROLE_LENGTHS = 21 /* [B], int32: steps that a row has */
};

enum {
  RONDO_NEED_REQUIRED = 0,
  RONDO_NEED_ZERO = 1,   /* read; if it is not given it counts as zero, an initial state as what
                          * the cell's text says that it begins with */
  RONDO_NEED_DISCARD = 2 /* a result; thrown away if it is not given */
};

#define RONDO_MOST_AXES 6
#define RONDO_EXTENT_BATCH (-1) /* of a call */
#define RONDO_EXTENT_TIME (-2)

typedef struct rondo_plan_info {
  size_t struct_size;
  const char* cell;       /* its name */
  const char* cell_hash;  /* of its canonical form, with the values of its constants */
  const char* pass;       /* "fw", "fws", "bw", "bw+products", ... */
  const char* type;       /* "bf16": of inputs and outputs */
  const char* math;       /* "fast" */
  const char* strategy;   /* "stream"; "reference" on the CPU */
  const char* parameters; /* "channels=64 steps=32 ..." */
  const char* origin;     /* "tuned", "by model", "package", ...: where the choice comes from */
  const char* note;       /* the same in a line, for people */
  const char* producer;   /* "rondo 0.1.0" */
  int64_t batch, time;    /* that it was chosen for; those of a call are free */
  int64_t heads, dim;     /* compiled in */
  int32_t tensors;        /* how many it has */
  int32_t verified;       /* 1: its code was compared with the reference on this machine */
  double expected_ms;     /* as measured, or the model's estimate; 0: not known */
  const char* variant; /* what the cell has beside its text: "p_c=0.1 clip_forward=2 resets"; "": nothing */
  /* 0: a plan to launch; 1: an outline of what would be chosen, 2: of any plan (rondo_plan_outline). */
  int32_t outline;
  int32_t reserved;
} rondo_plan_info;

/* The strings belong to the plan. */
RONDO_MUST_USE RONDO_API rondo_status rondo_plan_get_info(const rondo_plan* plan, rondo_plan_info* info);
/* Not before the end of what it has launched, nor before the last replay of a CUDA graph that captured a
 * launch of it: its kernels are unloaded. */
RONDO_API rondo_status rondo_plan_destroy(rondo_plan* plan);

typedef struct rondo_tensor_info {
  size_t struct_size;
  const char* name;  /* "x", "h_first", "grad_R" */
  const char* shape; /* "[B, T, H, 4, D]" */
  int32_t role;      /* RONDO_ROLE_ */
  int32_t type;      /* RONDO_TYPE_ */
  int32_t need; /* RONDO_NEED_. It depends on the plan's strategy: grad_x of an LSTM is required with "host",
                   and may be left out with "reference" */
  int32_t written; /* 1: a result */
  /* 1: axes 0 and 1 are B and T, and their strides are the caller's, if they are multiples of `alignment`
   * (with a result: and no two steps overlap). All other strides are those of a dense row-major tensor. */
  int32_t strided;
  int32_t alignment; /* bytes: of the address and, where it is strided, of both strides */
  int32_t rank;
  int32_t reserved;
  int64_t extents[RONDO_MOST_AXES]; /* RONDO_EXTENT_BATCH and RONDO_EXTENT_TIME stand for a call's B and T */
  /* What each element of an initial state is where it is not given, and of a last state after no steps: the
   * number that the cell's text says it begins with. 0 of all others. */
  double first_value;
} rondo_tensor_info;

/* Tensor `index` of the plan, from 0. The strings belong to the plan. */
RONDO_MUST_USE RONDO_API rondo_status rondo_plan_get_tensor(const rondo_plan* plan, int32_t index,
                                                            rondo_tensor_info* info);
/* The index of the tensor of that name: "x", "h_first", "h_out", "c_history", "grad_R", ... The rule is in
 * docs/c-api.md (Names of tensors). Error MISSING, with the names that there are. */
RONDO_MUST_USE RONDO_API rondo_status rondo_plan_find_tensor(const rondo_plan* plan, const char* name,
                                                             int32_t* index);
/* Bytes of tensor `index` for B batch rows of T steps, laid out densely. A tensor of more than 2^50 elements
 * counts as 2^50 of them, here and in a workspace, and that is no error: the figure is then too small, but
 * more than any device has. */
RONDO_MUST_USE RONDO_API rondo_status rondo_plan_tensor_bytes(const rondo_plan* plan, int32_t index,
                                                              int64_t batch, int64_t time, int64_t* bytes);
/* The most batch rows of `time` steps that a launch takes: more of them exceed a grid, or the blocks that a
 * GPU holds at once where blocks wait for each other. Who has more calls several times. Errors: INPUT,
 * UNSUPPORTED (not even one). */
RONDO_MUST_USE RONDO_API rondo_status rondo_plan_largest_batch(const rondo_plan* plan, int64_t time,
                                                               int64_t* batch);
/* Bytes of workspace that any launch needs, 0 or more, and that a step needs (rondo_step). A launch that is
 * given the results may need less: rondo_plan_launch_workspace_bytes(). */
RONDO_MUST_USE RONDO_API rondo_status rondo_plan_workspace_bytes(const rondo_plan* plan, int64_t batch,
                                                                 int64_t time, int64_t* bytes);
RONDO_MUST_USE RONDO_API rondo_status rondo_plan_step_workspace_bytes(const rondo_plan* plan, int64_t batch,
                                                                      int64_t* bytes);
/* The most steps, below 2^31, that a launch of `batch` rows can take with a workspace of so many bytes. Who
 * has more works in parts of time: docs/c-api.md. Errors: INPUT, UNSUPPORTED (not even one; the message says
 * how much one needs). */
RONDO_MUST_USE RONDO_API rondo_status rondo_plan_longest_time(const rondo_plan* plan, int64_t batch,
                                                              int64_t workspace_bytes, int64_t* time);

/* ---- Launches ---- */

#define RONDO_BYTES_UNKNOWN (-1)

/* What a caller gives for a tensor of the plan. Device memory, of the plan's device. */
typedef struct rondo_tensor {
  int32_t index; /* in the plan */
  int32_t type;  /* RONDO_TYPE_, as the plan has it */
  void* data;    /* the first element */
  /* Bytes from `data` on that belong to the tensor: a call that would touch more is refused.
   * RONDO_BYTES_UNKNOWN: not checked. */
  int64_t bytes;
  /* 0: a dense row-major tensor of the plan's shape at the call's B and T; extents and strides are not read.
   */
  int32_t rank;
  int32_t reserved;
  int64_t extents[RONDO_MOST_AXES]; /* as the plan has them, at the call's B and T */
  int64_t strides[RONDO_MOST_AXES]; /* elements */
} rondo_tensor;

typedef struct rondo_launch_args {
  size_t struct_size;
  size_t tensor_size; /* sizeof(rondo_tensor) */
  const rondo_tensor* tensors;
  size_t tensor_count;
  void* workspace; /* device memory, aligned to 256 bytes; its contents mean nothing between calls */
  int64_t workspace_bytes;
  int64_t batch, time; /* B and T; of 0 nothing is computed: the last states are the first ones */
  void* stream;        /* cudaStream_t or CUstream; NULL: the default stream. Not read on the CPU */
} rondo_launch_args;

/* Checks everything and starts the pass on the stream. It allocates no device memory but for CUDA graphs of
 * plans that launch several kernels, does not wait, and may be captured in a CUDA graph. Plan and memory must
 * live until the stream has passed. Two calls that share no result and no workspace may be in flight at once.
 * Results share memory with nothing else of the call. Nothing is launched where it is an error: INPUT (which
 * tensor, value and limit), UNSUPPORTED (blocks that wait for each other do not all fit), DEVICE. */
RONDO_MUST_USE RONDO_API rondo_status rondo_launch(const rondo_plan* plan, const rondo_launch_args* args);

/* One step of a forward plan, for generation: `time` is 1 or 0. A state whose initial tensor is given, and
 * whose last one is not or is the same memory, is updated in place: the new state takes the place of the
 * given one when the stream passes. The workspace is that of rondo_plan_step_workspace_bytes(). Resets are
 * those of the step, and lengths what is left of each row: its length less the steps before. A cell that
 * draws random numbers counts steps from 0 in every call, so that each step draws the same ones: change the
 * parameter `seed` from call to call. Otherwise as rondo_launch(). */
RONDO_MUST_USE RONDO_API rondo_status rondo_step(const rondo_plan* plan, const rondo_launch_args* args);

/* Bytes of workspace that a launch with these tensors needs: no more than rondo_plan_workspace_bytes(), and
 * less by what would stand for results and states that are given. Neither addresses nor the workspace are
 * read. Errors: INPUT, as the launch would give it; UNSUPPORTED (an outline of any plan). */
RONDO_MUST_USE RONDO_API rondo_status rondo_plan_launch_workspace_bytes(const rondo_plan* plan,
                                                                        const rondo_launch_args* args,
                                                                        int64_t* bytes);

/* Does ahead what the first calls of rondo_launch() with these arguments would do beyond the others, such as
 * recording a CUDA graph. Launches nothing. Errors: INPUT and UNSUPPORTED, as the launch would give them. */
RONDO_MUST_USE RONDO_API rondo_status rondo_plan_prepare(const rondo_plan* plan,
                                                         const rondo_launch_args* args);

/* Error DEVICE, once, if blocks of a launch that has ended waited for each other in vain: its results are
 * wrong. To be called after waiting for the stream. Until it is called, further launches of the plan give
 * DEVICE too. Where several threads launch a plan, it does not say whose launch that was. Never waits. */
RONDO_MUST_USE RONDO_API rondo_status rondo_plan_check(const rondo_plan* plan);

/* The same for who does not wait: `*ended` is 1 where the stream has nothing left to do, and then the status
 * is that of rondo_plan_check(); else, and while the stream is captured, it is 0 and the status RONDO_OK.
 * Never waits, and spoils no capture. On the CPU `stream` is not read, and all has ended. */
RONDO_MUST_USE RONDO_API rondo_status rondo_plan_check_stream(const rondo_plan* plan, void* stream,
                                                              int32_t* ended);

#ifdef __cplusplus
}
#endif

#endif
